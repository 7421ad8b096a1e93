"""Chess notation: squares and moves in UCI, positions in FEN."""

from __future__ import annotations

import re

from verigym.errors import TaskError
from verigym.verifiers.games.chess import (
    KING,
    LAST_RANKS,
    LETTERS,
    PAWN,
    RIGHTS,
    ROOK,
    Position,
    in_check,
    pawn_attacks,
    squares,
)


def square_name(square: int) -> str:
    """Return the name of a square, `a1` to `h8`."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def square_of(name: str) -> int | None:
    """Return the square of a name; None if there is no such square."""
    if not re.fullmatch("[a-h][1-8]", name):
        return None
    return "abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1)


def uci(move: int) -> str:
    """Return a move such as `e2e4` or `a7a8q`."""
    promoted = LETTERS[move >> 12].lower() if move >> 12 else ""
    return square_name(move & 63) + square_name(move >> 6 & 63) + promoted


def position_of(fen: str) -> Position:
    """Return the position of a FEN; clocks may be left out. Raises TaskError for one that cannot be played."""
    words = fen.split()
    rows = words[0].split("/") if words else []
    if len(words) < 4 or len(rows) != 8 or words[1] not in ("w", "b"):
        raise TaskError(f"chess: not a valid FEN: {fen[:100]!r}")
    pieces, sides = [0] * 6, [0, 0]
    for r, row in enumerate(rows):
        column = 0
        for sign in row:
            if sign in "12345678":
                column += int(sign)
                continue
            if sign.upper() not in LETTERS or column > 7:
                raise TaskError(f"chess: not a valid FEN: {fen[:100]!r}")
            bit = 1 << column + 8 * (7 - r)
            pieces[LETTERS.index(sign.upper())] |= bit
            sides[sign.islower()] |= bit
            column += 1
        if column != 8:
            raise TaskError(f"chess: a row of the FEN has not 8 squares: {row!r}")
    castling = sum(1 << "KQkq".index(c) for c in set(words[2]) & set("KQkq"))
    for square, right in RIGHTS.items():
        kind = KING if square % 8 == 4 else ROOK
        if not (pieces[kind] & sides[square // 32]) >> square & 1:
            castling &= ~right
    turn = int(words[1] == "b")
    passant = -1
    if words[3] != "-":
        if not re.fullmatch("[a-h]3" if turn else "[a-h]6", words[3]):
            raise TaskError(f"chess: no square behind a pawn: {words[3][:10]!r}")
        behind = "abcdefgh".index(words[3][0]) + (16 if turn else 40)
        pawns = pieces[PAWN]
        if not (pawns & sides[1 - turn]) >> behind + (8 if turn else -8) & 1:
            raise TaskError(f"chess: there is no pawn before {words[3]!r}")
        if pawn_attacks(behind, 1 - turn) & pawns & sides[turn]:
            passant = behind
    if any((pieces[KING] & side).bit_count() != 1 for side in sides):
        raise TaskError("chess: each side must have one king")
    if pieces[PAWN] & LAST_RANKS:
        raise TaskError("chess: pawns cannot stand on the last ranks")
    placed, both = tuple(pieces), (sides[0], sides[1])
    if in_check((placed, both, 1 - turn, 0, -1)):
        raise TaskError("chess: the side that has moved is in check")
    return placed, both, turn, castling, passant


def fen_of(position: Position) -> str:
    """Return the FEN, with clocks that stand still."""
    _, _, turn, castling, passant = position
    rows = []
    for row in rows_of(position):
        text = "".join(row)
        for n in range(8, 0, -1):
            text = text.replace("." * n, str(n))
        rows.append(text)
    rights = "".join(c for i, c in enumerate("KQkq") if castling >> i & 1) or "-"
    behind = square_name(passant) if passant >= 0 else "-"
    return f"{'/'.join(rows)} {'wb'[turn]} {rights} {behind} 0 1"


def rows_of(position: Position) -> list[str]:
    """Return eight rows of pieces, the eighth rank first, White in capitals, `.` for empty."""
    pieces, sides = position[0], position[1]
    signs = ["."] * 64
    for kind, bits in enumerate(pieces):
        for square in squares(bits):
            black = sides[1] >> square & 1
            signs[square] = LETTERS[kind].lower() if black else LETTERS[kind]
    return ["".join(signs[8 * row : 8 * row + 8]) for row in range(7, -1, -1)]
