"""`sql/explore`: find out what tables a database has, then answer with a query; several turns."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.sql.commands import CELL_CHARS, MAX_ROWS, SHOWN_ROWS, run_query
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.explorer import STEPS, Explorer, LastResult
from verigym.envs.sql.hidden import HiddenWorld
from verigym.envs.sql.old_world import OldWorld
from verigym.envs.sql.read_notes import NotesReader
from verigym.envs.sql.records_rows import ToldApart, asked, draw_told_apart, own_draws
from verigym.envs.sql.report import draw
from verigym.envs.sql.systems import DOCUMENTS, N_SYSTEMS
from verigym.envs.sql.systems_world import SystemsWorld
from verigym.envs.sql.write_query import QueryWriter, names_of, question_in
from verigym.task import Task

LEVELS = {
    1: (1, "plain", 6),
    2: (1, "plain", 6),
    3: (2, "plain", 8),
    4: (2, "short", 8),
    5: (3, "numbered", 9),
    6: (3, "codes", 10),
    7: (5, "codes", 12),
}
"""Domains in the database, style of names, turns."""
OLD_TURNS = {8: 12, 9: 13, 10: 15}
"""Turns in the database of an old system."""

_STEPS_SQLITE = 1_000_000
_PROMPT = """\
Write a SQL query that answers this question about a SQLite database:
{question}
You do not know its tables yet. Give one command in each reply:
<tables></tables> lists the tables.
<describe>TABLE</describe> shows the columns and keys of a table.
<query>SELECT ...</query> runs a query and shows its first {rows} rows; values are cut off after {cell} characters.
<answer>SELECT ...</answer> submits your query and ends the task.
Your query must return exactly the columns asked for, in that order. Rows may come in any order unless the \
question asks for one. The query must be right for any rows that these tables may hold.{noted} You have {turns} replies."""
_NOTED = (
    " Descriptions of tables have notes that say which rows count and what they mean; the question is about the rows that "
    "count."
)
_SYSTEMS = " The tables are those of several systems, and the description of the table documents says which of them count."


class Explore(Explorer):
    """A question of `sql/questions` without the schema; judged by `sql/query` on many databases.

    easy: one domain under plain names; medium: two, names abbreviated; hard: three, names that are
    numbers, explained by comments where one looks; five at level 7. At level 5 only the tables
    have numbers. From level 8 on the tables are those of an old system beside others, and their descriptions have
    notes on which rows count; from level 9 on they are spread over several systems, and documents say which of them lead. Queries only read, within a budget of steps that
    is the same on every machine. The oracle lists, describes the tables it needs, and answers.
    """

    id: ClassVar[str] = "verigym/sql/explore-v0"
    max_action_chars: ClassVar[int] = 1 << 15  # a query of level 10 takes 4,000 to 5,000
    verifier_id: ClassVar[str] = "sql/query"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        if level in OLD_TURNS:
            return self._over_records(rng, level)
        n_domains, style, turns = LEVELS[level]
        numbers = tuple(rng.choice(len(DOMAINS), n_domains, replace=False).tolist())
        domain = DOMAINS[numbers[0]]
        drawn = draw(rng, domain, level)
        query = drawn.query
        world = HiddenWorld(numbers, style, int(rng.integers(2**31)))
        names = world.named(numbers[0])
        return Draft(
            prompt=_PROMPT.format(
                question=drawn.question,
                rows=SHOWN_ROWS,
                cell=CELL_CHARS,
                noted="",
                turns=turns,
            ),
            reference={
                "query": world.query(query),
                "schema": world.schema(),
                "rows": {names[table]: rows for table, rows in drawn.crowded().items()},
                "dialect": "sqlite",
                "world": world.plain(),
                "asked": query,
            },
            tags=(domain.owner, drawn.name, f"{STEPS}{drawn.steps}"),
            essence=query,  # so that no question recurs in another split with other rows or names
        )

    def _over_records(self, rng: np.random.Generator, level: int) -> Draft:
        """Return a question over the tables of an old system; an empty one for another split than is drawn."""

        def is_wanted(essence: JSON) -> bool:
            return self.split_of(Draft(prompt="", reference=None, essence=essence)) == self._drawing

        rng = own_draws(rng, 2)
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        drawn = draw_told_apart(rng, domain, level, is_wanted)
        if not isinstance(drawn, ToldApart):
            return Draft(prompt="", reference=None, essence=drawn)
        old = OldWorld.plain(drawn, int(rng.integers(2**31)))
        query, rows = asked(drawn.records, drawn.report), drawn.rows
        world: OldWorld | SystemsWorld = OldWorld.read(old, rows)
        if level in N_SYSTEMS:
            world = SystemsWorld(OldWorld.read(old, rows), level)
            query, rows, old = world.query(query), world.own_rows(), world.plain()
        return Draft(
            prompt=_PROMPT.format(
                question=drawn.report.question,
                rows=SHOWN_ROWS,
                cell=CELL_CHARS,
                noted=_NOTED + (_SYSTEMS if level in N_SYSTEMS else ""),
                turns=OLD_TURNS[level],
            ),
            reference={
                "query": query,
                "schema": world.schema(),
                "rows": rows,
                "dialect": "sqlite",
                "old": old,
            },
            tags=(domain.owner, "old", f"{STEPS}{drawn.report.steps}"),
            essence=drawn.essence,
        )

    @override
    def turns_allowed(self, task: Task) -> int:
        level = self.level_of(task.difficulty)
        return OLD_TURNS[level] if level in OLD_TURNS else LEVELS[level][2]

    @override
    def solve(self, state: LastResult) -> str:
        """Return the next action for any last observation."""
        world, query = self._world(), self._reference()["query"]
        needed = self._needed(world, query)
        actions = ["<tables></tables>", *(f"<describe>{table}</describe>" for table in needed)]
        seen = [world.tables_text(), *(world.describe_text(table) for table in needed)]
        if isinstance(world, SystemsWorld):
            # After the description of the documents, the documents.
            looks = self._looks(world)
            actions[2:2] = [f"<query>{look}</query>" for look in looks]
            seen[2:2] = [self.query(look)[0] for look in looks]
        if state.shown not in seen:
            return actions[0]
        at = 1 + seen.index(state.shown)
        return actions[at] if at < len(actions) else f"<answer>{query}</answer>"

    @override
    def work(self, state: LastResult) -> int:
        """Count the tables looked at in the list before one is described, and the steps of writing the answer."""
        action = self.solve(state)
        if action.startswith(("<tables>", "<query>")):
            return 1
        if action.startswith("<describe>"):
            operations = 0
            for line in self.tables().splitlines()[1:]:
                operations += 1
                if f">{line.split()[0]}<" in action:
                    break
            return operations
        writer = QueryWriter()
        self.write_answer(writer)
        return writer.operations

    def write_answer(self, writer: QueryWriter) -> str:
        """Return the answer as `writer` writes it, with the names that the tables show."""
        world = self._world()
        if not isinstance(world, HiddenWorld):
            reader = NotesReader()
            query = world.write(reader, question_in(self.task.prompt, _PROMPT))
            writer.operations += reader.operations
            return query
        domain, names = DOMAINS[world.domains[0]], world.named(world.domains[0])
        read = writer.read(question_in(self.task.prompt, _PROMPT), domain)
        explained = world.explained(world.domains[0])
        return writer.write(read.query, names_of(domain), names, explained)

    @override
    def tables(self) -> str:
        return self._world().tables_text()

    @override
    def describe(self, table: str) -> str | None:
        return self._world().describe_text(table)

    @override
    def query(self, text: str) -> tuple[str, bool]:
        """Run the query in a new database, which takes little time to create."""
        from verigym.verifiers.sql.schema import read_schema
        from verigym.verifiers.sql.sqlite import SqliteEngine

        schema = read_schema(self._reference()["schema"])
        engine = SqliteEngine(schema, "sqlite", steps=_STEPS_SQLITE, max_rows=MAX_ROWS)
        try:
            engine.load(self._world().rows())
            return run_query(text, schema, "sqlite", engine)
        finally:
            engine.close()

    def _reference(self) -> Any:
        return self.task.reference

    def _looks(self, world: SystemsWorld) -> list[str]:
        """Return the queries that show all documents."""
        starts = range(0, len(world.systems.documents()), SHOWN_ROWS)
        look = f"SELECT * FROM {DOCUMENTS} ORDER BY id LIMIT {SHOWN_ROWS} OFFSET"
        return [f"{look} {start}" for start in starts]

    def _needed(self, world: HiddenWorld | OldWorld | SystemsWorld, query: str) -> list[str]:
        """Return the tables that have to be described before the query can be written."""
        if not isinstance(world, HiddenWorld):
            return world.needed()
        named = re.findall(r"\w+", query)
        return [table for table in self._reference()["schema"]["tables"] if table in named]

    def _world(self) -> HiddenWorld | OldWorld | SystemsWorld:
        reference = self._reference()
        if "old" in reference and "level" in reference["old"]:
            return SystemsWorld.read(reference["old"], reference["rows"])
        if "old" in reference:
            return OldWorld.read(reference["old"], reference["rows"])
        return HiddenWorld.read(reference["world"])
