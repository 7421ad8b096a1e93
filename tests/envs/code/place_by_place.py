"""The grafts of `code/stdio` a second way: the colour of a place is asked from the last command back to the first."""

from itertools import groupby, product

LEVELS = {2: 11, 3: 7}
"""Levels that are looked at, for each number of children."""


def grafts(p, lines):
    width, answers = p["width"], []
    deepest = LEVELS[width]

    def way_to(v):
        found = ()
        while v > 1:
            found = ((v - 2) % width, *found)
            v = (v - 2) // width + 1
        return found

    for time, line in enumerate(lines):
        name, *rest = line.split()
        known = {}

        def colour(way, before=time, known=known):
            """The colour at the end of a way from the root, found from the last command back to the first."""
            if (way, before) not in known:
                known[way, before] = colour_after(p, lines, before, way, way_to, colour)
            return known[way, before]

        if name not in GRAFT_QUESTIONS:
            continue
        v = way_to(int(rest[0]))
        levels = int(rest[1]) if name not in ("alike", "far") else 0
        tops = [list(product(range(width), repeat=d)) for d in range(deepest + 1)]
        inner = [v + way for d in range(levels) for way in tops[d]]
        row = [v + way for way in tops[levels]]
        if name == "count":
            found = sum(colour(way) == rest[2] for way in row)
        elif name == "within":
            found = sum(colour(way) == rest[2] for way in inner + row)
        elif name == "nth":
            nodes = [number_of(way, width) for way in row if colour(way) == rest[2]]
            found = nodes[int(rest[3]) - 1] if int(rest[3]) <= len(nodes) else "none"
        elif name == "runs":
            found = len([None for _ in groupby(map(colour, row))])
        elif name == "patches":
            left, found = set(inner + row), 0
            while left:
                found += 1
                near = [left.pop()]
                while near:
                    way = near.pop()
                    around = [way[:-1], *((*way, step) for step in range(width))]
                    for other in around:
                        if other in left and colour(other) == colour(way):
                            left.discard(other)
                            near.append(other)
        elif name == "chain":
            found = max(
                run
                for leaf in row
                for run in lengths_of(
                    colour(leaf[:n]) == rest[2] for n in range(len(v), len(leaf) + 1)
                )
            )
        elif name == "twins":
            found = sum(
                all(
                    colour((*way, 0, *down)) == colour((*way, width - 1, *down))
                    for d in range(levels - (len(way) - len(v)))
                    for down in tops[d]
                )
                for way in inner
            )
        elif name == "alike":
            u = way_to(int(rest[1]))
            differ = [
                d
                for d in range(deepest)
                if any(colour(v + way) != colour(u + way) for way in tops[d])
            ]
            found = differ[0] if differ else min(deepest, p["deepest"])
        else:
            assert name == "far"
            met = [d for d in range(deepest) if any(colour(v + way) == rest[1] for way in tops[d])]
            found = met[0] if met else "none"
        answers.append(str(found))
    return answers


COLOURS = "wrbg"
GRAFT_QUESTIONS = ["count", "within", "nth", "runs", "patches", "chain", "twins", "alike", "far"]


def number_of(way, width):
    v = 1
    for step in way:
        v = width * (v - 1) + 2 + step
    return v


def lengths_of(flags):
    yield 0
    for flag, group in groupby(flags):
        if flag:
            yield len(list(group))


def colour_after(p, lines, time, way, way_to, colour):
    """The colour at a place before the command `time`, from what it was before the command before that."""
    while time:
        time -= 1
        name, *rest = lines[time].split()
        if name in GRAFT_QUESTIONS:
            continue
        u = way_to(int(rest[0]))
        v = way_to(int(rest[1])) if name in ("graft", "swap") else u
        down = way[len(v) :]
        if name == "swap":
            if u[: len(v)] == v[: len(u)]:
                continue
            if way[: len(u)] == u:
                way = v + way[len(u) :]
            elif way[: len(v)] == v:
                way = u + down
            continue
        if way[: len(v)] != v:
            continue
        if name == "paint":
            return rest[1]
        if name == "graft":
            way = u + down
        elif name == "spot":
            if not down:
                return rest[1]
        elif name == "mirror":
            way = v + tuple(p["width"] - 1 - step for step in down)
        elif name == "spin":
            way = v + tuple((step - 1) % p["width"] for step in down)
        elif name == "dye":
            before = colour(way, time)
            return rest[2] if before == rest[1] else before
        elif name == "stripe":
            if len(down) % int(rest[1]) == int(rest[2]):
                return rest[3]
        elif name == "sift":
            state, table = 0, p["table"].split()
            for n in range(len(v), len(way) + 1):
                at = COLOURS.index(colour(way[:n], time)[0])
                out, state = table[4 * state + at][0], int(table[4 * state + at][1])
            return next(name for name in p["colours"].split() if name[0] == out)
        elif name == "raise":
            if not down:
                return rest[1]
            way = v + down[1:]
        else:
            assert name == "deep"
            if len(down) >= int(rest[1]):
                way = way_to(int(rest[2])) + down[int(rest[1]) :]
    return p["first"]
