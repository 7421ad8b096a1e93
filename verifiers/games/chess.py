"""The rules of chess on bit sets: positions, legal moves.

A position is a tuple of plain values: `(pieces, sides, turn, castling, en_passant)`. `pieces` are six
bit sets, pawns to kings, `sides` those of White and Black; square 0 is a1, 7 is h1, 63 is h8. `castling`
has the bits 1 to 8 for K Q k q; `en_passant` is the square behind a pawn that has just moved two, or -1.
A move is `from | to << 6 | promoted << 12`, the last a number of `pieces` or 0.

Draws by repetition, by fifty moves and by bare material are not looked at.
"""

from __future__ import annotations

Position = tuple[tuple[int, ...], tuple[int, int], int, int, int]

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
LETTERS = "PNBRQK"
ALL = (1 << 64) - 1
FILE_A, FILE_H = 0x0101010101010101, 0x8080808080808080
LAST_RANKS = 0xFF000000000000FF
# Directions: the first four are those of rooks, the last four those of bishops.
_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
_UP = (True, True, False, False, True, True, False, False)
# What a move from or to a square takes from the rights to castle.
RIGHTS = {0: 2, 7: 1, 4: 3, 56: 8, 63: 4, 60: 12}


def squares(bits: int) -> list[int]:
    """Return the squares of a bit set."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _leaps(steps: list[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(
        sum(
            1 << (square % 8 + x) + 8 * (square // 8 + y)
            for x, y in steps
            if 0 <= square % 8 + x < 8 and 0 <= square // 8 + y < 8
        )
        for square in range(64)
    )


def _rays(x: int, y: int) -> tuple[int, ...]:
    rays = []
    for square in range(64):
        ray, column, row = 0, square % 8 + x, square // 8 + y
        while 0 <= column < 8 and 0 <= row < 8:
            ray |= 1 << column + 8 * row
            column, row = column + x, row + y
        rays.append(ray)
    return tuple(rays)


_RAYS = tuple(_rays(x, y) for x, y in _STEPS)
_STRAIGHT = tuple(a | b | c | d for a, b, c, d in zip(*_RAYS[:4], strict=True))
_SLANTED = tuple(a | b | c | d for a, b, c, d in zip(*_RAYS[4:], strict=True))
_KNIGHT = _leaps([(x, y) for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2) if abs(x) != abs(y)])
_KING = _leaps(list(_STEPS))
# From where pawns of White and of Black attack a square lies on the other side's attacks from it.
_PAWN = (_leaps([(-1, 1), (1, 1)]), _leaps([(-1, -1), (1, -1)]))


def pawn_attacks(square: int, side: int) -> int:
    """Return the squares that a pawn of `side` attacks from it."""
    return _PAWN[side][square]


def knight_leaps(square: int) -> int:
    """Return the squares a knight's move away."""
    return _KNIGHT[square]


def king_leaps(square: int) -> int:
    """Return the squares beside a square."""
    return _KING[square]


def sliding(square: int, occupied: int, first: int, last: int) -> int:
    """Return the squares seen from `square` in the directions `first` to `last`, the first piece met included."""
    seen = 0
    for d in range(first, last):
        ray = _RAYS[d][square]
        met = ray & occupied
        if met:
            at = (met & -met).bit_length() - 1 if _UP[d] else met.bit_length() - 1
            ray ^= _RAYS[d][at]
        seen |= ray
    return seen


def attacked(position: Position, square: int, by: int, occupied: int) -> bool:
    """Return True if side `by` attacks `square`; `occupied` are the squares with pieces."""
    pieces, sides = position[0], position[1]
    theirs = sides[by]
    if (
        _KNIGHT[square] & pieces[KNIGHT] & theirs
        or _PAWN[1 - by][square] & pieces[PAWN] & theirs
        or _KING[square] & pieces[KING] & theirs
    ):
        return True
    straight = (pieces[ROOK] | pieces[QUEEN]) & theirs & _STRAIGHT[square]
    if straight and sliding(square, occupied, 0, 4) & straight:
        return True
    slanted = (pieces[BISHOP] | pieces[QUEEN]) & theirs & _SLANTED[square]
    return bool(slanted and sliding(square, occupied, 4, 8) & slanted)


def in_check(position: Position) -> bool:
    """Return True if the side to move is in check."""
    pieces, sides, turn = position[:3]
    king = (pieces[KING] & sides[turn]).bit_length() - 1
    return attacked(position, king, 1 - turn, sides[0] | sides[1])


def legal_moves(position: Position, enough: int = 1000) -> list[int]:
    """Return every legal move, in a fixed order; the king's alone, which come first, where they are `enough`."""
    pieces, sides, turn, castling, passant = position
    own, other = sides[turn], sides[1 - turn]
    both = own | other
    king = (pieces[KING] & own).bit_length() - 1
    moves = []
    for to in squares(_KING[king] & ~own):
        if not attacked(position, to, 1 - turn, both ^ 1 << king):
            moves.append(king | to << 6)
    if len(moves) >= enough:
        return moves
    checks, mask, pins = _pressure(position, king)
    if checks > 1:
        return moves
    goal = mask & ~own
    for kind in (KNIGHT, BISHOP, ROOK, QUEEN):
        for square in squares(pieces[kind] & own):
            if kind == KNIGHT:
                seen = _KNIGHT[square]
            else:
                seen = sliding(square, both, 0 if kind != BISHOP else 4, 8 if kind != ROOK else 4)
            for to in squares(seen & goal & pins.get(square, ALL)):
                moves.append(square | to << 6)
    step = -8 if turn else 8
    for square in squares(pieces[PAWN] & own):
        free = 0
        if not both >> square + step & 1:
            free = 1 << square + step
            home = square // 8 == (6 if turn else 1)
            if home and not both >> square + 2 * step & 1:
                free |= 1 << square + 2 * step
        reach = (free | _PAWN[turn][square] & other) & goal & pins.get(square, ALL)
        for to in squares(reach):
            move = square | to << 6
            if 1 << to & LAST_RANKS:
                moves += [move | kind << 12 for kind in (QUEEN, ROOK, BISHOP, KNIGHT)]
            else:
                moves.append(move)
        if passant >= 0 and _PAWN[turn][square] >> passant & 1:
            # Both pawns leave their rank, which no pin by one piece tells: so look.
            after = made(position, square | passant << 6)
            if not attacked(after, king, 1 - turn, after[1][0] | after[1][1]):
                moves.append(square | passant << 6)
    if not checks and castling >> 2 * turn & 3:
        moves += _castles(position, both)
    return moves


def stuck(position: Position) -> bool:
    """Return True if there is no legal move; faster than listing the moves when the king can step
    aside."""
    pieces, sides, turn = position[:3]
    own, both = sides[turn], sides[0] | sides[1]
    king = (pieces[KING] & own).bit_length() - 1
    for to in squares(_KING[king] & ~own):
        if not attacked(position, to, 1 - turn, both ^ 1 << king):
            return False
    return not legal_moves(position)


def _pressure(position: Position, king: int) -> tuple[int, int, dict[int, int]]:
    """Return the number of pieces that give check, the squares where a move stops the check, and
    the lines along which each pinned piece may move."""
    pieces, sides, turn = position[:3]
    own, other = sides[turn], sides[1 - turn]
    both = own | other
    near = (_KNIGHT[king] & pieces[KNIGHT] | _PAWN[turn][king] & pieces[PAWN]) & other
    checks, mask = near.bit_count(), near or ALL
    pins: dict[int, int] = {}
    for d in range(8):
        sliders = (pieces[ROOK if d < 4 else BISHOP] | pieces[QUEEN]) & other
        ray = _RAYS[d][king]
        if not ray & sliders:
            continue
        met = ray & both
        low = met & -met if _UP[d] else 1 << met.bit_length() - 1
        at = low.bit_length() - 1
        if low & sliders:
            checks += 1
            mask = ray ^ _RAYS[d][at]
        elif low & own:
            met = _RAYS[d][at] & both
            if met:
                low = met & -met if _UP[d] else 1 << met.bit_length() - 1
                if low & sliders:
                    pins[at] = ray ^ _RAYS[d][low.bit_length() - 1]
    return checks, mask, pins


def _castles(position: Position, both: int) -> list[int]:
    turn, castling = position[2], position[3]
    king = 60 if turn else 4
    moves = []
    for right, step, between in ((1, 1, 3 << king + 1), (2, -1, 7 << king - 3)):
        free = castling >> 2 * turn & right and not both & between
        if free and not any(attacked(position, king + i * step, 1 - turn, both) for i in (1, 2)):
            moves.append(king | king + 2 * step << 6)
    return moves


def made(position: Position, move: int) -> Position:
    """Return the position after a legal move."""
    old, sides, turn, castling, passant = position
    pieces = list(old)
    start, to, promoted = move & 63, move >> 6 & 63, move >> 12
    source, goal = 1 << start, 1 << to
    own, other = sides[turn], sides[1 - turn]
    kind = 0
    while not pieces[kind] & source:
        kind += 1
    if goal & other:
        for k in range(5):
            pieces[k] &= ~goal
        other ^= goal
    pieces[kind] ^= source | goal
    own ^= source | goal
    behind = -1
    if kind == PAWN:
        if promoted:
            pieces[PAWN] ^= goal
            pieces[promoted] |= goal
        elif to == passant:
            taken = 1 << to + (8 if turn else -8)
            pieces[PAWN] ^= taken
            other ^= taken
        elif abs(to - start) == 16 and _PAWN[turn][(start + to) // 2] & old[PAWN] & other:
            behind = (start + to) // 2  # only where a pawn could take: equal positions are equal
    elif kind == KING and abs(to - start) == 2:
        rook = 1 << (to + 1 if to > start else to - 2) | 1 << (start + to) // 2
        pieces[ROOK] ^= rook
        own ^= rook
    if castling:
        castling &= ~(RIGHTS.get(start, 0) | RIGHTS.get(to, 0))
    both = (other, own) if turn else (own, other)
    return tuple(pieces), both, 1 - turn, castling, behind


def likely_checks(position: Position, legal: list[int]) -> list[int]:
    """Return the legal moves that may give check; no checking move is left out."""
    pieces, sides, turn, _, passant = position
    own, both = sides[turn], sides[0] | sides[1]
    king = (pieces[KING] & sides[1 - turn]).bit_length() - 1
    opening = 0  # pieces that may open a line by leaving it
    for d in range(8):
        ray = _RAYS[d][king]
        if ray & (pieces[ROOK if d < 4 else BISHOP] | pieces[QUEEN]) & own:
            met = ray & both
            opening |= met & -met if _UP[d] else 1 << met.bit_length() - 1
    straight, slanted = sliding(king, both, 0, 4), sliding(king, both, 4, 8)
    from_where = (_PAWN[1 - turn][king], _KNIGHT[king], slanted, straight, straight | slanted, 0)
    found = []
    for move in legal:
        start, to = move & 63, move >> 6 & 63
        kind = 0
        while not pieces[kind] >> start & 1:
            kind += 1
        if (
            from_where[kind] >> to & 1
            or opening >> start & 1
            or move >> 12
            or (kind == KING and abs(to - start) == 2)
            or (kind == PAWN and to == passant)
        ):
            found.append(move)
    return found
