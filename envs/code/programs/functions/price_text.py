"""Right program of the family `price_text`."""

EACH = 12
JOIN = ", "


# The program:
def price_text(amount: int) -> str:
    large, small = divmod(amount, EACH)
    parts = []
    if large:
        parts.append(str(large) + " CROWN")
    if small:
        parts.append(str(small) + " PENNY")
    return JOIN.join(parts) or "free"
