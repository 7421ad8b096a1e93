"""Machines that make items at regular times, with hours of rest, faulty items and stops."""

DAY = 24
OPEN = 16
FAULT = 5
ORDER = "low"


# The program:
def works(lines):
    machines = []
    answers = []
    top = 10**18

    def floors(n, m, a, b):
        total = 0
        while n > 0:
            total += n * (n - 1) // 2 * (a // m) + n * (b // m)
            a, b = a % m, b % m
            high = a * n + b
            if high < m:
                break
            n, b, m, a = high // m, high % m, a, m
        return total

    def in_open_hours(first, step, last):
        if last < first:
            return 0
        n = (last - first) // step + 1
        return floors(n, DAY, step, first + DAY) - floors(n, DAY, step, first + DAY - OPEN)

    def joined(stops):
        found = []
        for low, high in sorted(stops):
            if found and low <= found[-1][1] + 1:
                found[-1][1] = max(found[-1][1], high)
            else:
                found.append([low, high])
        return found

    def with_stops(count, stops, last):
        total = count(last)
        for low, high in joined(stops):
            if low <= last:
                total -= count(min(high, last)) - count(low - 1)
        return total

    def good(i, last):
        first, step, ending, stops = machines[i]

        def count(t):
            t = min(t, ending)
            late = first + (FAULT - 1) * step
            return in_open_hours(first, step, t) - in_open_hours(late, FAULT * step, t)

        return with_stops(count, stops, last)

    # only: made item share
    def made(t):
        return sum(good(i, t) for i in range(len(machines)))

    # only: worth
    def worth(t):
        return sum(values[i] * good(i, t) for i in range(len(machines)))

    # only: item share last
    def earliest(count, n):
        low, high = 0, 1
        while count(high) < n:
            if high == top:
                return None
            low, high = high, min(1000 * high, top)
        while low < high:
            middle = (low + high) // 2
            if count(middle) >= n:
                high = middle
            else:
                low = middle + 1
        return low

    # only: item share
    def at_once(t):
        found = [i for i in range(len(machines)) if good(i, t) > good(i, t - 1)]
        if ORDER == "low":
            return found
        if ORDER == "high":
            return found[::-1]
        return sorted(found, key=lambda i: -machines[i][1])

    # only: item
    def item(n):
        t = earliest(made, n)
        if t is None:
            return "none"
        return str(t) + " " + str(at_once(t)[n - made(t - 1) - 1] + 1)

    # only: share
    def share(i, n):
        t = earliest(made, n)
        if t is None:
            return "none"
        return good(i, t - 1) + int(i in at_once(t)[: n - made(t - 1)])

    # only: last
    def last(i, t):
        n = good(i, t)
        return earliest(lambda t: good(i, t), n) if n else "none"

    # only: both
    def common(a, p, b, q, last):
        g, x, r, y = p, 1, q, 0
        while r:
            g, x, r, y = r, y, g % r, x - g // r * y
        if (b - a) % g:
            return 0
        step = p // g * q
        first = (a + (b - a) // g * x % (q // g) * p) % step
        first += -((first - max(a, b)) // step) * step
        return in_open_hours(first, step, last)

    def both(i, j, t):
        a, p, end, stops = machines[i]
        b, q, other_end, other_stops = machines[j]

        def count(t):
            t = min(t, end, other_end)
            c, d = a + (FAULT - 1) * p, b + (FAULT - 1) * q
            return (
                common(a, p, b, q, t)
                - common(c, p * FAULT, b, q, t)
                - common(a, p, d, q * FAULT, t)
                + common(c, p * FAULT, d, q * FAULT, t)
            )

        return with_stops(count, stops + other_stops, t)

    # only:
    values = []
    for line in lines:
        name, *rest = line.split()
        numbers = list(map(int, rest))
        if name == "machine":
            first, step, most, value = numbers
            ending = first + (most - 1) * step if most else top
            machines.append((first, step, ending, []))
            values.append(value)
        elif name == "stop":
            machines[numbers[0] - 1][3].append((numbers[1], numbers[2]))
        # only: made
        elif name == "made":
            answers.append(str(made(numbers[0])))
        # only: worth
        elif name == "worth":
            answers.append(str(worth(numbers[0])))
        # only: item
        elif name == "item":
            answers.append(item(numbers[0]))
        # only: share
        elif name == "share":
            answers.append(str(share(numbers[0] - 1, numbers[1])))
        # only: last
        elif name == "last":
            answers.append(str(last(numbers[0] - 1, numbers[1])))
        # only: both
        elif name == "both":
            answers.append(str(both(numbers[0] - 1, numbers[1] - 1, numbers[2])))
    # only:
    return answers
