"""Splits a cleaned answer into tokens. Every token is at least one character: linear time."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import MAX_DIGITS, MAX_TOKENS, TooBig, Unreadable


class Token(NamedTuple):
    """One token. `kind` is num, word, cmd, op or end; `spaced`: white space stood before it."""

    kind: str
    text: str
    spaced: bool
    value: Fraction | None = None


_REPEATING = lazy_pattern(
    r"(\d*)\.(\d*?)(?:\\(?:overline|bar|overbar)\s*\{\s*(\d+)\s*\}|\\(?:overline|bar)\s*(\d)|\((\d+)\)"
    r"|\\dot\s*\{?\s*(\d)\s*\}?(?:(\d*)\\dot\s*\{?\s*(\d)\s*\}?)?)",
    needs="(|\\",
)
_DOTTED = lazy_pattern(r"(\d*)\.(\d{2,})\s?\.\.\.(?!\d)")
_GROUPED = lazy_pattern(r"\d{1,3}(?:,\d{3})+(?![\d,]*\d)(?:\.\d+)?", needs=",")
_SPACED = lazy_pattern(r"\d{1,3}(?: \d{3})+(?![\d])(?:\.\d+)?")
_PREFIXED = lazy_pattern(
    r"0(?:[xX][0-9A-Fa-f]+|[bB][01]+|[oO][0-7]+)(?![0-9A-Za-z.])", needs="B|O|X|b|o|x"
)
_NUMBER = lazy_pattern(r"(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?")
_WHOLE = lazy_pattern(r"[1-9]\d{0,15}(?![\d.,eE ])", re.ASCII)
_TOKEN = lazy_pattern(
    r"(?P<cmd>\\[A-Za-z]+|\\\\|\\[{}])"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<op>\.\.\.|<=|>=|!=|!!|[-+*/^_=<>!()\[\]{}|,;:&%'€£¥])"
)


def tokens(text: str, *, thousands: bool) -> list[Token]:
    """The tokens of `text`, an end mark last. `thousands`: 1,234 is one number, not two.

    Raises Unreadable at a character that is no mathematics, TooBig past the bounds.
    """
    found: list[Token] = []
    at = depth = 0
    while at < len(text):
        spaced = text[at] == " "
        if spaced:
            at += 1
            continue
        spaced = at > 0 and text[at - 1] == " "
        if len(found) >= MAX_TOKENS:
            raise TooBig(f"an answer has at most {MAX_TOKENS} signs")
        # (100,200) is a pair: digits are grouped outside brackets only.
        token, at = _next(text, at, spaced, thousands and depth == 0)
        if token.kind in ("op", "cmd"):
            depth += (token.text in ("(", "[", "\\{")) - (token.text in (")", "]", "\\}"))
        found.append(token)
    found.append(Token("end", "", True))
    return found


def _next(text: str, at: int, spaced: bool, thousands: bool) -> tuple[Token, int]:
    if text[at].isdecimal() or (text[at] == "." and text[at + 1 : at + 2].isdecimal()):
        return _number(text, at, spaced, thousands)
    if text[at] == "." and text[at + 1 : at + 2] == "\\":
        match = _REPEATING.match(text, at)
        if match:
            return Token("num", match[0], spaced, _repeating(match)), match.end()
    match = _TOKEN.match(text, at)
    if match is None or match.lastgroup is None:
        raise Unreadable(f"{text[at]!r} is no mathematics")
    return Token(match.lastgroup, match[0], spaced), match.end()


def _number(text: str, at: int, spaced: bool, thousands: bool) -> tuple[Token, int]:
    match = _WHOLE.match(text, at)
    if match:
        return Token("num", match[0], spaced, Fraction(int(match[0]))), match.end()
    if text[at] == "0":
        match = _PREFIXED.match(text, at)
        if match:
            return Token("num", match[0], spaced, _prefixed(match[0])), match.end()
    match = _REPEATING.match(text, at)
    if match:
        return Token("num", match[0], spaced, _repeating(match)), match.end()
    match = _DOTTED.match(text, at)
    if match:
        value = _from_dots(match)
        if value is not None:
            return Token("num", match[0], spaced, value), match.end()
    if thousands:
        match = _GROUPED.match(text, at) or _SPACED.match(text, at)
        if match and not match[0].startswith("0"):
            shown = match[0].replace(",", "").replace(" ", "")
            return Token("num", shown, spaced, _value(shown)), match.end()
    match = _NUMBER.match(text, at)
    if match is None:
        raise Unreadable(f"{text[at]!r} is no number")
    shown = match[0]
    return Token("num", shown, spaced, _value(shown)), match.end()


def _value(shown: str) -> Fraction:
    mantissa, _, exponent = shown.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 5 or abs(int(exponent or 0)) > MAX_DIGITS:
        raise TooBig(f"a number has at most {MAX_DIGITS} digits")
    return Fraction(shown if not shown.endswith(".") else shown[:-1])


def _prefixed(shown: str) -> Fraction:
    """The value of 0x1F, 0b101 or 0o17."""
    if len(shown) > 302:
        raise TooBig("a number in a base has at most 300 digits")
    return Fraction(int(shown, 0))


def _repeating(match: re.Match[str]) -> Fraction:
    whole, start, bar, bar_one, paren, dot_a, dot_mid, dot_b = match.groups()
    period = bar or bar_one or paren or (dot_a + (dot_mid or "") + (dot_b or ""))
    return _repeated(whole or "0", start, period)


def _repeated(whole: str, start: str, period: str) -> Fraction:
    if len(whole) + len(start) + len(period) > MAX_DIGITS:
        raise TooBig(f"a number has at most {MAX_DIGITS} digits")
    head = Fraction(int(whole + start), 10 ** len(start))
    return head + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(start))


def _from_dots(match: re.Match[str]) -> Fraction | None:
    """The value of 0.333... or 0.1666...: what is repeated at the end goes on."""
    whole, digits = match.groups()
    if len(digits) > 60:
        return None
    for size in range(1, len(digits) // 2 + 1):
        period = digits[-size:]
        if digits[-2 * size : -size] == period:
            start = digits
            while start.endswith(period):
                start = start[:-size]
            return _repeated(whole or "0", start, period)
    return None
