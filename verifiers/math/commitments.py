"""Finds where a reply commits to an answer: boxes, answer tags, and phrases such as "the answer is"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from verigym.reply import fenced
from verigym.verifiers.math.bullets import first_items
from verigym.verifiers.math.patterns import folded, lazy_pattern

MAX_COMMITMENTS = 50
_TAIL = 20_000
_BOX = lazy_pattern(r"\\(?:boxed|fbox|framebox)\s*(\{)?", needs="boxed|fbox|framebox")
_TAG = lazy_pattern(
    r"<(answer|action|final_answer|final|solution)>(?:\s*<\1>)*(.*?)(?:</\1>|$)",
    re.IGNORECASE | re.DOTALL,
    needs="<",
)
_INLINE = lazy_pattern(
    r"(?<!`)`\s*<(?:answer|action|final_answer|final|solution)>[^`\n]{0,200}`(?!`)", re.IGNORECASE
)
_IS = (
    r"[\s*_]{0,4}(?:is|are|=+>|-+>|[=:\u2192\u21d2\u279c]|equals|would be|should be|must be|becomes|turns out to be|works out to(?: be)?"
    r"|comes out (?:to be|as)|comes to)[\s*_]{0,4}(?:(?:indeed|therefore|thus|hence|then|simply|exactly|clearly|just|option|choice)(?:,? |(?=:|\n))){0,2}:?"
)
_PHRASE = lazy_pattern(
    rf"(?:\b(?:the|my|our|final|correct|so)\s+(?:\w+\s+){{0,2}}?(?:answer|result|solution)s?(?:\s+(?:to|for|of)\s+(?:\w+\s+){{0,2}}?(?:\w+|\(\w\)))?{_IS}"
    rf"|\b(?:correct|right|best|only|valid|chosen)\s+(?:(?:answer|multiple)\s+)?(?:option|choice|letter){_IS}"
    r"|(?:^|\n|[.!*#>]\s*)\W{0,6}(?:final\s+)?(?:answer|ans)(?:\W{0,4}?(?:\s[-\u2013\u2014]\s|\s*(?:=+>|-+>|[:=\u2192\u21d2\u279c])\**)|\.(?=\s))|####"
    r"|^[ \t]{0,3}(?:#{1,6}[ \t]+|\*\*)(?:final\s+)?answer[ \t]{0,8}\**[ \t]{0,8}\n(?=\s*\S)"
    r"|\bI(?:'ll| will)? (?:answer|choose|pick|go with)\b:?|\b(?:we|I)(?:'ll| will)? (?:select|choose|pick) (?=(?:option |choice |answer )?\W{0,3}[A-J]\W{0,4}$))\s*",
    re.IGNORECASE | re.MULTILINE,
)
_ANCHOR = lazy_pattern(r"####|ans|result|solution|option|choice|letter|choose|pick|go with|select")
"""One of these is in every match of `_PHRASE`, in lower case."""
_START = lazy_pattern(
    r"\b(?:the|my|our|final|correct|so|right|best|only|valid|chosen|i|we)\b|[.!*#>\n]|^",
    re.MULTILINE,
)
"""A match of `_PHRASE` starts at one of these, at most `_REACH` characters before its anchor."""
_REACH = 80
_NOT_MINE = lazy_pattern(
    r"\b(?:wrong|incorrect|false|naive|mistaken|tempting|initial|previous|rejected|alternative|intermediate)\b",
    re.IGNORECASE,
    needs="alternative|false|incorrect|initial|intermediate|mistaken|naive|previous|rejected|tempting|wrong",
)
_SENTENCE = lazy_pattern(
    r"(?<!\d)(?<!\bi\.e)(?<!\be\.g)(?<!\bapprox)\.(?=\s|$|\*)|(?<=\d)\.(?=\s|$|\*)|\n\s*\n|[!?](?=\s+[A-Z]|\s*$)|\.\s*</"
)


class Commitment(Struct, frozen=True):
    """A span of a reply that commits to the answer `text`.

    `shown`: it is a tag inside a fenced block or inline code, beside tags outside of them.
    """

    start: int
    end: int
    text: str
    shown: bool = False


def strong(text: str, how: str) -> list[Commitment]:
    """Boxes and answer tags, in order, the last `MAX_COMMITMENTS` of them."""
    found: list[Commitment] = []
    if how in ("auto", "boxed"):
        found += boxes(text)
    if how in ("auto", "tag"):
        tags = list(_TAG.finditer(text))
        shown = [_is_in_code(match, blocks) for match in tags] if (blocks := _code(text)) else []
        if all(shown):
            shown = []
        for k, match in enumerate(tags):
            inner = boxes(match[2])
            body = inner[-1].text if inner else match[2].strip()
            if inner:
                found = [one for one in found if not match.start() < one.start < match.end()]
            found.append(Commitment(match.start(), match.end(), body, bool(shown) and shown[k]))
    found.sort(key=lambda one: one.start)
    return found[-MAX_COMMITMENTS:]


def _code(text: str) -> list[tuple[int, int]]:
    """Return the spans of fenced blocks and of answer tags in inline code."""
    if "`" not in text and "~~~" not in text:
        return []
    spans = [(block.start, block.end) for block in fenced(text)]
    return sorted(spans + [match.span() for match in _INLINE.finditer(text)])


def _is_in_code(match: re.Match[str], blocks: list[tuple[int, int]]) -> bool:
    at = bisect_right(blocks, (match.start(), len(match.string)))
    return at > 0 and match.start() < blocks[at - 1][1]


def boxes(text: str) -> list[Commitment]:
    """Return the contents of boxes, in order."""
    found: list[Commitment] = []
    at = 0
    while True:
        match = _BOX.search(text, at)
        if match is None:
            return found
        if match[1] is None:
            bare = re.match(r"\s*([^\s$\\]+)", text[match.end() : match.end() + 60])
            if bare:
                found.append(
                    Commitment(match.start(), match.end() + bare.end(), bare[1].rstrip(".,"))
                )
            at = match.end()
            continue
        end = _closing(text, match.end())
        if end < 0:
            return found
        found.append(Commitment(match.start(), end + 1, text[match.end() : end].strip()))
        at = end + 1


def _closing(text: str, at: int) -> int:
    """Return the place of the brace that closes the one opened before `at`; -1 if there is none."""
    depth = 1
    for match in re.finditer(r"\\.|[{}]", text[at : at + 20_000], re.DOTALL):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            return at + match.start()
    return -1


def phrases(text: str, start: int) -> list[Commitment]:
    """Return the text behind "the answer is" and similar phrases, in order."""
    found: list[Commitment] = []
    for match in _phrases(text, max(start, len(text) - _TAIL)):
        rest = text[match.end() : match.end() + 600]
        if _NOT_MINE.search(match[0]):
            continue
        if re.match(
            r"\W{0,4}(?:not\b|unknown|unclear|below|above|as follows|the following|found|that\b|incorrect|wrong\b)",
            rest,
            re.IGNORECASE,
        ):
            continue
        # A list below "Answer:" is all of the answer.
        body = (first_items(rest) if "\n" in match[0].lstrip() else None) or sentence(rest)
        if body:
            found.append(
                Commitment(match.start(), match.end() + max(0, rest.find(body)) + len(body), body)
            )
    return found[-MAX_COMMITMENTS:]


def _phrases(text: str, start: int) -> Iterator[re.Match[str]]:
    """The matches of `_PHRASE`, which is tried at a few places alone: to search for it takes most of a verdict."""
    low = text.lower() if text.isascii() else folded(text)
    for anchor in _ANCHOR.finditer(low, start):
        if anchor.start() < start:
            continue
        for begin in _START.finditer(low, max(start, anchor.start() - _REACH), anchor.end()):
            match = _PHRASE.match(text, begin.start())
            if match is not None:
                yield match
                start = match.end()
                break


def sentence(rest: str) -> str:
    """`rest` to the end of its sentence; a display of its own after a colon counts as the sentence."""
    rest = rest.lstrip("* \t}")
    stripped = rest.lstrip()
    display = re.match(r"\s*(?:\$\$(.+?)\$\$|\\\[(.+?)\\\])", stripped, re.DOTALL)
    if display:
        return (display[1] or display[2]).strip()
    if rest.startswith("\n"):
        rest = stripped
    line = rest.split("\n", 1)[0] if "\\begin" not in rest.split("\n", 1)[0] else rest
    depth_free = _SENTENCE.search(line)
    body = line[: depth_free.start()] if depth_free else line
    return body.strip().strip("*").strip()
