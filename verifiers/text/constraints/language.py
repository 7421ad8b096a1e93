"""Tells the language of a text: by script where a script suffices, by common words for English, else
with py3langid (the extra `text`), restricted to the languages that are written so.

Deterministic. A text without letters has no language.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

_RANGES = (
    ("latin", 0x0041, 0x024F), ("latin", 0x1E00, 0x1EFF), ("el", 0x0370, 0x03FF),
    ("cyrillic", 0x0400, 0x052F), ("he", 0x0590, 0x05FF), ("arabic", 0x0600, 0x077F),
    ("arabic", 0xFB50, 0xFDFF), ("arabic", 0xFE70, 0xFEFF), ("devanagari", 0x0900, 0x097F),
    ("bn", 0x0980, 0x09FF), ("pa", 0x0A00, 0x0A7F), ("gu", 0x0A80, 0x0AFF), ("ta", 0x0B80, 0x0BFF),
    ("te", 0x0C00, 0x0C7F), ("kn", 0x0C80, 0x0CFF), ("ml", 0x0D00, 0x0D7F), ("th", 0x0E00, 0x0E7F),
    ("ja", 0x3040, 0x30FF), ("ko", 0xAC00, 0xD7AF), ("ko", 0x1100, 0x11FF), ("zh", 0x4E00, 0x9FFF),
    ("zh", 0x3400, 0x4DBF),
)  # fmt: skip
_SHARED = {
    "latin": "af ca cs cy da de en es et fi fr hr hu id it lt lv nl no pl pt ro sk sl sq sv sw tl tr vi",
    "cyrillic": "bg mk ru uk",
    "arabic": "ar fa ur",
    "devanagari": "hi mr ne",
}
KNOWN = frozenset(
    [script for script, _, _ in _RANGES if script not in _SHARED]
    + " ".join(_SHARED.values()).split()
    + ["zh-cn", "zh-tw"]
)
NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "de": "German", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "gu": "Gujarati", "he": "Hebrew",
    "hi": "Hindi", "it": "Italian", "ja": "Japanese", "kn": "Kannada", "ko": "Korean", "ml": "Malayalam",
    "mr": "Marathi", "ne": "Nepali", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese",
    "ru": "Russian", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "uk": "Ukrainian",
    "ur": "Urdu", "vi": "Vietnamese",
}  # fmt: skip
_COMMON = (
    "the and of to is that it with for was are this be have from you not but they which his her as at by "
    "will would can there their what about when your how our has more been if into could its"
)
_ENGLISH = frozenset(_COMMON.split())
_MAX_CHARS = 20_000
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str | None:
    """Return the language's two-letter code, or None for a text without letters."""
    text = text[:_MAX_CHARS]
    scripts = Counter(filter(None, map(_script, text)))
    if not scripts:
        return None
    if scripts["ja"] and scripts["ja"] * 20 >= scripts["zh"]:
        scripts["ja"] += scripts.pop("zh", 0)
    script = scripts.most_common(1)[0][0]
    if script not in _SHARED:
        return script
    if script == "latin" and _plainly_english(text):
        return "en"
    found = _identifier(script).classify(text.lower())
    return str(found[0])


def is_language(text: str, code: str) -> bool:
    """Return True if the text is in the language; a text without letters is in every language."""
    found = language_of(text)
    return found is None or found == code.lower().partition("-")[0]


def _script(character: str) -> str | None:
    if not character.isalpha() and not "\u0900" <= character <= "\u0e7f":
        return None
    if character < "\u0250":
        return "latin"
    point = ord(character)
    for script, first, last in _RANGES:
        if first <= point <= last:
            return script
    return None


def _plainly_english(text: str) -> bool:
    """Return True if a fifth of the words, and at least two different ones, are common English
    words."""
    found = _WORD.findall(text.lower())
    common = [word for word in found if word in _ENGLISH]
    return len(common) * 5 >= len(found) and len(set(common)) > 1


@cache
def _identifier(script: str) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(_SHARED[script].split())
    return identifier
