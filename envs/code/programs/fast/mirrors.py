"""Fast version of `mirrors`."""

LEAST = 3


# The program:
def mirrors(word):
    n = len(word)
    count = 0
    # By centre: odd ones, then even ones; inside a known mirror its other half tells the least radius.
    for even in (0, 1):
        radii = []
        left = 0
        right = -1
        for i in range(n):
            if i > right:
                k = 1 - even
            else:
                k = radii[left + right - i + even]
                if k > right - i + 1:
                    k = right - i + 1
            if i + k > right:
                low = i - k - even
                high = i + k
                while low >= 0 and high < n and word[low] == word[high]:
                    low -= 1
                    high += 1
                k = high - i
                left = low + 1
                right = high - 1
            radii.append(k)
            least = (LEAST + 2 - even) // 2
            if k >= least:
                count += k - least + 1
    return count
