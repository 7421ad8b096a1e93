"""Words, names and candidates of a question and its right answer, as the clauses of a reply are compared with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    BESIDE,
    CONJOINING,
    DENIALS,
    GENERIC,
    OPPOSITES,
    RANKS,
    REFERRING,
    RELATIVES,
    SECOND,
    STARTING,
    THINGS,
)
from verigym.verifiers.qa.places import (
    NATIONS,
    countries_in,
)
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    DENYING,
    FUNCTION,
    GIVEN,
    SAYS,
    VERBS,
    acts,
    forms_of,
    is_word,
    stem,
)

OTHER = "\ue002"
"""Stands for a number or date that is neither the right one nor in the question."""
Sort = Literal["name", "noun", "value"]
ASKING = frozenset(
    """
    who what which when where whom whose how many much year date day name kind type long far tall is was are were did do does the
    a an of in on at to for by from with and or you tell me can could please give answer following question would will
    """.split()  # noqa: SIM905
)
_DEMONYMS = frozenset(
    [
        "",
        "n",
        "an",
        "ian",
        "ans",
        "ians",
        "ish",
        "ese",
        "ic",
        "s",
        "nian",
        "i",
        "ean",
        "eans",
        "er",
        "ers",
    ]
)


_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905


@dataclass(frozen=True)
class ClaimClause:
    """The pieces of a clause, in the letters of the reply and in small ones, and the mark or word before it."""

    mark: str
    pieces: tuple[str, ...]
    low: tuple[str, ...]
    is_lead: bool = False

    @property
    def words(self) -> list[str]:
        """The words and numbers, without marks, in small letters."""
        return [word for word in self.low if is_word(word)]

    def text(self) -> str:
        """Return the pieces with blanks between them."""
        return " ".join(self.pieces)


_AGED = frozenset(["young", "old", "little", "late"])
_MORE = frozenset(["more", "less", "fewer"])


class View:
    """A question and its right answer, as the clauses of a reply are compared with them."""

    def __init__(self, asked: QuestionWords, sort: Sort, answer: frozenset[str]) -> None:
        self.asked = asked
        self.sort = sort
        self.answer = answer
        self.generic = GENERIC if answer.isdisjoint(NATIONS) else GENERIC - NATIONS
        self.is_choice = bool(answer) and (
            not answer.isdisjoint(asked.options) or answer <= asked.tokens
        )
        self.rivals = _offered(asked) - answer if self.is_choice else frozenset()
        self.row = frozenset(asked.row) | asked.tokens
        self.countries = countries_in(asked)
        self.names = asked.capital - (FUNCTION - {"war"}) - ASKING - self.rivals
        self.lone = frozenset(
            word
            for word in self.names - self.generic - STARTING
            if len(word) > 3
            and not any(word in pair and set(pair) <= asked.capital for pair in asked.pairs)
        )
        row = asked.row
        self.comparing = frozenset(
            word
            for word in row
            if word in ("first", "last", "more", "most", "less", "least")
            or (word.endswith(("er", "est")) and len(word) > 4)
        )
        self.asks_doer = (
            row[:1] in (("which",), ("what",))
            and len(row) > 2
            and row[1] not in VERBS | ASKING
            and row[2] not in VERBS | ASKING
            and row[2] not in ADJOINING
            and (row[2].endswith(("s", "ed")) or row[2] in SAYS)
        )
        self.content = [
            word
            for word in dict.fromkeys(asked.row)
            if word not in ASKING
            and not word.isdigit()
            and word not in FUNCTION
            and word not in self.names
            and word not in asked.kinds
            and word not in self.rivals | answer
        ]

    def knows(self, low: str) -> bool:
        """Return True if the question has a word, or a name that it comes from, or a country of the same name."""
        low = low.removesuffix("'s").removesuffix("’s").strip("'’")
        return bool(low) and (
            low in self.countries
            or self.asked.knows(low)
            or any(self._resembles(low, one) for one in self.names)
            or any(self.asked.knows(w) for w in SAYS.get(low, "").split())
        )

    def _resembles(self, low: str, name: str) -> bool:
        """Return True for "brazilians" where the question has Brazil."""
        return any(
            len(name) - cut > 3
            and low.startswith(name[: len(name) - cut])
            and low[len(name) - cut :] in _DEMONYMS
            for cut in (0, 1, 2)
        )

    def same_verb(self, word: str) -> bool:
        """Return True if a word is a form of the verb behind "who"."""
        return stem(word) in {stem(one) for one in forms_of(self.asked.row[1])}

    def share(self, words: Iterable[str]) -> float:
        """Return the share of the question's words, names apart, that stand in `words`."""
        if not self.content:
            return 0.0
        parts = [
            part for word in words for part in (word, *(word.split("-") if "-" in word else ()))
        ]
        said = {one for word in parts for one in (word, *SAYS.get(word, "").split())}
        stems = {stem(word) for word in said}
        hits = [
            word
            for word in self.content
            if word in said
            or stem(word) in stems
            or ("-" in word and not stems.isdisjoint(map(stem, word.split("-"))))
            or any(stem(w) in stems for w in SAYS.get(word, "").split())
        ]
        return len(hits) / len(self.content)

    def has_name(self, clause: ClaimClause) -> bool:
        """Return True if a clause has a name, or a number, of the question."""
        return any(
            word in self.names
            or word in self.countries
            or (word.isdigit() and word in self.asked.row)
            or any(
                self._resembles(word.removesuffix("'s").removesuffix("’s"), one)
                for one in self.names
            )
            or word.removesuffix("'s").removesuffix("’s") in self.names
            for word in clause.low
        )

    def is_full(self, clause: ClaimClause) -> bool:
        """Return True if a clause has a verb, so that it is no further member of a list."""
        return any(acts(word) for word in clause.low if word != "son")  # a verb in Spanish alone

    def denies(self, clause: ClaimClause) -> bool:
        """Return True if a clause has a denial that the question does not have."""
        return any(
            (word in DENIALS or DENYING.search(word)) and word not in self.asked.row
            for word in (one.replace("’", "'") for one in (*clause.low, clause.mark))
        )

    def asks(self, text: str) -> bool:
        """Return True if the question has all words of a phrase."""
        return all(word in self.asked.row for word in text.lower().replace("’", "'").split())

    def is_strange(self, piece: str, k: int, clause: ClaimClause) -> bool:
        """Return True if a piece is a part of a name that neither the question nor the language explains."""
        low = piece.lower().replace("’", "'").removesuffix("'s").rstrip("'")
        if low in self.rivals and piece != ANSWER:
            return True
        if (
            not piece[:1].isupper()
            or low in FUNCTION
            or low in self.generic
            or piece in (ANSWER, OTHER, GIVEN)
        ):
            return False
        if k and (
            clause.pieces[k - 1] == "°" or (len(piece) == 1 and clause.pieces[k - 1] == ANSWER)
        ):
            return False
        head = low.split("-")[0]
        if (
            head in self.answer
            or low.split("'")[0] in FUNCTION
            or (head != low and head in self.generic)
        ):
            return False
        if self._is_fuller(clause, k) or (k == 0 and low in _AGED):
            return False
        if self.knows(low) and low not in self.rivals:
            return False
        if k == 0 and clause.mark in ("", ":", "("):
            after = clause.pieces[1:2]
            alone = not after or not after[0][:1].isupper() or after[0] in (ANSWER, OTHER, GIVEN)
            common = (
                low in STARTING
                or low in ADJOINING
                or low.endswith(("ly", "ing"))
                or (after and after[0].lower() in ADJOINING)
                or self.sort == "noun"
            )
            if alone and common:
                return False
        return True

    def _is_fuller(self, clause: ClaimClause, k: int) -> bool:
        """Return True for the "Dawson" of "Jack Dawson", where the question has Jack alone."""
        pieces = clause.pieces
        if self.is_choice or ANSWER in pieces[max(0, k - 2) : k + 2]:
            return False
        before = pieces[k - 1].lower() if k and pieces[k - 1][:1].isupper() else ""
        return before in self.lone

    def strangers_low(self, clause: ClaimClause) -> frozenset[str]:
        """Return the strange names of a clause in small letters."""
        return frozenset(name.lower() for name in self.strangers(clause))

    def strangers(
        self, clause: ClaimClause, end: int | None = None, stop: bool = False
    ) -> list[str]:
        """Return the strange names of a clause, up to piece `end`; with `stop`, those before the first preposition
        but "of"."""
        found = []
        pieces = clause.pieces if end is None else clause.pieces[:end]
        for k, piece in enumerate(pieces):
            if stop and piece.lower() in ADJOINING - {"of", "as", "that", "which", "who"} and k:
                break
            if not self.is_strange(piece, k, clause):
                continue
            if self._describes(clause, k):
                continue
            found.append(piece)
        return found

    def _describes(self, clause: ClaimClause, k: int) -> bool:
        """Return True for "the Beatles drummer @": a name before small letters that lead to the answer."""
        pieces = clause.pieces
        if ANSWER not in pieces[k:]:
            return False
        if clause.low[k].endswith(("'s", "s'")):  # "Igor's son @"
            between = clause.low[k + 1 : pieces.index(ANSWER, k)]
            return bool(between) and all(
                word in RELATIVES
                or (word.isalpha() and not acts(word) and word not in ADJOINING | FUNCTION)
                for word in between
            )
        if not k:
            return False
        i = pieces.index(ANSWER, k)
        gap = pieces[k + 1 : i]
        low = [p.lower() for p in gap]
        n = next((n for n, p in enumerate(gap) if not p[:1].isupper()), len(gap))
        rest = low[n:]
        start = next((n for n in range(k, -1, -1) if not pieces[n][:1].isupper()), -1)
        if start < 0 or pieces[start].lower() not in ARTICLES | {
            "by",
            "of",
            "von",
            "par",
            "por",
            "de",
        }:
            return False
        return (
            bool(rest)
            and len(rest) < 4
            and all(
                p.isalpha()
                and p not in ADJOINING
                and p not in VERBS
                and p not in CONJOINING
                and not acts(p)
                and p not in ("and", "or")
                for p in rest
            )
        )

    def is_other_number(self, clause: ClaimClause) -> bool:
        """Return True if the question has a number or a day, and the clause another one in place of it."""
        days = {word.rstrip("s") for word in self.asked.row} & _DAYS
        named = {word.rstrip("s") for word in clause.low} & _DAYS
        if days and named and not days & named:
            return True
        asked = {word for word in self.asked.row if word.isdigit()}
        said = {word for word in clause.low if word.isdigit()}
        if self.sort == "value" or not asked or not said or said & asked:
            return False
        return any(len(one) == len(other) for one in said for other in asked)

    def is_swapped(self, low: Sequence[str]) -> bool:
        """Return True if a word of the question is followed by another word than there: "capital of Germany"."""
        row = [word for word in self.asked.row if word not in ARTICLES]
        said = [
            word
            for word in low
            if word not in ARTICLES and (is_word(word) or word in (ANSWER, OTHER))
        ]
        for one, other in pairwise(row):
            if one in self.names and other in self.names and one not in said and other in said:
                whole = list(low)
                at = whole.index(other)
                before = whole[at - 1] if at else ""
                if before and before not in FUNCTION | GENERIC and not self.knows(before):
                    return True  # "the Blue Planet" for "the Red Planet"
            verb = one.endswith("s") and one not in self.names and other == row[-1]
            links = one in ("of", "for", "by") or acts(one) or other in self.names or verb
            if (
                not links
                or other in ASKING | FUNCTION | self.rivals | self.answer
                or one in (ASKING | FUNCTION) - {"of", "for", "by"}
            ):
                continue
            if any(
                word == other or stem(word) == stem(other) or self._resembles(word, other)
                for word in said
            ):
                continue
            head = row[row.index(one) - 1] if row.index(one) else ""
            for k, (word, after) in enumerate(pairwise(said)):
                if stem(word) != stem(one) or not is_word(after):
                    continue
                if one == "of" and (not k or stem(said[k - 1]) != stem(head)):
                    continue  # "the seat of the government" for "the capital of Australia"
                if (
                    after not in FUNCTION
                    and after not in REFERRING
                    and not self.knows(after)
                    and after not in ADJOINING | BESIDE
                    and not after.endswith("ly")
                    and after not in GENERIC | THINGS
                ):
                    return True
        return False

    def says_all(self, clause: ClaimClause) -> bool:
        """Return True if a clause says of a strange name nothing but words of the question: "Lyon is the capital"."""
        plain = [
            w
            for p, w in zip(clause.pieces, clause.low, strict=True)
            if is_word(p) and not p[:1].isupper()
        ]
        said = [w for w in plain if w not in FUNCTION | {"too", "also"}]
        told = any(w.isdigit() and w not in self.asked.row for w in clause.words)
        return bool(said) and not told and all(map(self.knows, said)) and self.is_full(clause)

    def exceeds(self, words: Sequence[str]) -> bool:
        """Return True for "Uranus is farther", where the farthest is asked for."""
        superlatives = [w[:-3] for w in self.asked.row if w.endswith("est") and len(w) > 5]
        return any(w.endswith("er") and w[:-2] in superlatives for w in words) and len(words) < 5

    def has_two(self, words: Sequence[str]) -> bool:
        """Return True if all candidates that the question offers stand in `words`: "of the Nile and the Thames, ..."."""
        return self.rivals <= set(words) and len(words) > 2 and words[0] in ("between", "of")

    def is_opposite(self, words: Iterable[str]) -> bool:
        """Return True if words say the opposite of what is asked, or give another rank: "second" for "first"."""
        said, row = set(words), self.row
        if self.comparing and "than" in said and self.comparing.isdisjoint(said):
            return any((word.endswith("er") and len(word) > 4) or word in _MORE for word in said)
        for one, other in OPPOSITES:
            if (row & one and said & other and not said & one and not row & other) or (
                row & other and said & one and not said & other and not row & one
            ):
                return True
        if (
            SECOND.intersection(said)
            and not row & SECOND
            and any(w.endswith("est") or w in ("most", "least", "first") for w in row)
        ):
            return True
        for rank in RANKS:
            if row & rank and not said & rank and any(said & one for one in RANKS):
                return True
        return False


def _offered(asked: QuestionWords) -> frozenset[str]:
    """The candidates that a question offers: "the Nile or the Amazon", "between France and Brazil"."""
    row = [word for word in asked.row if word not in ARTICLES]
    beside = {
        word
        for k, joint in enumerate(row)
        if joint in ("and", "or", "between", "vs", "versus")
        for word in row[max(0, k - 1) : k + 2]
    }
    placed = {
        other
        for one, other in pairwise(row)
        if one in ("to", "in", "of", "from", "at", "on", "by") and ("or", other) not in asked.pairs
    }
    offered = ((asked.options - placed) | (beside & asked.capital)) - FUNCTION
    names = offered & asked.capital
    return names if len(names) > 1 else offered


def clause_of(mark: str, pieces: Sequence[str]) -> ClaimClause:
    """Return a clause of `pieces`, behind a mark or word."""
    return ClaimClause(
        mark, tuple(pieces), tuple(piece.lower().replace("’", "'") for piece in pieces)
    )
