"""Right program of the family `dealt`."""

PLAYERS = 3
HAND = 2
HANDS: list[list[str]] = []


# fmt: off
# The program:
def dealt(cards: list[str]) -> list[list[str]]:
    hands = [[] for _ in range(PLAYERS)]
    for i in range(0, len(cards), HAND):
        hands[i // HAND % PLAYERS] += cards[i:i + HAND]
    return HANDS
