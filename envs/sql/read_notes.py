"""Read the notes on an old system's tables and write the query for a report over them, counting the steps."""

from __future__ import annotations

import re

from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.envs.sql.notes import RULES
from verigym.envs.sql.records import Records
from verigym.envs.sql.records_rows import asked
from verigym.envs.sql.report import Report
from verigym.envs.sql.write_query import QueryWriter

_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*)\);")
_COLUMN = re.compile(r"(?:^|, )(\w+) (?:INT|VARCHAR|DATE)")


class NotesReader(QueryWriter):
    """Turns notes and a question into a query; a wording of a note compared is a step too."""

    def read_notes(self, prompt: str, domain: Domain) -> Records:
        """Return the tables with the rules that the notes state."""
        picks: dict[str, int] = {}
        for line in prompt.splitlines():
            if line.startswith("- "):
                self._read_note(line[2:], domain, picks)
        return Records(domain, {name: picks[name] for name in RULES if name in picks}, ())

    def _read_note(self, note: str, domain: Domain, picks: dict[str, int]) -> None:
        for _ in note.split():
            self.operations += 1
        for name, options in RULES.items():
            for number, option in enumerate(options):
                self.operations += 1
                if option.words.format(d=domain) == note:
                    picks[name] = number
                    return


def names_in(prompt: str) -> list[str]:
    """Return the names of the tables of a prompt, each with its columns, in their order."""
    found = []
    for table, columns in _TABLE.findall(prompt):
        found += [table, *_COLUMN.findall(columns)]
    return found


def query_from(prompt: str, question: str, owner: str) -> tuple[str, int]:
    """Write the query for a question from the notes and the tables of a prompt; with the number of steps."""
    domain = next(one for one in DOMAINS if one.owner == owner)
    reader, names = NotesReader(), names_in(prompt)
    records, report = reader.read_notes(prompt, domain), reader.read(question, domain)
    assert isinstance(report, Report)
    query = reader.write(asked(records, report), names, dict(zip(names, names, strict=True)))
    return query, reader.operations
