"""Write the query that a question asks for, from its words and the schema, and count the steps.

A step is a wording compared, a constant copied, a name compared with one of the schema, the comment that explains
such a name read, or a token written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.envs.sql.kinds import KINDS, Constants, Kind, Variant
from verigym.envs.sql.report import COLUMNS, HEAD, SHOWN, Report

_FIELD = re.compile(r"\{([\w.]+)\}")
_TOKEN = re.compile(r"'[^']*'|\w+|<>|[<>]=|\S")
_WHOLE = tuple(dict.fromkeys(kind for kinds in KINDS.values() for kind in kinds))


class QueryWriter:
    """Turns questions into queries and counts the steps in `operations`."""

    def __init__(self) -> None:
        self.operations = 0

    def read(self, question: str, domain: Domain) -> Variant | Report:
        """Return the question that stands in some words. Raises LookupError if it is of an unknown kind."""
        head, *lines = question.splitlines()
        if head != HEAD.format(d=domain):
            return self._variant(head, domain, _WHOLE)
        kinds = (SHOWN, *COLUMNS)
        columns = (line.partition(". ")[2] for line in lines)
        return Report(domain, tuple(self._variant(words, domain, kinds) for words in columns))

    def write(
        self,
        query: str,
        names: Iterable[str],
        written: Mapping[str, str],
        explained: Collection[str] = (),
    ) -> str:
        """Write a query token by token. Each of the names is looked for among those of the schema, in their order,
        and written as `written` has it. Comments of the schema say what those of `explained` mean: to compare
        one of them, its comment is read first."""
        names = [*names]
        parts: list[str] = []
        end = 0
        for token in _TOKEN.finditer(query):
            self.operations += 1
            found = token[0]
            if found in written:
                for name in names:
                    self.operations += 1
                    if name in explained:
                        self.operations += 1
                    if name == found:
                        break
                found = written[found]
            parts += [query[end : token.start()], found]
            end = token.end()
        return "".join(parts)

    def _variant(self, words: str, domain: Domain, kinds: Iterable[Kind]) -> Variant:
        for kind in kinds:
            self.operations += 1
            if match := _pattern(kind, domain).fullmatch(words):
                return self._picked(kind, domain, match)
        raise LookupError(f"no reading of {words!r}")

    def _picked(self, kind: Kind, domain: Domain, match: re.Match[str]) -> Variant:
        """Compare the words at each choice with those of its options until they are the same."""
        found = Variant(kind, domain, self._constants(match), dict.fromkeys(kind.choices, 0))
        for name, choice in kind.choices.items():
            for number in range(len(choice)):
                self.operations += 1
                found = replace(found, picks={**found.picks, name: number})
                if found.words(name) == match[name]:
                    break
        return found

    def _constants(self, match: re.Match[str]) -> Constants:
        copied: dict[str, str] = {}
        for group, text in match.groupdict().items():
            if text is not None and group.startswith("c_"):
                self.operations += 1
                copied[group.split("_")[1]] = text
        return Constants(
            kind=copied.get("kind", ""),
            region=copied.get("region", ""),
            price=int(copied.get("price", 0)),
            amount=int(copied.get("amount", 0)),
            year=int(copied.get("year", 0)),
            total=int(copied.get("total", 0)),
        )


def question_in(prompt: str, template: str) -> str:
    """Return the question in a prompt that was made from `template`."""
    before, _, after = template.partition("{question}")
    question = prompt.partition(before.rpartition("}")[2])[2]
    return question.partition(after.partition("{")[0])[0]


def names_of(domain: Domain) -> list[str]:
    """Return the names of the schema: each table with its columns, in their order."""
    tables = domain.tables().items()
    return [name for table, columns in tables for name in (table, *(pair[0] for pair in columns))]


def operations_of(question: str, owner: str) -> int:
    """Write the query for a question on the domain of that owner, and return the number of steps."""
    domain = next(one for one in DOMAINS if one.owner == owner)
    names = names_of(domain)
    writer = QueryWriter()
    writer.write(writer.read(question, domain).query, names, dict(zip(names, names, strict=True)))
    return writer.operations


def _pattern(kind: Kind, domain: Domain) -> re.Pattern[str]:
    """The words of a kind of question, with a group for each choice and each constant."""
    n_constants = 0
    seen: set[str] = set()

    def pattern(template: str) -> str:
        nonlocal n_constants
        parts: list[str] = []
        for place, part in enumerate(_FIELD.split(template)):
            owner, _, name = part.partition(".")
            if place % 2 == 0:
                parts.append(re.escape(part))
            elif owner == "d":
                parts.append(re.escape(getattr(domain, name)))
            elif owner == "c":
                n_constants += 1
                parts.append(rf"(?P<c_{name}_{n_constants}>\w+)")
            elif part in seen:
                parts.append(f"(?P={part})")
            else:
                seen.add(part)
                options = "|".join(pattern(option.words) for option in kind.choices[part])
                parts.append(f"(?P<{part}>{options})")
        return "".join(parts)

    return re.compile(pattern(kind.question))
