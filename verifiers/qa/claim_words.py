"""Words that `claims.py` tells answers, rivals, doubts and remarks apart by."""

from __future__ import annotations

import re

from verigym.verifiers.qa.places import NATIONS

THINGS = frozenset(
    """
    novel book play poem story tale song opera symphony concerto ballet musical hymn anthem painting picture
    portrait mural fresco sculpture statue drawing film movie series show album essay speech letter work piece
    masterpiece article element metal compound gas mineral planet moon comet star galaxy particle vaccine drug
    antibiotic virus bacterium disease law theory theorem principle equation formula method device machine engine
    instrument invention company firm city town village port country state island peninsula river mountain peak
    volcano lake sea ocean desert valley canyon waterfall glacier war battle treaty match game final race
    tournament cup prize award team club band building tower bridge temple church cathedral palace castle
    museum stadium monument ship species animal bird language sport giant dwarf metropolis capital tragedy comedy sonnet province region mammal
    """.split()  # noqa: SIM905
)
PEOPLE = frozenset(
    """
    writer novelist author poet playwright dramatist painter artist sculptor physicist chemist scientist
    mathematician astronomer biologist naturalist physician doctor composer musician singer engineer inventor
    explorer navigator architect director filmmaker philosopher economist historian actor actress astronaut
    cosmonaut politician statesman president king queen emperor general athlete footballer sprinter
    """.split()  # noqa: SIM905
)
# Words that open a phrase which says when, where or how, and not who or what.
ADJOINING = frozenset(
    """
    in at on during after before by with without although though while when whenever since as if according unlike despite
    like from of among amongst because once under contrary besides until till for to based even given throughout apart into
    near behind between beyond within inside outside along around about across over above below against opposite compared
    which who whom whose where that whereas following including thanks using
    """.split()  # noqa: SIM905
)
# Words that begin a statement of its own in the middle of a sentence.
CONJOINING = frozenset("while whereas although though because but so unless if".split())  # noqa: SIM905
# Words between which and an answer another thing is the answer.
BESIDE = frozenset(
    """
    than with without outside beyond opposite towards toward before after unlike besides beside except like against near versus vs
    until till excluding not plus nor behind following between about
    """.split()  # noqa: SIM905
)
RELATIVES = frozenset(
    """
    brother sister son daughter wife husband father mother friend rival colleague successor predecessor student teacher pupil
    neighbour neighbor heir uncle nephew aunt niece assistant contemporary contemporaries cousin widow widower partner mentor
    disciple follower ally enemy opponent biographer secretary publisher editor translator apprentice boss namesake grandson
    granddaughter grandfather grandmother wives sons daughters brothers sisters parents children child rivals pupils students
    friends teachers colleagues half quarter part suburb outskirts border edge north south east west capital
    member competitor antagonist nemesis sidekick twin lover fiancé fiancee ancestor descendant spouse
    """.split()  # noqa: SIM905
)
DIRECTIONS = frozenset(
    [
        "north",
        "south",
        "east",
        "west",
        "capital",
        "half",
        "quarter",
        "part",
        "edge",
        "border",
        "suburb",
        "outskirts",
        "twin",
    ]
)
# What "of" may join with an answer: "the work of @", "the city of @".
BELONGING = frozenset(
    """
    work works creation brainchild invention idea city town name country state republic kingdom island islands province
    county village region territory title year month day number total value amount symbol letter age height length
    hours hour morning night evening afternoon summer spring autumn winter beginning start end early late pen brush hand hands lack deficiency people nation government citizens consists consist consisted made composed form hands sum figure temperature speed distance weight population
    area depth width date element planet language currency kind type genus continent ocean river lake mountain
    mass majority minimum maximum average elevation altitude brush
    """.split()  # noqa: SIM905
)
DOUBTING = re.compile(
    r"\b(?:maybe|perhaps|unsure|uncertain|not\s+(?:\w+\s+)?(?:sure|certain|confident)"
    r"|(?:i|we)\s+(?:really\s+)?(?:don['’]?t|do\s+not)\s+(?:\w+\s+)?know|can(?:no|['’]?)t\s+(?:say|tell|be\s+sure|decide|choose)|could\s+(?:\w+\s+)?be|might\s+(?:\w+\s+)?be"
    r"|may\s+(?:\w+\s+)?be|i\s+(?:\w+\s+)?(?:guess|suppose|think|believe|assume|suspect|reckon)|i['’]d\s+(?:say|guess)|i\s+would\s+(?:say|guess)"
    r"|my\s+(?:money|bet)|(?:a|my|best|wild)\s+guess|guessing|hopefully|alternatively|hard\s+to\s+say|kidding|joke|joking|wrong|incorrect|untrue|a\s+lie)\b",
    re.IGNORECASE,
)
WEAKENING = re.compile(
    r"\b(?:possibly|probably|presumably|unclear|could\s+have|might\s+have|may\s+have|(?<!people )(?<!many )(?<!often )guess|supposedly|allegedly|reportedly|purportedly"
    r"|depends|seems?|appears\s+to|if|unless|rumou?rs?|unlikely|or\s+so|in\s+the\s+opinion|either|disputed?|lesser|so-called|so\s+(?:is|was|are|were)"
    r"|false|only\s+a\s+(?:small|tiny|minor)|mistaken|mistakes?|errors?|erroneous\w*|misprints?|misread\w*)\b",
    re.IGNORECASE,
)
# Weaker: these count only beside the answer.
CHOOSING = re.compile(
    r"\b(?:likely|one\s+of|(?<!\w\s)one\s+is|(?<!\bin\s)both|any\s+of|neither|among|candidates?|options?|choices?|choose|possibilit\w+|such\s+as|e\.g|for\s+example)\b",
    re.IGNORECASE,
)
THINKING = re.compile(
    r"\b(?:(?:many|most|some|lots|people|students|often|sometimes|commonly|usually|mistakenly|wrongly|frequently|popularly|widely|you|one|i|we)\b[^.]{0,40}?\b"
    r"(?:say|says|said|think|thinks|thought|believe|believes|believed|assume|assumes|assumed|guess|guessed|suppose|claim|claims|expect|name|imagine|considered"
    r"|tempted|confused?|mistaken|cited|misattributed|attributed|credited|remember|remembered|heard)\b|(?:first|initial)\s+(?:guess|thought|instinct|answer|idea)\b|misconception|myth\b|at\s+first)",
    re.IGNORECASE,
)
# What is not the first, or not of the one asked for.
RANKING = re.compile(
    r"\b(?:second|third|fourth|fifth|next|runner-up|runners-up|followed|follows?|succeeded|preceded|comes?\s+after|behind|other|others|another|later|previously|formerly|earlier|until)\b",
    re.IGNORECASE,
)
TURNS = frozenset(
    [
        "no",
        "nope",
        "wait",
        "actually",
        "sorry",
        "oops",
        "correction",
        "rather",
        "scratch",
        "hmm",
        "instead",
        "nein",
        "non",
        "nyet",
    ]
)
CONCLUDING = re.compile(
    r"\W*(?:so|therefore|thus|hence|in\s+(?:short|conclusion|summary)|overall|to\s+(?:conclude|sum\s+up)|finally|(?:the|my)\s+(?:final\s+|correct\s+|right\s+)?answer|answer|that\s+makes)\b",
    re.IGNORECASE,
)
REFERRING = frozenset(
    """
    it this that these those he she they them him there its his her their here one ones you we
    """.split()  # noqa: SIM905
)
RANKS = (
    frozenset("first earliest oldest original".split()),  # noqa: SIM905
    frozenset("second".split()),  # noqa: SIM905
    frozenset("third".split()),  # noqa: SIM905
    frozenset("fourth".split()),  # noqa: SIM905
    frozenset("fifth".split()),  # noqa: SIM905
    frozenset("last latest final".split()),  # noqa: SIM905
)
OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        (
            "begin begins began begun start started starts open opened founded born birth",
            "end ended ends finish finished close closed die died death dissolved",
        ),
        (
            "largest biggest most highest tallest longest oldest heaviest deepest hottest fastest",
            "smallest least lowest shortest youngest lightest shallowest coldest slowest",
        ),
        (
            "larger bigger more higher taller longer older heavier deeper hotter faster warmer greater farther",
            "smaller less fewer lower shorter younger lighter shallower colder slower cooler nearer",
        ),
        ("before predecessor preceded", "after successor succeeded followed"),
        ("won winner beat win wins", "lost loser lose loses"),
        ("released release emit emits give produce", "absorbed absorb absorbs take consume"),
        ("north northern", "south southern"),
        ("east eastern", "west western"),
        ("male man father", "female woman mother"),
        ("hot", "cold"),
    )
)
# A title, a rank or an abbreviation in front of a name.
TITLED = frozenset(
    """
    dr sir dame lord lady mr mrs ms saint st captain professor prof prime minister vice chancellor president king queen pope emperor
    empress tsar prince princess duke general admiral colonel senator director author mount lake river city mt hms uss rms ss
    madame monsieur mister miss doctor astronaut composer poet writer painter physicist scientist actor actress explorer philosopher
    commander sergeant lieutenant major count baron cardinal archbishop bishop coach chef sheikh sultan mayor governor
    chief justice judge reverend rev brother sister father
    """.split()  # noqa: SIM905
)
GENERIC = (
    NATIONS
    | TITLED
    | frozenset(
        """
        republic kingdom river city lake mountain ocean sea desert islands island empire dynasty union united states
        january february march april may june july august september october november december monday tuesday wednesday
        thursday friday saturday sunday i ok ad bc ce bce u.s us u.s.a uk u.k eu un european african asian western eastern northern
        southern north south east west central medieval renaissance baroque romantic victorian nobel prize olympic olympics world war
        earth sun moon latin english christian catholic muslim jewish academy oscar grammy pulitzer booker century age
        celsius fahrenheit kelvin internet roman greek north-west games spaniard frenchman englishman englishwoman dutchman scotsman irishman briton dane swede finn pole turk
        """.split()  # noqa: SIM905
    )
)
STARTING = frozenset(
    """
    most many each every all both some during under when after before since originally today traditionally only although while
    because once whenever together there inside within among people scientists historians experts legend legends tradition
    contrary exposure located named known thanks born great good excellent interesting correct right yes no sure certainly course
    well here answer final short note fun fact remember given having being not nowadays adults babies children plants humans
    """.split()  # noqa: SIM905
)
# What makes a following name another one of the answer, or a second answer.
NAMING = frozenset(
    """
    which who that is was are also now known called named as formerly previously once originally renamed with
    alongside aka then home to
    """.split()  # noqa: SIM905
)
UNDOING = frozenset(
    """
    former formerly previous previously disputed falsely wrongly pretended helped assisted superseded plagiarised
    plagiarized
    """.split()  # noqa: SIM905
)
GOES_ON = re.compile(
    r"\b(?:and|or) (?:so on|so forth|others|more|many more)\b|\betc\b|\.\.\.|…|\bothers\b(?=\W*$)"
)
SCORE = re.compile(r"\d{1,2}\s?[-–:]\s?\d{1,2}\b")
SECOND = frozenset("second third fourth fifth next".split())  # noqa: SIM905
PLACE_TITLES = frozenset("mount mt lake river city".split())  # noqa: SIM905
PERSONS = frozenset(
    """
    man woman king queen prince princess hero heroine god goddess person boy girl actor writer singer
    """.split()  # noqa: SIM905
)
VERBISH = frozenset(
    """
    release give emit turn convert use make produce form lie live work play become serve help feed take keep
    remain flow run have can could will would
    """.split()  # noqa: SIM905
)
COPULAS = frozenset(
    """
    is was are were be been being equals equalled means 's it's that's he's she's there's c'est s'est called named
    """.split()  # noqa: SIM905
)
DENIALS = frozenset(
    """
    non nicht kein keine keinen pas nie niet geen nao não não не нет ni sondern sino not no never neither nor none
    nobody nothing cannot cant without hardly barely
    """.split()  # noqa: SIM905
)
