"""Finds where a reply commits to an answer: boxes, answer tags, and phrases such as "the answer is"."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_COMMITMENTS = 50
_TAIL = 20_000
_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s*(\{)?")
_TAG = re.compile(
    r"<(answer|action|final_answer|final|solution)>(?:\s*<\1>)*(.*?)(?:</\1>|$)",
    re.IGNORECASE | re.DOTALL,
)
_IS = (
    r"[\s*_]{0,4}(?:is|are|=+>|-+>|[=:\u2192\u21d2\u279c]|equals|would be|should be|must be|becomes|turns out to be|works out to(?: be)?"
    r"|comes out (?:to be|as)|comes to)[\s*_]{0,4}(?:(?:indeed|therefore|thus|simply|exactly|clearly|just|option|choice) ){0,2}:?"
)
_PHRASE = re.compile(
    rf"(?:\b(?:the|my|our|final|correct|so)\s+(?:\w+\s+){{0,2}}?(?:answer|result|solution)s?(?:\s+(?:to|for|of)\s+(?:\w+\s+){{0,2}}?(?:\w+|\(\w\)))?{_IS}"
    rf"|\b(?:correct|right|best|only|valid|chosen)\s+(?:(?:answer|multiple)\s+)?(?:option|choice|letter){_IS}"
    r"|(?:^|\n|[.!*#>]\s*)\W{0,6}(?:final\s+)?(?:answer|ans)(?:\W{0,4}?\s*(?:=+>|-+>|[:=\u2192\u21d2\u279c])\**|\.(?=\s))|####"
    r"|^[ \t]{0,3}(?:#{1,6}[ \t]+|\*\*)(?:final\s+)?answer[ \t]{0,8}\**[ \t]{0,8}\n(?=\s*\S)"
    r"|\bI(?:'ll| will)? (?:answer|choose|pick|go with)\b:?|\b(?:we|I)(?:'ll| will)? (?:select|choose|pick) (?=(?:option |choice |answer )?\W{0,3}[A-J]\W{0,4}$))\s*",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(
    r"(?<!\d)\.(?=\s|$|\*)|(?<=\d)\.(?=\s|$|\*)|\n\s*\n|[!?](?=\s+[A-Z]|\s*$)|\.\s*</"
)


@dataclass(frozen=True, slots=True)
class Commitment:
    """A stretch of a reply that commits to the answer `text`."""

    start: int
    end: int
    text: str


def strong(text: str, how: str) -> list[Commitment]:
    """Boxes and answer tags, in order, the last `MAX_COMMITMENTS` of them."""
    found: list[Commitment] = []
    if how in ("auto", "boxed"):
        found += boxes(text)
    if how in ("auto", "tag"):
        for match in _TAG.finditer(text):
            inner = boxes(match[2])
            body = inner[-1].text if inner else match[2].strip()
            if inner:
                found = [one for one in found if not match.start() < one.start < match.end()]
            found.append(Commitment(match.start(), match.end(), body))
    found.sort(key=lambda one: one.start)
    return found[-MAX_COMMITMENTS:]


def boxes(text: str) -> list[Commitment]:
    """What stands in boxes, in order."""
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
    """Where the brace that opened before `at` closes; -1 where it does not."""
    depth = 1
    for match in re.finditer(r"\\.|[{}]", text[at : at + 20_000], re.DOTALL):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            return at + match.start()
    return -1


def phrases(text: str, start: int) -> list[Commitment]:
    """What follows "the answer is" and the like, in order."""
    found: list[Commitment] = []
    for match in _PHRASE.finditer(text, max(start, len(text) - _TAIL)):
        rest = text[match.end() : match.end() + 600]
        if re.match(
            r"\W{0,4}(?:not\b|unknown|unclear|below|above|as follows|the following|found|that\b|incorrect|wrong\b)",
            rest,
            re.IGNORECASE,
        ):
            continue
        body = sentence(rest)
        if body:
            found.append(Commitment(match.start(), match.end() + rest.find(body) + len(body), body))
    return found[-MAX_COMMITMENTS:]


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
