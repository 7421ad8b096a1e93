"""Texts that are given by how they are made, too long to be written down."""

LETTERS = "abcd"
PATTERN = "aba"
PICK = "abc"
MARK = "c"
GAINS = "3 -2 4 -1"
LOW = -7
HIGH = 12
START = 2
FACTORS = "3 5 2 7"
TERMS = "1 0 4 2"
MODULUS = 998244353


# The program:
def scrolls(lines):
    nodes = [("word", "", 1, 0)]
    known = {}

    def make(kind, one, other, length):
        nodes.append((kind, one, other, length))
        return len(nodes) - 1

    def size(x):
        return nodes[x][3]

    def literal(word):
        return make("word", word, 1, len(word)) if word else 0

    def join(x, y):
        if size(x) == 0:
            return y
        return make("join", x, y, size(x) + size(y)) if size(y) else x

    def times(x, n):
        if n == 0 or size(x) == 0:
            return 0
        return make("times", x, n, size(x) * n) if n > 1 else x

    def cut(x, low, high):
        kind, one, other, length = nodes[x]
        low, high = max(low, 0), min(high, length)
        if low >= high:
            return 0
        if high - low == length:
            return x
        if kind == "word":
            return literal(one[low:high])
        middle = size(one)
        if kind == "join":
            return join(cut(one, low, high), cut(other, low - middle, high - middle))
        first, last = low // middle, (high - 1) // middle
        if first == last:
            return cut(one, low - first * middle, high - first * middle)
        left = cut(one, low - first * middle, middle)
        right = cut(one, 0, high - last * middle)
        return join(join(left, times(one, last - first - 1)), right)

    def letter(x, at):
        kind, one, other, _ = nodes[x]
        while kind != "word":
            if kind == "times":
                at %= size(one)
                x = one
            elif at < size(one):
                x = one
            else:
                at -= size(one)
                x = other
            kind, one, other, _ = nodes[x]
        return one[at]

    def rebuilt(x, how, change):
        if (how, x) not in known:
            kind, one, other, _ = nodes[x]
            if kind == "word":
                y = literal(change(one))
            elif kind == "times":
                y = times(rebuilt(one, how, change), other)
            elif how == "mirror":
                y = join(rebuilt(other, how, change), rebuilt(one, how, change))
            else:
                y = join(rebuilt(one, how, change), rebuilt(other, how, change))
            known[how, x] = y
        return known[how, x]

    def squeezed(x):
        if ("squeeze", x) not in known:
            kind, one, other, length = nodes[x]
            if kind == "word":
                y = literal("".join(c for i, c in enumerate(one) if i == 0 or c != one[i - 1]))
            else:
                y = squeezed(one)
                then = y if kind == "times" else squeezed(other)
                if length and letter(y, size(y) - 1) == letter(then, 0):
                    then = cut(then, 1, size(then))
                y = join(y, times(then, other - 1) if kind == "times" else then)
            known["squeeze", x] = y
        return known["squeeze", x]

    def fold(x, name, start, single, combine):
        if (name, x) not in known:
            kind, one, other, _ = nodes[x]
            total = start
            if kind == "word":
                for c in one:
                    total = combine(total, single(c))
            else:
                power = fold(one, name, start, single, combine)
                if kind == "join":
                    total = combine(power, fold(other, name, start, single, combine))
                else:
                    while other:
                        if other % 2:
                            total = combine(total, power)
                        power = combine(power, power)
                        other //= 2
            known[name, x] = total
        return known[name, x]

    # only: meter
    def clamped(value, low, high):
        return min(max(value, low), high)

    # only: runs longest
    def in_blocks(a, b):
        if not a[0]:
            return b
        if not b[0]:
            return a
        meets = a[3] == b[2]
        head = a[4] + b[4] if meets and a[4] == a[0] else a[4]
        tail = a[5] + b[5] if meets and b[5] == b[0] else b[5]
        best = max(a[6], b[6], a[5] + b[4] if meets else 0)
        return (a[0] + b[0], a[1] + b[1] - meets, a[2], b[3], head, tail, best)

    def blocks(x):
        return fold(
            x, "blocks", (0, 0, "", "", 0, 0, 0), lambda c: (1, 1, c, c, 1, 1, 1), in_blocks
        )

    # only: find
    def in_found(a, b):
        most = len(PATTERN) - 1
        tail, head = a[1][-most:], b[0][:most]
        seam = tail + head
        more = 0
        for i in range(len(seam) - most):
            if i < len(tail) < i + most + 1 and seam[i : i + most + 1] == PATTERN:
                more += 1
        return ((a[0] + b[0])[:most], (a[1] + b[1])[-most:], a[2] + b[2] + more)

    # only: picks
    def in_picks(a, b):
        width = len(PICK) + 1
        return [
            [sum(a[i][k] * b[k][j] for k in range(i, j + 1)) % MODULUS for j in range(width)]
            for i in range(width)
        ]

    def pick_of(c):
        width = len(PICK) + 1
        return [
            [int(i == j or (i + 1 == j and PICK[i] == c)) for j in range(width)]
            for i in range(width)
        ]

    # only: count
    def count(x):
        return fold(x, "count", 0, lambda c: int(c == MARK), lambda a, b: a + b)

    # only: runs
    def runs(x):
        return blocks(x)[1]

    # only: longest
    def longest(x):
        return blocks(x)[6]

    # only: find
    def find(x):
        return fold(x, "find", ("", "", 0), lambda c: (c, c, int(c == PATTERN)), in_found)[2]

    # only: meter
    def meter(x):
        gains = dict(zip(LETTERS, map(int, GAINS.split())))

        def in_meter(a, b):
            low, high = clamped(a[1] + b[0], b[1], b[2]), clamped(a[2] + b[0], b[1], b[2])
            return (a[0] + b[0], low, high)

        wide = 10**30
        add, low, high = fold(
            x, "meter", (0, -wide, wide), lambda c: (gains[c], LOW, HIGH), in_meter
        )
        return clamped(START + add, low, high)

    # only: peak
    def peak(x):
        gains = dict(zip(LETTERS, map(int, GAINS.split())))

        def in_peak(a, b):
            return (a[0] + b[0], max(a[1], a[0] + b[1]))

        return fold(x, "peak", (0, 0), lambda c: (gains[c], max(gains[c], 0)), in_peak)[1]

    # only: code
    def code(x):
        factors = dict(zip(LETTERS, map(int, FACTORS.split())))
        terms = dict(zip(LETTERS, map(int, TERMS.split())))

        def in_code(a, b):
            return (a[0] * b[0] % MODULUS, (a[1] * b[0] + b[1]) % MODULUS)

        a, b = fold(x, "code", (1, 0), lambda c: (factors[c], terms[c]), in_code)
        return (a * START + b) % MODULUS

    # only: picks
    def picks(x):
        width = len(PICK) + 1
        start = [[int(i == j) for j in range(width)] for i in range(width)]
        return fold(x, "picks", start, pick_of, in_picks)[0][width - 1]

    # only:
    def same(x, y):
        def hashed(x):
            def in_hash(a, b):
                return (a[0] * b[0] % (2**61 - 1), (a[1] * b[0] + b[1]) % (2**61 - 1))

            return fold(x, "hash", (1, 0), lambda c: (911382323, ord(c)), in_hash)

        low, high = 0, min(size(x), size(y))
        while low < high:
            middle = (low + high + 1) // 2
            if hashed(cut(x, 0, middle)) == hashed(cut(y, 0, middle)):
                low = middle
            else:
                high = middle - 1
        return low

    # only:
    def turned(word, far):
        return "".join(LETTERS[(LETTERS.index(c) + far) % len(LETTERS)] for c in word)

    asked = {}
    # only: count
    asked["count"] = count
    # only: runs
    asked["runs"] = runs
    # only: longest
    asked["longest"] = longest
    # only: find
    asked["find"] = find
    # only: meter
    asked["meter"] = meter
    # only: peak
    asked["peak"] = peak
    # only: code
    asked["code"] = code
    # only: picks
    asked["picks"] = picks
    # only:
    texts = [0]
    answers = []
    for line in lines:
        name, *rest = line.split()
        if name == "word":
            texts.append(literal(rest[0]))
            continue
        x = texts[int(rest[0])]
        if name == "join":
            texts.append(join(x, texts[int(rest[1])]))
        elif name == "times":
            texts.append(times(x, int(rest[1])))
        elif name == "mirror":
            texts.append(rebuilt(x, "mirror", lambda word: word[::-1]))
        elif name == "turn":
            far = int(rest[1])
            texts.append(rebuilt(x, "turn" + str(far), lambda word: turned(word, far)))
        elif name == "cut":
            texts.append(cut(x, int(rest[1]) - 1, int(rest[2])))
        elif name == "squeeze":
            texts.append(squeezed(x))
        elif name == "spell":
            old, new = rest[1], rest[2][1:-1]
            texts.append(rebuilt(x, "spell " + old + new, lambda word: word.replace(old, new)))
        elif name == "length":
            answers.append(str(size(x)))
        elif name == "same":
            answers.append(str(same(x, texts[int(rest[1])])))
        else:
            piece = cut(x, int(rest[1]) - 1, int(rest[2]))
            answers.append(str(asked[name](piece)))
    return answers
