"""Words and phrases that `leading.py` tells answers, rivals and remarks apart by."""

from __future__ import annotations

import re

from verigym.verifiers.qa.clauses import PEOPLE
from verigym.verifiers.qa.sentence_words import ANSWER

OPENINGS = ["while", "whereas", "because", "since", "as", "so", "although", "though", "but", "when", "where", "which", "who", "whom", "whose", "after", "before", "until", "from", "during", "in", "on", "by", "at", "of", "for", "including", "known", "used", "named", "making", "compared", "and", "despite", "thanks"]  # fmt: skip
# Words that take an answer back, doubt it, or give another one.
WITHDRAWING = frozenset(
    """
    not no never nor neither or wait actually instead rather except incorrect wrong false either alternatively otherwise untrue
    unlike contrary opposite mistake mistaken oops sorry apologies correction corrected scratch joke joking kidding lie fake unknown
    unsure guess guessing mean meant intended choose pick prefer too likewise similarly equally possibly perhaps maybe probably hmm
    nope answer answers correct hardly barely allegedly supposedly nobody nothing none cannot doubt disputed dispute credit credited
    really truth fact candidate candidates option options reconsider however
    """.split()  # noqa: SIM905
)
BESIDE = frozenset(
    """
    than with outside beyond opposite towards toward before after unlike besides beside except like against near versus vs without until since excluding not plus and or nor & /
    """.split()  # noqa: SIM905
)
KIN = frozenset(
    """
    brother sister son daughter wife husband father mother friend rival colleague successor predecessor student teacher pupil
    capital neighbour neighbor north south east west part half quarter third edge border member heir uncle nephew assistant
    """.split()  # noqa: SIM905
)
BOUNDING = frozenset(
    [
        "less",
        "more",
        "over",
        "under",
        "nearly",
        "almost",
        "least",
        "most",
        "fewer",
        "above",
        "below",
        "up",
        "between",
    ]
)
NUMBERS = frozenset(
    """
    zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    """.split()  # noqa: SIM905
)
STARTING = frozenset(
    """
    most many each every all both some during under when after before since originally today traditionally only although while
    officially originally traditionally usually generally historically finally currently formally naturally
    as if because once whenever together there their most-of more inside within among born people two light
    """.split()  # noqa: SIM905
)
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
ROLES = PEOPLE | frozenset(
    [
        "dr",
        "sir",
        "dame",
        "lord",
        "lady",
        "mr",
        "mrs",
        "ms",
        "saint",
        "st",
        "captain",
        "professor",
        "prime",
        "minister",
        "vice",
        "chancellor",
    ]
)
OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        (
            "begin begins began begun start started starts open opened founded born birth",
            "end ended ends finish finished close closed die died death dissolved",
        ),
        (
            "largest biggest most highest tallest longest oldest first earliest",
            "smallest least lowest shortest youngest last latest",
        ),
        ("before predecessor preceded", "after successor succeeded followed"),
        ("won winner beat", "lost loser"),
    )
)
CLAUSES = frozenset("because since as while whereas when after before although though but".split())  # noqa: SIM905
PRONOUNS = frozenset("it he she they this that".split())  # noqa: SIM905
VIEWS = frozenset(
    [
        "opinion",
        "view",
        "views",
        "eyes",
        "case",
        "rumour",
        "rumor",
        "claim",
        "claims",
        "joke",
        "rival",
        "lesser",
        "then",
    ]
)
REFERRING = frozenset("it he she they them him her its his".split())  # noqa: SIM905
UNITED = frozenset("percent per cent most about around roughly mainly mostly".split())  # noqa: SIM905
SENTENCE = re.compile(
    rf"(?<=[a-z\d)\"'”’{ANSWER}][.!])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bJr\.)(?<!\bSr\.)(?<!\bNo\.)[\"'”’)]*\s+(?=[\"'“(]*[A-Z{ANSWER}\d])|\n+"
)
BOUNDARY = re.compile(rf"\s*(?:[;:,(]|\s[-–—]\s|—|\s(?={'|'.join(OPENINGS)}\b))\s*")
CONCLUDES = re.compile(
    r",\s(?:so|which makes|that makes|making|for a total of|giving)\s", re.IGNORECASE
)
MORE = re.compile(r"\bor (?:more|so|less|fewer)\b")
CODE = re.compile(r"[A-Z]{2,4}")
SETTING = re.compile(r"(?:When|After|In|At|By|Once|As|During|On|Since|Before)\s[^,]{3,60},\s")
OFFICE = re.compile(r"\b(?:his|her|its|their|the)\s(?:[a-z-]+\s){1,4},$")
GAPPED = re.compile(r"and ([A-Z]\w+) by [A-Z]\w+(?: [A-Z]\w+){0,2}")
BOUNDED = re.compile(
    rf"\b(?:up to|less than|more than|over|under|nearly|almost|at least|at most|fewer than|above|below|between)\s(?:the\s)?{ANSWER}",
    re.IGNORECASE,
)
SCORE = re.compile(r"\d\s?[-–:]\s?\d")
PARTICIPLE = re.compile(
    r"(?!helped|assisted|followed|joined)(?:[a-z]{3,}ed|known|made|built|held|given|shown)\s(?:in|on|at|from|for|to|as|after|since|during)\s"
)
PHRASE = re.compile(r"(?:from|in|during|on|at|for|of|near|off)\s", re.IGNORECASE)
SO_KIND = re.compile(
    rf",?\s(?:and\s)?(?:so|thus|hence|therefore),?\s(?=(?:the|its|their)\s(?P<kind>\w+)\s(?:is|was)\s(?:the\s)?{ANSWER})"
)
YEAR = re.compile(r"[12]\d{3}s?")
APPOSED = re.compile(r"(?:the|an?|its|their)\s(?:[a-z-]+\s){1,3}(?:that|which)\s[a-z]+")
COPULAR = re.compile(
    r"(?:and\s|but\s)?(?:(?:it|this|that|he|she|they|its name|which|who)(?:['’]s|\s(?:is|was|are|were))|there\s(?:is|was)|one\s(?:is|was))\s(?!(?:the|an?|in|on|at|by|of|from|for|to|as|still|more|less|about|also|[a-z]{3,}er|located|used|[a-z]+ed|[a-z]+ing|known|made|built|born)\b)"
)
SAME_AGAIN = re.compile(
    r"(?:and\s|as\s)?(?:so|as)\s(?:is|was|are|were|did|does|do|has|had)\b|(?:as well|along|together|jointly)\b"
)
VERDICT = re.compile(r"(?P<said>yes|no)\s?[.,;:!–—]\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
