"""References in several parts, "(a) 4; (b) -6", "perimeter 36, area 54", "16 at x = 2": each is judged alone.

A reply is right if it has an answer under each label, or as many values in the order of the reference,
and all are right. One part of several is not an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from verigym.reply import spoken
from verigym.verifiers.math.patterns import lazy_pattern

_LETTERS = lazy_pattern(
    r"(?<![\w)}\\^_])\(?\b([a-h]|i{1,3}|iv|vi{0,3}|[1-8])\)(?=[\s:.*$\\-]|\d)", needs=")"
)
_ORDERS = (tuple("abcdefgh"), ("i", "ii", "iii", "iv", "v", "vi", "vii"), tuple("12345678"))
_PLAIN = lazy_pattern(r"\\(?:text|mathrm|mbox|textbf)\{([^{}]*)\}", needs="\\")
_NAMED = lazy_pattern(
    r"(?:the )?(?P<name>[A-Za-z]{3,20}(?: [a-z]{2,20}){0,2}?)(?: is| of|:| ?=)? ?(?P<value>(?:[-+$€£(√π]|\d|\\(?!text)|[a-z] ?[-+^*/]).*)",
    re.DOTALL,
)
_SEPARATED = lazy_pattern(r"\s*(?:[,;]\s*(?:and\s+)?|\s+and\s+|\n)\s*", needs="\n|,|;|and")
_PLACED = lazy_pattern(
    r"(?P<value>\S.{0,60}?),? (?:at|when|for|where) (?P<place>\$?[a-z]\$? ?= ?\S.{0,30})",
    re.DOTALL,
    needs="at|for|when|where",
)
_ASKS_PLACE = lazy_pattern(
    r"\b(?:where|at which|when|for (?:what|which)|attain|occur)", re.IGNORECASE
)
_STATED_PLACE = lazy_pattern(
    r"(?:,|\bis|\band(?: it| this)? is|\bwhich is|\boccurs|\bwhich occurs)?\s*"
    r"(?:attained|reached|achieved|assumed|taken|occurring|located)?[\s,]*"
    r"\b(?:at|when|for|where)\s+\$?(?P<place>[a-z]\$?\s*=\s*[^,.;\n$)]{1,30})",
)
_STATES = lazy_pattern(
    r"\W{0,4}(?:is|are|was|equals?|=|:|of|at|to be|comes to|will be|must be|would be|gets?|got|receives?|received|has|have|had|pays?|paid|owes?|earns?|earned|takes?|took|keeps?|\$|€|£|\d|-|\\\(|\\\[|√|π|\\(?:frac|sqrt|boxed))"
)
_LEADS = lazy_pattern(
    r"[^\w(\[€£]{0,4}(?:is|are|was|equals?|of|to be|comes to|will be|must be|would be|gets?|got|receives?|received|has|have|had|pays?|paid|owes?|earns?|earned|takes?|took|keeps?)?(?:\s*(?:located |the point |at ){1,3})?[\s:=*]*"
)
_TRAILS = lazy_pattern(r"(?:[\s,;*]|\b(?:and|the|its|with|while|whereas|has|a|whose))+$")
_CAPTION = lazy_pattern(r"[A-Za-z ,']{3,60}:\s+(?=\S)")
_REMARK = lazy_pattern(r"\s*\((?:[a-z]+ ){1,3}[^()]{1,40}\)\s*[.]?$", needs="(")
_GIVEN = lazy_pattern(
    r"(?P<value>[$€£]?\d[\d.,/]*(?: [a-z€]{1,12})?) (?:for|to|goes to) (?P<name>[A-Z][a-z]+)(?:,? and |[,;] |(?=[.*\s]*$))",
    needs="for|to",
)
_BOX = lazy_pattern(r"\\boxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", needs="\\boxed{")


@dataclass(frozen=True)
class Parts:
    """Labels of a reference and the answer under each; `kind` is `lettered`, `named` or `placed`."""

    kind: str
    labels: tuple[str, ...]
    values: tuple[str, ...]


@lru_cache(maxsize=4096)
def parts_of(gold: str, question: str) -> Parts | None:
    """Return the parts of a reference; None if it is one answer."""
    if len(gold) > 400:
        return None
    plain = " ".join(_PLAIN.sub(r" \1 ", gold).split())
    return _lettered(plain) or _named(plain, question) or _placed(plain, question)


def _lettered(text: str) -> Parts | None:
    marks = list(_LETTERS.finditer(text))
    labels = tuple(mark[1] for mark in marks)
    if len(marks) < 2 or marks[0].start() > 2:
        return None
    if not any(labels == order[: len(labels)] for order in _ORDERS):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    values = [text[m.end() : end].strip(" ;,:.") for m, end in zip(marks, ends, strict=True)]
    return Parts("lettered", labels, tuple(values)) if all(values) else None


_CIRCLE = lazy_pattern(
    r"(?:cent(?:er|re)\s?[:=]?\s?)?(?P<center>\([^()]*\))\s?[,;]?\s?(?:and )?(?:the )?(?:radius|r)\s?[:=]?\s?(?P<radius>\S.*)",
    re.IGNORECASE,
)
_ASKS_CIRCLE = lazy_pattern(
    r"\bcent(?:er|re) and (?:the |its )?radius\b|\bradius and (?:the |its )?cent(?:er|re)\b",
    re.IGNORECASE,
    needs="cent|radius and ",
)
_QUOTIENT = lazy_pattern(
    r"(?:quotient:?\s*)?(?P<quotient>-?\d+),? ?(?:[Rr]|rem\.?|remainder|with (?:a )?remainder(?: of)?):? ?(?P<remainder>\d+)"
)
_ASKS_QUOTIENT = lazy_pattern(
    r"\bquotient and (?:the )?remainder\b", re.IGNORECASE, needs="quotient and "
)


def _named(text: str, question: str) -> Parts | None:
    divided = _QUOTIENT.fullmatch(text) if _ASKS_QUOTIENT.search(question) else None
    if divided is not None:
        return Parts(
            "named", ("quotient", "remainder"), (divided["quotient"], divided["remainder"])
        )
    circle = _CIRCLE.fullmatch(text) if _ASKS_CIRCLE.search(question) else None
    if circle is not None:
        return Parts("named", ("center", "radius"), (circle["center"], circle["radius"]))
    found = [_NAMED.fullmatch(part) for part in _SEPARATED.split(text)]
    matches = [match for match in found if match]
    if len(matches) < 2 or len(matches) != len(found):
        return None
    names = tuple(match["name"].lower() for match in matches)
    asked = question.lower()
    if len(set(names)) < len(names) or not all(name in asked for name in names):
        return None
    return Parts("named", names, tuple(match["value"].strip() for match in matches))


def _placed(text: str, question: str) -> Parts | None:
    match = _PLACED.fullmatch(text)
    if match is None or not _ASKS_PLACE.search(question) or "=" in match["value"]:
        return None
    return Parts("placed", ("value", "place"), (match["value"].strip(), match["place"].strip()))


def stretches(parts: Parts, reply: str) -> list[str] | None:
    """Return the stretch of a reply that answers each part; None if it does not tell them apart.

    `reply` is without thoughts. A box, or the words after the last of one, that hold every label count
    before the rest.
    """
    boxes = [match[1] for match in _BOX.finditer(reply)]
    for text in (*reversed(boxes), reply):
        plain = _PLAIN.sub(r" \1 ", text)
        found = _under_labels(parts, plain)
        if found is not None:
            return found
    return None


def _pattern(name: str) -> str:
    """The pattern of a name, in both spellings of "center"."""
    return re.escape(name).replace("center", "cent(?:er(?:ed)?|red?)")


def _under_labels(parts: Parts, text: str) -> list[str] | None:
    if parts.kind == "placed":
        matches = list(_STATED_PLACE.finditer(text))
        if not matches:
            return None
        sentence = re.split(r"(?<=[a-z\d$)])[.!]\s+|\n", text[: matches[-1].start()])[-1]
        return [sentence.strip(" ,"), matches[-1]["place"].replace("$", "").strip()]
    if parts.kind == "lettered":
        marks = {mark[1]: mark for mark in _LETTERS.finditer(text) if mark[1] in parts.labels}
    else:
        lowered = text.lower()
        marks = {}
        for name in parts.labels:
            for mark in re.finditer(rf"\b{_pattern(name)}\b", lowered):
                if _STATES.match(lowered, mark.end()):
                    marks[name] = mark
    if len(marks) < len(parts.labels):
        return _given_to(parts, text) if parts.kind == "named" else None
    ordered = sorted(marks.items(), key=lambda item: item[1].start())
    ends = [mark.start() for _, mark in ordered[1:]] + [len(text)]
    under = {
        label: _TRAILS.sub("", text[mark.end() : end])
        for (label, mark), end in zip(ordered, ends, strict=True)
    }
    if parts.kind == "named":
        under = {label: text[_after(text)] for label, text in under.items()}
    return [_value_in(under[label]) for label in parts.labels]


def _given_to(parts: Parts, text: str) -> list[str] | None:
    """Return the values of "25 for Tom, 20 for Mia"; None for another text."""
    found = {match["name"].lower(): match["value"] for match in _GIVEN.finditer(text)}
    rest = _GIVEN.sub("", text).strip(" .;*")
    if rest or set(found) != set(parts.labels):
        return None
    return [found[label] for label in parts.labels]


def _value_in(text: str) -> str:
    """Return a stretch without marks of emphasis, a caption ("Vertex form:") and a closing remark."""
    text = text.replace("**", "").strip()
    text = _REMARK.sub("", text)
    caption = _CAPTION.match(text)
    return text[caption.end() :] if caption else text


def _after(text: str) -> slice:
    lead = _LEADS.match(text)
    return slice(lead.end() if lead else 0, None)


def in_order(parts: Parts, answer: str) -> list[str] | None:
    """Return the values of an answer without labels, as many as there are parts; None otherwise.

    A value may carry a name of its own, "a_6 = 96", unless it is the initial of another part.
    """
    if parts.kind == "placed":
        return None
    divided = (
        _QUOTIENT.fullmatch(answer.strip(" ."))
        if parts.labels == ("quotient", "remainder")
        else None
    )
    if divided is not None:
        return [divided["quotient"], divided["remainder"]]
    values = [value for value in _top_level(answer) if value]
    if len(values) != len(parts.labels):
        return None
    if parts.kind == "named":
        initials = [label[0] for label in parts.labels]
        for value, own in zip(values, initials, strict=True):
            name = re.match(r"\$?([A-Za-z])\b\s*=", value)
            if name and name[1].lower() != own and name[1].lower() in initials:
                return None
    return values


def _top_level(text: str) -> list[str]:
    """Split at commas, semicolons, line ends and "and" outside of brackets."""
    text = re.sub(r"\\(?:[ ,;!:()\[\]]|q?quad)", " ", text)
    out, depth, start = [], 0, 0
    for match in re.finditer(r"[(\[{]|[)\]}]|[,;\n]|\\\\|\band\b", text):
        mark = match[0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif depth == 0:
            out.append(text[start : match.start()].strip(" $\\"))
            start = match.end()
    out.append(text[start:].strip(" $"))
    return out


_SIDES = lazy_pattern(
    r"\$?(?P<one>\d[\d.]*)\s*(?P<unit>[a-z]{1,6})?\$?\s*(?:×|\\times|x|by)\s*\$?(?P<two>\d[\d.]*)\s*(?P<unit2>[a-z]{1,6})?\$?"
)
_ASKS_SIDES = lazy_pattern(
    r"\bdimensions?\b|\blength and (?:the )?width\b|\bwidth and (?:the )?length\b",
    re.IGNORECASE,
    needs="dimension|length and |width and ",
)
_SIDE_NAMES = lazy_pattern(
    r"(?:the |its )*(?P<name>width|length|height|breadth|wide|long|tall)\b(?: is| of|:| =)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def sides_of(gold: str, question: str) -> str | None:
    """Return "8 cm × 12 cm" as the list "8 cm, 12 cm" if the question asks for dimensions; else None."""
    if not _ASKS_SIDES.search(question):
        return None
    match = _SIDES.fullmatch(" ".join(_PLAIN.sub(r" \1 ", gold).split()))
    if match is None or match["unit"] != match["unit2"]:
        return None
    unit = f" {match['unit']}" if match["unit"] else ""
    return f"{match['one']}{unit}, {match['two']}{unit}"


def sides_in(answer: str, reply: str = "") -> str:
    """Return an answer that gives dimensions as a list: "8 cm by 12 cm", "width 8 cm, length 12 cm".

    If it holds one side alone, the last sentence of the `reply` is read in its place.
    """
    found = _side_list(answer)
    if "," in found or not reply:
        return found
    sentences = re.split(r"(?<=[a-z\d$)])[.!]\s+|\n", spoken(reply).strip())
    return _side_list(sentences[-1]) if len(sentences[-1]) < 200 else found


def _side_list(text: str) -> str:
    plain = _SIDE_NAMES.sub(" ", _PLAIN.sub(r" \1 ", text))
    plain = re.sub(r"\s*(?:×|\\times|(?<=[\da-z])\s+x\s+|\bby\b|,?\s*\band\b)\s*", ", ", plain)
    return " ".join(plain.split()).strip(" .")
