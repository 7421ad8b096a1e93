"""Reads if a reply in sentences gives one answer, the right one, by the place at which it stands.

No list of sentence shapes: a reply falls into sentences, a sentence into clauses, and each clause is one of

- a statement of the answer: the right answer is its subject ("@ wrote it in 1818") or its complement ("the novel was
  written by @"), the clause speaks of what is asked, and no other candidate stands before it
- a rival: a clause that says of another candidate what is asked, or has nothing but another candidate
- a refusal: a doubt, an alternative, a denial of what is asked, a word that takes back
- told: the answer is the subject or complement of a sentence that has no word of the question; this counts if no other clause
  can give another candidate
- a remark: everything else. Behind the answer it may name anyone and anything.

A reply is paid if it states the answer and has no refusal and no rival; a rival before "no, wait" or before a conclusion ("So
the answer is @") is forgiven. What counts as another candidate follows from the right answer: other capitalised words for a
name, other values for a number or a date, and for a common noun the place alone.

Negated questions are read by `claim_exceptions.py`. Gives up, and does not pay: names in small letters; more than `_MOST_WORDS` words; statements without a word
of the question or a pronoun for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.claim_clauses import AGAINST, sentences_in, split_clauses
from verigym.verifiers.qa.claim_exceptions import states_exception
from verigym.verifiers.qa.claim_rivals import is_elsewhere, is_rival, is_undoing, offers_rival
from verigym.verifiers.qa.claim_statements import judge_answer
from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, Sort, View, clause_of
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    CHOOSING,
    CONCLUDING,
    COPULAS,
    DENIALS,
    DOUBTING,
    GENERIC,
    GOES_ON,
    THINKING,
    TURNS,
    WEAKENING,
)
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    FUNCTION,
    GIVEN,
    PAST,
    acts,
    is_word,
)

_MOST_WORDS = 150


def states_claim(masked: str, asked: QuestionWords, sort: Sort, answer: frozenset[str]) -> bool:
    """Return True if a reply, with `ANSWER` for the right answer, gives that and no other.

    `OTHER` and `GIVEN` stand for other values if `sort` is "value". `answer`: the words of the right answers.
    """
    if len(asked.row) < 2 or len(masked.split()) > _MOST_WORDS:
        return False
    if asked.is_negated:
        return states_exception(View(asked, sort, answer), masked)
    if sort == "value" and _lists_candidates(masked, asked):
        return False
    if _are_letters(answer) and _has_other_letter(masked):
        return False
    return _reads(View(asked, sort, answer), sentences_in(masked))


def _lists_candidates(masked: str, asked: QuestionWords) -> bool:
    """Return True if the answer stands bare in a list with other bare words or values ("7, Z99, 77")."""
    pieces = [piece.strip(" .!*()").split() for piece in re.split(r"[,;|/\n]", masked)]
    at = next((k for k, piece in enumerate(pieces) if piece == [ANSWER]), None)
    if at is None:
        return False
    plain = {ANSWER, GIVEN, *asked.row}
    return any(
        0 < len(piece) <= 2
        and not {word.lower() for word in piece} <= {word.lower() for word in plain}
        and (k > at or OTHER in piece or any(c.isdigit() for c in "".join(piece)))
        for k, piece in enumerate(pieces)
        if k != at
    )


def _are_letters(answer: frozenset[str]) -> bool:
    """Return True if the right answers are letters, as those of options are."""
    return all(len(word) == 1 and word.isalpha() for word in answer)


def _has_other_letter(masked: str) -> bool:
    """Return True if a reply without a verb has another letter beside the answer: "A) B", "B and C os 0"."""
    words = re.findall(r"[^\W_]+", masked)
    letters = {word for word in words if len(word) == 1 and word.isupper() and word != "I"}
    return bool(letters) and not any(acts(word.lower()) for word in words)


def _reads(view: View, sentences: Sequence[str]) -> bool:
    """Return True if the sentences state the answer, and nothing refuses it."""
    stated = rival = sure = False
    others: list[ClaimClause] = []
    for sentence in sentences:
        if sentence.endswith("?"):
            if ANSWER in sentence or stated:
                return False
            continue
        if _doubts(view, sentence):
            return False
        if CONCLUDING.match(sentence) and ANSWER in sentence:
            rival = False
        clauses = split_clauses(view, sentence)
        core = next(
            (k for k, one in enumerate(clauses) if not one.is_lead and not _is_passed(view, one)), 0
        )
        clauses = _rejoin(view, clauses, core)
        for k, clause in enumerate(clauses):
            if clause.words[:1] and clause.words[0] in TURNS and clause.mark not in AGAINST:
                if stated:
                    return False
                rival = False
            kind = _kind(view, clause, k == core, stated, clauses[:k])
            if kind == "refusal":
                return False
            rival |= kind == "rival"
            stated |= kind in ("statement", "told")
            sure |= kind == "statement"
            others += [clause] if ANSWER not in clause.pieces else []
            if rival and stated:
                return False
    return sure or (stated and not any(_may_answer(view, one) for one in others))


def _may_answer(view: View, clause: ClaimClause) -> bool:
    """Return True if a clause may give another candidate beside an answer that repeats no word of the question."""
    if clause.mark in AGAINST or not clause.words:
        return False
    low = clause.low
    if "answer" in low or (view.denies(clause) and (view.share(low) > 0 or len(low) < 4)):
        return True
    if view.sort == "noun":
        return view.share(low) >= 0.4
    if not view.strangers(clause) or low[0] in ADJOINING:
        return False
    return not (COPULAS | {"by"}).isdisjoint(low) or bool(view.strangers(clause, None, stop=True))


def _rejoin(view: View, clauses: list[ClaimClause], core: int) -> list[ClaimClause]:
    """Return the clauses with "The Eiffel Tower, built for a fair, was finished in 1889" as one statement and a remark."""
    if not clauses or view.is_full(clauses[core]):
        return clauses
    for k in range(core + 2, len(clauses)):
        first = clauses[k].low[0]
        predicate = acts(first) or first in PAST or (first.isalpha() and first.endswith("s"))
        named = clauses[core + 1]
        if clauses[k].mark == "," and predicate and named.pieces == (ANSWER,) and k == core + 2:
            if not _is_description(clauses[core]):
                return clauses
            whole = clause_of(clauses[core].mark, (ANSWER, *clauses[k].pieces))
            return [*clauses[:core], whole, *clauses[k + 1 :]]
        if clauses[k].mark == "," and predicate:
            whole = clause_of(clauses[core].mark, (*clauses[core].pieces, *clauses[k].pieces))
            return [*clauses[:core], whole, *clauses[core + 1 : k], *clauses[k + 1 :]]
    return clauses


def _is_description(clause: ClaimClause) -> bool:
    """Return True for "Omar's sister" and "the first president", in front of a name between commas."""
    return clause.low[0] in ARTICLES | {"his", "her", "their", "its"} or any(
        word.endswith(("'s", "s'")) for word in clause.low
    )


def _is_passed(view: View, clause: ClaimClause) -> bool:
    """Return True for "Many say Sydney" and "It is not Sydney", behind which the statement follows."""
    if ANSWER in clause.pieces:
        return False
    return bool(THINKING.search(clause.text())) or "used to" in clause.text() or view.denies(clause)


def _doubts(view: View, sentence: str) -> bool:
    """Return True if a sentence doubts the answer, has a condition for it or leaves it open."""
    sentence = _of_answer(sentence)
    patterns = (DOUBTING, WEAKENING) if ANSWER in sentence else (DOUBTING,)
    if ANSWER in sentence and GOES_ON.search(sentence):
        return True
    if any(
        found and not view.asks(found[0]) for found in (one.search(sentence) for one in patterns)
    ):
        return True
    return not any(map(str.isalpha, sentence)) and ANSWER not in sentence


def _is_next_in_list(view: View, clause: ClaimClause) -> bool:
    """Return True if a clause without a verb behind a bare answer holds another candidate: "@, @ Lyon", "B, C os 0"."""
    if view.is_full(clause):
        return False
    first, then = (*clause.pieces, "", "")[:2]
    if first != ANSWER:
        return _are_letters(view.answer) and len(first) == 1 and first.isupper() and first != "I"
    return is_word(then) and then.lower() not in FUNCTION | GENERIC and not view.knows(then.lower())


_PAIR = re.compile(r"(?<=\w) and [A-Z]\w+ both\b")
_DENIED = re.compile(
    rf"(?:^|[,;–—-]|\band\b|\bwhile\b|\bwhereas\b|\balthough\b)\s*(?:the|a)\s[^,;{ANSWER}]*[{OTHER}{GIVEN}][^,;{ANSWER}]*"
    r"\b(?:is|was|are|were)\s(?:an?\s)?(?:wrong|incorrect|untrue|false|myth|mistaken?|error)\b[^,;]*"
)
_CONTRAST = re.compile(rf"[,;–—]\s(?:and\s)?not\s[^,;{ANSWER}]*")


def _of_answer(sentence: str) -> str:
    """Return a sentence without "..., not X as rumour has it" and "; the date X is wrong", where it has the answer."""
    if ANSWER not in sentence:
        return sentence
    if OTHER in sentence or GIVEN in sentence:
        sentence = _DENIED.sub("", sentence)
    return _CONTRAST.sub("", sentence) if " not " in sentence else sentence


def _kind(
    view: View, clause: ClaimClause, is_core: bool, stated: bool, before: Sequence[ClaimClause]
) -> str:
    text = clause.text()
    has_answer = ANSWER in clause.pieces
    if view.is_choice and offers_rival(view, clause, stated):
        return "rival"
    beside = has_answer or (bool(before) and ANSWER in before[-1].pieces and stated)
    if beside and (has_answer or len(clause.words) < 4):
        found = CHOOSING.search(_PAIR.sub("", text))
        owned = found and re.search(rf"one of {ANSWER} ['’]", text)
        if found and not owned and not view.asks(found[0]):
            return "refusal"
    if stated and before and before[-1].pieces == (ANSWER,) and _is_next_in_list(view, clause):
        return "refusal"
    if has_answer:
        if clause.mark in ("or", "/", "plus") or (
            clause.mark in ("and", "&") and not view.is_full(clause)
        ):
            joined = before and ANSWER in before[-1].pieces and len(clause.words) < 2
            return "remark" if joined or (stated and clause.mark in ("and", "&")) else "refusal"
        return judge_answer(view, clause, is_core, stated, before)
    if clause.mark in AGAINST or (stated and clause.mark == "because"):
        return "remark"
    if clause.mark in ("or", "/"):
        if GIVEN in clause.pieces and OTHER not in clause.pieces and not view.strangers(clause):
            return "remark"
        ends = not view.is_full(clause) and any(p[:1].isupper() for p in clause.pieces)
        return (
            "refusal" if before and (ANSWER in before[-1].pieces or (stated and ends)) else "remark"
        )
    if (
        stated
        and clause.low[0] in ("it", "that", "which", "this")
        and is_elsewhere(view, clause.low)
    ):
        return "refusal"
    if stated and {"helped", "assisted"}.intersection(clause.words) and view.strangers(clause):
        return "refusal"
    if stated and before and is_undoing(view, clause, ANSWER in before[-1].pieces):
        return "refusal"
    if view.denies(clause):
        names = any(map(view.strangers, (*before, clause)))
        said = [w for w in clause.words if w not in FUNCTION and w not in DENIALS]
        bare = all(view.knows(w) or w.endswith("ly") for w in said)
        return "refusal" if stated and bare and not names else "remark"
    return "rival" if is_rival(view, clause, is_core, stated, before) else "remark"
