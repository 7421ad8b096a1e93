"""Whether a reply states one answer: its words are those of the question, function words or the answer.

The caller puts `ANSWER` where the right answer (or the one number or date) stands in the reply, and `GIVEN`
for numbers of the question. What is left is read sentence by sentence:

- an answer: "The capital of France is @", "@ wrote it", "It's @, the largest one". Every other word is known,
  and nothing denies it, joins it to something else or makes it part of a longer name.
- a remark: a sentence or clause about the answer ("It lies on a river") in words that the question does not
  have, without a name, a number, a denial or a word that takes back or adds ("actually", "also"). It begins
  with a pronoun or the like, so that a bare second candidate is none.
- nothing: "Sure!", or the question again.

Anything else could be a second candidate, and then the reply states no answer. If the question itself has the
answer ("the Nile or the Thames?"), the answer must be the subject or follow "is", since there every candidate is
a word of the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from verigym.verifiers.qa.normalise import plain, tokens

ANSWER = "\ue000"
GIVEN = "\ue001"
_MARKS = re.compile(f"[{ANSWER}{GIVEN}]")

_VERBS = frozenset(
    """
    is was are were be been being equals has have had did does do came comes gives gave makes made
    stands means it's that's there's he's she's who's what's est es ist lautet sono sont son war era fue sind
    """.split()  # noqa: SIM905
)
_OPENERS = frozenset(
    """
    sure certainly course okay ok yes so thus therefore hence well here final correct right answer short
    """.split()  # noqa: SIM905
)
_FUNCTION = (
    _VERBS
    | _OPENERS
    | frozenset(
        """
        a an the it its it's this that these those he she they we you i his her their our your my one ones
        there here who which what when where whose whom how of in on at to for by from with as and
        be question called named name known located situated found indeed exactly officially commonly official current currently
        would will can that's it'd there's what's he's she's who's let's
        based information provided given text passage context according above following asked about
        total all together equal happened occurred took place date year day month number amount value result
        response solution can located thing person place city country word
        la le les c'est de du des el los las der die das den dem il lo réponse reponse antwort respuesta
        risposta resposta elle sie ella
        """.split()  # noqa: SIM905
    )
)
_OPENING = frozenset(
    ["of", "the", "to", "your", "question", "is", "a", "it", "that", "here", "i", "can"]
)
_FRAGMENT = _OPENERS | frozenset(
    """
    in at on by it its it's to from of for total
    """.split()  # noqa: SIM905
)
_LINKS = _VERBS | (_FRAGMENT - _OPENERS)
_JOINING = frozenset("and or nor versus vs plus & / | et ou und oder y o e".split())  # noqa: SIM905
_DENYING = re.compile(r"(?:n['’]t|^(?:ain|isn|wasn|aren|weren|don|doesn|didn)t)$")
_TURNING = frozenset(
    """
    not no never nor neither or but however actually wait instead rather although though unless except if
    incorrect wrong false either alternatively otherwise without nobody nothing none cannot cant
    untrue unlike contrary opposite mistake mistaken oops sorry apologies correction corrected scratch
    joke joking kidding lie fake unknown unsure guess guessing mean meant intended choose pick prefer
    also too another other others else both equally likewise similarly similar same versus vs second
    possibly perhaps maybe probably might may could should hardly barely allegedly supposedly anyway yet
    hmm nope
    """.split()  # noqa: SIM905
)
# Words that make a description one of something else, or a doubt.
DENYING_WORDS = (
    _TURNING
    | _JOINING
    | frozenset(
        """
        rival fake imaginary alleged alternative different competing mythical hypothetical opposing lesser
        greater better worse losing disputed debated unlikely likely would-be runner-up so-called
        """.split()  # noqa: SIM905
    )
)
# Words that turn round what a question asks for.
_NEGATING = frozenset(
    """
    not no never neither nor none nobody nothing cannot cant without except lack lacks lacking false incorrect
    wrong untrue
    """.split()  # noqa: SIM905
)
_TOLD = re.compile(
    r"^\W*(?:please\s+)?(?:do\s+not|don['’]?t|never|no|without|if|use\s+no|with\s+no)\b",
    re.IGNORECASE,
)
_SUBJECTS = frozenset(
    """
    it its this that these those he she his her they their which who whose where a an located known
    because since from named derived short
    """.split()  # noqa: SIM905
)
_ARTICLES = frozenset(["the", "a", "an"])
_OF_NAMES = frozenset(
    """
    city town name country state year number total date value amount symbol letter height length age
    population title republic kingdom island
    """.split()  # noqa: SIM905
)
_CHOOSING = frozenset(
    """
    answer correct right final called call calls named name names choose chose chosen pick picked select
    selected say says said goes
    """.split()  # noqa: SIM905
)
_PREPOSITIONS = frozenset(
    """
    in on at of for by to from with as between near along about that which where
    """.split()  # noqa: SIM905
)
_DESCRIBING = frozenset(
    """
    famous home popular responsible built made known written born important part native common visible
    full rich adjacent close next set found seen used
    """.split()  # noqa: SIM905
)
# Words that say the same as one of the question.
_SAYS = {
    "wrote": "write wrote written writer author penned authored book",
    "written": "write wrote written writer author",
    "author": "wrote written writer by",
    "painted": "painter artist painting paint",
    "invented": "inventor invention",
    "discovered": "discoverer discovery",
    "founded": "founder",
    "directed": "director",
    "composed": "composer",
    "won": "winner win wins champion victor",
    "win": "won winner wins",
    "when": "date year day on in",
    "tall": "height high",
    "high": "height tall",
    "long": "length lasted lasts",
    "far": "distance away",
    "old": "age years",
    "deep": "depth",
    "wide": "width",
    "heavy": "weight weighs",
    "much": "cost costs price amount total",
    "many": "number total count",
    "times": "product multiplied × *",
    "plus": "sum added +",
    "minus": "difference -",
    "end": "ended",
    "fall": "fell",
    "begin": "began",
    "begins": "began",
    "start": "started",
    "land": "landed",
    "take": "took",
    "get": "got",
    "become": "became",
    "write": "wrote written",
    "sing": "sang",
    "die": "died death",
    "died": "death die",
    "born": "birth birthday",
    "build": "built",
    "find": "found",
    "make": "made",
    "lead": "led",
    "speak": "spoke spoken",
    "give": "gave",
    "go": "went",
    "sink": "sank sunk",
    "rise": "rose risen",
    "break": "broke broken",
    "fly": "flew flown",
    "grow": "grew grown",
    "hold": "held",
    "bring": "brought",
    "see": "saw",
    "sell": "sold",
    "buy": "bought",
    "say": "said",
    "run": "ran",
    "currency": "uses use",
    "add": "sum",
    "currently": "current",
}
_STEM = re.compile(r"(?:ing|ed|es|s|e|d)$")
_SENTENCE = re.compile(r"(?<=[.!?;])[\"'”’)]*\s+|\n+|(?<=[.!?;])$")
_QUOTES = str.maketrans(dict.fromkeys('*_`"“”„«»「」『』#>', " "))
_PIECE = re.compile(
    f"[{ANSWER}{GIVEN}]"
    r"|[^\W_]+(?:['’.&-][^\W_]+)*(?:['’](?=\s|$))?|[^\w\s]"
)
_LINE_MARKS = re.compile(r"(?m)^\s{0,9}(?:>|#{1,6})\s")
_JOINED = re.compile(rf"{ANSWER}[-–]|[-–]{ANSWER}")
_HARMLESS = frozenset(",.!:;()[]-–—=…'’$€£¥")
_SENTENCES = re.compile(r"[^.!?\n。？！]*+[.!?\n。？！]?")
_COUNTED = re.compile(
    rf"{ANSWER}[*_]*\s+(people|persons|men|women|children|sheep|fish|[a-z]{{3,}}s)\b(?!['’-])"
)
# Plural nouns that change a number, or give it a unit that the question does not have.
_MEASURES = frozenset(
    """
    dozens scores hundreds thousands millions billions trillions pairs couples halves thirds quarters fifths
    tenths hundredths thousandths percents points times folds degrees minutes seconds hours days weeks months
    years decades centuries kilometres kilometers metres meters centimetres centimeters millimetres
    millimeters miles feet inches yards kms cms lbs kgs grams kilograms pounds ounces tons tonnes litres
    liters millilitres milliliters gallons pints cups dollars euros cents pence yens francs rupees bytes
    kilobytes megabytes gigabytes bits hertz watts kilowatts volts amps amperes ohms joules newtons pascals
    calories acres hectares knots moles radians nanometres nanometers microns plus minus less squares cubes
    powers its his this does was has is others versus
    """.split()  # noqa: SIM905
)
_WHETHER = frozenset(
    """
    is are was were am do does did has have had can could will would should may must isn't aren't wasn't
    weren't don't doesn't didn't hasn't haven't can't couldn't won't wouldn't
    """.split()  # noqa: SIM905
)
_MOST_PROMPT = 20_000
_MOST_WORDS = 60


@dataclass(frozen=True)
class Asked:
    """What a question offers to replies: its words in order, their stems, and those in small letters."""

    row: tuple[str, ...]
    stems: frozenset[str]
    small: frozenset[str]
    capital: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    counted: frozenset[str]
    options: frozenset[str]
    is_negated: bool
    kinds: frozenset[str]
    tokens: frozenset[str]

    def knows(self, word: str) -> bool:
        """Whether the question has a word, in this form or another."""
        return word in self.row or _stem(word) in self.stems


def counts_something(masked: str, asked: Asked) -> str:
    """`masked` without what is counted ("@ people"), if it is a plural noun and the question names none."""
    if asked.counted:
        return masked
    match = _COUNTED.search(masked)
    if match is None or match[1].lower() in _MEASURES or asked.knows(match[1].lower()):
        return masked
    return masked[: match.start(1)] + masked[match.end(1) :]


@lru_cache(maxsize=256)
def read_question(prompt: str) -> Asked:
    """Read the sentences of a prompt that ask, or all of a short one, or its last line."""
    prompt = plain(prompt[:_MOST_PROMPT])
    asking = " ".join(
        found[0] for found in _SENTENCES.finditer(prompt) if found[0].endswith(("?", "？"))
    )
    if not asking.strip():
        short = len(prompt.split()) <= _MOST_WORDS
        asking = prompt if short else (prompt.strip().splitlines() or [""])[-1]
    raw = [piece for piece in _PIECE.findall(asking) if _is_word(piece)]
    row = tuple(piece.lower().replace("’", "'") for piece in raw)
    known = set(row)
    for word in row:
        known.update(word.split("-"))
        known.update(_SAYS.get(word, "").split())
    stems = {_stem(word) for word in known - _TURNING - _JOINING}
    first = {raw[0].lower()} if raw else set()
    counted = re.search(r"how (?:many|much) ((?:[^\W\d_]+ ?){1,3})", asking.lower())
    return Asked(
        row=row,
        stems=frozenset(stems),
        small=frozenset(piece for piece in raw if piece == piece.lower()) | first,
        capital=frozenset(piece.lower() for piece in raw[1:] if piece != piece.lower()),
        pairs=frozenset(pairwise(row)),
        counted=frozenset(map(_stem, counted[1].split())) - frozenset(map(_stem, _FUNCTION))
        if counted
        else frozenset(),
        options=_options(asking.lower()),
        is_negated=_is_negated(asking),
        kinds=frozenset(b for a, b in pairwise(row) if a in ("which", "what")),
        tokens=frozenset(tokens(" ".join(row))),
    )


def _is_negated(asking: str) -> bool:
    """Whether a question asks what is not so; "Do not explain." and a "No" in a title do not count."""
    for sentence in re.split(r"[.!?\n,;]", asking):
        if _TOLD.match(sentence):
            continue
        for n, piece in enumerate(filter(_is_word, _PIECE.findall(sentence))):
            if (piece.islower() or piece.isupper() or not n) and _negates(piece.lower()):
                return True
    return False


def _negates(word: str) -> bool:
    return word in _NEGATING or word.startswith("non-") or _DENYING.search(word) is not None


def asks_whether(asked: Asked) -> bool:
    """Whether a question wants yes or no: it begins with a verb and offers nothing else."""
    return bool(asked.row) and asked.row[0] in _WHETHER and "or" not in asked.row


def claims(words: Sequence[str], asked: Asked) -> bool:
    """Whether a reply turns a question into a statement: "dogs can read books" for "Can dogs read?"."""
    if not asks_whether(asked):
        return False
    verb, *rest = tokens(" ".join(asked.row))[:30] or [""]
    if verb in ("do", "does") and _stands_in(rest, words):
        return True
    return any(_stands_in([*rest[:k], verb, *rest[k:]], words) for k in range(1, len(rest)))


def asks_when(asked: Asked) -> bool:
    """Whether a question wants a year or a date."""
    return not {"when", "year", "date"}.isdisjoint(asked.row)


def _options(asking: str) -> frozenset[str]:
    """The words beside "or", and beside commas where there is an "or"."""
    beside = re.findall(r"(?:^|\s)\(?(?:[a-h]|\d)[).:]\s*(?:(?:the|an?)\s+)?()([^\W_]+)", asking)
    if re.search(r"\bor\b", asking) or asking.count(",") > 1 or re.search(":.*,", asking):
        separator = r"(?:,|\bor\b|[^\W]:)"
        beside += re.findall(rf"(?<![^\W_])([^\W_]+)[\"')]*\s*{separator}", asking + ",")
        behind = rf"{separator}\s*(?:or\s+)?(?:(?:the|an?)\s+)?[\"'(]*([^\W_]+)"
        beside += re.findall(behind, asking)
    words = {"".join(word) for word in beside}
    return frozenset(word for word in words if not word.endswith(("er", "est"))) - _FUNCTION


def states(
    masked: str, asked: Asked, answer_is_asked: bool = False, extra: frozenset[str] = frozenset()
) -> bool:
    """Whether the reply, with `ANSWER` for its answer, states that and nothing beside it.

    `answer_is_asked`: the question has the answer's words. `extra`: further words that may stand there.
    """
    if _JOINED.search(masked):
        return False
    kinds = []
    for sentence in _SENTENCE.split(_LINE_MARKS.sub("", masked).translate(_QUOTES)):
        pieces = _PIECE.findall(sentence)
        if answer_is_asked and "than" in pieces and "than" not in asked.row:
            pieces = _without_rivals(pieces, asked)
        if any(map(_is_word, pieces)) or ANSWER in pieces:
            kinds.append(_Sentence(pieces, asked, answer_is_asked, extra).kind())
        elif [piece for piece in pieces if piece not in _HARMLESS]:
            return False
    if "other" in kinds or "answer" not in kinds:
        return False
    if answer_is_asked and len([kind for kind in kinds if kind != "nothing"]) > 1:
        return False
    return "remark" not in kinds[: kinds.index("answer")]


def _without_rivals(pieces: list[str], asked: Asked) -> list[str]:
    """A sentence without "than ...", where that has only other candidates: "@ is older than Ben"."""
    at = pieces.index("than")
    while pieces and pieces[-1] in (".", "!"):
        pieces = pieces[:-1]
    low = [piece.lower() for piece in pieces]
    words = [word for word in low[at + 1 :] if word not in {"and", ",", "or", "of", *_ARTICLES}]
    known = {*asked.row, *asked.options}
    fits = (
        ANSWER in pieces[:at]
        and sum(low[:at].count(verb) for verb in ("is", "are", "was", "were")) == 1
        and "and" not in low[:at]
        and any(word.endswith("er") and word in asked.row for word in low[:at])
        and bool(words)
        and known.issuperset(words)
        and not _VERBS.intersection(words)
        and any(word in asked.options | asked.capital for word in words)
    )
    if not fits:
        return pieces
    return pieces[:at]


class _Sentence:
    def __init__(
        self, pieces: list[str], asked: Asked, answer_is_asked: bool, extra: frozenset[str]
    ) -> None:
        while pieces and pieces[-1] in (".", "!", ":", ";", ","):
            pieces.pop()
        self.pieces = pieces
        self.low = [piece.lower().replace("’", "'") for piece in pieces]
        self.asked = asked
        self.answer_is_asked = answer_is_asked
        self.extra = extra
        self.words = [low for low in self.low if _is_word(low)]

    def kind(self) -> str:
        """`answer`, `remark`, `nothing` or `other`."""
        has_answer = ANSWER in self.pieces
        if "?" in self.pieces:
            again = not has_answer and _stands_in(self.words, self.asked.row)
            return "nothing" if again else "other"
        if self._turns() or self._is_contrary():
            return "other"
        strange = [i for i in range(len(self.pieces)) if not self._is_known(i)]
        if has_answer:
            if not strange:
                return "answer" if self._is_shaped(self.pieces) else "other"
            at = self._clause_before(strange[0])
            if at is None or self.answer_is_asked:
                return "other"
            head = _Sentence(self.pieces[:at], self.asked, self.answer_is_asked, self.extra)
            tail = _Sentence(self.pieces[at + 1 :], self.asked, self.answer_is_asked, self.extra)
            good = head.kind() == "answer" and tail._is_remark()
            return "answer" if good else "other"
        if not strange:
            said = [i for i, low in enumerate(self.low) if low not in _FUNCTION and _is_word(low)]
            if not said:
                opens = _OPENERS.intersection(self.words)
                return "nothing" if opens and set(self.words) <= _OPENERS | _OPENING else "other"
            has_verb = bool(_VERBS.intersection(self.words))
            return "nothing" if has_verb and not self.answer_is_asked else "other"
        return "remark" if not self.answer_is_asked and self._is_remark() else "other"

    def _turns(self) -> bool:
        """Whether a word denies, takes back or adds, and the question does not say it itself."""
        for i, low in enumerate(self.low):
            if low in _TURNING or (low[-1:] == "t" and _DENYING.search(low)):
                after = self.low[i + 1] if i + 1 < len(self.low) else ""
                if (low, after) not in self.asked.pairs:
                    return True
        return False

    def _is_contrary(self) -> bool:
        """Whether the question asks what is not so, and the sentence says its words without the negation."""
        if not self.asked.is_negated or any(map(_negates, self.words)):
            return False
        if (
            self.low
            and ANSWER in self.low
            and self.low[-1] in _VERBS | {"can", "could", "would", "will"}
        ):
            return True  # "The ostrich can."
        return any(
            word not in _FUNCTION and word not in self.asked.kinds and self.asked.knows(word)
            for word in self.words
        )

    def _is_known(self, i: int) -> bool:
        piece, low = self.pieces[i], self.low[i]
        if piece in (ANSWER, GIVEN) or piece in _HARMLESS or low in _FUNCTION or low in self.extra:
            return True
        if not _is_word(piece):
            return low in self.asked.row or low in self.asked.stems
        if low in _TURNING:
            return True  # judged by `_turns`
        return self.asked.knows(low) or all(
            self.asked.knows(part) or part in _FUNCTION for part in low.split("-")
        )

    def _clause_before(self, strange: int) -> int | None:
        """Where the clause begins in which a word is strange: at a comma, bracket or dash after the answer."""
        for i in range(strange - 1, 0, -1):
            if self.pieces[i] in (",", "(", "-", "–", "—", ":"):
                return i if ANSWER in self.pieces[:i] else None
        return None

    def _is_remark(self) -> bool:
        words = self.words
        if len(words) < 3 or words[0] not in _SUBJECTS:
            return False
        if self._turns() or ANSWER in self.pieces[1:]:
            return False
        if words[0] in ("a", "an") and not _PREPOSITIONS.intersection(words):
            return False
        first = next(i for i, piece in enumerate(self.pieces) if _is_word(piece))
        n_strange = 0
        for i, piece in enumerate(self.pieces):
            if piece == GIVEN or any(c.isdigit() for c in piece):
                return False
            named = piece[:1] != piece[:1].lower() and i != first and piece != "I"
            if named and not (self._is_known(i) and self.low[i] in self.asked.capital):
                return False
            if not _is_word(piece) and piece not in _HARMLESS:
                return False
            follows = self.low[i - 1] if i else ""
            if self._is_known(i):
                continue
            if follows in _VERBS and not n_strange and not self._describes(i):
                return False  # "It is lyon"
            if follows == "the" and i > 1 and self.low[i - 2] in _VERBS:
                behind = (*self.low[i + 1 :], "")[0]
                if n_strange or behind not in ("of", "that", "which", "who", "where", "by", "for"):
                    return False  # "It is the dollar"
            n_strange += not self.low[i].endswith("ly")
        return not _CHOOSING.intersection(words)

    def _describes(self, i: int) -> bool:
        """Whether a strange word behind "is" describes, and goes on: "known for ...", "famous for ..."."""
        goes_on = i + 2 < len(self.low) and self.low[i + 1] in _PREPOSITIONS
        return goes_on and (self.low[i].endswith("ed") or self.low[i] in _DESCRIBING)

    def _is_shaped(self, pieces: Sequence[str]) -> bool:
        """Whether known words make the answer the answer."""
        low = self.low
        at = [i for i, piece in enumerate(pieces) if piece == ANSWER]
        for i in at:
            before, after = self._beside(i, -1), self._beside(i, 1)
            if before in _JOINING or after in _JOINING:
                return False
            if self._is_beside_the_point(i):
                return False
            left, right = pieces[i - 1] if i else "", (*pieces[i + 1 :], "")[0]
            if not self._may_join(left, i - 1) or not self._may_join(right, i + 1):
                return False
        for i, j in pairwise(at):
            if pieces[j - 1] != "(" and not any(map(_acts, low[i + 1 : j])):
                return False  # "@, @"
        if any(piece in "/|&+±~^<>\\" for piece in pieces if not _is_word(piece)) and (
            GIVEN not in pieces or pieces[at[0] - 1] != "="
        ):
            return False
        if "," in pieces and self.words and _LINKS.issuperset(self.words):
            return False  # "@, are", "it, @"
        if self.answer_is_asked:
            return self._is_subject_or_predicate(at)
        if set(self.words) <= _FRAGMENT | self.extra:
            return True
        if "=" in pieces or any(map(_acts, low)):
            return True
        if set(self.words) <= _FUNCTION:
            return False
        first, last = at[0], at[-1]
        behind = pieces[last + 1] if last + 1 < len(pieces) else ""
        if _is_word(behind) or behind == "(":
            # "@ wrote it", "@ people", "@ (the capital of France)"
            return not {",", "(", ";"}.intersection(pieces[:first])
        if behind in (",", "-", "–", "—") and first == 0:
            rest = [i for i in range(last + 1, len(pieces)) if _is_word(pieces[i])]
            if not rest:
                return True
            opens = any(low[i] not in _FUNCTION for i in rest) and low[rest[0]] in (
                "the",
                "a",
                "an",
                "which",
                "who",
                "that",
                "one",
            )
            return opens or all(low[i] in self.asked.capital and pieces[i] != low[i] for i in rest)
        # "The planet @", "Plants absorb @", "Answer: @"
        return not behind and all(piece not in (",", "(", ";") for piece in pieces[:first])

    def _is_beside_the_point(self, i: int) -> bool:
        """Whether the answer stands where something else is said of it: "the capital of @ is France"."""
        before = [low for low in self.low[:i] if _is_word(low) and low not in _ARTICLES]
        if before[-1:] == ["of"] and before[-2:-1] and before[-2] not in _OF_NAMES:
            return True
        if not before or before[-1] not in _VERBS:
            return False
        behind = self._beside(i, 1)
        if before[-1] in ("has", "have", "had") and behind and _stem(behind) in self.asked.counted:
            return False  # "Mars has @ moons"
        # "France is @", where the question does not say "is France".
        framed = [word for word in before if word not in _FUNCTION]
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
        """Whether a word that touches the answer is no part of a longer name ("New @", "@ City")."""
        if not _is_word(piece) or piece == piece.lower():
            return True
        low = piece.lower().replace("’", "'")
        return low in _FUNCTION or low in self.asked.capital or low in self.extra

    def _is_subject_or_predicate(self, at: list[int]) -> bool:
        low = self.low
        first = at[0]
        before = [piece for piece in low[:first] if _is_word(piece)]
        lead = set(before) <= _OPENERS | {"the", "a", "an", "it", "it's", "is", "was", "that"}
        rest = low[first + 1 :]
        others = self.asked.options | self.asked.capital
        if lead and not rest:
            return True
        if lead and (_acts(rest[0]) or _acts((*rest[1:], "")[0])):
            verb = first + 1 if _acts(rest[0]) else first + 2
            named = rest[0] if verb > first + 1 else ""
            return (
                rest[0] not in (",", "(")
                and "and" not in rest[:2]
                and named not in others
                and self._beside(verb, 1) not in others
                and ("between" in rest or not self.asked.options.intersection(rest))
            )
        is_last = first == len(low) - 1 and len(at) == 1
        links = self._beside(first, -1) in (*_VERBS, "by")
        framed = [word for word in before if word not in others]
        return is_last and links and "and" not in before and bool(framed) and set(framed) != {"is"}


def _acts(word: str) -> bool:
    return word in _VERBS or word in _SAYS or (len(word) > 3 and word.endswith("ed"))


def _is_word(piece: str) -> bool:
    return piece[:1].isalnum()


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    short = _STEM.sub("", re.sub("['’]s$", "", word))
    return short if len(short) > 2 else word


def _stands_in(words: Sequence[str], row: Sequence[str]) -> bool:
    n = len(words)
    return any(list(words) == list(row[i : i + n]) for i in range(len(row) - n + 1))


def without_marks(text: str) -> str:
    """`text` without the characters that mark answers."""
    return _MARKS.sub(" ", text)


def repeats_question(answer: str, asked: Asked) -> bool:
    """Whether a reply of several words is a part of the question."""
    words = tuple(
        piece.lower().replace("’", "'")
        for piece in _PIECE.findall(plain(answer))
        if _is_word(piece)
    )
    return len(words) > 3 and _stands_in(words, asked.row)


def has_words(asked: Asked, words: Sequence[str]) -> bool:
    """Whether the question has all of an answer's tokens."""
    return asked.tokens.issuperset(words)
