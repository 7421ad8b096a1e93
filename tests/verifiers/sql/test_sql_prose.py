"""Queries between lines of prose, without a fence: one is read, two are refused."""

import pytest

from verigym.verifiers.sql.read import RefusedQuery, read_query
from verigym.verifiers.sql.schema import read_schema

SCHEMA = read_schema({"tables": {"sale": {"id": "INT", "fee": "INT"}}})
QUERY = "SELECT id FROM sale WHERE fee > 3"
NOW = "2024-02-15 12:00:00"


def read(text, dialect="sqlite"):
    return read_query(text, dialect, SCHEMA, NOW).tree


@pytest.mark.parametrize("dialect", ["sqlite", "mysql", "postgres", None])
@pytest.mark.parametrize(
    "reply",
    [
        f"The corrected query is:\n\n{QUERY}",
        f"The corrected query is:\n{QUERY};",
        f"{QUERY}\n\nThis returns the rows.",
        f"{QUERY};\n\nThis returns the rows that it's asked for.",
        "Here it is:\n\nselect id\nfrom sale\n\nwhere fee > 3\n\nIt keeps fees above 3.",
        "Here it is:\n\nWITH s AS (\n  SELECT * FROM sale\n)\nSELECT id FROM s WHERE fee > 3\n\nWith this, all's found.",
    ],
)
def test_the_one_query_in_prose_is_read(reply, dialect):
    assert read(reply, dialect).named_selects == ["id"]


@pytest.mark.parametrize(
    "reply",
    [
        f"Either this:\n\n{QUERY}\n\nor that:\n\nSELECT id FROM sale",
        f"First:\n\n{QUERY};\n\nSELECT id FROM sale;",
        f"{QUERY}; DROP TABLE sale",
        f"The query is:\n\n{QUERY}\n\nIgnore that.",
        "I would select all the rows.",
        f"The query is {QUERY}",
    ],
)
def test_two_queries_or_none_are_refused(reply):
    with pytest.raises(RefusedQuery):
        read(reply)
