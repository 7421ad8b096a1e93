"""The systems of `code/stdio` a second way: everything is gone through, letter by letter, moment by moment, node by node."""

from itertools import combinations, groupby, pairwise


def scrolls(p, lines):
    row = p["letters"]
    texts, answers = [""], []

    def per_letter(name):
        return dict(zip(row, map(int, p[name].split()), strict=True))

    for line in lines:
        name, *rest = line.split()
        if name == "word":
            texts.append(rest[0])
            continue
        text = texts[int(rest[0])]
        made = next_text(row, texts, name, rest)
        if made is not None:
            texts.append(made)
            continue
        if name == "length":
            answers.append(len(text))
            continue
        if name == "same":
            other = texts[int(rest[1])]
            answers.append(
                max(m for m in range(len(text) + 1) if text[:m] == other[:m] and m <= len(other))
            )
            continue
        piece = text[int(rest[1]) - 1 : int(rest[2])]
        blocks = [len(list(group)) for _, group in groupby(piece)]
        if name == "count":
            found = sum(c == p["mark"] for c in piece)
        elif name == "runs":
            found = len(blocks)
        elif name == "longest":
            found = max(blocks, default=0)
        elif name == "find":
            found = sum(piece[at:].startswith(p["pattern"]) for at in range(len(piece)))
        elif name == "meter":
            found = p["start"]
            for c in piece:
                found = min(max(found + per_letter("gains")[c], p["low"]), p["high"])
        elif name == "peak":
            gains = [per_letter("gains")[c] for c in piece]
            found = max(sum(gains[:m]) for m in range(len(gains) + 1))
        elif name == "code":
            found = p["start"]
            for c in piece:
                found = found * per_letter("factors")[c] + per_letter("terms")[c]
            found %= p["modulus"]
        else:
            assert name == "picks"
            chosen = combinations(piece[:24], len(p["pick"])) if len(piece) <= 24 else None
            if chosen is not None:
                found = sum("".join(one) == p["pick"] for one in chosen) % p["modulus"]
            else:
                ways = [1] + [0] * len(p["pick"])
                for c in piece:
                    for at in reversed(range(len(p["pick"]))):
                        if p["pick"][at] == c:
                            ways[at + 1] += ways[at]
                found = ways[-1] % p["modulus"]
        answers.append(found)
    return [str(one) for one in answers]


def next_text(row, texts, name, rest):
    """The text that a command makes; None for a question."""
    text = texts[int(rest[0])]
    made = {
        "join": lambda: text + texts[int(rest[1])],
        "times": lambda: text * int(rest[1]),
        "mirror": lambda: text[::-1],
        "turn": lambda: "".join((row + row)[row.index(c) + int(rest[1])] for c in text),
        "cut": lambda: text[int(rest[1]) - 1 : int(rest[2])],
        "squeeze": lambda: "".join(c for c, _ in groupby(text)),
        "spell": lambda: "".join(rest[2].strip("()") if c == rest[1] else c for c in text),
    }
    return made[name]() if name in made else None


def works(p, lines, until=700):
    machines, answers = [], []
    for line in lines:
        name, *rest = line.split()
        numbers = [int(one) for one in rest]
        if name == "machine":
            machines.append((*numbers, set()))
            continue
        if name == "stop":
            machines[numbers[0] - 1][4].update(range(numbers[1], numbers[2] + 1))
            continue
        good = []
        for i, (first, step, most, value, stopped) in enumerate(machines, 1):
            due = range(first, until, step)
            for number, t in enumerate(due[:most] if most else due, 1):
                is_made = t % p["day"] < p["open"] and t not in stopped
                if is_made and number % p["fault"]:
                    place = {"low": i, "high": -i, "slow": (-step, i)}[p["order"]]
                    good.append((t, place, i, value))
        good.sort(key=lambda one: one[:2])
        if name == "made":
            found = sum(t <= numbers[0] for t, *_ in good)
        elif name == "worth":
            found = sum(value for t, _, _, value in good if t <= numbers[0])
        elif name == "item":
            n = numbers[0]
            found = f"{good[n - 1][0]} {good[n - 1][2]}" if n <= len(good) else "none"
        elif name == "share":
            i, n = numbers
            found = sum(one[2] == i for one in good[:n]) if n <= len(good) else "none"
        elif name == "last":
            i, end = numbers
            found = max((t for t, _, one, _ in good if one == i and t <= end), default="none")
        else:
            assert name == "both"
            i, j, end = numbers
            times = [{t for t, _, one, _ in good if one == m and t <= end} for m in (i, j)]
            found = len(times[0] & times[1])
        answers.append(str(found))
    return answers


def boughs(p, lines, largest=4000):
    width = p["width"]
    above = {v: (v - 2) // width + 1 for v in range(2, largest)}
    paints, gates, answers = [], set(), []

    def upwards(v):
        return [v, *(upwards(above[v]) if v > 1 else [])]

    def is_open(v):
        return gates.isdisjoint(upwards(v))

    def colour(v):
        if p["wins"] == "latest":
            found = [c for u, c in paints if u in upwards(v)]
        else:
            found = next(
                ([c for w, c in paints if w == u] for u in upwards(v) if u in dict(paints)), []
            )
        return found[-1] if found else p["first"]

    def below(v, levels):
        nodes = [v]
        for _ in range(levels):
            nodes = [u for u in range(min(nodes) + 1, largest) if above[u] in nodes]
        return nodes

    def chosen(nodes, wanted):
        return [u for u in nodes if is_open(u) and wanted in ("any", colour(u))]

    for line in lines:
        name, *rest = line.split()
        v = int(rest[0])
        if name == "paint":
            paints.append((v, rest[1]))
        elif name == "close":
            gates.add(v)
        elif name == "open":
            gates.discard(v)
        elif name == "count":
            answers.append(len(chosen(below(v, int(rest[1])), rest[2])))
        elif name == "within":
            nodes = [u for level in range(int(rest[1]) + 1) for u in below(v, level)]
            answers.append(len(chosen(nodes, rest[2])))
        elif name == "nth":
            nodes, n = chosen(below(v, int(rest[1])), rest[2]), int(rest[3])
            answers.append(sorted(nodes)[n - 1] if n <= len(nodes) else "none")
        elif name == "way":
            way = walk(upwards(v), upwards(int(rest[1])))
            assert all(above.get(a) == b or above.get(b) == a for a, b in pairwise(way))
            answers.append(len(way) - 1 if all(map(is_open, way)) else "closed")
        else:
            assert name == "clear"
            steps = [at for at, u in enumerate(upwards(v)) if u in chosen([u], rest[1])]
            answers.append(min(steps, default="none"))
    return [str(one) for one in answers]


def walk(mine, other):
    """The nodes from the first of `mine` to the first of `other`, two ways that end at the root."""
    while len(mine) > 1 and len(other) > 1 and mine[-2] == other[-2]:
        mine, other = mine[:-1], other[:-1]
    return mine + other[-2::-1]
