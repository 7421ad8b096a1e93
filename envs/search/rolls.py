"""Questions about all pupils on the roll of a school: the first or last by a figure, their number, the sum of their
marks. The roll spans pages, and each pupil's own page, or the one that it leads to, has to be opened."""

from __future__ import annotations

from dataclasses import dataclass, replace

from verigym.envs.search.annals import HOUSES, AnnalsWorld
from verigym.envs.search.chains import Chain
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import date_text
from verigym.envs.search.schema import FIGURES
from verigym.envs.search.world import NONE


@dataclass(frozen=True)
class PupilFigure:
    """A figure by which pupils are compared: it stands on the page that `link` leads to, or on their own."""

    link: str
    figure: str
    first: str
    last: str
    before: str


PUPIL_FIGURES = (
    PupilFigure("", "born", "who was born first", "who was born last", "who were born before {}"),
    PupilFigure(
        "employer",
        "founded",
        "whose employer was founded first",
        "whose employer was founded last",
        "whose employer was founded before {}",
    ),
    PupilFigure(
        "birthplace",
        "chartered",
        "whose birthplace was chartered first",
        "whose birthplace was chartered last",
        "whose birthplace was chartered before {}",
    ),
    PupilFigure(
        "teacher",
        "born",
        "whose teacher was born first",
        "whose teacher was born last",
        "whose teacher was born before {}",
    ),
)


CITE_ROLL = (
    'In "citations", list ids of these pages and of no others: for each link that leads from one page to the next, and for '
    "a fact asked for at the end of a chain, one page that states it; for each school whose pupils are compared, counted or chosen, "
    "its own page and all parts of its roll. Do not cite pages that you need only to compare, count or choose pupils."
)
"""Words for what is to be cited for questions about rolls."""
ROLL_RULES = "Leave out pupils whose pages do not lead to the figure by which pupils are compared or counted."
"""Rule for questions about rolls."""


@dataclass(frozen=True)
class Pupils:
    """The pupils of a school, in a house or all of them, with a figure of each that has it; `pages` is the way to
    them all."""

    rows: tuple[tuple[int, int], ...]
    pages: tuple[int, ...]
    roll: tuple[int, ...]


def pupils_of(world: AnnalsWorld, school: int, by: PupilFigure, house: int | None) -> Pupils:
    """Return the pupils of a school's page with the figure `by`."""
    roll = tuple(world.roll_pages(school))
    rows: list[tuple[int, int]] = []
    pages = [*roll]
    figures, first = world.figures[by.figure], world.starts[FIGURES[by.figure].subject]
    for pupil in world.rolls[world.number(school)]:
        if house is not None and world.houses[world.number(pupil)] != house:
            continue
        page = world.link(by.link, pupil) if by.link else pupil
        pages += [pupil] if page in (pupil, NONE) else [pupil, page]
        if page != NONE:
            rows.append((int(figures[page - first]), pupil))
    return Pupils(tuple(rows), tuple(dict.fromkeys(pages)), roll)


def read_roll(chain: Chain, found: Pupils) -> bool:
    """Read the school's page, its roll and what the pupils' figures stand on; False if the school was read before."""
    if not chain.ask("{}"):
        return False
    read = {page for _, page in chain.route}
    chain.route += [("", page) for page in found.pages if page not in read]
    chain.known |= {*found.pages, *read}
    chain.support += [[page] for page in found.roll]
    return True


def branch(chain: Chain, draws: BlockDraws, by: PupilFigure) -> bool:
    """Go from a school to the pupil with the least or greatest figure; False if there is not one."""
    world = chain.world
    assert isinstance(world, AnnalsWorld)
    found = pupils_of(world, chain.at, by, None)
    values = sorted(found.rows)
    if len(values) < 6:
        return False
    if draws.below(2):
        words, values = by.last, values[::-1]
    else:
        words = by.first
    if values[0][0] == values[1][0] or values[0][1] in chain.met or not read_roll(chain, found):
        return False
    chain.phrase = chain.named(f"the pupil of {chain.phrase} {words}")
    chain.reach(values[0][1], "")
    return True


def gathered(
    chain: Chain, draws: BlockDraws, by: PupilFigure, house: int | None
) -> tuple[str, str] | None:
    """Return a question about the pupils of the school at which a chain stands, and its answer; None if they are
    too few or all on one side of any bound."""
    world = chain.world
    assert isinstance(world, AnnalsWorld)
    found = pupils_of(world, chain.at, by, house)
    values = sorted({value for value, _ in found.rows})
    if len(values) < 4:
        return None
    school = chain.phrase
    bound = values[len(values) // 3 + 1 + draws.below(max(1, len(values) // 3))]
    counted = [pupil for value, pupil in found.rows if value < bound]
    said = by.before.format(date_text(bound) if by.figure == "born" else bound)
    their = "" if house is None else f" that are in the {HOUSES[house]} house"
    head = f"Take the pupils of {school}{their}."
    if len(counted) < 2:
        return None
    has_marks = draws.below(3) > 0
    if has_marks:
        pupils = world.rolls[world.number(chain.at)]
        errata = (page for pupil in pupils for page in world.read_for_marks(pupil))
        found = replace(found, pages=(*found.pages, *errata))
    if not read_roll(chain, found):
        return None
    if not has_marks:
        return f"{head} What is the number of those of them {said}?", str(len(counted))
    marks = sum(map(world.marks_of, counted))
    return f"{head} What is the sum of the marks of those of them {said}?", str(marks)
