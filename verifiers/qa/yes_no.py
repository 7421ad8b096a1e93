"""Reads a reply to a yes/no question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.abroad import with_english_verdict, yes_or_no_abroad
from verigym.verifiers.qa.asked import QuestionWords, asks_whether, claims, short_reply
from verigym.verifiers.qa.claim_clauses import sentences_in, split_clauses
from verigym.verifiers.qa.claim_view import ClaimClause, View
from verigym.verifiers.qa.claim_words import DOUBTING, REFERRING
from verigym.verifiers.qa.normalise import plain, tokens
from verigym.verifiers.qa.sentence_words import DENYING, FUNCTION, SAYS, negates, stem
from verigym.verifiers.qa.values import read_yes_no

_DENIED = frozenset(
    [
        "cant",
        "cannot",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "couldnt",
        "wont",
        "wouldnt",
        "hasnt",
        "havent",
    ]
)
_MOST_CHARS = 400
_PRONOUNS = (["it"], ["they"], ["he"], ["she"])


def yes_or_no(asked: QuestionWords, answer: str, words: Sequence[str]) -> bool | None:
    """Read a reply to a yes/no question; None if it says both or neither."""
    if (said := yes_or_no_abroad(answer)) is not None or (
        said := short_reply(words, asked)
    ) is not None:
        return said
    if (said := _repeated(words, asked)) is not None:
        return said
    beside = [tokens(piece) for piece in re.split(r"[\n/|;]", answer)[1:]]
    short = [piece for piece in beside if len(piece) < 3 and piece[:1] not in _PRONOUNS]
    if any(not all(map(asked.knows, piece)) for piece in short):
        return None
    value = read_yes_no(words, frozenset(filter(asked.knows, words)))
    if value is None and (told := told_verdict(asked, answer)) is not None:
        return told
    return None if value is False and claims(words, asked) else value


def _repeated(words: Sequence[str], asked: QuestionWords) -> bool | None:
    """The yes or no of "They cannot fly." or "It is larger.": a pronoun, and words of the question or a denial."""
    if (
        not asks_whether(asked)
        or asked.is_negated
        or not 3 <= len(words) <= 8
        or [words[0]] not in _PRONOUNS
    ):
        return None
    denied = [word for word in words[1:] if negates(word) or word in _DENIED]
    rest = [word for word in words[1:] if word not in denied and word not in FUNCTION]
    told = [word for word in rest if asked.knows(word)]
    if not told or len(told) < len(rest) or len(denied) > 1 or "or" in words:
        return None
    return not denied


_LEADS = re.compile(
    r"\W*(?:(?:sure|okay|ok|well|great\s+question)[,.!]\s+)?(?:the\s+(?:correct\s+)?answer\s+is\s+(?!(?:in)?correct\b))?"
    r"(?:(?P<yes>yes|yeah|yep|correct|true|indeed|absolutely|definitely|certainly|that(?:['’]s|\s+is)\s+(?:right|correct|true))"
    r"|(?P<no>no|nope|false|incorrect|not\s+(?:at\s+all|any\s?more)|not(?=\s+since\s+\d)|that(?:['’]s|\s+is)\s+(?:wrong|false|incorrect|not\s+(?:right|correct|true))))"
    r"(?:\s*[.,;:!–—-]+\s*|\s+(?=(?:it|they|he|she|there|the|this|that|these|we|you)\b)|$)",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"(?:^|[,.;:!–—-])\s*(?:and\s+)?(?:so|therefore|thus|hence|in\s+short|(?:which|that|this)\s+means)\b,?\s+(?:that\s+)?(?:the\s+answer\s+is\s+)?"
    r"(?P<word>yes|no)\b(?=\s*(?:[.,;:!–—-]|$))|,\s(?P<last>yes|no)\W*$",
    re.IGNORECASE,
)
_NO_DOUBT = re.compile(
    r"\b(?:there\s+is\s+)?(?:no|without(?:\s+a|\s+any)?)\s+(?:doubt|question)\b(?:\s+that)?|\bnot\s+only\b",
    re.IGNORECASE,
)
_CONTRARY = frozenset(
    """
    kidding joking joke scratch wait actually sorry oops lie lying opposite instead rather unless if wrong false
    depends mistake
    """.split()  # noqa: SIM905
)
_UNLIKE_YES = frozenset("myth misconception contrary unfortunately impossible".split())  # noqa: SIM905
_NEGATIVE = frozenset("unable impossible fails failed lacks lack neither none nobody only".split())  # noqa: SIM905
_AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "could",
        "has",
        "have",
        "had",
        "will",
        "would",
        "should",
        "am",
        "be",
        "not",
    ]
)


def told_verdict(asked: QuestionWords, answer: str) -> bool | None:
    """Return the yes or no of a reply in sentences, by its first word or else by its first clause on the matter.

    None if a later clause on the matter says the contrary, or anything is taken back or doubted.
    """
    if len(answer) > _MOST_CHARS or asked.is_negated or not asks_whether(asked):
        return None
    text = _NO_DOUBT.sub(" ", plain(with_english_verdict(answer)).strip())
    if "?" in text or (
        (doubt := DOUBTING.search(text)) and not set(doubt[0].lower().split()) <= set(asked.row)
    ):
        return None
    found = _LEADS.match(text)
    if found is None and all(word in FUNCTION for word in asked.row):
        return None  # "Is it?" has no matter that a sentence could be on
    said = None if found is None else found["yes"] is not None
    rest = text[found.end() :] if found else text
    concluded = list(_CONCLUDED.finditer(text)) if found is None else []
    if len(concluded) == 1:  # what stands before it is the reason
        said, rest = (
            (concluded[0]["word"] or concluded[0]["last"]).lower() == "yes",
            text[concluded[0].end() :],
        )
        if {"yes", "no", "nope"}.intersection(tokens(text[: concluded[0].start()])):
            return None
    words = set(tokens(rest))
    taken = _CONTRARY | (_UNLIKE_YES if said else frozenset())
    if (taken & words) - set(asked.row) or {"yes", "no", "nope"} & words:
        return None
    matter = Matter(asked)
    for clause in matter.clauses(rest):
        claimed = matter.claims(clause)
        if claimed is None:
            if said and (matter.is_rival(clause) or matter.is_limit(clause)):
                return None
            continue
        if said is None:
            said = claimed
        elif said is not claimed or (said and matter.is_of_another(clause)):
            return None
    return said


class Matter:
    """The subject of a yes/no question, to tell which clauses of a reply assert or deny it."""

    def __init__(self, asked: QuestionWords) -> None:
        self.asked = asked
        self.view = View(asked, "name", frozenset())
        self.content = list(
            dict.fromkeys(
                w for w in asked.row if w not in FUNCTION | _AUXILIARIES | {"both", "all"}
            )
        )
        self.first = next((word for word in asked.row if word in asked.capital), "")

    def clauses(self, text: str) -> list[ClaimClause]:
        return [
            clause
            for sentence in sentences_in(text)
            for clause in split_clauses(self.view, sentence)
            if clause.mark != "("
        ]

    def claims(self, clause: ClaimClause) -> bool | None:
        """Return True if a clause asserts what is asked, False if it denies it, None if it does neither."""
        words = clause.words
        denied = any(
            negates(word)
            or (
                word in _NEGATIVE
                and word not in self.asked.row
                and (word != "only" or "the" not in words[:k])
            )
            for k, word in enumerate(words)
        )
        short = words[:1] and words[0] in REFERRING and len(words) > 1
        if short and all(
            w in _AUXILIARIES or DENYING.search(w) or w in ("unable", "to", "cannot")
            for w in words[1:]
        ):
            return not denied
        forms = {stem(one) for word in words for one in (word, *SAYS.get(word, "").split())}
        hits = {
            w for w in self.content if forms & {stem(one) for one in (w, *SAYS.get(w, "").split())}
        }
        rest = [w for w in self.content[1:] if w not in self.asked.capital] or self.content[1:]
        referred = REFERRING.intersection(words[:3]) or {"both", "all"}.intersection(words[:1])
        about = len(hits) >= 0.6 * len(self.content) or (
            len(hits) >= 0.5 * len(self.content)
            and self.content[0] in hits
            and self.content[1:2]
            and self.content[1] in hits
        )
        about = about or bool(rest and referred and len(hits.intersection(rest)) >= 0.6 * len(rest))
        if (
            not denied
            and any(
                w in self.asked.row and w not in words
                for w in ("both", "all", "every", "always", "only")
            )
            and not referred
        ):
            return None  # "The violin is one": not both
        if not about:
            return None
        if not denied and (
            self.is_of_another(clause)
            or self.view.is_opposite(clause.low)
            or self._is_turned(words)
        ):
            return None
        return not denied

    def is_of_another(self, clause: ClaimClause) -> bool:
        """Return True if a clause speaks of something that the question does not name: "Lyon is"."""
        return bool(self.view.strangers(clause)) or any(
            w.isdigit() and w not in self.asked.row for w in clause.words
        )

    def is_rival(self, clause: ClaimClause) -> bool:
        """Return True for "Lyon is", "Lyon is the capital": another thing is what the question asks of this one."""
        plain_words = [w for p, w in zip(clause.pieces, clause.low, strict=True) if p.islower()]
        said = [w for w in plain_words if w not in FUNCTION]
        return (
            self.is_of_another(clause)
            and bool(plain_words)
            and all(map(self.asked.knows, said))
            and len(clause.words) > 1
            and clause.words[1] in _AUXILIARIES
        )

    def is_limit(self, clause: ClaimClause) -> bool:
        """Return True for "but not really"."""
        return any(map(negates, (*clause.words, clause.mark))) and all(
            w in FUNCTION or w.endswith("ly") or negates(w) or w in ("but", "quite")
            for w in clause.words
        )

    def _is_turned(self, words: Sequence[str]) -> bool:
        """Return True if the names of the question stand in another order: "B is larger than A"."""
        if (
            "than" in words
            and self.content
            and self.content[0] in words[words.index("than") :]
            and self.content[0] not in words[: words.index("than")]
        ):
            return True
        named = [word for word in words if word in self.asked.capital]
        return bool(named) and bool(self.first) and named[0] != self.first and self.first in words
