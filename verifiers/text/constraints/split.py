"""Splits text into words, tokens and sentences, as the public checker counts them, without its data.

- `n_words`: runs of letters, digits and underscores.
- `n_capital_tokens`: tokens of the Penn Treebank convention that hold letters and none in lower case:
  punctuation stands alone, `DON'T` is `DO` and `N'T`, `CANNOT` is `CAN` and `NOT`.
- `count_sentences`: a sentence ends at `.`, `?` or `!` that white space or a mark follows, but not
  after an abbreviation or an initial; closing quotes and brackets belong to it. This is how the Punkt
  tokeniser splits; its trained list of abbreviations is not used, ours is shorter.
- `sentences`: pieces as the key-sentence check wants them, with their end marks.

Everything is linear in the length of the text.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"[\[\](){}<>?!;@#$%&\"“”«»„:,]|--+|\.\.+|…|``|''")
_HELD = re.compile(r"(?<=\d)[:,](?=\d)")
_CLITIC = re.compile(r"(?i)(n't|'(?:s|m|d|ll|re|ve))(?=\W|$)")
_PAIRS = re.compile(r"(?i)\b(can|gon|got|wan|gim|lem|d)(not|na|ta|me|'ye)\b")
_PAIR_WORDS = frozenset({"cannot", "gonna", "gotta", "wanna", "gimme", "lemme", "d'ye"})

_END = re.compile(r"(?<![.?!])[.?!]++(?=[)\";}\]*:@'({\[]|\s+\S)")
_CLOSING = re.compile(r"[\"')\]}]+(?=\s|--|$)")
_LAST_TOKEN = re.compile(r"[^\s)\";}\]*:@({\[!?]*$")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


TITLES = _set("mr mrs ms dr prof st rev gen sen rep gov capt lt col sgt hon messrs mme jr sr")
OTHERS = _set(
    "e.g i.e vs etc al fig vol approx dept est no inc ltd corp co u.s u.k u.n a.m p.m jan feb aug sept "
    "oct nov dec ph.d cf a.d b.c ave blvd"
)
STARTERS = _set(
    "the a an this that these those he she it we they you i there here however but and in on at for if "
    "when while what who why how my our his her its their as so then"
)


def n_words(text: str) -> int:
    """Return the number of words."""
    return sum(1 for _ in _WORD.finditer(text))


def words(text: str) -> list[str]:
    """Return the words, in lower case."""
    return _WORD.findall(text.lower())


def n_capital_tokens(text: str) -> int:
    """Return the number of tokens written in capital letters alone."""
    return sum(token.isupper() for token in tokens(text))


def tokens(text: str) -> list[str]:
    """Return the text's tokens; those without letters may be cut otherwise than elsewhere."""
    guarded = _HELD.sub(lambda found: "\0" if found[0] == ":" else "\1", text)
    spaced = _CLITIC.sub(r" \1", _MARKS.sub(" ", guarded))
    spaced = _PAIRS.sub(_pair, spaced)
    return spaced.split()


def _pair(found: re.Match[str]) -> str:
    whole = found[0]
    return f"{found[1]} {found[2]}" if whole.lower() in _PAIR_WORDS else whole


def sentence_list(text: str) -> list[str]:
    """Return the sentences of a text, stripped, none of them blank."""
    pieces = []
    begin = at = 0
    while (found := _END.search(text, at)) is not None:
        at = found.end()
        if _holds_on(text, begin, found):
            continue
        closing = _CLOSING.match(text, at)
        if closing is not None:
            at = closing.end()
        pieces.append(text[begin:at].strip())
        begin = at
    pieces.append(text[begin:].strip())
    return [piece for piece in pieces if piece]


def count_sentences(text: str) -> int:
    """Return the number of sentences."""
    return len(sentence_list(text))


def _holds_on(text: str, begin: int, found: re.Match[str]) -> bool:
    """Return True if the marks found do not end the sentence that began at `begin`."""
    marks = found[0]
    if marks[-1] != ".":
        return False
    follows = text[found.end() : found.end() + 64].split(None, 1)
    following = follows[0].strip("\"'()[]{}*:;@,.!?") if follows else ""
    starts = following[:1].isupper() and following.lower() in STARTERS
    if marks.endswith(".."):
        return not starts
    token = _LAST_TOKEN.search(text, max(begin, found.start() - 24), found.start())
    last = token[0].lower() if token is not None else ""
    if last in TITLES:
        return True
    if last in OTHERS or re.fullmatch(r"(?:[a-z]\.)+[a-z]", last):
        return not starts
    # An initial of a name.
    return (
        len(last) == 1 and last.isalpha() and last != "i" and following[:1].isupper() and not starts
    )


_PREFIX = re.compile(
    r"(?:^|\s)(?:Mr|St|Mrs|Ms|Dr|[A-Za-z]|[A-Za-z](?:\.[A-Za-z])+|Ph\.D|Inc|Ltd|Jr|Sr|Co)$"
)


def pieces(text: str) -> list[str]:
    """Return the text cut at every `.`, `?` and `!` that no digit follows and no title or initial precedes.

    Each piece keeps its end mark; `."` counts as `".`, as the public check reads it.
    """
    flat = " ".join(text.split("\n")).replace(".”", "”.").replace('."', '".')
    flat = flat.replace('!"', '"!').replace('?"', '"?')
    out = []
    begin = 0
    for found in re.finditer(r"\.{2,}|[.?!]", flat):
        end = found.end()
        if found[0] == ".":
            if re.match(r"(?:com|net|org|io|gov|edu|me)\b", flat[end : end + 4]):
                continue
            if flat[end : end + 1].isdigit() and flat[end - 2 : end - 1].isdigit():
                continue
            if _PREFIX.search(flat, max(begin, end - 12), end - 1):
                continue
        out.append(flat[begin:end].strip())
        begin = end
    if flat[begin:].strip():
        out.append(flat[begin:].strip())
    return out
