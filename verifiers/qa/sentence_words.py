"""Words and signs that `statement.py` knows in a reply, whatever the question is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

ANSWER = "\ue000"
GIVEN = "\ue001"
_MARKS = re.compile(f"[{ANSWER}{GIVEN}]")

VERBS = frozenset(
    """
    is was are were be been being equals has have had did does do came comes gives gave makes made
    stands means it's that's there's he's she's who's what's est es ist lautet sono sont son war era fue sind
    """.split()  # noqa: SIM905
)
OPENERS = frozenset(
    """
    sure certainly course okay ok yes so thus therefore hence well here final correct right answer short
    """.split()  # noqa: SIM905
)
FUNCTION = (
    VERBS
    | OPENERS
    | frozenset(
        """
        a an the it its it's this that these those he she they we you i his her their our your my one ones
        there here who which what when where whose whom how of in on at to for by from with as and
        be question called named name known located situated found indeed exactly officially commonly official current currently
        would will can that's it'd there's what's he's she's who's let's
        based information provided given text passage context according above following asked about
        total all together equal happened occurred took place date year day month number amount value result
        response solution can located thing person place city country word
        lies lie lay sits them up
        la le les c'est de du des el los las der die das den dem il lo réponse reponse antwort respuesta
        risposta resposta elle sie ella
        """.split()  # noqa: SIM905
    )
)
OPENING = frozenset(
    ["of", "the", "to", "your", "question", "is", "a", "it", "that", "here", "i", "can"]
)
FRAGMENT = OPENERS | frozenset(
    """
    in at on by it its it's to from of for total the year them
    """.split()  # noqa: SIM905
)
LINKS = VERBS | (FRAGMENT - OPENERS)
JOINING = frozenset("and or nor versus vs plus & / | et ou und oder y o e".split())  # noqa: SIM905
DENYING = re.compile(r"(?:n['’]t|^(?:ain|isn|wasn|aren|weren|don|doesn|didn)t)$")
TURNING = frozenset(
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
    TURNING
    | JOINING
    | frozenset(
        """
        rival fake imaginary alleged alternative different competing mythical hypothetical opposing lesser
        greater better worse losing disputed debated unlikely likely would-be runner-up so-called
        """.split()  # noqa: SIM905
    )
)
# Words that turn round what a question asks for.
NEGATING = frozenset(
    """
    not no never neither nor none nobody nothing cannot cant without except lack lacks lacking false incorrect
    wrong untrue
    """.split()  # noqa: SIM905
)
SUBJECTS = frozenset(
    """
    it its this that these those he she his her they their which who whose where a an located known
    because since from named derived short
    """.split()  # noqa: SIM905
)
ARTICLES = frozenset(["the", "a", "an"])
OF_NAMES = frozenset(
    """
    city town name country state year number total date value amount symbol letter height length age
    population title republic kingdom island
    """.split()  # noqa: SIM905
)
CHOOSING = frozenset(
    """
    answer correct right final called call calls named name names choose chose chosen pick picked select
    selected say says said goes
    """.split()  # noqa: SIM905
)
PREPOSITIONS = frozenset(
    """
    in on at of for by to from with as between near along about that which where
    """.split()  # noqa: SIM905
)
PLACING = frozenset(["in", "on", "at", "near", "from", "by"])
DESCRIBING = frozenset(
    """
    famous home popular responsible built made known written born important part native common visible
    full rich adjacent close next set found seen used
    """.split()  # noqa: SIM905
)
_ACTING = frozenset("took takes lies lay sits".split())  # noqa: SIM905
# Words that say the same as one of the question.
SAYS = {
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
    "get": "got won received obtained",
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
    "grown": "grow grows",
    "bring": "brought",
    "see": "saw",
    "sell": "sold",
    "buy": "bought",
    "say": "said",
    "run": "ran",
    "pay": "paid",
    "spend": "spent",
    "lose": "lost",
    "lay": "laid",
    "leave": "left",
    "meet": "met",
    "teach": "taught",
    "fight": "fought",
    "catch": "caught",
    "feed": "fed",
    "shoot": "shot",
    "choose": "chose chosen",
    "draw": "drew drawn",
    "drive": "drove driven",
    "eat": "ate eaten",
    "freeze": "froze freezes",
    "know": "knew known",
    "send": "sent",
    "sit": "sat",
    "steal": "stole stolen",
    "strike": "struck",
    "throw": "threw thrown",
    "tell": "told",
    "weigh": "weight",
    "currency": "uses use",
    "add": "sum",
    "currently": "current",
}
PAST = frozenset(
    """
    went came got took ran fell rose stood sat lay left lost won met made said saw told gave kept held led sent spent grew began
    became broke drew drove flew knew sang sank slept spoke swam threw wore wrote found fought brought thought paid put set
    """.split()  # noqa: SIM905
)
_STEM = re.compile(r"(?:ing|ed|es|s|e|d)$")
PIECE = re.compile(
    f"[{ANSWER}{GIVEN}]"
    r"|[^\W_]+(?:['’.&-][^\W_]+)*(?:['’](?=\s|$))?|[^\w\s]"
)
HARMLESS = frozenset(",.!:;()[]-–—=…'’$€£¥")
# Plural nouns that change a number, or give it a unit that the question does not have.
MEASURES = frozenset(
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
WHETHER = frozenset(
    """
    is are was were am do does did has have had can could will would should may must isn't aren't wasn't
    weren't don't doesn't didn't hasn't haven't can't couldn't won't wouldn't
    """.split()  # noqa: SIM905
)


def negates(word: str) -> bool:
    """Return True if a word turns round what a sentence says."""
    return word in NEGATING or word.startswith("non-") or DENYING.search(word) is not None


def acts(word: str) -> bool:
    """Return True if a word is likely a verb."""
    return (
        word in VERBS
        or word in SAYS
        or word in _ACTING
        or word in PAST
        or (len(word) > 3 and word.endswith("ed"))
    )


def is_word(piece: str) -> bool:
    """Return True if a piece of a sentence is a word or a number, not a punctuation mark."""
    return piece[:1].isalnum()


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return a word without its ending, so that forms of it compare equal."""
    short = _STEM.sub("", re.sub("['’]s$", "", word))
    return short if len(short) > 2 else word


@lru_cache(maxsize=1024)
def forms_of(word: str) -> frozenset[str]:
    """Return a word with the words that say the same: "chosen", "choose", "chose"."""
    near = {one for one, said in SAYS.items() if word == one or word in said.split()}
    return frozenset({word, *near}.union(*(SAYS[one].split() for one in near)))


def stands_in(words: Sequence[str], row: Sequence[str]) -> bool:
    """Return True if `words` stand in `row` one after the other."""
    n = len(words)
    return any(list(words) == list(row[i : i + n]) for i in range(len(row) - n + 1))


def without_marks(text: str) -> str:
    """Return `text` without the characters that mark answers."""
    return _MARKS.sub(" ", text)
