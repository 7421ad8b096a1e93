"""Right program of the family `turned_round`."""

REVERSE = False
K = 2
LEAST = 1


# The program:
def turned_round(homes: dict[str, str]) -> dict[str, list[str]]:
    towns = {}
    for name in sorted(homes, reverse=REVERSE):
        if len(name) >= K:
            towns.setdefault(homes[name], []).append(name)
    return {town: names for town, names in towns.items() if len(names) >= LEAST}
