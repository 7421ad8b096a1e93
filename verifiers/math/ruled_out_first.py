"""Takes off the value that a sentence of another language rules out before its own: "no es 20 sino 15" is "es 15".

Only where numbers stand on both sides and the sentence ends behind the second, so that nothing turns it around again.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_FIRST = r"[$€£]?-?\d[^\s,;，；而]{0,30}(?: [^\W\d_]{1,12})?"
_SECOND = r"(?=[*$€£]{0,3}-?\d[\d.,/]*\$?(?: ?[^\W\d_]{1,14})?[*$%€]{0,3}\s*[.!。]?\s*(?:\n|$))"
_DENIALS = (
    (rf"\bno (es|son) {_FIRST},? sino (?:que (?:es|son) )?{_SECOND}", r"\1 "),
    (rf"\bn['’]est pas {_FIRST},? mais (?:bien )?{_SECOND}", "est "),
    (rf"\bnon è {_FIRST},? (?:ma|bensì) {_SECOND}", "è "),
    (rf"\bnão é {_FIRST},? mas (?:sim )?{_SECOND}", "é "),
    (rf"\b(ist|lautet|beträgt|sind) nicht {_FIRST},? sondern {_SECOND}", r"\1 "),
    (rf"\bis niet {_FIRST},? maar {_SECOND}", "is "),
    (rf"\bär inte {_FIRST},? utan {_SECOND}", "är "),
    (rf"不是 ?{_FIRST}[，,]? ?而是 ?{_SECOND}", "是"),
)
_PATTERNS = tuple((lazy_pattern(pattern, re.IGNORECASE), by) for pattern, by in _DENIALS)
_HINT = lazy_pattern(
    r"\b(?:sino|mais|ma|bensì|mas|sondern|maar|utan)\b|而是",
    needs="sino|mais|ma|bensì|mas|sondern|maar|utan|而是",
)
_DOUBTS = lazy_pattern(
    r"\b(?:si|quizás?|acaso|tal vez|dud\w*|cierto|verdad|peut-être|vrai|doute\w*|forse|vero|se|talvez|verdade|vielleicht|wenn|falls|ob|wahr|nicht|misschien|als|waar|kanske|om|sant|niet|inte|no|non|pas|não|ni)\b|如果|也许|可能|或许|不|[?¿？]",
    re.IGNORECASE,
)
_SENTENCE = lazy_pattern(r"[.!。！\n]\s*")
_TAIL_CHARS = 400


def without_ruled_out(text: str) -> str:
    """`text` without what its last sentence rules out in front of its value."""
    start = max(0, len(text) - _TAIL_CHARS)
    end = text[start:]
    if _HINT.search(end) is None:
        return text
    for pattern, by in _PATTERNS:
        match = pattern.search(end)
        if match is None:
            continue
        before = _SENTENCE.split(end[: match.start()])[-1]
        if not _DOUBTS.search(before):
            end = end[: match.start()] + match.expand(by) + end[match.end() :]
    return text[:start] + end
