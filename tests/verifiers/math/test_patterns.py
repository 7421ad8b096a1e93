"""Patterns are compiled at their first use, so a mistake in one would show only there."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

import verigym.verifiers.math as package
from verigym.verifiers.math.patterns import folded, lazy_pattern


def _patterns() -> Iterator[object]:
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for value in vars(module).values():
            many = value if isinstance(value, tuple) else (value,)
            for one in many:
                for part in one if isinstance(one, tuple) else (one,):
                    if type(part).__name__ in ("_Pattern", "_GuardedPattern"):
                        yield part


def _always_has(parsed, needs: tuple[str, ...], any_case: bool, run: str = "") -> bool:
    """Return True if no text matches a parsed pattern, behind the literal text `run`, without one of `needs`."""
    for kind, value in parsed:
        if kind is kinds.LITERAL:
            run += chr(value).lower() if any_case else chr(value)
            if any(need in run for need in needs):
                return True
            continue
        if kind in (kinds.AT, kinds.ASSERT_NOT):
            continue
        before, run = run, ""
        if kind is kinds.SUBPATTERN:
            # Letters of any case in a part of a pattern that else minds the case are not looked into.
            found = (any_case or not value[1] & re.I) and _always_has(
                value[3], needs, any_case, before
            )
        elif kind is kinds.BRANCH:
            found = all(_always_has(branch, needs, any_case, before) for branch in value[1])
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT):
            found = value[0] > 0 and _always_has(value[2], needs, any_case)
        elif kind is kinds.ASSERT:
            found = _always_has(value[1], needs, any_case)
        elif kind is kinds.IN:
            found = all(_is_one_of(item, needs, any_case) for item in value)
        else:
            found = False
        if found:
            return True
    return False


def _is_one_of(item, needs: tuple[str, ...], any_case: bool) -> bool:
    kind, value = item
    if kind not in (kinds.LITERAL, kinds.RANGE):
        return False
    low, high = (value, value) if kind is kinds.LITERAL else value
    return high - low < 50 and all(
        (chr(code).lower() if any_case else chr(code)) in needs for code in range(low, high + 1)
    )


def test_a_lazy_pattern_is_the_compiled_one():
    lazy, compiled = lazy_pattern(r"(?P<a>\d)b", re.IGNORECASE), re.compile(r"(?P<a>\d)b", re.I)
    assert lazy.search("x1B")["a"] == "1"
    assert lazy.sub("-", "1b2b") == compiled.sub("-", "1b2b")
    assert lazy.pattern == compiled.pattern
    assert lazy.groupindex == compiled.groupindex


def test_every_pattern_of_a_module_compiles():
    found = [pattern for pattern in _patterns() if pattern.pattern]
    assert len(found) > 700


def test_no_text_without_its_needs_matches_a_pattern():
    needy = [pattern for pattern in _patterns() if getattr(pattern, "needs", ())]
    assert len(needy) > 100
    for pattern in needy:
        flags = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE).state.flags
        any_case = bool(flags & re.IGNORECASE)
        assert any_case == bool(pattern._any_case), pattern.pattern
        if any_case:
            assert all(
                need == need.lower() and (need.isascii() or need.upper() == need)
                for need in pattern.needs
            ), pattern.needs
        parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        assert _always_has(parsed, pattern.needs, any_case), (pattern.pattern, pattern.needs)


def test_a_pattern_with_needs_does_what_the_compiled_one_does():
    needy, compiled = (make(r"(a)b", re.IGNORECASE) for make in (_needy, re.compile))
    for text in ("", "xaBy ab", "xy", "\u017fab"):
        assert needy.sub("-", text) == compiled.sub("-", text)
        assert needy.subn("-", text) == compiled.subn("-", text)
        assert needy.split(text) == compiled.split(text)
        assert needy.findall(text, 2) == compiled.findall(text, 2)
        assert [m.span() for m in needy.finditer(text)] == [
            m.span() for m in compiled.finditer(text)
        ]
        for method in ("search", "match", "fullmatch"):
            ours, theirs = (getattr(one, method)(text) for one in (needy, compiled))
            assert (ours and ours.span()) == (theirs and theirs.span())


def _needy(text: str, flags: int) -> re.Pattern[str]:
    return lazy_pattern(text, flags, needs="ab")


def test_a_pattern_has_a_twin_only_where_capital_letters_make_no_difference():
    twins = [pattern for pattern in _patterns() if getattr(pattern, "has_twin", bool)()]
    assert len(twins) > 100
    for pattern in twins:
        parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        assert all(map(_is_blind_to_case, _characters(parsed))), pattern.pattern


def _characters(parsed) -> Iterator[tuple[int, int]]:
    """Yield the first and last character of all that a parsed pattern names."""
    if isinstance(parsed, parser.SubPattern | list | tuple):
        if len(parsed) == 2 and parsed[0] in (kinds.LITERAL, kinds.NOT_LITERAL):
            yield parsed[1], parsed[1]
        elif len(parsed) == 2 and parsed[0] is kinds.RANGE:
            yield parsed[1]
        else:
            for part in parsed:
                yield from _characters(part)


def _is_blind_to_case(span: tuple[int, int]) -> bool:
    """Return True if a span of characters has no capital letter, nor one beyond ASCII that is another case of one in it."""
    low, high = span
    return not any(low <= code <= high for code in (*range(65, 91), 0x130, 0x131, 0x17F, 0x212A))


def test_a_search_by_a_twin_finds_what_the_pattern_finds():
    words = "|".join(f"word{letter}+" for letter in "abcdefghijklmnop")
    made, compiled = (
        make(rf"(?<!no )\b(?:{words})\b", re.I) for make in (lazy_pattern, re.compile)
    )
    assert made.has_twin()
    for text in (
        "", "a WordA", "no worda but WORDBB", "wordaa", "\u017f worDa", "xworda", "3 × 4, É WordB", "éworda",
    ):  # fmt: skip
        ours, theirs = made.search(text), compiled.search(text)
        assert (ours and (ours.span(), ours[0])) == (theirs and (theirs.span(), theirs[0]))
        ours, theirs = made.search(text, 3), compiled.search(text, 3)
        assert (ours and (ours.span(), ours[0])) == (theirs and (theirs.span(), theirs[0]))


def test_folding_knows_every_letter_that_stands_for_an_ascii_one():
    every = "".join(map(chr, range(128, 0x11000)))
    for letter in "abcdefghijklmnopqrstuvwxyz":
        for other in re.findall(letter, every, re.IGNORECASE):
            assert folded(other) == letter


def test_folding_keeps_the_class_of_every_character_and_the_places_of_all():
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        one, other = chr(code), folded.__wrapped__(chr(code))
        assert len(other) == 1
        assert (one.isalnum(), one.isdecimal(), one.isspace()) == (
            other.isalnum(),
            other.isdecimal(),
            other.isspace(),
        )


def test_no_module_compiles_its_patterns_at_import():
    for path in Path(package.__path__[0]).glob("*.py"):
        if path.name != "patterns.py":
            assert "re.compile(" not in path.read_text(), path.name


def test_an_unknown_attribute_is_an_error():
    with pytest.raises(AttributeError):
        _ = lazy_pattern("a").unknown
