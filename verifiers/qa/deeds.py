"""Deeds that sentences tell of: to sink is another deed than to be built, to sell another one than to buy.

A word may belong to several deeds ("found", "made"). A deed that is in no row is not told apart from any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from verigym.verifiers.qa.asked import QuestionWords

_DEEDS = tuple(
    frozenset(row.split())
    for row in """
    write writes wrote written writing writer author authored penned compose composes composed composer create created creator
    make makes made maker
    ;paint paints painted painter painting draw drew drawn sculpted sculptor design designed create created creator make made maker
    ;build builds built builder construct constructed construction erected design designed designer architect create created make made
    ;invent invents invented inventor invention develop developed developer design designed designer create created creator build
    built make made maker
    ;found founded founder founding establish established create created creator start started build built
    ;direct directs directed director make made maker create created
    ;discover discovers discovered discoverer discovery find finds found isolated detected spotted
    ;born birth
    ;dies died death killed assassinated murdered executed
    ;sink sinks sank sunk sinking
    ;fall falls fell fallen collapsed
    ;complete completes completed completion finish finished build built erected constructed
    ;burn burned burnt destroyed demolished razed
    ;repair repaired restored rebuilt renovated
    ;buy buys bought buyer purchase purchased purchaser
    ;sell sells sold seller
    ;cost costs price paid pay pays spent spend
    ;lend lends lent lender
    ;borrow borrows borrowed borrower
    ;give gives gave donated gifted
    ;win wins won winner winning victor champion receive receives received recipient awarded
    ;lose loses lost loser losing
    ;boil boils boiled boiling
    ;freeze freezes froze frozen freezing solidifies
    ;melt melts melted melting
    ;begin begins began begun start starts started open opens opened opening reopen reopens reopened inaugurated launched
    ;end ends ended finish finishes finished close closes closed shut shuts
    ;marry marries married wed
    ;divorce divorces divorced
    ;rise rises rose risen rising
    ;launch launches launched launching
    ;land lands landed landing
    ;import imports imported
    ;export exports exported
    ;enter enters entered join joins joined
    ;teach teaches taught teacher tutored tutor instructed
    ;learn learned learnt
    ;weigh weighs weighed weight
    ;sign signs signed signing
    ;crown crowned coronation elected
    ;invade invades invaded invasion
    ;visit visits visited
    ;stormed
    ;celebrate celebrates celebrated celebration observed fall falls
    ;play plays played portray portrays portrayed star stars starred actor actress role
    ;arrive arrives arrived arrival reach reaches reached
    ;leave leaves left depart departs departed departure
    ;resign resigned retired
    """.split(";")  # noqa: SIM905
)


_TOLD = frozenset().union(*_DEEDS)
_NONE: frozenset[int] = frozenset()
# Who does the first is whom the second is done to, or from.
_CONVERSE = (
    ("buy", "sell", "to"),
    ("sell", "buy", "from"),
    ("borrow", "lend", "to"),
    ("lend", "borrow", "from"),
    ("win", "give", "to"),
    ("teach", "learn", "from"),
)


@lru_cache(maxsize=4096)
def _deeds_of(word: str) -> frozenset[int]:
    return frozenset(k for k, row in enumerate(_DEEDS) if word in row)


def deeds_in(words: Iterable[str]) -> frozenset[int]:
    """Return the deeds that words tell of."""
    found = [word for word in words if word in _TOLD]
    return frozenset().union(*map(_deeds_of, found)) if found else _NONE


@lru_cache(maxsize=256)
def _deeds_asked(asked: QuestionWords) -> frozenset[int]:
    priced = ("sold", "bought") if "much" in asked.row else ()
    return deeds_in((*asked.row, *priced))


def is_converse(lead: Sequence[str], asked: QuestionWords) -> bool:
    """Return True for "Paul sold it to @", where the one who bought it is asked for: the same deed from its other side."""
    joint = next((word for word in reversed(lead) if word in ("to", "from")), "")
    wanted, said = _deeds_asked(asked), deeds_in(lead)
    return any(
        not wanted.isdisjoint(_deeds_of(one)) and not said.isdisjoint(_deeds_of(other))
        for one, other, by in _CONVERSE
        if by == joint
    )


def tells_another_deed(words: Iterable[str], asked: QuestionWords) -> bool:
    """Return True if the question asks for a deed, and a clause tells of others alone: "it was built in @" for a sinking."""
    wanted = _deeds_asked(asked)
    said = deeds_in(words) if wanted else frozenset()
    return bool(said) and said.isdisjoint(wanted)
