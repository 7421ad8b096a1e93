"""Removes the words around an answer from a reply: a source, a closing, a box, the mark of a list item, a time of day.

Each is a closed form, in which no second candidate can stand.
"""

from __future__ import annotations

import re

_SOURCE = re.compile(
    r"^\W{0,4}(?:based\s+on|according\s+to|as\s+(?:stated|given|said)\s+in|going\s+by)\s+(?:the|these|this|your)\s+"
    r"(?:(?:provided|given|above|supplied|retrieved|search)\s+)?"
    r"(?:documents?|sources?|articles?|passages?|texts?|context|information|pages?|results?|evidence|paragraphs?"
    r"|excerpts?|snippets?|facts?|quotes?)(?:\s+(?:provided|given|above|supplied))?\s*,\s+",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!\n][*_]{0,2}\s*[a-zA-Z]")
_ASKS_BACK = (
    r"(?:(?:any(?:thing)?|more|other|further|else|additional|questions?|help|information|details?|assistance|to|know"
    r"|ask|about|this|that|it|the|me|topic|you|need|have|want|if|like|would|with)\b[\s,]*){0,14}"
)
_CLOSING = re.compile(
    r"(?:(?<=[.!\n])|(?<=[.!][*_]{2}))\s*(?:please\s+)?(?:let\s+me\s+know\s+if\s+you(?:'d|\s+would)?\s+(?:need|have|want|like)\s+"
    rf"{_ASKS_BACK}|(?:i\s+)?hope\s+(?:this|that|it)\s+(?:helps|is\s+helpful)|(?:please\s+)?feel\s+free\s+to\s+ask\s*{_ASKS_BACK}"
    rf"|is\s+there\s+anything\s+else\s+{_ASKS_BACK}|(?:i\s+am|i'm)?\s*happy\s+to\s+help|have\s+a\s+(?:nice|great|good)\s+day)"
    r"\s*[.!?]*\s*$",
    re.IGNORECASE,
)
_BOX = re.compile(r"\$*\\boxed\s?\{((?:[^{}\\]|\\[%$&#_ ]|\\text\{[^{}]*\})*)\}\$*")
_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\{([^{}]*)\}")
_ITEM = re.compile(r"^\s*(?:1[.)]|[-•])\s+(?=[^\W\d])")
_TIME = re.compile(
    r"(?<=\d)(?:t|,?\s+(?:at\s+)?)(?:\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?)"
    r"(?:\s?\(?(?:utc|gmt|z|[ecmp][sd]?t|local\s+time)\b\)?)?(?=\W*$)",
    re.IGNORECASE,
)


def without_courtesies(answer: str) -> str:
    """Return `answer` without "Based on the documents," before it and "Let me know if you need anything else!"
    behind it."""
    if len(answer) > 2_000 or " " not in answer:
        return answer
    source = _SOURCE.match(answer)
    answer = answer[source.end() :] if source else answer
    if not _SENTENCE_END.search(answer):
        return answer
    for _ in range(3):
        shorter = _CLOSING.sub("", answer)
        if shorter == answer or not shorter.strip():
            break
        answer = shorter
    return answer


def unboxed(text: str) -> str:
    r"""Return `text` with each `\boxed{}` replaced by its content; only the content, if the last line is a box."""
    if "\\boxed" not in text:
        return text
    lines = text.strip().splitlines()
    last = _BOX.fullmatch(lines[-1].strip().rstrip(".").strip("*_ ")) if lines else None
    if last and len(set(_BOX.findall(text))) == 1:
        return _TEXT.sub(r"\1", last[1])
    return _BOX.sub(lambda box: _TEXT.sub(r"\1", box[1]), text)


_FORMULA = re.compile(r"\$\$?([^$\n]{1,200})\$\$?|\\\(([^\n]{1,200}?)\\\)")
_SUBSCRIPT = re.compile(r"(?<=[A-Za-z)])_(?:\{(\d+)\}|(\d))")


def without_formula(text: str) -> str:
    r"""Return `text` with what is all of it in dollar signs as plain text: `$\text{W}$` is W, `$CO_2$` is CO2."""
    found = _FORMULA.fullmatch(text.strip().rstrip(".")) if "$" in text or "\\(" in text else None
    if found is None:
        return text
    body = _TEXT.sub(r"\1", (found[1] or found[2]).strip())
    return _SUBSCRIPT.sub(lambda low: low[1] or low[2], body)


def without_item_mark(answer: str, prompt: str) -> str:
    """Return `answer` without the mark of a list of one item ("1. Paris"), unless the prompt has such a list."""
    if "\n" in answer.strip() or re.search(r"(?<!\w)1[.)]", prompt[:20_000]):
        return answer
    return _ITEM.sub("", answer)


def without_time(answer: str, prompt: str) -> str:
    """Return a date without the time of day behind it, unless the question asks for a time."""
    asks = "time" in prompt[:20_000].lower() or "hour" in prompt[:20_000].lower()
    return answer if asks or len(answer) > 2_000 else _TIME.sub("", answer)
