"""Reads one query from text: parsed by sqlglot, gated, and freed of clocks.

Lets through SELECT, VALUES, set operations and WITH over tables of the schema. Refuses anything
else: several statements, statements that change something, placeholders, random numbers, unknown
tables, and functions that `allowed.py` does not name. `now()` and its kin become a fixed moment.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from verigym.reply import fenced, last_answer, spoken
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.sql.allowed import is_allowed, name_of
from verigym.verifiers.sql.depth import is_slow_to_parse, is_too_deep
from verigym.verifiers.sql.prose import query_in_prose
from verigym.verifiers.sql.schema import Schema

# What it says of a text that others wrote is of no use to anyone who reads a worker's stderr.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

MAX_CHARS = 20_000
MAX_NODES = 4_000
MAX_TABLES = 120
MAX_JOINS = 60
"""SQLite joins 64 tables at most; another engine takes minutes to plan that many."""
_DIALECTS = {"mariadb": "mysql", "postgresql": "postgres", "mssql": "tsql", "sqlserver": "tsql"}
_PLAIN = ("", "ansi", "calcite", "standard", "sql", "generic", "default")
_CHANGING = (exp.DDL, exp.DML, exp.Command, exp.Drop, exp.Into, exp.Lock)
_FREE = (exp.Placeholder, exp.Parameter, exp.SessionParameter)
_RANDOM = (exp.Rand, exp.Randn, exp.Uuid)


class RefusedQuery(ValueError):
    """A text that is not one query of the kind that is judged; `code` is the verdict's reason."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Query:
    """A parsed query with lower-case names."""

    tree: exp.Expr
    ordered: bool
    """True if the result has an order that SQL promises."""


def dialect_of(name: str) -> str | None:
    """Return sqlglot's name for a dialect; None for standard SQL. Raises Refused for an unknown one."""
    plain = name.strip().lower()
    if plain in _PLAIN:
        return None
    plain = _DIALECTS.get(plain, plain)
    if plain not in sqlglot.Dialects._value2member_map_:
        raise RefusedQuery("unknown_dialect", f"dialect {name!r} is not known")
    return plain


def read_query(text: str, dialect: str | None, schema: Schema, now: str) -> Query:
    """Return the query in `text`. Raises Refused."""
    if len(text) > MAX_CHARS:
        raise RefusedQuery("too_long", f"{len(text)} characters, {MAX_CHARS} are allowed")
    source = extract_program(text, "sql").strip()
    if not source.strip("; \n\t"):
        raise RefusedQuery("no_query", "the reply holds no query")
    if "\0" in source:
        raise RefusedQuery("refused_syntax", "it holds characters that no engine takes")
    try:
        return _read(source, dialect, schema, now)
    except _Unparsed:
        spoken_text = spoken(text)
        found = None
        if not fenced(spoken_text) and last_answer(spoken_text) is None:
            found = query_in_prose(source)
        if found is None or found == source:
            raise
    return _read(found, dialect, schema, now)


class _Unparsed(RefusedQuery):
    """A text that is no SQL."""


def _read(source: str, dialect: str | None, schema: Schema, now: str) -> Query:
    try:
        words = sqlglot.Dialect.get_or_raise(dialect)
        tokens = words.tokenize(source)
        if is_slow_to_parse(tokens):
            raise RefusedQuery("refused_syntax", "the query is nested too deeply")
        parsed = words.parser().parse(tokens, source)
        trees = [
            tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
        if len(trees) != 1:
            raise RefusedQuery("refused_syntax", f"one statement is judged, got {len(trees)}")
        if is_too_deep(trees[0]):
            raise RefusedQuery("refused_syntax", "the query is nested too deeply")
        tree = _checked(trees[0].transform(_dollars, copy=False), schema, dialect)
        tree = tree.transform(_lower, copy=False)
        tree = tree.transform(_literal, dialect, copy=False)
        tree = tree.transform(_clockless, now, copy=False)
        if dialect == "mysql":
            _having_aliases(tree)
    except SqlglotError as error:
        raise _Unparsed("refused_syntax", f"it does not parse: {_first_line(error)}") from error
    except RecursionError as error:
        raise RefusedQuery("refused_syntax", "the query is nested too deeply") from error
    return Query(tree, promises_order(tree))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(". Line ")[0][:160]


_OF_ENGINES = ("sqlite_", "pragma_", "duckdb_", "pg_")


def _checked(tree: exp.Expr, schema: Schema, dialect: str | None) -> exp.Expr:
    if not isinstance(tree, exp.Query | exp.Values):
        raise RefusedQuery("refused_syntax", f"only queries are judged, not {tree.key.upper()}")
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    names = {c.name for columns in schema.tables.values() for c in columns} | ctes
    names |= set(schema.tables)
    names |= {node.alias.lower() for node in tree.walk() if node.alias}
    for alias in tree.find_all(exp.TableAlias):
        names |= {column.name.lower() for column in alias.columns}
    nodes = list(tree.walk())
    if len(nodes) > MAX_NODES:
        raise RefusedQuery("too_long", f"{len(nodes)} parts, {MAX_NODES} are allowed")
    for kind, most in ((exp.Table, MAX_TABLES), (exp.Join, MAX_JOINS)):
        count = sum(isinstance(node, kind) for node in nodes)
        if count > most:
            raise RefusedQuery("too_long", f"{count} of {kind.key}, {most} are allowed")
    for node in nodes:
        if isinstance(node, _CHANGING):
            raise RefusedQuery(
                "refused_syntax", f"{node.key.upper()} is refused: queries only read"
            )
        if isinstance(node, exp.Select) and not node.expressions:
            # DuckDB's reader is not to be trusted with it: one of thousands ended its process.
            raise RefusedQuery("refused_syntax", "a SELECT without columns is refused")
        if isinstance(node, _FREE):
            raise RefusedQuery("refused_syntax", "placeholders and variables are refused")
        if isinstance(node, _RANDOM):
            raise RefusedQuery("refused_syntax", "random numbers are refused: no two runs agree")
        if isinstance(node, exp.Func) and not is_allowed(node):
            raise RefusedQuery(
                "refused_syntax", f"the function {name_of(node)} is not among the allowed"
            )
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            name = node.name.lower()
            # Outside its scope a WITH name would be the engine's own table of that name.
            is_engines = name.startswith(_OF_ENGINES)
            if name not in schema.tables and (is_engines or name not in ctes):
                raise RefusedQuery("unknown_table", f"there is no table {node.name!r}")
            if node.args.get("db"):
                node.set("db", None)
                node.set("catalog", None)
        # SQLite reads "x" as a text where no column has that name.
        if (
            dialect in ("sqlite", None)
            and isinstance(node, exp.Column)
            and not node.table
            and isinstance(node.this, exp.Identifier)
            and node.this.quoted
            and node.name.lower() not in names
        ):
            node.replace(exp.Literal.string(node.name))
    return tree


def _dollars(node: exp.Expr) -> exp.Expr:
    """Names like `$f0`, which Calcite prints, where a dialect reads a parameter."""
    if isinstance(node, exp.Parameter) and re.fullmatch(r"[a-z]\w*", node.name, re.IGNORECASE):
        name = exp.to_identifier("$" + node.name, quoted=True)
        return name if isinstance(node.parent, exp.Column | exp.Alias) else exp.column(name)
    return node


def _having_aliases(tree: exp.Expr) -> None:
    """MySQL's HAVING means the alias before a column of that name, but for what is grouped by."""
    for select in tree.find_all(exp.Select):
        having, group = select.args.get("having"), select.args.get("group")
        if not having:
            continue
        keys = {k.name for k in group.expressions if isinstance(k, exp.Column)} if group else set()
        known = {
            item.alias: item.this
            for item in select.expressions
            if isinstance(item, exp.Alias) and item.alias not in keys
        }
        for column in list(having.find_all(exp.Column)):
            if (
                not column.table
                and column.name in known
                and column.find_ancestor(exp.AggFunc, exp.Select) is select
            ):
                column.replace(exp.Paren(this=known[column.name].copy()))


def _lower(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Identifier):
        return exp.to_identifier(node.name.lower(), quoted=True)
    return node


_HEX_NUMBERS = ("mysql", "tsql")
_MAX_HEX = 15


def _literal(node: exp.Expr, dialect: str | None) -> exp.Expr:
    """`N'x'` as a text, and hexadecimal digits as the number that they are where they are compared."""
    if isinstance(node, exp.National):
        return exp.Literal.string(node.name)
    if (
        isinstance(node, exp.HexString)
        and dialect in _HEX_NUMBERS
        and 0 < len(node.name) <= _MAX_HEX
    ):
        return exp.Literal.number(int(node.name, 16))
    return node


_ASK_THE_CLOCK = frozenset({"datetime", "julianday", "time", "unixepoch"})
"""Functions of SQLite that mean now where they are given no moment."""


def _clockless(node: exp.Expr, now: str) -> exp.Expr:
    day, _, clock = now.partition(" ")
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.CurrentDate) or name in ("curdate", "today"):
        return exp.cast(exp.Literal.string(day), "date")
    if isinstance(node, exp.UtcDate):
        return exp.cast(exp.Literal.string(day), "date")
    if isinstance(
        node,
        exp.CurrentTimestamp | exp.CurrentDatetime | exp.UtcTimestamp | exp.Localtimestamp,
    ) or name in (
        "now",
        "localtimestamp",
    ):
        return exp.cast(exp.Literal.string(now), "timestamp")
    if isinstance(node, exp.CurrentTime | exp.UtcTime | exp.Localtime) or name == "curtime":
        return exp.Literal.string(clock)
    if isinstance(node, exp.Literal) and node.is_string and node.name.strip().lower() == "now":
        return exp.Literal.string(now)
    if name in _ASK_THE_CLOCK and not node.expressions:
        return exp.Anonymous(this=node.name, expressions=[exp.Literal.string(now)])
    if isinstance(node, exp.Date) and not node.args.get("this"):
        return exp.cast(exp.Literal.string(day), "date")
    return node


def promises_order(tree: exp.Expr) -> bool:
    """Return True if rows come in an order: ORDER BY at the top, or just below a plain SELECT."""
    if tree.args.get("order"):
        return True
    if isinstance(tree, exp.Subquery):
        return promises_order(tree.this)
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("joins", "group", "distinct", "having", "laterals")
    ):
        return False
    if any(isinstance(node, exp.AggFunc) for item in tree.expressions for node in item.walk()):
        return False
    source = source_of(tree)
    if isinstance(source, exp.Subquery):
        return promises_order(source.this)
    if isinstance(source, exp.Table):
        for cte in tree.ctes:
            if cte.alias == source.name:
                return promises_order(cte.this)
    return False


def source_of(select: exp.Expr) -> exp.Expr | None:
    """Return the source directly after FROM."""
    found = select.args.get("from_") or select.args.get("from")
    return found.this if isinstance(found, exp.From) else None
