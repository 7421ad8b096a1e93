r"""Mends references that data sets damaged on the way, where what was meant is plain.

Covered: HTML entities and tags, `\n` written out, control characters that JSON made of `\f`, `\t`, `\b`,
`\r` and `\n` in front of a command, doubled backslashes, commands without their backslash (`frac{1}{2}`),
single dollar signs and delimiters of formulas, missing and surplus closing brackets at the end, lists and
quotes of Python around one value. A reference that is sound stays as it is.
"""

from __future__ import annotations

import html
import re

from verigym.verifiers.math.patterns import lazy_pattern

_CONTROL = lazy_pattern(
    r"\f(?=rac|orall)|\t(?=ext|imes|heta|an\b|o\b|au\b|riangle|frac|binom)|\x08(?=oxed|eta|inom|egin|ar\b|mod|ullet|ig|oldsymbol)"
    r"|\r(?=ight|angle|ho\b|floor|ceil|m\{)|\n(?=eq\b|e\b(?=\s*\d)|ot\b|u\b|abla|mid)|\x0b(?=ec|ert|arnothing)|\x07(?=lpha|pprox|ngle|rc)",
    needs="\u0007|\b|\t|\n|\u000b|\f|\r",
)
_LETTER = {"\f": "f", "\t": "t", "\x08": "b", "\r": "r", "\n": "n", "\x0b": "v", "\x07": "a"}
_NEWLINE = lazy_pattern(r"\\[nrt](?![a-zA-Z])|\\n(?=\d|$)|\\n\\n")
_ENTITY = lazy_pattern(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});", needs=";")
_TAG = lazy_pattern(r"</?(?:p|br|b|i|em|strong|span|div|sup|sub)\s?/?>", re.IGNORECASE, needs=">")
_SUPER = lazy_pattern(r"<sup>([^<>]{1,20})</sup>", re.IGNORECASE, needs="<sup>")
_DOUBLED = lazy_pattern(r"\\\\(?=[A-Za-z]{2,}|[{},;!%$])", needs="\\\\")
_BARE = lazy_pattern(
    r"(?<![\\A-Za-z])(d?frac|tfrac|sqrt|text|textbf|mathrm|mathbb|overline|boxed|binom|begin|end|left|right)(?=\s*[{(\[.|\d]|\s*\\[{}])"
    r"|(?<![\\A-Za-z])(frac)(?=\d\d)|(?<![\\%A-Za-z])(infty|leq|geq|neq|cdot)(?![A-Za-z({])"
)
_GLUED = lazy_pattern(r"(?<=\d)(sqrt|frac|pi)(?=\s*\{|\b)", needs="frac|pi|sqrt")
_PYTHON = lazy_pattern(
    r"\[\s*(['\"])([^'\"\[\],]{1,200})\1\s*\]|(['\"])([^'\"]{1,200})\3", needs="\"|'|["
)
_PAIRS = {"}": "{", ")": "(", "]": "["}
_CLOSING = {"{": "}", "(": ")", "[": "]"}


def mended(text: str) -> str:
    """`text`, a reference, as it was meant."""
    text = _CONTROL.sub(lambda match: f"\\{_LETTER[match[0]]}", text)
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", _SUPER.sub(r"^{\1}", text))
    text = text.strip()
    if "\\" in text:
        text = _without_doubled(text)
        if not text.endswith("\\\\"):
            text = text.removesuffix("\\").rstrip()
        text = _NEWLINE.sub(" ", text).strip()
    quoted = _PYTHON.fullmatch(text)
    if quoted:
        text = quoted[2] or quoted[4]
    if _BARE.search(text) or _GLUED.search(text):
        text = _GLUED.sub(r"\\\1", _BARE.sub(lambda match: f"\\{match[0]}", text))
    text = _without_lone_delimiters(text)
    return _balanced(text)


def _without_doubled(text: str) -> str:
    r"""`\\frac` as `\frac`; where even `\\begin` is doubled, so are all others."""
    if "\\\\begin" in text or "\\\\end" in text:
        return text.replace("\\\\", "\\")
    if "\\begin" in text:
        return text
    if "\\\\(" in text and "\\\\)" in text:
        text = text.replace("\\\\(", "\\(").replace("\\\\)", "\\)")
    return _DOUBLED.sub(lambda _: "\\", text)


def _without_lone_delimiters(text: str) -> str:
    unescaped = len(re.findall(r"(?<!\\)\$", text))
    if unescaped % 2:
        if text.endswith("$") and not text.endswith("\\$"):
            text = text.rstrip("$").rstrip()
        elif text.startswith("$") and not re.match(r"\$\s*-?\d[\d,]*(?:\.\d+)?$", text):
            text = text.lstrip("$").lstrip()
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        if (opening in text) != (closing in text):
            text = text.replace(opening, " ").replace(closing, " ").strip()
    return text


def _balanced(text: str) -> str:
    """`text` with the brackets closed that are open at its end, without surplus ones there.

    Half-open intervals stay: "(1, 2]" and "]1, 2[" are no mistakes.
    """
    if len(text) > 4000:
        return text
    open_ones: list[str] = []
    escaped = False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "{(":
            open_ones.append(char)
        elif char in "})":
            if open_ones and open_ones[-1] == _PAIRS[char]:
                open_ones.pop()
            elif char == "}" and at == len(text.rstrip()) - 1 and not open_ones:
                return text[:at].rstrip()
            else:
                return text
    if not open_ones or any(char in text for char in "[]"):
        return text if "{" not in open_ones else text + "}" * open_ones.count("{")
    closing = "".join(_CLOSING[char] for char in reversed(open_ones))
    if text.endswith("\\right") and closing == ")":
        return f"{text})"
    return text + closing
