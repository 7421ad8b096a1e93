"""An endless tree whose branches are painted, closed and opened."""

WIDTH = 2
WINS = "latest"
FIRST = "white"


# The program:
def boughs(lines):
    paints = {}
    closed = set()
    answers = []

    def parent(v):
        return (v - 2) // WIDTH + 1

    def line_of(v):
        found = [v]
        while v > 1:
            v = parent(v)
            found.append(v)
        return found

    def is_open(v):
        return not any(u in closed for u in line_of(v))

    def colour(v):
        found = [paints[u] for u in line_of(v) if u in paints]
        if not found:
            return FIRST
        return max(found)[1] if WINS == "latest" else found[0][1]

    # only: count within nth
    def amount(level, is_up_to):
        if level < 0:
            return 0
        return (WIDTH ** (level + 1) - 1) // (WIDTH - 1) if is_up_to else WIDTH**level

    def number_below(v, levels, wanted, is_up_to):
        depth = len(line_of(v)) + levels
        own = {v: amount(levels, is_up_to)}
        places = {}
        for u in [*paints, *closed]:
            if u != v and u not in places:
                way = line_of(u)
                if v in way:
                    places[u] = way
        for u in places:
            own[u] = amount(depth - len(places[u]), is_up_to)
        total = dict(own)
        for u in places:
            above = [w for w in places[u][1:] if w in own]
            total[above[0]] -= own[u]
        return sum(
            total[u] for u in total if is_open(u) and (wanted == "any" or colour(u) == wanted)
        )

    # only: nth
    def nth(v, levels, wanted, n):
        if number_below(v, levels, wanted, False) < n:
            return "none"
        while levels:
            levels -= 1
            v = WIDTH * (v - 1) + 2
            for _ in range(WIDTH - 1):
                here = number_below(v, levels, wanted, False)
                if here >= n:
                    break
                n -= here
                v += 1
        return v

    # only: way
    def way(u, v):
        if not (is_open(u) and is_open(v)):
            return "closed"
        mine, other = line_of(u), line_of(v)
        common = sum(w in other for w in mine)
        return len(mine) + len(other) - 2 * common

    # only: clear
    def clear(v, wanted):
        for steps, u in enumerate(line_of(v)):
            if is_open(u) and colour(u) == wanted:
                return steps
        return "none"

    # only:
    for time, line in enumerate(lines):
        name, *rest = line.split()
        v = int(rest[0])
        if name == "paint":
            paints[v] = (time, rest[1])
        elif name == "close":
            closed.add(v)
        elif name == "open":
            closed.discard(v)
        # only: count
        elif name == "count":
            answers.append(str(number_below(v, int(rest[1]), rest[2], False)))
        # only: within
        elif name == "within":
            answers.append(str(number_below(v, int(rest[1]), rest[2], True)))
        # only: nth
        elif name == "nth":
            answers.append(str(nth(v, int(rest[1]), rest[2], int(rest[3]))))
        # only: way
        elif name == "way":
            answers.append(str(way(v, int(rest[1]))))
        # only: clear
        elif name == "clear":
            answers.append(str(clear(v, rest[1])))
    # only:
    return answers
