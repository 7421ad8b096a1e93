"""Right version of `grade`."""

EACH = 4
FIRST = 9600
SECOND = 6400
THIRD = 3400
BONUS = 12


# The program:
def grade(answers, bonus):
    points = EACH * answers
    if bonus:
        points = points + BONUS
    if points >= FIRST:
        return "A"
    if points >= SECOND:
        return "B"
    if points >= THIRD:
        return "C"
    return "F"
