"""Finds the expression whose value a question asks for, and the value that a line gives it: "so x + y = 5".

Only expressions of several signs are looked for ("Find x + y", "the value of $a^2+b^2$"); names such as x or
f(2) are read as labels (`labels.py`). Not covered: the same expression written in another order.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.patterns import lazy_pattern

_MOST_CHARS = 4000
_ASKS = lazy_pattern(
    r"\b(?:find|compute|calculate|determine|evaluate|what is|what's|value of|give|what does)\s+(?:the (?:exact |numerical )?value of\s+)?"
    r"(?:\$+([^$]{2,60})\$+|\\\((.{2,60}?)\\\)|([^\s$?.;:,][^$?;:,]{1,50}?)(?=\s+(?:if|when|given|where|for|such|is|in|as|assuming|provided|knowing|and)\b|\s*[.?,;:]|\s*$))",
    re.IGNORECASE,
    needs="calculate|compute|determine|evaluate|find|give|value of|what does|what is|what's",
)
_SIGN = lazy_pattern(r"[-+*/^|]|\\(?:frac|sqrt|cdot|overline)|(?<=[\da-z])(?=[a-z])")
_WORDS = lazy_pattern(r"(?<!\\)(?<![A-Za-z])[A-Za-z]{3,}")
_END = lazy_pattern(
    r"[.;!](?=\s|$)|,\s|\s(?:which|as|because|since|and so|so|when|where|for)\b|\n",
    needs="\n|!|,|.|;|as|because|for|since|so|when|where|which",
)

_LEAD_END = lazy_pattern(
    r"[.;!](?=\s)|\n|\\implies|\\Rightarrow", needs="\n|!|.|;|\\Rightarrow|\\implies"
)
_DOUBTS = lazy_pattern(
    r"\b(?:if|suppose\w*|supposing|assum\w+|let|not|never|maybe|perhaps|possibly|might|may|could|would|should|check\w*|verify|when|guess\w*|"
    r"unless|wrong\w*|incorrect\w*|whether|try|can't|cannot|isn't|doubt\w*)\b",
    re.IGNORECASE,
)


_BRACED = lazy_pattern(r"\{(\w)\}", needs="{")


def _braceless(line: str) -> str:
    return _BRACED.sub(r"\1", clean(line))


@lru_cache(maxsize=4096)
def targets_of(question: str) -> tuple[str, ...]:
    """The expressions that a question asks for, without spaces; those of one name left out."""
    found: list[str] = []
    for match in _ASKS.finditer(question[:_MOST_CHARS]):
        text = clean(match[1] or match[2] or match[3])
        if "=" in text or _WORDS.search(text) or not re.search("[A-Za-z]", text):
            continue
        if _SIGN.search(text):
            found.append(_BRACED.sub(r"\1", re.sub(r"\s", "", text)))
    return tuple(dict.fromkeys(found))


def value_of_target(line: str, question: str) -> str | None:
    """The text behind "x + y =" up to the end of its clause, where the question asks for x + y; None if the line
    gives that expression no value, or the line goes on behind it."""
    targets = targets_of(question) if question and "=" in line else ()
    if not targets:
        return None
    shown = _braceless(re.sub(r"\$\$?|\*\*|\\[()\[\]]", " ", line[-_MOST_CHARS:]))
    for target in targets:
        pattern = r"\s*".join(map(re.escape, target))
        matches = list(
            re.finditer(rf"(?<![\w^)}}*/+\-])(?<!\d )(?<![-+*/^] ){pattern}\s*=(?!=)\s*", shown)
        )
        if not matches:
            continue
        lead = _LEAD_END.split(shown[: matches[-1].start()])[-1]
        if _DOUBTS.search(lead):
            return None
        value = shown[matches[-1].end() :]
        end = _END.search(value)
        if end is None:
            return value.strip() or None
    return None
