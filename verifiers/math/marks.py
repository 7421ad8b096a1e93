"""Takes marks of Markdown, arrows, ticks and ends of proofs off an answer: "> **12**", "=> 12", "12 ∎"."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_ARROW = (
    r"(?:[=\-–—~]{1,3}>+|[→⇒⟹➜➔➡⟶∴▶►✅✔☑✓👉🎯💡⭐●▪•◦◆■🔹]\ufe0f?"
    r"|\\(?:therefore|Rightarrow|Longrightarrow|implies|to|rightarrow|longrightarrow)(?![A-Za-z]))"
)
_LEAD = lazy_pattern(rf"((?:\$\$?|\\\(|\\\[)?)\s*{_ARROW}\s*")
_QUOTE = lazy_pattern(r">{1,3}\s+|>{1,3}(?=[*_`$])", needs=">")
_HEADING = lazy_pattern(r"#{1,6}\s+|[-+*]\s+(?=\*\*|\$|\\boxed)")
_END = lazy_pattern(
    r"\s*(?:[∎■□✓✔✅☑🎉▢◻⬛]\ufe0f?|\$?\\(?:blacksquare|square|qed|Box|checkmark)\$?|(?<=[\s.])Q\.?E\.?D\.?)\s*\.?$",
    needs="Q|\\|∎|■|□|▢|◻|☑|✅|✓|✔|⬛|🎉",
)
_BOLD = lazy_pattern(r"(?<![\w)*])(\*{1,3})(?=[^\s*])([^*\n]{1,120}?)(?<=[^\s*])\1!?(?![\w(*])")
_HTML = lazy_pattern(r"</?(?:b|strong|i|em|p|br|span|code|div|u|center|h[1-6])(?:\s[^<>=]{1,40}=[^<>]{0,80})?\s?/?>", re.IGNORECASE, needs=">")  # fmt: skip
_MAX_MARKS = 12
"""Marks that are taken off at each end."""
_ROW = lazy_pattern(
    r"\|[^|]*\b(?:answer|result|total|solution|value|sum)\b[^|]*\|\s*([^|]+?)\s*\|",
    re.IGNORECASE,
    needs="answer|result|solution|sum|total|value",
)
_SAID = lazy_pattern(
    r"(?:result|solution|value|final(?: result| value)?|output|conclusion|total|therefore|thus|hence|so)\W{0,3}?[:=]\W{0,3}?(?=[\s\d$\\`(-])",
    re.IGNORECASE,
    needs=":|=",
)


def unmarked(text: str) -> str:
    """`text` without the marks around it that say nothing of the answer."""
    if text.isalnum():
        return text
    if "<" in text:
        text = _HTML.sub("", text)
    if "*" in text:
        heading = _HEADING.match(text)
        text = text[heading.end() :] if heading else text
        text = _BOLD.sub(r"\2", text)
        if text.count("**") == 1:
            text = re.sub(r"(?<=[^\s*])\*\*(?=[\s.,;:!)]|$)", "", text)
    text = text.strip()
    if _is_bare(text):
        return text
    for _ in range(_MAX_MARKS):
        before = text
        text = text.strip()
        for pattern in (_QUOTE, _HEADING):
            match = pattern.match(text)
            if match:
                text = text[match.end() :]
        match = _LEAD.match(text)
        if match:
            text = match[1] + text[match.end() :]
        match = _END.search(text[-40:])
        if match and len(text) > len(match[0]):
            text = text[: len(text) - len(match[0])]
        if len(text) > 4 and text[:2] == text[-2:] in ("**", "__"):
            text = text[2:-2]
        if text == before:
            break
    return text


def _is_bare(text: str) -> bool:
    """Return True if a text begins with a letter or digit and ends with one that ends no mark."""
    last = text.rstrip(" .")[-1:]
    return text[:1].isalnum() and last.isalnum() and last != "D" and "\\" not in text[-40:]


def value_of_line(line: str) -> str:
    """A last line without its label: "Result: 12", "| Answer | 12 |"."""
    row = _ROW.fullmatch(line)
    if row:
        return row[1]
    said = _SAID.match(line)
    return line[said.end() :] if said and len(line) < 100 else line
