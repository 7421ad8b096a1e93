"""Brings LaTeX, Unicode mathematics and plain text to one spelling that the lexer knows."""

from __future__ import annotations

import re
import unicodedata

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₖ", "0123456789+-=()nk", strict=True))
_FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5",
    "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8", "⅐": "1/7",
    "⅑": "1/9", "⅒": "1/10",
}  # fmt: skip
_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "×": "*", "✕": "*", "⋅": "*",
    "·": "*", "∙": "*", "•": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "√": "\\usqrt ", "∛": "\\ucbrt ",
    "π": "\\pi ", "∞": "\\infty ", "≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "≠": "!=", "±": "\\pm ",
    "∓": "\\mp ", "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ", "∅": "\\emptyset ", "Ø": "\\emptyset ",
    "ℝ": "\\RR ", "ℤ": "\\ZZ ", "ℕ": "\\NN ", "ℚ": "\\QQ ", "ℂ": "\\CC ", "°": "^\\circ ", "º": "^\\circ ",
    "˚": "^\\circ ", "≈": "\\approx ", "≡": "\\equiv ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⌈": "\\lceil ",
    "⌉": "\\rceil ", "⟨": "(", "⟩": ")", "〈": "(", "〉": ")", "∖": "\\setminus ", "…": "...", "⋯": "...",
    "“": '"', "”": '"', "’": "'", "‘": "'", "′": "'", "∨": " or ", "∧": " and ", "\u00a0": " ",
    "\u2009": "\\,", "\u202f": "\\,", "\u2061": "", "\u2062": "", "\u200b": "", "\ufeff": "", "ℓ": "l",
    "，": ",", "：": ":", "；": ";", "（": "(", "）": ")", "。": ".", "Ω": "\\Omega ", "ð": "",
    "℃": "^\\circ C", "℉": "^\\circ F", "‰": "\\permille ", "→": "\\to ", "⇒": "\\implies ",
    "∂": "\\partial ", "∠": "\\angle ", "¢": " cents ", "∑": "\\sum ", "∫": "\\int ", "∇": "\\nabla ", "∘": "\\circ ", "‖": "||", "∏": "\\prod ", "∣": "|", "µ": "\\mu ",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi",
}  # fmt: skip
_CHAR = {
    **_SIGNS,
    **{sign: f"\\frac{{{f.replace('/', '}{')}}}" for sign, f in _FRACTIONS.items()},
    **{sign: f"\\{name} " for sign, name in _GREEK.items()},
}
_TABLE = str.maketrans(_CHAR)
_SCRIPT = lazy_pattern(
    f"[{''.join(_SUPER)}]+|[{''.join(_SUB)}]+",
    needs="²|³|¹|ˣ|⁰|ⁱ|⁴|⁵|⁶|⁷|⁸|⁹|⁺|⁻|⁼|⁽|⁾|ⁿ|₀|₁|₂|₃|₄|₅|₆|₇|₈|₉|₊|₋|₌|₍|₎|ₖ|ₙ",
)

_COMMANDS = {
    **dict.fromkeys(names("left right big Big bigg Bigg bigl bigr Bigl Bigr displaystyle textstyle limits nolimits "
        "scriptstyle middle mathstrut tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge "
        "bfseries itshape rmfamily boldmath"),
        "",
    ),
    **dict.fromkeys(names("quad qquad hspace enspace thinspace hfill space nobreakspace newline"), " "),
    **dict.fromkeys(names("dfrac tfrac cfrac nicefrac sfrac flatfrac"), "\\frac"),
    **dict.fromkeys(names("dbinom tbinom"), "\\binom"),
    **dict.fromkeys(names("le leq leqslant leqq"), "<="),
    **dict.fromkeys(names("ge geq geqslant geqq"), ">="),
    **dict.fromkeys(names("ne neq"), "!="),
    **dict.fromkeys(names("cdot times ast bullet"), "*"),
    **dict.fromkeys(names("lvert rvert vert mid lVert rVert"), "|"),
    **dict.fromkeys(names("ldots dots cdots dotsc dotsb hdots"), "..."),
    **dict.fromkeys(names("lbrace"), "\\{"),
    **dict.fromkeys(names("rbrace"), "\\}"),
    **dict.fromkeys(names("lbrack"), "["),
    **dict.fromkeys(names("rbrack"), "]"),
    **dict.fromkeys(names("langle lparen"), "("),
    **dict.fromkeys(names("rangle rparen"), ")"),
    **dict.fromkeys(names("varnothing empty"), "\\emptyset "),
    **dict.fromkeys(names("backslash smallsetminus"), "\\setminus "),
    **dict.fromkeys(names("simeq doteq thickapprox approxeq"), "\\approx "),
    **dict.fromkeys(names("lor vee"), " or "),
    **dict.fromkeys(names("land wedge"), " and "),
    **dict.fromkeys(names("Re"), "Re"),
    "lt": "<", "gt": ">", "div": "/", "degree": "^\\circ ", "colon": ":", "R": "\\RR ", "Z": "\\ZZ ",
    "N": "\\NN ", "Q": "\\QQ ", "C": "\\CC ", "reals": "\\RR ", "varphi": "\\phi ", "varepsilon": "\\epsilon ",
    "vartheta": "\\theta ", "arctg": "\\arctan ", "tg": "\\tan ", "ctg": "\\cot ", "cosec": "\\csc ",
    "sh": "\\sinh ", "ch": "\\cosh ", "prime": "'", "lg": "\\lg ", "bigcup": "\\cup ", "land ": " and ",
    "euro": "€", "top": "T ", "intercal": "T ", "pounds": "£", "textdollar": "\\dollar ", "textdegree": "^\\circ ", "percent": "%",
}  # fmt: skip
_WRAPPERS = names(
    "text textbf textit textrm textsf texttt textnormal mathrm mathbf mathit mathsf mathtt mathcal "
    "boldsymbol bm bf operatorname mbox hbox emph underline rm it mathbin mathrel boxed fbox ensuremath "
    "mathop mathfrak vec hat overrightarrow widehat boldmath"
)
_COMMAND = lazy_pattern(r"\\([A-Za-z]+)\*?")
_BLACKBOARD = lazy_pattern(
    r"\\(?:mathbb|Bbb|mathds|mathbf)\s*(?:\{\s*([RZNQC])\s*\}|([RZNQC])\b)(?=(\^?))",
    needs="Bbb|mathbb|mathbf|mathds",
)
_DIGIT_COMMA = lazy_pattern(
    r"(?<=\d)(?:\{,\}|,\\!|\\!,|,\{\}|\{\\,\}|\\[,:;]|'(?=\d{3}))\s*(?=\d{3}(?!\d))"
)
# 3{,}5, and 1.234,5 with its thousands apart.
_DECIMAL_COMMA = lazy_pattern(
    r"(?<=\d)\{,\}(?=\d)|(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d,])", needs=".|{,}"
)
_PHANTOM = lazy_pattern(
    r"\\(?:[hv]?phantom|[hv]space|label|tag)\*?\s*\{[^{}]*\}", needs="label|phantom|space|tag"
)
_COMBINATIONS = lazy_pattern(
    r"(?:\{\}|(?<![\w}^]))[\^_]\s*\{?(\w{1,9})\}?\s*(?:\\(?:mathrm|mathbf|text)\s*\{\s*C\s*\}|C)\s*_\s*\{?(\w{1,9})\}?",
    needs="_",
)
_NO_BRACKET = lazy_pattern(
    r"\\(?:left|right|bigl|bigr|big|Big)\s*\.(?!\d)", needs="Big|big|left|right"
)
_COLOUR = lazy_pattern(r"\\(?:text)?color\s*(?:\[\w+\])?\{[\w!]+\}", needs="color")
_UNDERSCORED = lazy_pattern(r"(?<![\w.])\d{1,3}(?:_\d{3})+(?![\w{])")
_MATRIX = lazy_pattern(r"\\(begin|end)\s*\{([pbBvV]?)(?:small)?matrix\*?\}(?:\[[rlc]\])?")
_PERMUTATIONS = lazy_pattern(
    r"(?:(?:\{\}\s*)?_\s*\{?(\d{1,4})\}?\s*P\s*_\s*\{?(\d{1,4})\}?|(?<![A-Za-z\\])(?:P|nPr)\s*\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)(?=\s*(?:=|$)))",
    needs="(|_",
)
# (4 | 0), a point as it is written in German
_BARRED = lazy_pattern(r"\(\s*(-?\d[\d./]*)\s*\|\s*(-?\d[\d./]*)\s*\)", needs="(")
_PICTURES = lazy_pattern(
    "[\U0001f300-\U0001faff\u2600-\u26ff\u2764\u2728\u2b50\ufe0f\u200d\U0001f1e6-\U0001f1ff]+"
)
_VERDICTS = lazy_pattern(
    "[❌🚫👎❓🤷🤔❔⛔🙅🚷🛑😕🤨]", needs="⛔|❌|❓|❔|👎|😕|🙅|🚫|🚷|🛑|🤔|🤨|🤷"
)
_PMOD = lazy_pattern(r"\(\s*\\?(?:mod|bmod|text\{\s*mod\s*\})\s*\\?\s*([^()]{1,40})\)", needs="(")


def plain_signs(text: str) -> str:
    """`text` with Unicode mathematics spelled in ASCII and LaTeX."""
    if text.isascii():
        return text
    text = _SCRIPT.sub(_script, text)
    text = text.translate(_TABLE)
    if text.isascii():
        return text
    # NFKC is quadratic for long runs of combining marks; a run says nothing to us.
    text = "".join(c for c in text if not unicodedata.combining(c) or c == "\u0305")
    return unicodedata.normalize("NFKC", text).translate(_TABLE)


def _script(match: re.Match[str]) -> str:
    run = match[0]
    if run[0] in _SUPER:
        return f"^{{{''.join(_SUPER[c] for c in run)}}}"
    return f"_{{{''.join(_SUB[c] for c in run)}}}"


_DELIMITERS = lazy_pattern(
    r"(?<!\\)\\[()]|(?<!\\)\\\[(?!\d+(?:pt|em|ex|mm|cm))|(?<!\\)\\\]",
    needs="\\",
)
_BLANK_COMMANDS = lazy_pattern(r"(?<!\\)\\[,;:!> ]|~")
_DERIVATIVE = lazy_pattern(r"(?<![A-Za-z\\])d([A-Za-z])/d([a-z])(?=\s*=)", needs="/d")
_BLANKS = lazy_pattern(r"[ \t\r\n]+")
_TIMES_TEN = lazy_pattern(r"(?<=[\d}])\s*[xX]\s*(?=10\s*\^)", needs="10")
_TIMES = lazy_pattern(r"(?<=\d) [xX] (?=\d)")


def clean(text: str) -> str:
    """One line of plain LaTeX: no dollar signs, no sizing, no fonts, ASCII relations."""
    # 5!=120 is a factorial; x != 5 and 5 != 3 are written with a space.
    if "!=" in text:
        text = re.sub(r"(?<=[\d)])!=(?!=)", "! =", text)
    if not text.isascii() and not _VERDICTS.search(text):
        text = _PICTURES.sub(" ", text)
    text = plain_signs(text).strip()
    if "\u0305" in text:
        text = re.sub(r"(\d)\u0305", r"\\overline{\1}", text)
    text = text.replace("\\$", "\\dollar ").replace("{:}", ":")
    if text.count("$") % 2 == 1 and re.search(r"\$\s*-?[\d.]", text):
        text = re.sub(r"\$(?=\s*-?[\d.])", "\\\\dollar ", text, count=1)
    text = text.replace("$", " ")
    if "\\" in text:
        text = _DELIMITERS.sub(" ", text)
        text = _PHANTOM.sub("", text)
    if "C" in text:
        text = _COMBINATIONS.sub(r"\\binom{\1}{\2}", text)
    if "P" in text:
        text = _PERMUTATIONS.sub(_permutations, text)
    if "\\" in text:
        text = _COLOUR.sub("", _NO_BRACKET.sub(" ", text))
    if "\\" in text or "{" in text or "'" in text:
        text = _DIGIT_COMMA.sub("", text)
    if "," in text:
        text = _DECIMAL_COMMA.sub(_pointed, text)
    if "_" in text:
        text = _UNDERSCORED.sub(lambda match: match[0].replace("_", ""), text)
    if "\\" in text or "~" in text:
        text = _BLANK_COMMANDS.sub(" ", text)
    if "cent" in text.lower():
        text = re.sub(r"(?i)\bper ?cent(?:age points?)?\b", "%", text)
    if "x" in text or "X" in text:
        text = _TIMES_TEN.sub("*", text) if "^" in text else text
        text = _TIMES.sub(" * ", text)
    if "\\" in text:
        text = _BLACKBOARD.sub(lambda m: f"\\{(m[1] or m[2]) * 2} ", text)
    if "matrix" in text:
        text = _MATRIX.sub(r"\\\1{\2matrix}", text)
    if "\\" in text:
        text = _COMMAND.sub(_command, _unwrap(text))
        text = text.replace("\\%", "%").replace("\\#", "#").replace("\\&", "&").replace("\\|", "|")
        text = text.replace("\\_", "_")
    if "/d" in text:
        text = _DERIVATIVE.sub(r"\\frac{d\1}{d\2}", text)
    text = text.replace("**", "^")
    if "|" in text:
        text = _BARRED.sub(r"(\1, \2)", text)
    if "mod" in text:
        text = _PMOD.sub(r" \\pmod{\1} ", text)
        text = re.sub(r"\\bmod\b|\\mod\b|(?<![a-zA-Z\\])mod(?:ulo)?(?![a-zA-Z])", r" \\pmod ", text)
    text = text.replace("=<", "<=").replace("=>", ">=").replace("==", "=").replace("%pi", "\\pi ")
    if "%" in text:
        text = re.sub(r"%([ei])(?![a-zA-Z])", r"\1", text)
    if "  " in text or "\n" in text or "\t" in text or "\r" in text:
        text = _BLANKS.sub(" ", text)
    text = _trimmed(text.strip())
    if text.endswith("\\") and not text.endswith("\\\\"):
        text = text[:-1].rstrip()  # of a blank, "\\ ", at the end of a box
    return text


def _permutations(match: re.Match[str]) -> str:
    of, taken = int(match[1] or match[3]), int(match[2] or match[4])
    return f"\\frac{{{of}!}}{{{of - taken}!}}" if taken <= of else match[0]


def _pointed(match: re.Match[str]) -> str:
    return "." if match[0] == "{,}" else match[0].replace(".", "").replace(",", ".")


def _trimmed(text: str) -> str:
    """Without sentence marks at the end and marks of code or bold type around."""
    while True:
        before = text
        text = text.strip(' `"').removeprefix("= ")
        if text.startswith("__") and text.endswith("__"):
            text = text.strip("_")
        if text.startswith(("*", "^")):
            text = text.lstrip("*^ ")
        if text.endswith(("^", "*")) and text[:-1].strip():
            text = text.rstrip("*^ ")
        if text.endswith((".", ",", ";", ":", "!,")) and not text.endswith("..."):
            text = text[:-1]
        if text == before:
            return text


def _command(match: re.Match[str]) -> str:
    found = _COMMANDS.get(match[1])
    return match[0] if found is None else found


_WRAP = lazy_pattern(
    rf"\\(?:{'|'.join(sorted(_WRAPPERS, key=len, reverse=True))})\*?\s*(?=[{{\s\\\d(])"
)


def _unwrap(text: str) -> str:
    """`text` without commands for fonts; what they wrapped stays, set off by spaces."""
    if "\\" not in text:
        return text
    partner: dict[int, int] | None = None
    skip: set[int] = set()
    blank: set[int] = set()
    for match in _WRAP.finditer(text):
        skip.update(range(match.start(), match.end()))
        if text[match.end() : match.end() + 1] == "{":
            partner = _partners(text) if partner is None else partner
            if match.end() in partner:
                blank.update((match.end(), partner[match.end()]))
    if not skip:
        return text
    return "".join(" " if i in blank else "" if i in skip else char for i, char in enumerate(text))


def _partners(text: str) -> dict[int, int]:
    """Return the place of the closing brace for each place of an opening one."""
    found: dict[int, int] = {}
    stack: list[int] = []
    escaped = False
    for i, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "{":
            stack.append(i)
        elif char == "}" and stack:
            found[stack.pop()] = i
    return found
