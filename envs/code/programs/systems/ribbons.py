"""Ribbons of letters that are given by how they are made, and by machines that go through them."""

LETTERS = "abc"
TABLE = "a0 b1 c2 b0 a3 c1 c0 c3 a1 b2 a2 b3"
GAINS = "3 -2 1"
SPAN = 3


# The program:
def ribbons(lines):
    def nothing_known():
        return {}

    nodes = [("", 0, 0, 0)]
    known = nothing_known()

    def size(x):
        return nodes[x][3]

    def make(word, left, right, length):
        if (word, left, right) not in known:
            nodes.append((word, left, right, length))
            known[word, left, right] = len(nodes) - 1
        return known[word, left, right]

    def literal(word):
        return make(word, 0, 0, len(word)) if word else 0

    def join(x, y):
        if x == 0 or y == 0:
            return x + y
        return make("", x, y, size(x) + size(y))

    def times(x, n):
        y = 0
        while n:
            if n % 2:
                y = join(y, x)
            n //= 2
            if n:
                x = join(x, x)
        return y

    def cut(x, low, high):
        word, left, right, length = nodes[x]
        low, high = max(low, 0), min(high, length)
        if low >= high:
            return 0
        if high - low == length:
            return x
        if word:
            return literal(word[low:high])
        middle = size(left)
        return join(cut(left, low, high), cut(right, low - middle, high - middle))

    def mirrored(x):
        if ("mirror", x) not in known:
            word, left, right, _ = nodes[x]
            y = join(mirrored(right), mirrored(left)) if left else literal(word[::-1])
            known["mirror", x] = y
        return known["mirror", x]

    def sent(x, name, state, step):
        if (name, state, x) not in known:
            word, left, right, _ = nodes[x]
            if left:
                one, middle = sent(left, name, state, step)
                other, end = sent(right, name, middle, step)
                known[name, state, x] = (join(one, other), end)
            else:
                written, end = "", state
                for c in word:
                    out, end = step(end, c)
                    written += out
                known[name, state, x] = (literal(written), end)
        return known[name, state, x]

    def fold(x, name, empty, single, combine):
        if (name, x) not in known:
            word, left, right, _ = nodes[x]
            total = empty
            if left:
                total = combine(
                    fold(left, name, empty, single, combine),
                    fold(right, name, empty, single, combine),
                )
            for c in word:
                total = combine(total, single(c))
            known[name, x] = total
        return known[name, x]

    def in_hash(a, b):
        return (a[0] * b[0] % (2**61 - 1), (a[1] * b[0] + b[1]) % (2**61 - 1))

    def hashed(x, m):
        total = (1, 0)
        while m:
            word, left, right, length = nodes[x]
            if m < length and not word and m <= size(left):
                x = left
                continue
            first = cut(x, 0, m) if m >= length or word else left
            whole = fold(first, "hash", (1, 0), lambda c: (911382323, ord(c)), in_hash)
            total = in_hash(total, whole)
            m -= min(m, size(first))
            x = right
        return total

    def agree(x, y):
        most = min(size(x), size(y))
        low, high = 0, 1
        while high <= most and hashed(x, high) == hashed(y, high):
            low, high = high, 2 * high
        high = min(high - 1, most)
        while low < high:
            middle = (low + high + 1) // 2
            if hashed(x, middle) == hashed(y, middle):
                low = middle
            else:
                high = middle - 1
        return low

    # only: nth order
    def letter(x, at):
        while nodes[x][1]:
            middle = size(nodes[x][1])
            if at < middle:
                x = nodes[x][1]
            else:
                at -= middle
                x = nodes[x][2]
        return nodes[x][0][at]

    # only: cancel left
    def cancelled(x):
        if ("cancel", x) not in known:
            word, left, right, _ = nodes[x]
            if left:
                one, other = cancelled(left), cancelled(right)
                m = agree(mirrored(one), other)
                y = join(cut(one, 0, size(one) - m), cut(other, m, size(other)))
            else:
                kept = ""
                for c in word:
                    kept = kept[:-1] if kept[-1:] == c else kept + c
                y = literal(kept)
            known["cancel", x] = y
        return known["cancel", x]

    # only: sums
    def in_sums(state, c):
        state = (state + LETTERS.index(c)) % len(LETTERS)
        return LETTERS[state], state

    # only: twist
    def twisted(x, mark, far):
        def in_twist(state, c):
            out = LETTERS[(LETTERS.index(c) + state) % len(LETTERS)]
            return out, (state + far * (c == mark)) % len(LETTERS)

        return sent(x, "twist " + mark + str(far), 0, in_twist)[0]

    # only: each
    def every(x, step, rest):
        def in_each(state, c):
            state = (state + 1) % step
            return c if state == rest else "", state

        return sent(x, "each " + str(step) + " " + str(rest), 0, in_each)[0]

    # only: swap
    def swapped(x, old, new):
        def in_swap(held, c):
            held += c
            out = ""
            if held == old:
                return new, ""
            while not old.startswith(held):
                out += held[0]
                held = held[1:]
            return out, held

        y, held = sent(x, "swap " + old + " " + new, "", in_swap)
        return join(y, literal(held))

    # only: cap
    def capped(x, most):
        def in_cap(state, c):
            last, count = state
            count = min(count, most) + 1 if c == last else 1
            return c if count <= most else "", (c, count)

        return sent(x, "cap " + str(most), ("", 0), in_cap)[0]

    # only:
    def in_filter(state, c):
        out, then = TABLE.split()[state * len(LETTERS) + LETTERS.index(c)]
        return out, int(then)

    # only: runs longest
    def in_blocks(a, b):
        if not a[0]:
            return b
        if not b[0]:
            return a
        meets = a[3] == b[2]
        head = a[4] + b[4] if meets and a[4] == a[0] else a[4]
        tail = b[5] + a[5] if meets and b[5] == b[0] else b[5]
        best = max(a[6], b[6], a[5] + b[4] if meets else 0)
        return (a[0] + b[0], a[1] + b[1] - meets, a[2], b[3], head, tail, best)

    def blocks(x):
        empty = (0, 0, "", "", 0, 0, 0)
        return fold(x, "blocks", empty, lambda c: (1, 1, c, c, 1, 1, 1), in_blocks)

    # only: runs
    def runs(x):
        return blocks(x)[1]

    # only: longest
    def longest(x):
        return blocks(x)[6]

    # only: best least
    def gain(c):
        return int(GAINS.split()[LETTERS.index(c)])

    # only: best
    def best(x):
        def single(c):
            return (gain(c), max(gain(c), 0), max(gain(c), 0), max(gain(c), 0))

        def in_best(a, b):
            head, tail = max(a[1], a[0] + b[1]), max(b[2], a[2] + b[0])
            return (a[0] + b[0], head, tail, max(a[3], b[3], a[2] + b[1]))

        return fold(x, "best", (0, 0, 0, 0), single, in_best)[3]

    # only: least
    def least(x):
        def in_least(a, b):
            low = min(a[1], a[0] + b[1])
            ways = (a[2] if a[1] == low else 0) + (b[2] if a[0] + b[1] == low else 0)
            return (a[0] + b[0], low, ways - (a[0] == low))

        def single(c):
            return (gain(c), min(gain(c), 0), 1)

        _, low, ways = fold(x, "least", (0, 0, 1), single, in_least)
        return str(low) + " " + str(ways)

    # only: kinds
    def kinds(x):
        most = SPAN - 1

        def in_kinds(a, b):
            seam = a[1] + b[0]
            seen = a[2] | b[2]
            for at in range(len(seam) - most):
                seen = seen | {seam[at : at + SPAN]}
            return ((a[0] + b[0])[:most], (a[1] + b[1])[-most:], seen)

        return len(fold(x, "kinds", ("", "", set()), lambda c: (c, c, set()), in_kinds)[2])

    # only: left
    def left_over(x):
        return size(cancelled(x))

    # only: free
    def free(x, mark):
        def single(c):
            return (1, 0, 0, 0) if c == mark else (1, 1, 1, 1)

        def in_free(a, b):
            head = a[0] + b[1] if a[1] == a[0] else a[1]
            tail = b[0] + a[2] if b[2] == b[0] else b[2]
            return (a[0] + b[0], head, tail, max(a[3], b[3], a[2] + b[1]))

        return fold(x, "free" + mark, (0, 0, 0, 0), single, in_free)[3]

    # only: nth
    def nth(x, mark, n):
        def count(x):
            return fold(x, "count" + mark, 0, lambda c: int(c == mark), lambda a, b: a + b)

        if count(x) < n:
            return "none"
        before = 0
        while nodes[x][1]:
            here = count(nodes[x][1])
            if n <= here:
                x = nodes[x][1]
            else:
                n -= here
                before += size(nodes[x][1])
                x = nodes[x][2]
        places = [at + 1 for at in range(size(x)) if letter(x, at) == mark]
        return before + places[n - 1]

    # only: order
    def order(x, y):
        m = agree(x, y)
        if m == size(x) or m == size(y):
            sign = size(x) - size(y)
        else:
            sign = 1 if letter(x, m) > letter(y, m) else -1
        return "equal" if sign == 0 else "first" if sign < 0 else "second"

    # only:
    ribbon = [0]
    answers = []
    for line in lines:
        name, *rest = line.split()
        if name == "word":
            ribbon.append(literal(rest[0]))
            continue
        x = ribbon[int(rest[0])]
        if name == "join":
            ribbon.append(join(x, ribbon[int(rest[1])]))
        elif name == "times":
            ribbon.append(times(x, int(rest[1])))
        elif name == "cut":
            ribbon.append(cut(x, int(rest[1]) - 1, int(rest[2])))
        elif name == "mirror":
            ribbon.append(mirrored(x))
        elif name == "filter":
            ribbon.append(sent(x, "filter", 0, in_filter)[0])
        # only: cancel
        elif name == "cancel":
            ribbon.append(cancelled(x))
        # only: sums
        elif name == "sums":
            ribbon.append(sent(x, "sums", 0, in_sums)[0])
        # only: twist
        elif name == "twist":
            ribbon.append(twisted(x, rest[1], int(rest[2])))
        # only: each
        elif name == "each":
            ribbon.append(every(x, int(rest[1]), int(rest[2])))
        # only: swap
        elif name == "swap":
            ribbon.append(swapped(x, rest[1][1:-1], rest[2][1:-1]))
        # only: cap
        elif name == "cap":
            ribbon.append(capped(x, int(rest[1])))
        # only:
        elif name == "length":
            answers.append(str(size(x)))
        # only: same
        elif name == "same":
            answers.append(str(agree(x, ribbon[int(rest[1])])))
        # only: order
        elif name == "order":
            answers.append(order(x, ribbon[int(rest[1])]))
        # only: arms
        elif name == "arms":
            at = int(rest[1])
            answers.append(str(agree(mirrored(cut(x, 0, at)), cut(x, at, size(x)))))
        # only: nth
        elif name == "nth":
            answers.append(str(nth(x, rest[1], int(rest[2]))))
        # only:
        else:
            piece = cut(x, int(rest[1]) - 1, int(rest[2]))
            # only: runs
            if name == "runs":
                answers.append(str(runs(piece)))
            # only: longest
            if name == "longest":
                answers.append(str(longest(piece)))
            # only: best
            if name == "best":
                answers.append(str(best(piece)))
            # only: least
            if name == "least":
                answers.append(least(piece))
            # only: kinds
            if name == "kinds":
                answers.append(str(kinds(piece)))
            # only: left
            if name == "left":
                answers.append(str(left_over(piece)))
            # only: free
            if name == "free":
                answers.append(str(free(piece, rest[3])))
    # only:
    return answers
