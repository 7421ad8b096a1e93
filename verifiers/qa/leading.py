"""Reads a reply whose first statement is the answer, whatever harmless things it goes on to say.

`plainly.py` knows every word of a reply. Here the words may be strange, since only the place of the answer pays: the
first clause that names a candidate must be the one with the right answer, and

- it has no other candidate: no other name beside a name, no other number beside a number; beside a common noun every
  word is known, as in `statement.py`
- it speaks of what is asked, in the role that is asked for: "Lincoln succeeded @" is no answer to "Who succeeded Lincoln?"
- sentences before it name no candidate, and nothing behind it takes it back, says the same of another or goes on as a list

A list of candidates is paid by its first member at most, and only if a whole clause states that one. Not covered: replies in
small letters alone, questions that offer candidates, negated questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.clauses import UNDOING, without_clauses
from verigym.verifiers.qa.leading_words import (
    APPOSED,
    BESIDE,
    BOUNDARY,
    BOUNDED,
    BOUNDING,
    CLAUSES,
    CODE,
    CONCLUDES,
    COPULAR,
    GAPPED,
    KIN,
    MONTHS,
    MORE,
    NUMBERS,
    OFFICE,
    OPPOSITES,
    PARTICIPLE,
    PHRASE,
    PRONOUNS,
    REFERRING,
    ROLES,
    SAME_AGAIN,
    SCORE,
    SENTENCE,
    SETTING,
    SO_KIND,
    STARTING,
    UNITED,
    VIEWS,
    WITHDRAWING,
    YEAR,
)
from verigym.verifiers.qa.mark import mark_given
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.persons import PARTICLES
from verigym.verifiers.qa.places import NATIONS, asks_person, asks_place
from verigym.verifiers.qa.plainly import states_plainly
from verigym.verifiers.qa.reference import known_number
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    DENYING,
    FUNCTION,
    MEASURES,
    OF_NAMES,
    PIECE,
    PLACING,
    SAYS,
    TURNING,
    VERBS,
    acts,
    is_word,
    stem,
    without_marks,
)
from verigym.verifiers.qa.values import numbers_in

_MOST_CHARS = 400


def states_first(
    answer: str, masked: str, asked: Asked, aliases: Sequence[str], *, number: bool = False
) -> bool:
    """Return True if the first statement of a reply, `masked` with `ANSWER` for the right answer, gives that.

    `aliases`: the right answers as they are written. `number`: they are numbers, and `ANSWER` stands for one in digits or words.
    """
    text = " ".join(plain(masked).split())
    named = [one for one in aliases if one[:1].isupper()]
    if named and not number and not any(_is_capital(one, answer) for one in named):
        return False  # names in small letters cannot be told apart
    if (
        len(text) > _MOST_CHARS
        or asked.is_negated
        or len(asked.row) < 3
        or asked.options
        or "?" in text
    ):
        return False
    reader = Reader(asked, aliases, number)
    return reader.reads(text) or (
        not number
        and (shorter := without_clauses(text, asked, tuple(reader.tokens))) != text
        and reader.reads(" ".join(shorter.split()))
    )


def mark_numbers(answer: str, texts: Sequence[str]) -> str | None:
    """`answer` with `ANSWER` for each number that is one of `texts`; None if they hold none, or one with a unit or a percent."""
    wanted = {
        one.value
        for text in texts
        if (one := known_number(text)) and not one.around and not one.percent
    }
    if not wanted:
        return None
    text = without_marks(plain(answer))
    spans = [
        (s, e, True)
        for s, e, one in numbers_in(text)
        if one and one.value in wanted and not one.percent
    ]
    return mark_given(text, spans) if spans else None


def _is_capital(name: str, answer: str) -> bool:
    at = answer.lower().find(name.lower())
    return at >= 0 and answer[at].isupper()


def has_role(lead: str, asked: Asked) -> bool:
    """Return True unless the answer has the other role of the question's verb: who succeeded, not who was succeeded."""
    row = asked.row
    if row[:1] not in (("who",), ("which",), ("what",)):
        return True
    verb = next((word for word in row[1:4] if acts(word) and word not in VERBS), "")
    if not verb or (row[1:2] and row[1] in VERBS):
        return True
    low = [piece.lower() for piece in PIECE.findall(lead)]
    if ANSWER not in low:
        return True
    i = low.index(ANSWER)
    forms = {stem(one) for one in (verb, *SAYS.get(verb, "").split()[:4])}
    places = [k for k, word in enumerate(low) if k != i and acts(word) and stem(word) in forms]
    if not places:
        return True
    k = places[0]
    passive = k > 0 and low[k - 1] in ("is", "was", "were", "are", "been", "being")
    if k < i:
        between = low[k + 1 : i]
        return "by" in between or bool(VERBS.intersection(between))
    return not (passive and "by" in low[k:])


class Reader:
    def __init__(self, asked: Asked, aliases: Sequence[str], number: bool) -> None:
        self.asked = asked
        self.number = number
        words = [word for text in aliases for word in PIECE.findall(text) if is_word(word)]
        self.name = not number and bool(words) and all(
            word[:1].isupper() or word in FUNCTION | PARTICLES or word[:1].isdigit() for word in words
        ) and any(word[:1].isupper() for word in words)  # fmt: skip
        self.tokens = [
            tuple(word.lower() for word in PIECE.findall(text) if is_word(word)) for text in aliases
        ] or [("0",)]

    def reads(self, text: str) -> bool:
        """Return True if the first statement of `text` is the answer, and nothing takes it back."""
        sentences = [one.strip() for one in SENTENCE.split(text) if one.strip()]
        at = next(k for k, one in enumerate(sentences) if ANSWER in one)
        if not all(map(self.is_background, sentences[:at])):
            return False
        later = sentences[at + 1 :]
        sentence = sentences[at]
        start = 0
        turn = CONCLUDES.search(sentence)
        if self.number and turn is not None and turn.start() < sentence.find(ANSWER):
            start = turn.end()
            if self.withdraws(sentence[: turn.start()]):
                return False
        kind = SO_KIND.search(sentence)
        if (
            kind is not None
            and kind["kind"].lower() in self.asked.kinds
            and not self.withdraws(sentence[: kind.start()])
        ):
            start = kind.end()
        body = sentence[start:]
        first = body.find(ANSWER) + 1
        ends = [match.start() for match in BOUNDARY.finditer(body, first)] + [len(body)]
        for end in ends[:6]:
            lead, tail = body[:end].rstrip(" .!"), body[end:]
            if ANSWER in tail and not self.repeats(tail):
                continue
            if (
                self.is_lead(lead, bool(start))
                and self.is_tail(tail)
                and all(map(self.is_later, later))
            ):
                return True
        return False

    def withdraws(self, text: str) -> bool:
        """Return True if a word takes back, doubts or denies, and the question does not have it."""
        for word in map(str.lower, PIECE.findall(text)):
            word = word.replace("’", "'")
            if (word in WITHDRAWING or DENYING.search(word)) and word not in self.asked.row:
                return True
        return False

    def turns(self, lead: str) -> bool:
        """Return True if a word makes the answer one of several, or the opposite of what is asked."""
        words = {piece.lower() for piece in PIECE.findall(lead)}
        if any(word in TURNING and word not in self.asked.row for word in words):
            return True
        return self.is_opposite(words)

    def is_opposite(self, words: Iterable[str]) -> bool:
        """Return True if words say the opposite of what is asked: "ended" for "begin"."""
        words = set(words)
        row = frozenset(self.asked.row)
        return any(
            (row & one and words & other and not words & one)
            or (row & other and words & one and not words & other)
            for one, other in OPPOSITES
        )

    def strange_names(self, text: str) -> list[str]:
        """The capitalised words that neither the question nor the language explains."""
        found = []
        pieces = [piece for piece in PIECE.findall(text) if is_word(piece)]
        for k, piece in enumerate(pieces):
            low = piece.lower().replace("’", "'")
            if (
                not piece[:1].isupper()
                or low in FUNCTION
                or low in MONTHS
                or low in NATIONS
                or low in ROLES
            ):
                continue
            if self.asked.knows(low.removesuffix("'s")) or self._resembles(low):
                continue
            alone = not pieces[k + 1 :] or not pieces[k + 1][:1].isupper()
            if k == 0 and alone and (low in STARTING):
                continue
            found.append(piece)
        return found

    def _resembles(self, low: str) -> bool:
        """Return True for "brazilians" where the question has Brazil."""
        return any(
            len(one) > 3 and low.startswith(one[:5]) and len(low) - len(one) < 5
            for one in self.asked.capital
        )

    def other_numbers(self, text: str) -> bool:
        """Return True if `text` has a number, but for years behind "in" and numbers of the question."""
        words = [piece.lower() for piece in PIECE.findall(text)]
        for k, word in enumerate(words):
            if word in self.asked.row:
                continue
            if word in NUMBERS:
                return True
            if word[:1].isdigit():
                before = words[k - 1] if k else ""
                dated = (
                    before in ("in", "since", "from", "until", "by", "of", "and", "to", "between")
                    or before in MONTHS
                )
                if not (YEAR.fullmatch(word) and dated):
                    return True
        return False

    def is_background(self, sentence: str) -> bool:
        """Return True if a sentence before the answer names no candidate."""
        if self.withdraws(sentence) or not re.search("[a-z]{2}", sentence):
            return False
        if self.number:
            return True if self.strange(sentence) > 1 else not self.other_numbers(sentence)
        return self.name and not self.strange_names(sentence) and not self._is_asked(sentence)

    def strange(self, text: str) -> int:
        """The number of words in small letters that are of no use for another answer."""
        return sum(
            piece.islower()
            and piece.isalpha()
            and len(piece) > 2
            and piece not in FUNCTION
            and not self.asked.knows(piece)
            for piece in PIECE.findall(text)
        )

    def repeats(self, tail: str) -> bool:
        """Return True if the answer stands once more behind its clause, without another candidate beside it."""
        if self.number:
            return tail.lstrip(" ,;:").startswith(("because", "since", "as "))
        return False

    def is_lead(self, lead: str, concluded: bool) -> bool:
        """Return True if a clause states the answer and no other candidate."""
        if self.withdraws(lead) or self.turns(lead) or ANSWER not in lead:
            return False
        if lead.strip(" \"'“”‘’*_") == ANSWER and not self.number:
            return True
        lead = lead.replace("the only ", "the ")
        if self.number and BOUNDED.search(lead):
            return False
        if states_plainly(lead, self.asked, False, self.tokens):
            return has_role(lead, self.asked)
        setting = SETTING.match(lead)
        if setting is not None and ANSWER not in setting[0] and not self.strange_names(setting[0]):
            lead = lead[setting.end() :]
        pieces = PIECE.findall(lead)
        if pieces[-1] in ",;:/" or pieces[0] in "([":
            return False
        low = [piece.lower().replace("’", "'") for piece in pieces]
        i = pieces.index(ANSWER)
        if pieces.count(ANSWER) > 1 or not self._stands_free(pieces, low, i):
            return False
        if self.number:
            return self._is_number_lead(low, i, concluded)
        if not self.name:
            return self._is_plain_lead(pieces, low, i)
        numbers = {word for word in low if word[:1].isdigit()}
        if (
            numbers
            and any(word[:1].isdigit() for word in self.asked.row)
            and not numbers.issubset(self.asked.row)
        ):
            return False
        if self.other_numbers(lead) or (low[i + 1 :] and low[i + 1] in VERBS):
            return False  # "@ is the symbol of silver": `statement.py` compares every word
        return (
            not self.strange_names(lead) and self._is_linked(low, i) and has_role(lead, self.asked)
        )

    def _is_plain_lead(self, pieces: list[str], low: list[str], i: int) -> bool:
        """Return True if a clause about a common noun has one strange word at most, and that is its verb."""
        if self.strange_names(" ".join(pieces)) or not self._is_linked(low, i):
            return False
        strange = [
            k
            for k, word in enumerate(low)
            if word.isalpha()
            and k != i
            and word not in FUNCTION | UNITED
            and not self.asked.knows(word)
            and not word.endswith("ly")
        ]
        if len(strange) != 1:
            return False
        k = strange[0]
        if low[k].endswith(("s", "ed")) and k > 0:
            return True
        verbs = any(map(acts, low))
        return not verbs and k in (i - 1, i + 1)

    def _stands_free(self, pieces: list[str], low: list[str], i: int) -> bool:
        """Return True if the answer is no part of a list, a longer name, or a phrase on something else."""
        before = [word for word in low[:i] if word not in ARTICLES and is_word(word)]
        after = low[i + 1] if i + 1 < len(low) else ""
        if after in ("and", "or", "&", "/", "+", "-", "'", "’", "'s") or pieces[i + 1 : i + 2] == [
            "’s"
        ]:
            return False
        if pieces[i + 1 : i + 2] and pieces[i + 1][:1].isupper() and low[i + 1] not in FUNCTION:
            return False
        if any(piece in "/|&+±~^<>\\=" for piece in pieces if not is_word(piece)):
            return False
        if before and before[-1] in BESIDE:
            return False
        if {",", ";", ":", "(", "–", "—"}.intersection(low[i + 1 :]):
            return False  # `clauses.py` knows what may stand there
        if i and low[i - 1] in (",", ";", ":", "/", "("):
            return self.name and OFFICE.search(" ".join(low[:i])) is not None
        if (
            before[-1:] == ["of"]
            and before[-2:-1]
            and before[-2] not in OF_NAMES
            and self.asked.knows(before[-2])
        ):
            return False  # "the capital of @ is France"
        previous = pieces[i - 1] if i else ""
        if (
            previous[:1].isupper()
            and previous.lower() not in FUNCTION | NATIONS | ROLES | MONTHS
            and not (self.asked.knows(previous.lower()) or self._resembles(previous.lower()))
        ):
            return False
        return not (
            before[-1:] in (["of"], ["to"])
            and before[-2:-1]
            and before[-2] in KIN
            and not self.asked.knows(before[-2])
        )

    def _is_linked(self, low: list[str], i: int) -> bool:
        """Return True if a clause speaks of what is asked, or says only who or what it was."""
        said = [word for word in low if word.isalpha() and len(word) > 2 and word not in FUNCTION]
        if any(word.isdigit() and len(word) > 2 and word in self.asked.row for word in low):
            return True
        if said and not REFERRING.isdisjoint(low) and not asks_person(self.asked):
            return True
        if any(
            self.asked.knows(word) or self._says(word) or self._resembles(word) for word in said
        ):
            return True
        return not said and bool(VERBS.intersection(low[:i]))

    def _says(self, word: str) -> bool:
        return any(self.asked.knows(other) for other in SAYS.get(word, "").split())

    def _is_number_lead(self, low: list[str], i: int, concluded: bool) -> bool:
        others = [*low[:i], *low[i + 1 :]]
        if self.other_numbers(" ".join(others)) or BOUNDING.intersection(low[max(0, i - 3) : i]):
            return False
        rest = [word for word in low[i + 1 :] if is_word(word)]
        noun = rest[0] if rest else ""
        if noun in MEASURES and not self.asked.knows(noun):
            return False
        if noun and noun not in FUNCTION and not self.asked.knows(noun) and not noun.endswith("ly"):
            return False
        if any(word in MEASURES and not self.asked.knows(word) for word in others):
            return False
        return concluded or self._is_linked(low, i)

    def is_tail(self, tail: str) -> bool:
        """Return True if what follows the answer in its sentence is no other candidate and takes nothing back."""
        said = MORE.sub("", tail.strip(" .!)*_\"'”"))
        if not any(map(is_word, PIECE.findall(said))):
            return True
        mark, body = said[:1], said.lstrip(" ,;:(–—-")
        first = body.split()[0].lower()
        if mark == "(" and CODE.fullmatch(body):
            return not self.number and not asks_place(self.asked)
        if self.withdraws(said) or SAME_AGAIN.search(body) or SCORE.search(body):
            return False
        low = {piece.lower() for piece in PIECE.findall(body)}
        if self.is_opposite(low):
            return False
        if low & (UNDOING | KIN | VIEWS) - set(self.asked.row):
            return False
        if PHRASE.match(body) and not any(map(acts, body.split())):
            return self._is_phrase(body, mark)
        if (
            first == "and"
            and self.name
            and mark == ","
            and (other := GAPPED.fullmatch(body)) is not None
        ):
            return not self.asked.knows(other[1].lower())
        if self._is_rival(body):
            return False
        if (
            self.number
            and mark in ",:"
            and (PHRASE.match(body) or first in ARTICLES)
            and not self.other_numbers(body)
        ):
            return not self._lists(body)
        if mark in ";:–—-":
            return self._is_clause(body) and self.strange(body) > (first not in PRONOUNS)
        if mark == "(":
            return False
        if first in CLAUSES:
            return self.strange(body) > 0
        if first == "and" and self._goes_on(body):
            return True
        if first in ("and", "plus"):
            if first == "plus":
                return self.number
            return mark == "," and self._is_clause(body[4:]) and self.strange(body) > 0
        if first == "including":
            return self.number
        if first in ("who", "whom"):
            return asks_person(self.asked) and self.strange(body) > 0
        if first in ("which", "where"):
            return not asks_person(self.asked) and self.strange(body) > 0
        if PARTICIPLE.match(body):
            return not self.strange_names("x " + body)
        return bool(APPOSED.match(body)) and not asks_person(self.asked)

    def _lists(self, body: str) -> bool:
        """Return True for "the blue and the red one" behind a number, whose members may be of another count."""
        return self.strange(body) < 2

    def _goes_on(self, body: str) -> bool:
        """Return True for "and was published in 1851", "and turn it into honey": a second verb of the same subject."""
        words = [piece for piece in PIECE.findall(body) if is_word(piece)][1:]
        if (
            len(words) < 2
            or not words[0].islower()
            or words[0] in ARTICLES
            or self.strange_names("x " + body)
        ):
            return False
        if self.number:
            return acts(words[0]) and not self.other_numbers(body)
        return acts(words[0]) or not {"it", "them"}.isdisjoint(words)

    def _is_phrase(self, body: str, mark: str) -> bool:
        """Return True for "from Sabarmati to Dandi" behind the answer: a place or time that is not asked for."""
        first = body.split()[0].lower()
        if asks_place(self.asked) and (self.strange(body) or self.strange_names("x " + body)):
            return False
        if (
            first in ("for", "of")
            and mark != ","
            and (self.strange(body) or self.strange_names("x " + body))
        ):
            return False  # "the symbol for silver"
        if first in ("in", "on", "at", "near") and self.strange_names("x " + body):
            return False  # `clauses.py` knows places
        digits = re.findall(r"\d+", body)
        if digits and any(word[:1].isdigit() for word in self.asked.row):
            return all(one in self.asked.row for one in digits)
        return not self.number or not self.other_numbers(body)

    def _is_clause(self, text: str) -> bool:
        """Return True if `text` has a verb and a subject of its own."""
        words = [piece.lower() for piece in PIECE.findall(text) if is_word(piece)]
        return len(words) > 3 and any(acts(word) or word.endswith("s") for word in words[1:6])

    def _is_rival(self, clause: str) -> bool:
        """Return True if a clause may say of something else what is asked."""
        if COPULAR.match(clause.lower()):
            return True
        if self.number:
            if not self.other_numbers(clause):
                return False
            first = clause.split()[0].lower()
            explains = first in ("because", "since", "as") and (
                "×" in clause or "*" in clause or "=" in clause
            )
            return not explains and self.strange(clause) < 2
        if not self.strange_names("x " + clause):
            return False
        strange = self.strange(clause)
        return strange == 0 or (strange < 3 and self._is_asked(clause))

    def _is_asked(self, clause: str) -> bool:
        """Return True if a clause has a word in small letters that the question has."""
        return any(
            piece.islower() and len(piece) > 2 and piece not in FUNCTION and self.asked.knows(piece)
            for piece in PIECE.findall(clause)
        )

    def is_later(self, sentence: str) -> bool:
        """Return True if a later sentence is a remark."""
        if self.withdraws(sentence) or self._is_rival(sentence) or SAME_AGAIN.search(sentence):
            return False
        low = {piece.lower() for piece in PIECE.findall(sentence)}
        if low & (VIEWS | {"if", "want", "let", "prefer", "like", "ask"}):
            return False
        if asks_place(self.asked) and self._is_placed(sentence):
            return False
        return self.strange(sentence) > 1 or (self.name and not self.strange_names(sentence))

    def _is_placed(self, sentence: str) -> bool:
        """Return True for "It is in texas"."""
        low = [piece.lower() for piece in PIECE.findall(sentence)]
        return any(
            one in PLACING and other not in FUNCTION and not self.asked.knows(other)
            for one, other in pairwise(low)
        )


_GRANTED = frozenset(
    [
        "but",
        "although",
        "though",
        "also",
        "another",
        "other",
        "others",
        "same",
        "second",
        "not",
        "never",
        "only",
        "too",
        "both",
    ]
)
