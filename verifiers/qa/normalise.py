"""The form that short answers are compared in: SQuAD's, mended where it makes different things equal.

Source: Rajpurkar et al. 2016, arXiv 1606.05250, and its evaluation script: small letters, no
punctuation, no articles, single spaces. Here also: canonical Unicode; accents on Latin letters and the
width of full-width letters do not count. Kept, where SQuAD drops it:

- the sign, point and percent of a number: `3.5` is not `35`, `-5` is not `5`, `5 %` is not `5`
  (a thousands comma goes: `1,234` is `1234`; `2.0` is `2`)
- `+` and `#` at the end of a word (`C++`, `C#`)
- `a`, `an` and `the` where they are the last or only word (`vitamin A`) or no word follows at once (`A, B`, `A. A. Milne`), and a
  capital `A` inside (`hepatitis A virus`) or among lone letters (`A B`)
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

_WIDE = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20, 0x2212: 0x2D}
_WIDE |= {0x2080 + i: 0x30 + i for i in range(10)}  # CO\u2082
_ACCENT = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")
_TOKEN = re.compile(
    r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|[.,]\d)(?:\s?%)?"  # a number
    r"|[^\W_]+(?:['’.&\-][^\W_]+)*[+#]*"  # a word, inner marks included
    r"|[%€$£¥°]"
)
_MARKS = re.compile(r"['’.&\-]")
_ARTICLES = frozenset({"a", "an", "the"})
_NO_ARTICLE = re.compile(r"(?<![^\W_])(?:an?|the)(?=[*_\"'”’]*\s*[,;:/|.)\]])", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """Return the words and numbers of `text` in the form above; linear time."""
    text = plain(text)
    if _NO_ARTICLE.search(text):
        return [token for _, _, parts in words_in(text) for token in parts]
    words = _TOKEN.findall(text)
    found: list[str] = []
    last = len(words) - 1
    for i, word in enumerate(words):
        if word.isalpha() and word.isascii():
            small = word.lower()
            if small not in _ARTICLES or i == last or (word == "A" and (i or _are_letters(words))):
                found.append(small)
        else:
            found += _parts(word, i, last)
    return found


@lru_cache(maxsize=4096)
def known_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text of a task, which many replies are compared with."""
    return tuple(tokens(text))


def plain(text: str) -> str:
    """Return `text` in canonical Unicode, without accents on Latin letters and without full-width forms."""
    if text.isascii():
        return text
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", text.translate(_WIDE)))
    return unicodedata.normalize("NFC", bare)


def words_in(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Return the start and end of each word of plain `text`, and its tokens: none for an article."""
    matches = list(_TOKEN.finditer(text))
    last = len(matches) - 1
    letters = _are_letters([match[0] for match in matches])
    for i, match in enumerate(matches):
        alone = letters or _NO_ARTICLE.match(text, match.start())
        yield match.start(), match.end(), _parts(match[0], last if alone else i, last)


def _are_letters(words: Sequence[str]) -> bool:
    """Return True for "A B": each word is one capital letter."""
    return all(len(word) == 1 and word.isupper() for word in words)


def _parts(word: str, i: int, last: int) -> list[str]:
    """The tokens of word `i` of a text whose last word is `last`."""
    small = word.casefold()
    if small in _ARTICLES and i != last and (word != "A" or i == 0):
        return []
    if small.isalpha():
        return [small]
    if small[0].isdigit() or (small[0] in "+-" and len(small) > 1):
        return _number(small)
    return _split_word(small)


def signs(text: str) -> str:
    """Return `text` without white space and the selectors of how an emoji looks; for answers without words."""
    bare = unicodedata.normalize("NFC", text).replace("\ufe0f", "").replace("\ufe0e", "")
    return "".join(bare.split())


def _number(text: str) -> list[str]:
    body = text.rstrip("% \t\n")
    digits = body.replace(",", "").lstrip("+")
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", digits):
        return _split_word(text)
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    sign = "-" if digits.startswith("-") else ""
    digits = sign + (digits.lstrip("-").lstrip("0") or "0")
    if digits.startswith((".", "-.")):
        digits = digits.replace(".", "0.", 1)
    return ["0" if digits == "-0" else digits, *(["%"] if "%" in text else [])]


def _split_word(word: str) -> list[str]:
    # "U.S." is "us", "rock'n'roll" is "rocknroll", "Jean-Paul" is "jean paul".
    return [part for part in _MARKS.sub(lambda m: " " if m[0] == "-" else "", word).split() if part]


def f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    """Return F1 over tokens as a bag, as SQuAD has it; 1 if both are empty, 0 if only one is."""
    if not given or not wanted:
        return float(given == wanted)
    common = (Counter(given) & Counter(wanted)).total()
    if not common:
        return 0.0
    precision, recall = common / len(given), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
