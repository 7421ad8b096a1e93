"""The ribbons of `code/stdio` a second way: letter by letter."""

from itertools import groupby, pairwise


def ribbons(p, lines):
    row = p["letters"]
    table = p["table"].split()
    made, answers = [""], []
    for line in lines:
        name, *rest = line.split()
        ribbon = rest[0] if name == "word" else made[int(rest[0])]
        after = next_ribbon(row, table, made, ribbon, name, rest)
        if after is not None:
            made.append(after)
            continue
        if name in ("arms", "length", "nth", "order", "same"):
            answers.append(asked_of_whole(ribbon, made, name, rest))
            continue
        piece = ribbon[int(rest[1]) - 1 : int(rest[2])]
        answers.append(asked_of_piece(p, piece, name, rest))
    return [str(one) for one in answers]


def asked_of_piece(p, piece, name, rest):
    gains = dict(zip(p["letters"], map(int, p.get("gains", "0 0 0 0").split()), strict=False))
    blocks = [len(list(group)) for _, group in groupby(piece)]
    sums = [sum(gains[c] for c in piece[:m]) for m in range(len(piece) + 1)]
    if name == "runs":
        return len(blocks)
    if name == "longest":
        return max(blocks, default=0)
    if name == "best":
        return max(high - low for m, high in enumerate(sums) for low in sums[: m + 1])
    if name == "least":
        return f"{min(sums)} {sums.count(min(sums))}"
    if name == "kinds":
        return len({piece[at : at + p["span"]] for at in range(len(piece) - p["span"] + 1)})
    if name == "free":
        return max(map(len, piece.split(rest[3])))
    assert name == "left"
    return len(without_pairs(piece))


def next_ribbon(row, table, made, ribbon, name, rest):
    """The ribbon that a command makes; None for a question."""

    def filtered():
        state, out = 0, ""
        for c in ribbon:
            written, then = table[state * len(row) + row.index(c)]
            out, state = out + written, int(then)
        return out

    places = [row.index(c) for c in ribbon]
    makers = {
        "word": lambda: ribbon,
        "join": lambda: ribbon + made[int(rest[1])],
        "times": lambda: ribbon * int(rest[1]),
        "cut": lambda: ribbon[int(rest[1]) - 1 : int(rest[2])],
        "mirror": lambda: ribbon[::-1],
        "filter": filtered,
        "cancel": lambda: without_pairs(ribbon),
        "sums": lambda: "".join(row[sum(places[: at + 1]) % len(row)] for at in range(len(places))),
        "twist": lambda: "".join(
            row[(place + int(rest[2]) * ribbon[:at].count(rest[1])) % len(row)]
            for at, place in enumerate(places)
        ),
        "each": lambda: "".join(
            c for at, c in enumerate(ribbon, 1) if at % int(rest[1]) == int(rest[2])
        ),
        "swap": lambda: ribbon.replace(rest[1][1:-1], rest[2][1:-1]),
        "cap": lambda: "".join(
            "".join(list(group)[: int(rest[1])]) for _, group in groupby(ribbon)
        ),
    }
    return makers[name]() if name in makers else None


def without_pairs(text):
    """Equal letters side by side taken away as long as there are some; the order does not matter."""
    while True:
        pair = next((c + d for c, d in pairwise(text) if c == d), None)
        if pair is None:
            return text
        text = text.replace(pair, "", 1)


def asked_of_whole(ribbon, made, name, rest):
    def same(one, other):
        return max(m for m in range(len(one) + 1) if one[:m] == other[:m] and m <= len(other))

    if name == "length":
        return len(ribbon)
    if name == "nth":
        found = [at for at, c in enumerate(ribbon, 1) if c == rest[1]]
        return found[int(rest[2]) - 1] if int(rest[2]) <= len(found) else "none"
    if name == "arms":
        at = int(rest[1])
        return same(ribbon[:at][::-1], ribbon[at:])
    other = made[int(rest[1])]
    if name == "same":
        return same(ribbon, other)
    return "equal" if ribbon == other else "first" if ribbon < other else "second"
