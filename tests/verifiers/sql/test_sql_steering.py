"""Wrong queries that try to choose the evidence: constants, sizes, kinds, engines, limits, errors."""

import pytest

import verigym

SCHEMA = {
    "tables": {
        "sales": [
            *(["id", "INT"], ["region", "VARCHAR"], ["amount", "INT"], ["status", "VARCHAR"]),
            *(["day", "DATE"], ["cust", "INT"]),
        ],
        "cust": [["id", "INT"], ["name", "VARCHAR"], ["vip", "BOOLEAN"]],
    },
    "primary": [["sales.id"], ["cust.id"]],
    "foreign": [["sales.cust", "cust.id"]],
}
REFERENCES = {
    "boundary": (
        "SELECT id FROM sales WHERE amount > 4711",
        "SELECT id FROM sales WHERE amount >= 4711",
    ),
    "group": (
        "SELECT region FROM sales GROUP BY region HAVING COUNT(*) >= 40",
        "SELECT region FROM sales GROUP BY region HAVING COUNT(*) > 40",
    ),
    "join": (
        "SELECT s.id FROM sales s JOIN cust c ON s.cust = c.id WHERE c.name = 'Ann' AND s.status = 'paid'",
        "SELECT s.id FROM sales s JOIN cust c ON s.cust = c.id WHERE c.name = 'Ann'",
    ),
    "aggregate": (
        "SELECT MAX(amount) AS m FROM sales WHERE region LIKE 'EU%'",
        "SELECT MAX(amount) AS m FROM sales WHERE region LIKE '%EU%'",
    ),
}
_MANY = ", ".join(str(1000003 + 7 * i) for i in range(600))
WRAPS = {
    "plain": "{0}",
    "many constants": f"SELECT * FROM ({{0}}) t WHERE 1 NOT IN ({_MANY})",
    "constants of a column": "SELECT * FROM ({0}) t WHERE NOT EXISTS (SELECT 1 FROM sales WHERE "
    f"amount IN ({_MANY}) AND 1 = 0)",
    "sizes": "SELECT * FROM ({0}) t WHERE (SELECT COUNT(*) FROM sales) NOT IN (2, 3, 4, 5) OR 1 = 1",
    "limit": "SELECT * FROM ({0}) t LIMIT 100000",
    "kinds": "SELECT * FROM ({0}) t WHERE NOT EXISTS (SELECT 1 FROM sales WHERE amount = 'zz' "
    "AND id = 'x y' AND cust = '2020-01-01')",
    "another engine": "SELECT * FROM ({0}) t WHERE NOT REGEXP_LIKE('abc', '^z')",
    "classes": "SELECT * FROM ({0}) t WHERE NOT EXISTS (SELECT 1 FROM sales a JOIN sales b "
    "ON a.amount = b.id AND a.region = b.status WHERE 1 = 0)",
    "other columns": "SELECT * FROM ({0}) t WHERE (SELECT COUNT(vip) FROM cust) >= 0",
    "error on data": "SELECT * FROM ({0}) t WHERE (SELECT CASE WHEN COUNT(*) > 3 "
    "THEN ABS(-9223372036854775807 - 1) ELSE 1 END FROM sales) > 0",
    "work on data": "SELECT * FROM ({0}) t WHERE (SELECT COUNT(*) FROM sales a, sales b, sales c, "
    "sales d, sales e, sales f) >= 0",
    "emptied": "SELECT * FROM ({0}) t WHERE 1 = 0 AND (SELECT COUNT(*) FROM sales) IN (2, 3, 4, 5)",
    "unknown function": "SELECT * FROM ({0}) t WHERE nosuch(1) = 1",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_no_wrapping_makes_a_wrong_query_right_or_a_fault(task_of, name):
    reference, wrong = REFERENCES[name]
    task = task_of(reference, SCHEMA, dialect="mysql")
    verifier = verigym.make_verifier("sql/query")
    assert verifier.verify(task, reference).score == 1.0
    found = {wrap: verifier.verify(task, text.format(wrong)) for wrap, text in WRAPS.items()}
    assert {wrap: v.score for wrap, v in found.items()} == dict.fromkeys(WRAPS, 0.0)


def test_the_reference_alone_decides_about_most_databases(task_of, monkeypatch):
    """The first databases are the same whatever is submitted."""
    from verigym.verifiers.sql.pair import PairRun

    reference, _ = REFERENCES["boundary"]
    task = task_of(reference, SCHEMA, dialect="mysql")
    seen: list[list[object]] = []
    plain = PairRun.difference

    def noted(self, database, expected):
        order = {c.name: at for at, c in enumerate(self.pair.schema.tables["sales"])}
        kept = (order["id"], order["amount"])
        seen[-1].append([[row[at] for at in kept] for row in database["sales"]])
        return plain(self, database, expected)

    monkeypatch.setattr(PairRun, "difference", noted)
    for text in (reference, WRAPS["kinds"].format(reference), WRAPS["sizes"].format(reference)):
        seen.append([])
        verdict = verigym.make_verifier("sql/query").verify(task, text)
        assert verdict.score == 1.0, verdict
    shortest = min(map(len, seen))
    assert shortest >= 54 + 12
    assert seen[0][:54] == seen[1][:54] == seen[2][:54]


def test_evidence_of_columns_in_any_order_is_a_database_that_tells_them_apart(task_of):
    schema = {"tables": {"r": {"a": "INT", "b": "INT", "c": "INT"}}, "primary": [["r.a"]]}
    task = task_of("SELECT a, b FROM r WHERE c > 5", schema)
    verifier = verigym.make_verifier("sql/query", columns="any", show="database")
    verdict = verifier.verify(task, "SELECT b, a FROM r WHERE c >= 5")
    assert verdict.score == 0.0
    assert '"database": {"r": [[' in verdict.evidence, verdict.evidence
    assert verifier.verify(task, "SELECT b, a FROM r WHERE c > 5").score == 1.0
