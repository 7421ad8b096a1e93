"""Right program of the family `stack-machine`."""

M = 65
SUB = "below minus top"

# The program:
stack = []
for number in range(1, int(input()) + 1):
    word, *rest = input().split()
    need = {"push": 0, "dup": 1, "pop": 1}.get(word, 2)
    if len(stack) < need:
        print("error", number)
        break
    if word == "push":
        stack.append(int(rest[0]) % M)
    elif word == "dup":
        stack.append(stack[-1])
    elif word == "pop":
        stack.pop()
    else:
        top, below = stack.pop(), stack.pop()
        if word == "swap":
            stack += [top, below]
        elif word == "add":
            stack.append((below + top) % M)
        elif word == "mul":
            stack.append((below * top) % M)
        else:
            stack.append((below - top if SUB == "below minus top" else top - below) % M)
else:
    print(*stack if stack else ["empty"])
