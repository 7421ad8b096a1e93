"""`search/long`: many pages to visit and two facts on the way to each, put together at the end; or a report to check."""

from __future__ import annotations

import re
from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.annals import AnnalsWorld
from verigym.envs.search.chains import FORMS
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import date_text
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.report import CHECKED, report
from verigym.envs.search.schema import FIGURES, RECORDED
from verigym.envs.search.steps import (
    add_up,
    as_number,
    count_below,
    figures_of,
    place_of_largest,
)
from verigym.envs.search.world import SearchWorld
from verigym.verifiers.qa.citations import MAX_CITATIONS

_ITEMS = {1: 12, 2: 21, 3: 24, 4: 28, 5: 34, 6: 40}
_CLAIM = re.compile(r"\d+\. ")
_BOUND = re.compile(r"is this \w+ (?:before|less than) ([^?]+)\?")
_PATHS = (
    ("firm", "founder", "born"),
    ("work", "author", "born"),
    ("event", "host", "born"),
    ("firm", "seat", "population"),
    ("work", "setting", "population"),
    ("event", "venue", "population"),
    ("work", "publisher", "staff"),
)
_ITS = {
    "founder": "its founder",
    "author": "its author",
    "host": "its host",
    "seat": "its seat",
    "setting": "the town in which it is set",
    "venue": "its venue",
    "publisher": "its publisher",
}
"""Names of the linked page in a question about a list."""


class Long(Searching):
    """A figure behind a link, for each of a list: which is the first or largest, how many are below a
    bound, or their sum. Each of its pages is opened in a turn; the pages that decide are to be cited. From level 7 on
    there is a report, of which the claims that fail are to be found (see `report`)."""

    id: ClassVar[str] = "verigym/search/long-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    by_title: ClassVar[bool] = True

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        if isinstance(world, AnnalsWorld):
            return report(world, draws, level)
        kind, link, figure = draws.one(_PATHS)
        rows: list[tuple[int, int, int]] = []  # value, item, the page that states the value
        met: set[int] = set()
        while len(rows) < _ITEMS[level]:
            number = draws.below(world.count(kind))
            item = world.starts[kind] + number
            target = world.links[link][number]
            value = int(world.figures[figure][world.number(target)])
            disputed = target in world.records_of and figure in RECORDED.get(world.kind(target), ())
            # No two values alike, so that one is the first and a bound is clear.
            if (
                met.isdisjoint((item, target))
                and not disputed
                and value not in {r[0] for r in rows}
            ):
                rows.append((value, item, target))
                met |= {item, target}
        wanted = FIGURES[figure].phrase.format(_ITS[link])
        what = "date" if figure == "born" else "number"
        ways = ("most", "least", "count") if figure == "born" else ("most", "least", "count", "sum")
        way = draws.one(ways)
        ordered = sorted(rows)
        form, deciding, both = "number", rows, True
        if way in ("most", "least"):
            deciding = [ordered[-1] if way == "most" else ordered[0]]
            answer, form = world.titles[deciding[0][1]], "text"
            extreme = {
                (figure, "most"): "largest",
                (figure, "least"): "smallest",
                ("born", "most"): "latest",
                ("born", "least"): "earliest",
            }[figure, way]
            question = f"For which {kind} is this {what} the {extreme}?"
            cite = f"Cite two pages: that of this {kind} and the one that states the {what}."
        elif way == "count":
            n = 3 + draws.below(len(rows) // 3)
            deciding = ordered[:n]
            bound = ordered[n][0]
            shown = f"before {date_text(bound)}" if figure == "born" else f"less than {bound}"
            answer, question = str(n), f"For how many of them is this {what} {shown}?"
            cite = f"Cite two pages for each {kind} that you count: its own and the one that states the {what}."
        else:
            answer, question = str(sum(row[0] for row in rows)), "What is the sum of these numbers?"
            cite = f"Cite two pages for each {kind}: its own and the one that states the number."
            if 2 * len(rows) > MAX_CITATIONS:
                cite, both = f"For each {kind}, cite only the page that states the number.", False
        listed = "\n".join(f"- {world.titles[item]}" for _, item, _ in rows)
        return Quest(
            question=f"For each {kind} in this list, find {wanted}.\n{listed}\n{question}",
            answer=answer,
            kind=form,
            form=FORMS[form],
            rules=cite,
            route=[
                (world.titles[page], page) for _, item, target in rows for page in (item, target)
            ],
            support=[[page] for _, item, target in deciding for page in (item, target)[not both :]],
            turns=4 * len(rows) + 10,
            tags=(way, f"items={len(rows)}"),
        )

    @override
    def put_together(self) -> tuple[str, int]:
        """Find the largest or smallest of the figures on the pages, count those below the bound, or add them
        up."""
        task = self.task
        assert isinstance(task.reference, dict)
        library, route = self.library(task), task.reference["route"]
        read = [library.open(page) for _, page in route[1::2]]
        figures = list(figures_of(page.text for page in read if page is not None))
        if CHECKED in task.tags:
            return _checked(task.prompt, str(task.reference["told"]))
        if "sum" in task.tags:
            total, operations = add_up(figures)
            return str(total), operations
        if "count" in task.tags:
            bound = _BOUND.findall(task.prompt)[-1]
            below, operations = count_below(figures, as_number(*bound.split()))
            return str(below), operations
        best, operations = place_of_largest(figures, 1 if "most" in task.tags else -1)
        return str(route[2 * best][0]), operations


def _checked(prompt: str, answer: str) -> tuple[str, int]:
    """Return the numbers of the claims that fail, and the number of claims, each of which was compared."""
    operations = 0
    for line in prompt.splitlines():
        operations += bool(_CLAIM.match(line))
    return answer, operations
