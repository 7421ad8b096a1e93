"""Right program of the family `ranked-pick`."""

END = "smallest"
REPEATS = "once"
K = 2

# The program:
input()
numbers = list(map(int, input().split()))
if REPEATS == "once":
    numbers = list(set(numbers))
numbers.sort(reverse=END == "largest")
print(numbers[K - 1] if len(numbers) >= K else "none")
