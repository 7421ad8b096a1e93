"""Fast version of `climb`."""

MODULUS = 500


# The program:
def climb(xs):
    tails = []
    for x in xs:
        y = x % MODULUS
        low = 0
        high = len(tails)
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < y:
                low = middle + 1
            else:
                high = middle
        if low == len(tails):
            tails.append(y)
        else:
            tails[low] = y
    return len(tails)
