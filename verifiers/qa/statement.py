"""Reads if a reply states one answer: its words are those of the question, function words or the answer.

The caller puts `ANSWER` where the right answer (or the one number or date) stands in the reply, and `GIVEN`
for numbers of the question. What is left is read sentence by sentence:

- an answer: "The capital of France is @", "@ wrote it", "It's @, the largest one". Every other word is known,
  and nothing denies it, joins it to something else or makes it part of a longer name.
- a remark: another sentence about the answer ("It lies on a river") in words that the question does not
  have, without a name, a number, a denial or a word that takes back or adds ("actually", "also"). It begins
  with a pronoun or the like, so that a bare second candidate is none.
- nothing: "Sure!", or the question again.

A clause behind the answer may only repeat the question. Replies in freer words are read by `claims.py`.

Anything else could be a second candidate, and then the reply states no answer. If the question itself has the
answer ("the Nile or the Thames?"), the answer must be the subject or follow "is", since there every candidate is
a word of the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.deeds import tells_another_deed
from verigym.verifiers.qa.places import asks_place
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    CHOOSING,
    DENYING,
    DESCRIBING,
    FRAGMENT,
    FUNCTION,
    GIVEN,
    HARMLESS,
    JOINING,
    LINKS,
    MEASURES,
    OF_NAMES,
    OPENERS,
    OPENING,
    PIECE,
    PLACING,
    PREPOSITIONS,
    SUBJECTS,
    TURNING,
    VERBS,
    acts,
    is_word,
    negates,
    stands_in,
    stem,
)

_SENTENCE = re.compile(r"(?<=[.!?;])[\"'”’)]*\s+|\n+|(?<=[.!?;])$")
_QUOTES = str.maketrans(dict.fromkeys('*_`"“”„«»「」『』#>', " "))
_LINE_MARKS = re.compile(r"(?m)^\s{0,9}(?:>|#{1,6})\s")
_JOINED = re.compile(rf"{ANSWER}[-–]|[-–]{ANSWER}")
_INHABITANTS = frozenset("people inhabitants residents persons inhabitant resident".split())  # noqa: SIM905
_COUNTED = re.compile(
    rf"{ANSWER}[*_]*\s+(people|persons|men|women|children|sheep|fish|[a-z]{{3,}}s)\b(?!['’-])"
)


def counts_something(masked: str, asked: QuestionWords) -> str:
    """Return `masked` without the counted noun ("@ people"), if it is plural and the question names none."""
    match = _COUNTED.search(masked)
    if match and match[1].lower() in _INHABITANTS and asked.counted & set(map(stem, _INHABITANTS)):
        return masked[: match.start(1)] + masked[match.end(1) :]
    if asked.counted or (asked.row[:1] == ("how",) and {"many", "much"}.isdisjoint(asked.row)):
        return masked  # "It has 828 rooms"
    if match is None or match[1].lower() in MEASURES or asked.knows(match[1].lower()):
        return masked
    return masked[: match.start(1)] + masked[match.end(1) :]


def states(
    masked: str,
    asked: QuestionWords,
    answer_is_asked: bool = False,
    extra: frozenset[str] = frozenset(),
) -> bool:
    """Return True if the reply, with `ANSWER` for its answer, states that and nothing beside it.

    `answer_is_asked`: the question has the answer's words. `extra`: further words that may stand there.
    """
    if _JOINED.search(masked):
        return False
    kinds = []
    for sentence in _SENTENCE.split(_LINE_MARKS.sub("", masked).translate(_QUOTES)):
        pieces = PIECE.findall(sentence)
        if answer_is_asked and "than" in pieces and "than" not in asked.row:
            pieces = _without_rivals(pieces, asked)
        if any(map(is_word, pieces)) or ANSWER in pieces:
            kinds.append(_Sentence(pieces, asked, answer_is_asked, extra).kind())
        elif [piece for piece in pieces if piece not in HARMLESS]:
            return False
    if "other" in kinds or "answer" not in kinds:
        return False
    if answer_is_asked and len([kind for kind in kinds if kind != "nothing"]) > 1:
        return False
    return "remark" not in kinds[: kinds.index("answer")]


def _without_rivals(pieces: list[str], asked: QuestionWords) -> list[str]:
    """A sentence without "than ...", where that has only other candidates: "@ is older than Ben"."""
    at = pieces.index("than")
    while pieces and pieces[-1] in (".", "!"):
        pieces = pieces[:-1]
    low = [piece.lower() for piece in pieces]
    words = [word for word in low[at + 1 :] if word not in {"and", ",", "or", "of", *ARTICLES}]
    known = {*asked.row, *asked.options}
    fits = (
        ANSWER in pieces[:at]
        and sum(low[:at].count(verb) for verb in ("is", "are", "was", "were")) == 1
        and "and" not in low[:at]
        and any(word.endswith("er") and word in asked.row for word in low[:at])
        and bool(words)
        and known.issuperset(words)
        and not VERBS.intersection(words)
        and any(word in asked.options | asked.capital for word in words)
    )
    if not fits:
        return pieces
    return pieces[:at]


class _Sentence:
    def __init__(
        self, pieces: list[str], asked: QuestionWords, answer_is_asked: bool, extra: frozenset[str]
    ) -> None:
        while pieces and pieces[-1] in (".", "!", ":", ";", ","):
            pieces.pop()
        self.pieces = pieces
        self.low = [piece.lower().replace("’", "'") for piece in pieces]
        self.asked = asked
        self.answer_is_asked = answer_is_asked
        self.extra = extra
        self.words = [low for low in self.low if is_word(low)]

    def kind(self) -> str:
        """`answer`, `remark`, `nothing` or `other`."""
        has_answer = ANSWER in self.pieces
        if "?" in self.pieces:
            again = not has_answer and stands_in(self.words, self.asked.row)
            return "nothing" if again else "other"
        if self._turns() or self._is_contrary():
            return "other"
        strange = [i for i in range(len(self.pieces)) if not self._is_known(i)]
        if has_answer and tells_another_deed(self.words, self.asked):
            return "other"
        if has_answer:
            return "answer" if not strange and self._is_shaped(self.pieces) else "other"
        if not strange:
            said = [i for i, low in enumerate(self.low) if low not in FUNCTION and is_word(low)]
            if not said:
                opens = OPENERS.intersection(self.words)
                return "nothing" if opens and set(self.words) <= OPENERS | OPENING else "other"
            has_verb = bool(VERBS.intersection(self.words))
            return "nothing" if has_verb and not self.answer_is_asked else "other"
        return "remark" if not self.answer_is_asked and self._is_remark() else "other"

    def _turns(self) -> bool:
        """Return True if a word denies, takes back or adds, and the question does not have it."""
        for i, low in enumerate(self.low):
            if low in TURNING or (low[-1:] == "t" and DENYING.search(low)):
                after = self.low[i + 1] if i + 1 < len(self.low) else ""
                if (low, after) not in self.asked.pairs:
                    return True
        return False

    def _is_contrary(self) -> bool:
        """Return True if the question asks what is not so, and the sentence repeats it without the negation."""
        if not self.asked.is_negated:
            return False
        before = self.low[: self.low.index("so")] if "so" in self.low else []
        if ANSWER not in before and any(map(negates, before)):
            return True  # "The dolphin is not one, so the answer is @"
        if any(map(negates, self.words)):
            return False
        if (
            self.low
            and ANSWER in self.low
            and self.low[-1] in VERBS | {"can", "could", "would", "will"}
        ):
            return True  # "The ostrich can."
        return any(
            word not in FUNCTION and word not in self.asked.kinds and self.asked.knows(word)
            for word in self.words
        )

    def _is_known(self, i: int) -> bool:
        piece, low = self.pieces[i], self.low[i]
        if piece in (ANSWER, GIVEN) or piece in HARMLESS or low in FUNCTION or low in self.extra:
            return True
        if not is_word(piece):
            return low in self.asked.row or low in self.asked.stems
        if low in TURNING:
            return True  # judged by `_turns`
        return self.asked.knows(low) or all(
            self.asked.knows(part) or part in FUNCTION for part in low.split("-")
        )

    def _is_remark(self) -> bool:
        words = self.words
        if len(words) < 3 or words[0] not in SUBJECTS:
            return False
        if self._turns() or ANSWER in self.pieces[1:]:
            return False
        if words[0] in ("a", "an") and not PREPOSITIONS.intersection(words):
            return False
        first = next(i for i, piece in enumerate(self.pieces) if is_word(piece))
        n_strange = 0
        for i, piece in enumerate(self.pieces):
            if piece == GIVEN or any(c.isdigit() for c in piece):
                return False
            named = piece[:1] != piece[:1].lower() and i != first and piece != "I"
            if named and not (self._is_known(i) and self.low[i] in self.asked.capital):
                return False
            if not is_word(piece) and piece not in HARMLESS:
                return False
            follows = self.low[i - 1] if i else ""
            if self._is_known(i):
                continue
            if follows in PLACING and asks_place(self.asked):
                return False  # "It lies in texas"
            if follows in VERBS and not n_strange and not self._describes(i):
                return False  # "It is lyon"
            if follows == "the" and i > 1 and self.low[i - 2] in VERBS:
                behind = (*self.low[i + 1 :], "")[0]
                if n_strange or behind not in ("of", "that", "which", "who", "where", "by", "for"):
                    return False  # "It is the dollar"
            n_strange += not self.low[i].endswith("ly")
        return not CHOOSING.intersection(words)

    def _describes(self, i: int) -> bool:
        """Return True if a strange word behind "is" describes, and goes on: "known for ...", "famous for ..."."""
        goes_on = i + 2 < len(self.low) and self.low[i + 1] in PREPOSITIONS
        return goes_on and (self.low[i].endswith("ed") or self.low[i] in DESCRIBING)

    def _is_shaped(self, pieces: Sequence[str]) -> bool:
        """Return True if the known words say that this is the answer."""
        low = self.low
        at = [i for i, piece in enumerate(pieces) if piece == ANSWER]
        for i in at:
            before, after = self._beside(i, -1), self._beside(i, 1)
            if before in JOINING or after in JOINING:
                return False
            if self._is_beside_the_point(i):
                return False
            left, right = pieces[i - 1] if i else "", (*pieces[i + 1 :], "")[0]
            if not self._may_join(left, i - 1) or not self._may_join(right, i + 1):
                return False
        for i, j in pairwise(at):
            if pieces[j - 1] != "(" and not any(map(acts, low[i + 1 : j])):
                return False  # "@, @"
        if any(piece in "/|&+±~^<>\\" for piece in pieces if not is_word(piece)) and (
            GIVEN not in pieces or pieces[at[0] - 1] != "="
        ):
            return False
        if "," in pieces and self.words and LINKS.issuperset(self.words):
            return False  # "@, are", "it, @"
        if self.answer_is_asked:
            return self._is_subject_or_predicate(at)
        if set(self.words) <= FRAGMENT | self.extra:
            return True
        if "=" in pieces or any(map(acts, low)):
            return True
        if set(self.words) <= FUNCTION:
            return False
        first, last = at[0], at[-1]
        behind = pieces[last + 1] if last + 1 < len(pieces) else ""
        if is_word(behind) or behind == "(":
            # "@ wrote it", "@ people", "@ (the capital of France)"
            return not {",", "(", ";"}.intersection(pieces[:first])
        if behind in (",", "-", "–", "—") and first == 0:
            rest = [i for i in range(last + 1, len(pieces)) if is_word(pieces[i])]
            if not rest:
                return True
            opens = any(low[i] not in FUNCTION for i in rest) and low[rest[0]] in (
                "the",
                "a",
                "an",
                "which",
                "who",
                "that",
                "one",
            )
            repeats = stands_in(self.low[rest[0] : rest[-1] + 1], self.asked.row)
            return (opens or repeats) or all(
                low[i] in self.asked.capital and pieces[i] != low[i] for i in rest
            )
        # "The planet @", "Plants absorb @", "Answer: @"
        return not behind and all(piece not in (",", "(", ";") for piece in pieces[:first])

    def _is_beside_the_point(self, i: int) -> bool:
        """Return True if the sentence says something else of the answer: "the capital of @ is France"."""
        before = [low for low in self.low[:i] if is_word(low) and low not in ARTICLES]
        if before[-1:] == ["of"] and before[-2:-1]:
            turned = before[-2] not in self.asked.kinds and self.asked.knows(before[-2])
            if before[-2] not in OF_NAMES or (turned and self._beside(i, 1) in ("is", "was")):
                return True
        if before[-1:] and before[-1] in ("above", "below", "before", "after", "over", "under"):
            return before[-1] not in self.asked.row
        after = self.low[i + 1] if i + 1 < len(self.low) else ""
        counted = self.asked.counted
        if counted and after.endswith("s") and after not in FUNCTION:
            return stem(after) not in counted  # "There are @ teams", where players are counted
        if not before or before[-1] not in VERBS:
            return False
        behind = self._beside(i, 1)
        if before[-1] in ("has", "have", "had") and behind and stem(behind) in self.asked.counted:
            return False  # "Mars has @ moons"
        # "France is @", where the question does not say "is France".
        framed = [word for word in before if word not in FUNCTION]
        return (
            bool(framed)
            and len(framed) == len(before) - 1
            and all(word in self.asked.capital for word in framed)
            and not any((before[-1], word) in self.asked.pairs for word in framed)
        )

    def _beside(self, i: int, step: int) -> str:
        i += step
        while 0 <= i < len(self.low) and self.low[i] in (",", "the", "a", "an", "(", ")"):
            i += step
        return self.low[i] if 0 <= i < len(self.low) else ""

    def _may_join(self, piece: str, i: int) -> bool:
        """Return True if a word that touches the answer is no part of a longer name ("New @", "@ City")."""
        if not is_word(piece) or piece == piece.lower():
            return True
        low = piece.lower().replace("’", "'")
        return low in FUNCTION or low in self.asked.capital or low in self.extra

    def _is_subject_or_predicate(self, at: list[int]) -> bool:
        low = self.low
        first = at[0]
        before = [piece for piece in low[:first] if is_word(piece)]
        lead = set(before) <= OPENERS | {"the", "a", "an", "it", "it's", "is", "was", "that"}
        rest = low[first + 1 :]
        others = self.asked.options | self.asked.capital
        if lead and not rest:
            return True
        if lead and (acts(rest[0]) or acts((*rest[1:], "")[0])):
            verb = first + 1 if acts(rest[0]) else first + 2
            named = rest[0] if verb > first + 1 else ""
            return (
                rest[0] not in (",", "(")
                and "and" not in rest[:2]
                and named not in others
                and self._beside(verb, 1) not in others
                and ("between" in rest or not self.asked.options.intersection(rest))
            )
        is_last = first == len(low) - 1 and len(at) == 1
        links = self._beside(first, -1) in (*VERBS, "by")
        framed = [word for word in before if word not in others]
        return is_last and links and "and" not in before and bool(framed) and set(framed) != {"is"}
