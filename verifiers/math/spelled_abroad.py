"""Reads whole numbers up to 100 in French, German, Spanish, Italian and Portuguese words: "douze", "zwölf".

Words that mean something else in English ("once", "due", "cent") count only if the question is in one of
these languages. Not covered: larger numbers, fractions, and numbers with a noun behind them.
"""

from __future__ import annotations

import unicodedata

from verigym.verifiers.math.languages import has_decimal_commas
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_FRENCH = names(
    "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
)
_FRENCH_TENS = names("vingt trente quarante cinquante soixante")
_GERMAN = names("null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf")
_GERMAN_TEENS = names(
    "dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn",
)
_GERMAN_TENS = names("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig")
_SPANISH = names(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis "
    "diecisiete dieciocho diecinueve veinte"
)
_SPANISH_TENS = names("treinta cuarenta cincuenta sesenta setenta ochenta noventa")
_ITALIAN = names(
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove"
)
_ITALIAN_TENS = names("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
_PORTUGUESE = names(
    "zero um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete "
    "dezoito dezenove"
)
_PORTUGUESE_TENS = names("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
_ENGLISH = frozenset(names("once due cent um sept elf sei null"))
"""Number words of other languages that are words or abbreviations of English."""
_MINUS = lazy_pattern(r"(?:moins|menos|meno|minus) ", needs="eno|inus|oins")


def _words() -> dict[str, int]:
    found = {
        "une": 1, "una": 1, "uma": 1, "ein": 1, "eine": 1, "duas": 2, "quatorze": 14, "dezasseis": 16, "dezassete": 17, "dezanove": 19,
        "cent": 100, "hundert": 100, "einhundert": 100, "cien": 100, "cento": 100, "cem": 100, "quatre vingts": 80,
    }  # fmt: skip
    for row in (_FRENCH, _GERMAN + _GERMAN_TEENS, _SPANISH, _ITALIAN, _PORTUGUESE):
        found.update((word, value) for value, word in enumerate(row))
    for unit in (7, 8, 9):
        found[f"dix {_FRENCH[unit]}"] = 10 + unit
    for k, tens in enumerate([*_FRENCH_TENS, "septante", "huitante", "nonante"]):
        value = 10 * (k + 2)
        found[tens] = value
        found[f"{tens} et un"] = found[f"{tens} un"] = value + 1
        found.update((f"{tens} {_FRENCH[unit]}", value + unit) for unit in range(2, 10))
    teens = [*_FRENCH[10:], *(f"dix {_FRENCH[unit]}" for unit in (7, 8, 9))]
    for unit, word in enumerate(teens):
        found[f"soixante {word}"] = 70 + unit
        found[f"quatre vingt {word}"] = 90 + unit
    found["soixante et onze"] = 71
    found.update((f"quatre vingt {_FRENCH[unit]}", 80 + unit) for unit in range(1, 10))
    for k, tens in enumerate(_GERMAN_TENS, 2):
        found[tens] = 10 * k
        found.update(
            (f"{'ein' if unit == 1 else _GERMAN[unit]}und{tens}", 10 * k + unit)
            for unit in range(1, 10)
        )
    found.update((f"veinti{_SPANISH[unit]}", 20 + unit) for unit in range(1, 10))
    for joint, tens_words, units, first in (
        (" y ", _SPANISH_TENS, _SPANISH, 3),
        (" e ", _PORTUGUESE_TENS, _PORTUGUESE, 2),
    ):
        for k, tens in enumerate(tens_words, first):
            found[tens] = 10 * k
            found.update((f"{tens}{joint}{units[unit]}", 10 * k + unit) for unit in range(1, 10))
    for k, tens in enumerate(_ITALIAN_TENS, 2):
        found[tens] = 10 * k
        for unit in range(1, 10):
            stem = tens[:-1] if unit in (1, 8) else tens
            found[f"{stem}{_ITALIAN[unit]}"] = 10 * k + unit
    return found


_WORDS = _words()
_GAPS = lazy_pattern(r"[\s-]+")
_UMLAUTS = lazy_pattern(r"(?<=[fw])ue(?=nf)|oe(?=lf)", needs="oe|ue")


def number_abroad(text: str, question: str) -> str | None:
    """The number that all of `text` says in one of the languages, as digits; None if it says none."""
    if not text[:1].isalpha() or len(text) > 40:
        return None
    shown = text.lower().strip(" .!")
    if not shown.isascii():
        shown = unicodedata.normalize("NFKD", shown.replace("ß", "ss"))
        shown = "".join(char for char in shown if not unicodedata.combining(char))
    shown = _GAPS.sub(" ", shown)
    minus = _MINUS.match(shown)
    word = shown[minus.end() :] if minus else shown
    value = _WORDS.get(word)
    if value is None:
        value = _WORDS.get(_UMLAUTS.sub(lambda match: match[0][0], word))
    if value is None or (word in _ENGLISH and not has_decimal_commas(question)):
        return None
    return f"{'-' if minus else ''}{value}"
