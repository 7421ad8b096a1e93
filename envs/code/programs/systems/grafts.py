"""An endless tree whose branches are copied, turned and dyed as a whole."""

WIDTH = 2
FIRST = "white"
DEEPEST = 59
COLOURS = "white red blue gold"
TABLE = "r0 b1 g1 w0 b0 w0 w1 g0"


# The program:
def grafts(lines):
    def nothing_known():
        return {}

    recipes = []
    colours = []
    children = []
    known = nothing_known()
    answers = []

    def make(colour, recipe):
        if (colour, recipe) not in known:
            recipes.append(recipe)
            colours.append(colour)
            children.append(None)
            known[colour, recipe] = len(recipes) - 1
        return known[colour, recipe]

    def plain(c):
        return make(c, ("plain",))

    def written(state, colour):
        names = COLOURS.split()
        out, then = TABLE.split()[state * len(names) + names.index(colour)]
        return next(name for name in names if name[0] == out), int(then)

    def sifted(x, state):
        return make(written(state, colours[x])[0], ("sift", x, state))

    # only: mirror
    def mirrored(x):
        return make(colours[x], ("mirror", x))

    # only: spin
    def spun(x):
        return make(colours[x], ("spin", x))

    # only: dye
    def dyed(x, old, new):
        return make(new if colours[x] == old else colours[x], ("dye", x, old, new))

    # only: stripe
    def striped(x, step, wait, c):
        return make(colours[x] if wait else c, ("stripe", x, step, wait, c))

    # only: deep
    def hung(x, levels, other):
        return make(colours[x], ("deep", x, levels, other)) if levels else other

    # only:
    def below(x):
        if children[x] is None:
            kind, *rest = recipes[x]
            if kind == "plain":
                found = [x] * WIDTH
            elif kind == "own":
                found = list(rest[0])
            elif kind == "sift":
                then = written(rest[1], colours[rest[0]])[1]
                found = [sifted(y, then) for y in below(rest[0])]
            # only: mirror
            elif kind == "mirror":
                found = [mirrored(y) for y in below(rest[0])][::-1]
            # only: spin
            elif kind == "spin":
                found = [spun(y) for y in below(rest[0])]
                found = found[-1:] + found[:-1]
            # only: dye
            elif kind == "dye":
                found = [dyed(y, rest[1], rest[2]) for y in below(rest[0])]
            # only: stripe
            elif kind == "stripe":
                step, wait = rest[1], (rest[2] - 1) % rest[1]
                found = [striped(y, step, wait, rest[3]) for y in below(rest[0])]
            # only: deep
            elif kind == "deep":
                found = [hung(y, rest[1] - 1, rest[2]) for y in below(rest[0])]
            # only:
            children[x] = found
        return children[x]

    def way_to(v):
        found = []
        while v > 1:
            found.append((v - 2) % WIDTH)
            v = (v - 2) // WIDTH + 1
        return found[::-1]

    def at(x, way):
        for step in way:
            x = below(x)[step]
        return x

    def replaced(x, way, new):
        if not way:
            return new
        found = list(below(x))
        found[way[0]] = replaced(found[way[0]], way[1:], new)
        return make(colours[x], ("own", tuple(found)))

    # only: count within nth
    def number(x, levels, wanted, is_up_to):
        key = ("number", x, levels, wanted, is_up_to)
        if key not in known:
            total = int(colours[x] == wanted) if levels == 0 or is_up_to else 0
            if levels:
                total += sum(number(y, levels - 1, wanted, is_up_to) for y in below(x))
            known[key] = total
        return known[key]

    # only: nth
    def nth(v, x, levels, wanted, n):
        if number(x, levels, wanted, False) < n:
            return "none"
        while levels:
            levels -= 1
            for step, y in enumerate(below(x)):
                here = number(y, levels, wanted, False)
                if n <= here:
                    v = WIDTH * (v - 1) + 2 + step
                    x = y
                    break
                n -= here
        return v

    # only: runs
    def runs(x, levels):
        if ("runs", x, levels) not in known:
            if levels == 0:
                found = (colours[x], colours[x], 1)
            else:
                first, *others = [runs(y, levels - 1) for y in below(x)]
                found = first
                for other in others:
                    meets = found[1] == other[0]
                    found = (found[0], other[1], found[2] + other[2] - meets)
            known["runs", x, levels] = found
        return known["runs", x, levels]

    # only: patches
    def borders(x, levels):
        if ("borders", x, levels) not in known:
            total = 0
            if levels:
                for y in below(x):
                    total += borders(y, levels - 1) + (colours[x] != colours[y])
            known["borders", x, levels] = total
        return known["borders", x, levels]

    # only: chain
    def chain(x, levels, wanted):
        key = ("chain", x, levels, wanted)
        if key not in known:
            found = [chain(y, levels - 1, wanted) for y in below(x)] if levels else []
            down = 1 + max([one for one, _ in found], default=0) if colours[x] == wanted else 0
            known[key] = (down, max([down, *[one for _, one in found]]))
        return known[key]

    # only: twins
    def twins(x, levels):
        if ("twins", x, levels) not in known:
            total = 0
            if levels:
                found = below(x)
                total = sum(twins(y, levels - 1) for y in found)
                total += int(shape(found[0], levels - 1) == shape(found[-1], levels - 1))
            known["twins", x, levels] = total
        return known["twins", x, levels]

    def shape(x, levels):
        if ("shape", x, levels) not in known:
            found = (colours[x],)
            if levels:
                found = (colours[x], *[shape(y, levels - 1) for y in below(x)])
            if ("shapes", found) not in known:
                known["shapes", found] = len(known)
            known["shape", x, levels] = known["shapes", found]
        return known["shape", x, levels]

    # only: alike
    def alike(x, y):
        pairs = {(x, y)}
        levels = 0
        while levels < DEEPEST and all(colours[a] == colours[b] for a, b in pairs):
            levels += 1
            pairs = {pair for a, b in pairs if a != b for pair in zip(below(a), below(b))}
        return levels

    # only: far
    def far(x, wanted):
        met = {x}
        for levels in range(DEEPEST + 1):
            if any(colours[y] == wanted for y in met):
                return levels
            met = {z for y in met for z in below(y)}
        return "none"

    # only:
    root = plain(FIRST)
    for line in lines:
        name, *rest = line.split()
        v = int(rest[0])
        way = way_to(v)
        x = at(root, way)
        if name == "paint":
            root = replaced(root, way, plain(rest[1]))
        elif name == "graft":
            root = replaced(root, way_to(int(rest[1])), x)
        elif name == "sift":
            root = replaced(root, way, sifted(x, 0))
        # only: spot
        elif name == "spot":
            root = replaced(root, way, make(rest[1], ("own", tuple(below(x)))))
        # only: swap
        elif name == "swap":
            other = way_to(int(rest[1]))
            short = min(len(way), len(other))
            if way[:short] != other[:short]:
                y = at(root, other)
                root = replaced(replaced(root, way, y), other, x)
        # only: mirror
        elif name == "mirror":
            root = replaced(root, way, mirrored(x))
        # only: spin
        elif name == "spin":
            root = replaced(root, way, spun(x))
        # only: dye
        elif name == "dye":
            root = replaced(root, way, dyed(x, rest[1], rest[2]))
        # only: stripe
        elif name == "stripe":
            root = replaced(root, way, striped(x, int(rest[1]), int(rest[2]), rest[3]))
        # only: raise
        elif name == "raise":
            root = replaced(root, way, make(rest[1], ("own", (x,) * WIDTH)))
        # only: deep
        elif name == "deep":
            other = at(root, way_to(int(rest[2])))
            root = replaced(root, way, hung(x, int(rest[1]), other))
        # only: count
        elif name == "count":
            answers.append(str(number(x, int(rest[1]), rest[2], False)))
        # only: within
        elif name == "within":
            answers.append(str(number(x, int(rest[1]), rest[2], True)))
        # only: nth
        elif name == "nth":
            answers.append(str(nth(v, x, int(rest[1]), rest[2], int(rest[3]))))
        # only: runs
        elif name == "runs":
            answers.append(str(runs(x, int(rest[1]))[2]))
        # only: patches
        elif name == "patches":
            answers.append(str(borders(x, int(rest[1])) + 1))
        # only: chain
        elif name == "chain":
            answers.append(str(chain(x, int(rest[1]), rest[2])[1]))
        # only: twins
        elif name == "twins":
            answers.append(str(twins(x, int(rest[1]))))
        # only: alike
        elif name == "alike":
            answers.append(str(alike(x, at(root, way_to(int(rest[1]))))))
        # only: far
        elif name == "far":
            answers.append(str(far(x, rest[1])))
    # only:
    return answers
