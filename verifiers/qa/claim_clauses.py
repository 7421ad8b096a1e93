"""Splits a reply into sentences, and a sentence into clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, View, clause_of
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    CONJOINING,
    STARTING,
    TURNS,
)
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    GIVEN,
    PIECE,
    acts,
    is_word,
)

_MARKS = str.maketrans(dict.fromkeys('*_`"“”„«»「」『』#>', " "))
_PIECE = re.compile(f"{OTHER}|{PIECE.pattern}")
_SENTENCE = re.compile(
    rf"(?<=[\w)%°{ANSWER}{OTHER}{GIVEN}][.!?])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|St|Jr|Sr|No|Ms)\.)(?<!\bMrs\.)\s+(?=[(]?[A-Z\d{ANSWER}{OTHER}{GIVEN}])|\n+|(?<=\?)\s+|(?<=[a-z]{{3}}[.!])\s+(?=[a-z])|(?<=[{ANSWER}{OTHER}{GIVEN}][.!])\s+(?=[a-z])"
)
_BRACKETS = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_SHORT = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|ca|approx)\.")
_JOINTS = {
    "ou": "or",
    "oder": "or",
    "или": "or",
    "o": "or",
    "und": "and",
    "et": "and",
    "y": "and",
    "e": "and",
    "и": "and",
}
_ADVERBS = {("however",), ("though",), ("therefore",), ("moreover",), ("nonetheless",), ("then",)}
AGAINST = frozenset(["rather", "instead", "unlike", "compared", "versus", "vs"])


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a reply, without emphasis and quotation marks."""
    text = _SHORT.sub(
        r"\1", _THOUSANDS.sub("", text.translate(_MARKS)).replace("none other than ", "")
    )
    return [one.strip() for one in _SENTENCE.split(text) if one.strip()]


def split_clauses(view: View, sentence: str) -> list[ClaimClause]:
    """Return the clauses of a sentence in their order; those in brackets come last."""
    behind = [a or b for a, b in _BRACKETS.findall(sentence)]
    sentence = _BRACKETS.sub(" ", sentence).rstrip(" .!")
    found: list[ClaimClause] = []
    mark = ""
    now: list[str] = []

    def close(next_mark: str) -> None:
        nonlocal mark, now
        if any(is_word(piece) or piece in (ANSWER, OTHER, GIVEN) for piece in now):
            found.append(clause_of(mark, now))
            mark = next_mark
        elif mark in ("", ",") or next_mark in CONJOINING | {"and", "or", "not"}:
            mark = next_mark
        now = []

    pieces = _PIECE.findall(sentence)
    for k, piece in enumerate(pieces):
        low = piece.lower()
        if len(low) > 1 or pieces[k - 1 : k] == [ANSWER]:
            low = _JOINTS.get(low, low)
        before, after = (pieces[k - 1] if k else ""), (*pieces[k + 1 :], "")[0]
        if piece in ",;:–—" or (piece == "-" and k):
            if (
                piece == ","
                and after[:1].isupper()
                and (before.lower(), after.lower()) in view.asked.pairs
            ):
                continue
            if piece in ":–—-" and before[-1:].isdigit() and after[:1].isdigit():
                now.append(piece)
                continue
            close(piece)
        elif (low in CONJOINING and (low, after.lower()) not in view.asked.pairs) or (
            low in ("and", "or", "&", "/", "plus") and (not now or _parts(view, now, before, after))
        ):
            close(low)
            mark = low
        elif (low == "not" and before == ANSWER) or (low in AGAINST and ANSWER in now):
            close(low)
            mark = low
            now.append(piece)
        else:
            now.append(piece)
    close("")
    for k in range(len(found) - 2, 0, -1):  # "Her career, however, took place in @"
        if found[k].low in _ADVERBS:
            before, after = found[k - 1], found[k + 1]
            found[k - 1 : k + 2] = [clause_of(before.mark, (*before.pieces, *after.pieces))]
    clauses = []
    leading = True
    for k, one in enumerate(found):
        opens = one.words[:1] and (
            one.words[0] in ADJOINING or one.mark in CONJOINING - {"but", "so"}
        )
        adverb = len(one.pieces) == 1 and (
            one.low[0].endswith("ly") or one.low[0] in STARTING | TURNS
        )
        follows = any(
            one.mark in (",", ":", "–", "—", "-") and one.low[0] not in ADJOINING - {"that"}
            for one in found[k + 1 :]
        )
        follows = follows and found[k + 1].mark in (",", ":", "–", "—", "-")
        if (
            ANSWER in one.pieces and len(one.pieces) > 5
        ):  # "On Sundays it is open until @, later than ..."
            follows = follows and any(map(view.is_full, found[k + 1 :]))
        leading = leading and bool(opens or adverb) and follows
        clauses.append(ClaimClause(one.mark, one.pieces, one.low, is_lead=True) if leading else one)
    return clauses + [
        clause_of("(", _PIECE.findall(one))
        for one in behind
        if any(map(str.isalnum, one)) or ANSWER in one or OTHER in one
    ]


def _parts(view: View, now: Sequence[str], before: str, after: str) -> bool:
    """Return True if "and" joins two clauses or two candidates, and not two words of the question."""
    low = (before.lower(), after.lower())
    if before.isdigit() and after.isdigit():
        return False
    if all(map(view.knows, low)) and before != ANSWER and after != ANSWER:
        return False
    if before in (ANSWER, OTHER) or after in (ANSWER, OTHER):
        return True
    return any(acts(piece.lower()) for piece in now) or view.share(now) > 0.5
