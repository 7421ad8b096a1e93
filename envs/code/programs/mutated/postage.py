"""Right version of `postage`."""

SCOOP = 3
BOX = 101
SMALL = 50
LARGE = 200
FEE = 30
LIGHT = 1361
HEAVY = 4601


# The program:
def postage(scoops, express):
    grams = BOX + SCOOP * scoops
    price = SMALL
    if grams > LIGHT:
        price = LARGE
    if express:
        price = price * 2
    if grams >= HEAVY:
        price = price + FEE
    return price
