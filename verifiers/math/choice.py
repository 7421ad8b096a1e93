"""Multiple choice: by letter, by the text of the option, or by both if they agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.words import complement

_OPTION = lazy_pattern(
    r"(?:(?<=\s)|^|(?<=\$)|(?<=\\)|(?<=\{))(?:\\?(?:textbf|text|mathrm|textrm|rm|bf)\s*\{?\s*)?"
    r"\(?\s*([A-J])\s*[).:]\)?\s*\}?\s*(?:\\\s|~|\\quad)*\s*"
)
_LETTER = r"[A-Ja-j]"
_BARE = lazy_pattern(
    rf"(?:option|choice|answer|statement)?\s*[:=]?\s*[(\[]?\s*({_LETTER})\s*[)\]]?\s*[.:]?"
)
_WITH_TEXT = lazy_pattern(
    r"(?:option|choice|answer)?\s*(?:\(\s*([A-J])\s*\)|\[([A-J])\]|([A-J])\s*[).:])\s*(?:[:.]|-(?=\s))?\s*(\S.*)",
    re.IGNORECASE,
    needs="(|)|.|:|[",
)
_BESIDE_TEXT = lazy_pattern(
    r"(?i:option |choice |answer )?\(?([A-J])\)?\*{0,2}(?:,? \((.{1,80})\)|, (.{1,80})| = (.{1,80}))",
    needs=" (| = |, ",
)
_LETTERS = r"([(\[]?[A-J][)\]]?(?: ?(?:,? (?:and|&) |[,;&+/] ?)[(\[]?[A-J][)\]]?){1,5})"
_LINK = r"(?:(?:so|thus|hence|therefore|then|only|it is|it's|it must be|that is|by elimination|we choose|we select|i choose)\b[, ]*){0,3}"
_THING = r"(?:option|choice|answer|statement|letter|alternative)"
_IS_RIGHT = rf"(?:is|works|holds|fits|must be|has to be)\b(?: the)?(?: only)?(?: one)?(?: (?:correct|right|true|best|valid))?(?: {_THING}| one)?"
_REASON = r"(?:,? (?:because|since|as|which)\b.{0,300})?"
_SENTENCE = lazy_pattern(
    rf"(?i:{_LINK}(?:the )?(?:correct |right |best )?(?:answer )?(?:{_THING} )?(?:is |must be )?)[(\[]?([A-J])[)\]]?(?i:(?: {_IS_RIGHT})?{_REASON})",
    needs="A|B|C|D|E|F|G|H|I|J",
)
_SENTENCE_WITH_TEXT = lazy_pattern(
    rf"(?i:{_LINK}(?:{_THING} ))[(\[]?([A-J])[)\].:]{{0,2}} *(\S.{{0,80}}?)(?i: is (?:the )?(?:only )?(?:correct|right|true|best)(?: {_THING}| one)?)",
    needs="A|B|C|D|E|F|G|H|I|J",
)
_MANY_RIGHT = lazy_pattern(
    rf"(?i:{_LINK}(?:the )?(?:correct |right |true )?(?:both |only )?(?:{_THING}s? )?(?:are |is )?(?:both |only )?){_LETTERS}(?i:(?: (?:only|alone))?(?: (?:are|is)(?: the)?(?: (?:both|only|all))?(?: (?:correct|right|true|valid))?(?: (?:{_THING}|one)s?)?)?)"
)
_NOT_OTHER = lazy_pattern(rf",? (?:and )?not (?:{_THING} )?\(?[A-J]\)?$", needs="not ")
_ANOTHER = lazy_pattern(
    rf"\b(?:or|so|but|not|no|nor|and)\b[, ]+(?:{_THING} |it's |it is )?\(?[A-J]\b",
    needs="and|but|no|or|so",
)
_MANY = lazy_pattern(
    rf"[(\[]?{_LETTER}[)\]]?(?:\s*(?:,|;|and|&|\+|\s)\s*[(\[]?{_LETTER}[)\]]?)+|[A-J]{{2,6}}"
)


_JOINED = lazy_pattern(r"\s*(?:,\s*and\b|[,;]|\band\b|&)\s*", needs=",|;|and|&")
_ARE = lazy_pattern(
    r"(?:(?:so|thus|hence|therefore),? )?(?:(?:only|both) )?(?:(?:the|those) [a-z ]{3,40} )?(?:are|is):? ",
    re.IGNORECASE,
    needs="are|is",
)
_LETTERED = lazy_pattern(
    r"\(?([A-J])(?:\)|[:.])?:? ?(?:\((.+)\)|(?<=[):.] )(\S.*))", needs="A|B|C|D|E|F|G|H|I|J"
)


def options_of(question: str) -> dict[str, str]:
    """The options in a question by letter; empty if there are not at least two in order."""
    found: dict[str, str] = {}
    marks = list(_OPTION.finditer(question))[:40]
    for match, following in zip(marks, [*marks[1:], None], strict=False):
        letter = match[1]
        if ord(letter) - ord("A") != len(found):
            if letter == "A":
                found = {}
            else:
                continue
        end = following.start() if following else len(question)
        found[letter] = clean(question[match.end() : end].strip().split("\n")[0].strip(" ,;"))
    return found if len(found) > 1 else {}


def letter_beside_text(answer: str) -> tuple[str, str] | None:
    """The letter and the text of "B (1/2)" and "Option B, 1/2"; None for other answers."""
    match = _BESIDE_TEXT.fullmatch(answer.strip(" .$*"))
    return None if match is None else (match[1], match[2] or match[3] or match[4])


def letters_by_text(
    answer: str, options: Mapping[str, str], same: Callable[[str, str], bool]
) -> str | None:
    """The letters of the options whose texts an answer lists, "14 and 38", each perhaps beside its letter; None if a
    part of the list is no option."""
    lead = _ARE.match(answer)
    parts = _JOINED.split(answer[lead.end() :] if lead is not None else answer)
    if len(parts) < 2 or all(len(part.strip("() .")) < 2 and part.isupper() for part in parts):
        return None
    found: set[str] = set()
    for part in parts:
        beside = _LETTERED.fullmatch(part)
        text = (beside[2] or beside[3]) if beside is not None else part
        alike = [letter for letter, option in options.items() if option == text.strip()]
        own = [
            letter
            for letter in alike or options
            if (beside is None or beside[1] == letter) and (alike or same(options[letter], text))
        ]
        if len(own) != 1:
            return None
        found.add(own[0])
    return "".join(sorted(found)) if len(found) > 1 else None


@lru_cache(maxsize=4096)
def letters_of(answer: str, several: bool) -> tuple[str, str] | None:
    """The letters that a cleaned answer chooses, sorted, and the text it adds; None if it is no choice.

    `several`: more than one letter may be chosen; "A or B" never is a choice.
    """
    text = answer.strip(" .{}$*")
    match = _BARE.fullmatch(text) or re.fullmatch(rf"(?i:option|choice)\s+\(?({_LETTER})\)?", text)
    match = match or re.fullmatch(
        r"(?i:the )?(?i:correct )?(?i:option|choice|answer)(?i: is)?:?\s*\(?([A-Ja-j])\)?\.?", text
    )
    if match:
        return match[1].upper(), ""
    text = _NOT_OTHER.sub("", text)
    if len(text) < 400 and not _ANOTHER.search(text):
        match = _SENTENCE.fullmatch(text)
        if match:
            return match[1], ""
        match = _SENTENCE_WITH_TEXT.fullmatch(text)
        if match:
            return match[1], match[2]
        said = complement(text)
        if said is not None and re.fullmatch(r"[a-j]", said):
            return said.upper(), ""
    if several and (listed := _MANY_RIGHT.fullmatch(answer.strip(" .{}$*"))) is not None:
        return "".join(sorted(set(re.findall(r"[A-J]", listed[1])))), ""
    if several and _MANY.fullmatch(text):
        shown = re.sub(r"\b(?:and)\b", " ", text)
        return "".join(sorted(set(re.findall(r"[A-J]", shown.upper())))), ""
    match = _WITH_TEXT.fullmatch(
        answer.strip(" .$*") if text.count("{") > text.count("}") else text
    )
    if match:
        return (match[1] or match[2] or match[3]).upper(), match[4].strip()
    return None
