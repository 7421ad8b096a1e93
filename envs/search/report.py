"""A report whose claims are checked one by one: some are false, and some cite another page than the one that states
their figure."""

from __future__ import annotations

from dataclasses import dataclass

from verigym.envs.search.annals import HOUSES, AnnalsWorld
from verigym.envs.search.chains import FIGURES_OF, Chain, begin, read_once, wander
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import date_text
from verigym.envs.search.reading import Quest, turns_for
from verigym.envs.search.schema import FIGURES, WORDS
from verigym.envs.search.world import SearchWorld

CLAIMS = {7: (32, 1), 8: (38, 2), 9: (46, 3), 10: (56, 4)}
"""Claims of a report, by level, and the most pages that lead to the figure of one."""
CHECKED = "checked"
"""Tag of reports."""
_RULES = (
    "A claim fails if it is not true, or if the pages cited with it are not exactly those that state its figures, marks or "
    "entry. Cite, for each claim that fails, the pages that state its figures, its marks (all parts of the roll) or its "
    "entry (without notices), and no other pages."
)
_FIRST_OF = {
    "born": "born",
    "founded": "founded",
    "finished": "finished",
    "chartered": "chartered",
    "established": "established",
}
"""Figures of which one can be before another, and what happened then."""
_UNCLAIMED = ("form", "river", "currency", "staff", "population")


@dataclass(frozen=True)
class ReportedClaim:
    """A claim with the pages it cites, the pages that are right to cite, and the way to all of them."""

    text: str
    cited: tuple[int, ...]
    right: tuple[int, ...]
    way: tuple[int, ...]
    holds: bool


def report(world: AnnalsWorld, draws: BlockDraws, level: int) -> Quest:
    """Return a report with the question which of its claims fail."""
    count, pages = CLAIMS[level]
    kinds = ("chain", "chain", "compared", "marks", "entry")[: 4 + (level > 8)]
    claims: list[ReportedClaim] = []
    while len(claims) < count:
        # One in three fails, and of those one in three for its citation alone.
        fault = (None, None, None, None, None, None, "false", "false", "cited")[draws.below(9)]
        made = _MAKERS[draws.one(kinds)](world, draws, pages, fault == "false")
        if made is None or made.text in (claim.text for claim in claims):
            continue
        claims.append(_miscited(world, draws, made) if fault == "cited" else made)
    failed = [n for n, claim in enumerate(claims, 1) if not claim.holds]
    listed = "\n".join(
        f"{n}. {claim.text} ({', '.join(map(world.page_id, claim.cited))})"
        for n, claim in enumerate(claims, 1)
    )
    # A roll or an entry that the claim should have cited has to be searched for.
    hidden = sum(
        claim.cited != claim.right and world.kind(claim.right[0]) in ("roll", "record")
        for claim in claims
    )
    way = read_once((world.titles[page], page) for claim in claims for page in claim.way)
    return Quest(
        question=f"Check this report. After each claim, the pages that it cites stand in parentheses.\n{listed}\n"
        "Which claims fail?",
        answer=", ".join(map(str, failed)),
        kind="text",
        form='Give the numbers of the claims that fail, in ascending order and separated by ", ", for example: 2, 5, 11.',
        rules=_RULES,
        route=way,
        support=[[page] for claim in claims if not claim.holds for page in claim.right],
        turns=turns_for([("", page) for _, page in way], level, more=hidden),
        tags=(CHECKED, f"claims={count}"),
    )


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _walked(world: SearchWorld, draws: BlockDraws, pages: int) -> tuple[Chain, str] | None:
    """Return a chain to a page and a figure that the page alone states; None in a dead end."""
    chain = begin(world, draws)
    wanted = 1 + draws.below(pages)
    if not wander(chain, draws, wanted, back=0):
        return None
    figures = [name for name in FIGURES_OF[world.kind(chain.at)] if name not in _UNCLAIMED]
    return (chain, draws.one(figures)) if figures else None


def _chained(
    world: SearchWorld, draws: BlockDraws, pages: int, false: bool
) -> ReportedClaim | None:
    """ReportedClaim a figure of the page at the end of a chain."""
    walked = _walked(world, draws, pages)
    if walked is None:
        return None
    chain, figure = walked
    page = chain.at
    value = chain.tell(figure)
    if value is None:
        return None
    shown = _another(draws, figure, world.figures[figure][world.number(page)]) if false else value
    return ReportedClaim(
        f"{_capital(chain.phrase)} is {shown}", (page,), (page,), _way(chain), shown == value
    )


def _another(draws: BlockDraws, figure: str, value: str | int) -> str:
    """Return a value near the right one, as a page would state it."""
    if figure in WORDS:
        return draws.one([word for word in WORDS[figure] if word != value])
    away = int(value) + (1 + draws.below(24)) * (1 if draws.below(2) else -1)
    return date_text(away) if FIGURES[figure].form == "date" else str(away)


def _way(chain: Chain) -> tuple[int, ...]:
    return tuple(page for _, page in chain.route)


def _compared(
    world: SearchWorld, draws: BlockDraws, pages: int, false: bool
) -> ReportedClaim | None:
    """ReportedClaim that one of two was before the other."""
    first, second = (_walked(world, draws, max(1, pages - 1)) for _ in range(2))
    if first is None or second is None:
        return None
    (one, figure), (two, other) = first, second
    kinds = {world.kind(one.at), world.kind(two.at)}
    if figure not in _FIRST_OF or other != figure or len(kinds) > 1 or one.at == two.at:
        return None
    values = [world.figures[figure][world.number(chain.at)] for chain in (one, two)]
    if values[0] == values[1]:
        return None
    if (values[0] > values[1]) != false:
        one, two = two, one
    names, cited = (one.phrase, two.phrase), (one.at, two.at)
    if one.tell(figure) is None or two.tell(figure) is None or {*_way(one)} & {*_way(two)}:
        return None
    did = _FIRST_OF[figure]
    text = f"{_capital(names[0])} was {did} before {names[1]} was"
    return ReportedClaim(text, cited, cited, (*_way(one), *_way(two)), not false)


def _marks(world: AnnalsWorld, draws: BlockDraws, pages: int, false: bool) -> ReportedClaim | None:
    """ReportedClaim the sum of the marks of a house of a school."""
    school = world.starts["school"] + draws.below(world.count("school"))
    house = draws.below(len(HOUSES))
    numbers = [world.number(pupil) for pupil in world.rolls[world.number(school)]]
    total = sum(world.marks[k] for k in numbers if world.houses[k] == house)
    if not total:
        return None
    shown = total + (1 + draws.below(9)) * (1 if draws.below(2) else -1) if false else total
    cited = tuple(world.roll_pages(school))
    text = f"The marks of the pupils of {world.titles[school]} in the {HOUSES[house]} house add up to {shown}"
    return ReportedClaim(text, cited, cited, cited, not false)


def _entry(world: AnnalsWorld, draws: BlockDraws, pages: int, false: bool) -> ReportedClaim | None:
    """ReportedClaim that a register entry is retracted, or that it is not."""
    entry = world.starts["record"] + draws.below(world.count("record"))
    if entry not in world.notices_on:
        return None
    way, left = [entry], [entry]
    while left:
        found = world.notices_on.get(left.pop(), [])
        way += found
        left += found
    retracted = not world.is_in_force(entry)
    what = (
        "is retracted by a notice in force"
        if retracted != false
        else "is not retracted by any notice in force"
    )
    text = f"The entry {world.titles[entry].partition(':')[0].removeprefix('Register entry ')} of the register {what}"
    return ReportedClaim(text, (entry,), (entry,), tuple(way), not false)


def _miscited(world: AnnalsWorld, draws: BlockDraws, claim: ReportedClaim) -> ReportedClaim:
    """Return the claim with another page of the same kind in place of the last that it cites."""
    kind = world.kind(claim.cited[-1])
    if kind == "roll":
        school = world.starts["school"] + draws.below(world.count("school"))
        other = world.roll_pages(school)[-1] if world.roll_pages(school) else claim.right[0]
    else:
        other = world.starts[kind] + draws.below(world.count(kind))
    if other in claim.right:
        return claim
    return ReportedClaim(claim.text, (*claim.cited[:-1], other), claim.right, claim.way, False)


_MAKERS = {"chain": _chained, "compared": _compared, "marks": _marks, "entry": _entry}
