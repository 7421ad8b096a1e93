"""Folds what a text is spelt with: characters that show nothing go, and lookalikes become Latin letters.

For rules that look for words which a writer may hide: forbidden words, talk to a judge. Folding is for
finding, never for showing: a word of another alphabet may fold into Latin letters that it does not mean.
"""

from __future__ import annotations

import re
import unicodedata

# Latin letters, and the letters of other alphabets (and small capitals) that look like them.
_LIKE = {
    "a": "аɑαᴀ", "b": "ьвʙβƅ", "c": "сϲᴄƈ", "d": "ԁɗᴅժ", "e": "еҽεёᴇє", "f": "ғϝꜰƒ", "g": "ɡցɢ", "h": "һнհʜ",
    "i": "іɩιıɪї", "j": "јϳᴊ", "k": "кκᴋќ", "l": "ӏʟⅼ|", "m": "мᴍʍ", "n": "пηոɴν", "o": "оοօσᴏө", "p": "рρᴘ",
    "q": "ԛզǫ", "r": "гᴦʀ", "s": "ѕʂꜱ", "t": "тτᴛ", "u": "υսцᴜ", "v": "ѵᴠ", "w": "ԝωᴡшա", "x": "хχ×",
    "y": "уүγʏ", "z": "ᴢʐ",
}  # fmt: skip
_CAPITALS = {
    "A": "АΑ", "B": "ВΒ", "C": "СϹ", "E": "ЕΕ", "F": "Ϝ", "H": "НΗ", "I": "ІΙӀ", "J": "Ј", "K": "КΚ", "M": "МΜ",
    "N": "Ν", "O": "ОΟ", "P": "РΡ", "Q": "Ԛ", "S": "Ѕ", "T": "ТΤ", "W": "Ԝ", "X": "ХΧ", "Y": "УΥҮ", "Z": "Ζ",
}  # fmt: skip
_TABLE = str.maketrans(
    {
        like: letter
        for table in (_LIKE, _CAPITALS)
        for letter, likes in table.items()
        for like in likes
    }
)
_INVISIBLE = dict.fromkeys(
    [
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE01F0),
    ]
)
_STROKES = re.compile("[\u0300-\u036f\u20d0-\u20ff]+")
_LATIN = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"\w+")
_MIXED = re.compile(r"(?<![\w@$])(?=[\d@$]*[A-Za-z])[\w@$]*[0134578@$][\w@$]*")
_DIGITS = str.maketrans("013457@$", "oleastas")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def visible(text: str) -> str:
    """Return `text` without characters that show nothing; compatible characters in their plain form."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_INVISIBLE))


def folded(text: str) -> str:
    """Return `visible` text in which lookalikes of Latin letters are Latin letters, without strokes through them."""
    return text if text.isascii() else _STROKES.sub("", visible(text)).translate(_TABLE)


def respelt(text: str) -> str:
    """Return `text` with the words folded that are meant to be read as Latin ones.

    In a text that is mostly in another alphabet these are the words that mix it with Latin letters.
    """
    if text.isascii():
        return text
    shown = visible(text)
    latin = len(_LATIN.findall(shown))
    if latin * 2 >= sum(map(str.isalpha, shown)):
        return folded(text)
    return _WORD.sub(lambda word: folded(word[0]) if _LATIN.search(word[0]) else word[0], shown)


def without_digits(text: str) -> str:
    """Return `text` in which digits and signs inside words are the letters that they look like ("m00n")."""
    return _MIXED.sub(lambda word: word[0].translate(_DIGITS), text)


def without_comments(text: str) -> str:
    """Return `text` without HTML comments, which a reader of the page does not see."""
    return _COMMENT.sub(" ", text)
