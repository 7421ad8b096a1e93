"""tools/state: golden states, laws over random worlds, and hostile dumps."""

import copy
import json
import sqlite3
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.verifiers.tools.dump_functions import bound_functions

MEGABYTE = 1 << 20


def judge(reference, reply, prompt="p", **params):
    task = verigym.Task(
        id="t",
        env_id="verigym/tests/t-v0",
        seed=0,
        prompt=prompt,
        difficulty="easy",
        reference=reference,
    )
    return verigym.make_verifier("tools/state", **params).verify(task, reply)


CELLS = st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b", "ä 'x'", ""]), st.none())
ROWS_OF = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6).map(
    lambda rows: [{"id": i, "a": a, "b": b} for i, (a, b) in enumerate(rows)]
)
WORLDS = st.fixed_dictionaries({"t": ROWS_OF, "u": ROWS_OF})


def dump_of(world):
    connection = sqlite3.connect(":memory:")
    for name, rows in world.items():
        connection.execute(f"CREATE TABLE {name}(id INTEGER PRIMARY KEY, a, b)")
        connection.executemany(f"INSERT INTO {name} VALUES(:id, :a, :b)", rows)
    text = "\n".join(connection.iterdump())
    connection.close()
    return text


def goals_for(world):
    """A goal of each kind, and the world that meets them and nothing else."""
    final = copy.deepcopy(world)
    final["t"][0]["a"] = "done"
    final["t"].append({"id": 100, "a": "new", "b": 1})
    gone = final["u"].pop()
    goals = [
        {"kind": "equal", "table": "t", "where": {"id": 0}, "set": {"a": "done"}},
        {"kind": "present", "table": "t", "where": {"a": "new", "b": {"gt": 0}}},
        {"kind": "absent", "table": "u", "where": {"id": gone["id"]}},
        {"kind": "count", "table": "u", "count": len(final["u"])},
    ]
    return goals, final


@pytest.mark.slow
@given(WORLDS, st.randoms(use_true_random=False))
def test_what_meets_the_goals_is_right_in_every_form_and_order(world, random):
    goals, final = goals_for(world)
    reference = {"initial": world, "goals": goals}
    shuffled = {name: random.sample(rows, len(rows)) for name, rows in final.items()}
    for state in (
        final,
        shuffled,
        json.dumps(final),
        dump_of(final),
        {"sqlite": dump_of(shuffled)},
    ):
        assert judge(reference, state).reason == "correct"
    as_dump = {"initial": {"sqlite": dump_of(world)}, "goals": goals}
    assert judge(as_dump, final).score == 1.0
    assert judge(reference, world).reason == "goal_not_met"


@given(WORLDS, st.data())
def test_any_further_change_is_damage(world, data):
    goals, final = goals_for(world)
    how = data.draw(st.sampled_from(["insert", "delete", "update", "table", "column"]))
    table = data.draw(st.sampled_from(["t", "u"]))
    # Of t, the rows that goals speak of are left alone.
    rows = [row for row in final[table] if table == "u" or 0 < row["id"] < 100]
    if how == "insert" or (not rows and how != "table"):
        final[table].append({"id": 200, "a": 1, "b": 2})
    elif how == "table":
        final["v"] = []
    else:
        row = data.draw(st.sampled_from(rows))
        if how == "delete":
            final[table].remove(row)
        elif how == "update":
            row["b"] = "changed"
        else:
            row["c"] = None
    reference = {"initial": world, "goals": goals}
    verdict = judge(reference, final)
    assert verdict.score == 0.0
    assert verdict.parts["unharmed"] == 0.0
    if how != "table":
        allowed = {**reference, "allowed": [{"table": "t"}, {"table": "u"}]}
        assert judge(allowed, final).parts["unharmed"] == 1.0


@given(WORLDS, WORLDS)
def test_the_verdict_does_not_depend_on_the_order_of_rows_or_keys(before, after):
    goals = [
        {"kind": "present", "table": "t", "where": {"a": "a"}, "rows": 2},
        {"kind": "present", "table": "t", "where": {"a": "a", "b": "b"}},
        {"kind": "count", "table": "u", "where": {"a": {"null": True}}, "max": 1},
    ]
    turned = {
        name: [dict(reversed(row.items())) for row in reversed(after[name])] for name in ("u", "t")
    }
    reference = {"initial": before, "goals": goals, "no_change": True}
    one, other = judge(reference, after), judge(reference, turned)
    assert (one.score, one.reason, one.parts) == (other.score, other.reason, other.parts)


@given(st.one_of(st.text(), st.text('{}[]":,a1'), st.recursive(CELLS, st.lists, max_leaves=5)))
def test_garbage_never_raises_and_is_always_scored(state):
    reference = {
        "initial": {"t": [{"id": 1, "a": 1}]},
        "goals": [{"kind": "absent", "table": "t", "where": {"id": 1}}],
    }
    verdict = judge(reference, state)
    assert verdict.score == 0.0
    assert not verdict.fault


def test_evidence_names_goals_and_hides_their_values():
    reference = {
        "initial": {"t": [{"id": 1, "a": 1}], "u": []},
        "goals": [
            {
                "kind": "equal",
                "table": "t",
                "where": {"id": 1},
                "set": {"a": "SECRET"},
                "name": "pay",
            },
            {"kind": "present", "table": "u", "where": {"a": "SECRET"}},
        ],
    }
    evidence = judge(reference, {"t": [{"id": 1, "a": 2}, {"id": 3}], "u": []}).evidence
    assert "not met: pay, goal 2" in evidence
    assert "SECRET" not in evidence


def test_a_task_that_pays_for_doing_nothing_is_a_fault():
    world = {"t": [{"id": 1, "a": 1}]}
    reference = {"initial": world, "goals": [{"kind": "present", "table": "t", "where": {"a": 1}}]}
    assert judge(reference, world).reason == "bad_task"
    assert judge({**reference, "no_change": True}, world).score == 1.0


SELF = "CREATE TABLE t(a);INSERT INTO t VALUES(1),(2);"
HOSTILE = {
    "megabytes": ("x" * ((8 << 20) + 1), "too_long"),
    "brackets": ('{"t":' + "[" * MEGABYTE, "too_deep"),
    "semicolons": (";" * MEGABYTE, "goal_not_met"),
    "parentheses": ("SELECT " + "(" * 100_000, "bad_dump"),
    "product": (SELF + "INSERT INTO t SELECT x.a FROM t x, t y, t z;" * 20, "bad_dump"),
    "recursion": (
        SELF + "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT x FROM c;",
        "bad_dump",
    ),
    "large default": (
        "CREATE TABLE t(a DEFAULT (randomblob(1000000000)), b);INSERT INTO t(b) VALUES(1);",
        "bad_dump",
    ),
    "chance": ("CREATE TABLE t(a DEFAULT (random()), b);INSERT INTO t(b) VALUES(1);", "bad_dump"),
    "clock": (
        "CREATE TABLE t(a DEFAULT CURRENT_TIMESTAMP, b);INSERT INTO t(b) VALUES(1);",
        "bad_dump",
    ),
    "attach": ("ATTACH DATABASE 'evil.db' AS e;", "bad_dump"),
    "vacuum": ("VACUUM INTO 'evil.db';", "bad_dump"),
    "pragma": ("PRAGMA writable_schema = ON;", "bad_dump"),
    "virtual": ("CREATE VIRTUAL TABLE t USING fts5(a);", "bad_dump"),
    "trigger": (SELF + "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END;", "bad_dump"),
    "view": ("CREATE VIEW t AS SELECT 1 AS id;", "bad_dump"),
    "function": ("CREATE TABLE t(a);INSERT INTO t VALUES(load_extension('evil'));", "bad_dump"),
    "memory": ("CREATE TABLE t(a);INSERT INTO t VALUES(zeroblob(2000000000));", "bad_dump"),
    "NUL": ("CREATE TABLE t(a);\0", "bad_dump"),
    "surrogate": ("\ud800", "not_text"),
    "many rows": ({"t": [{}] * 50_001}, "too_long"),
    "rows of junk": ({"t": [[], None]}, "bad_state"),
    "deep": ({"t": [{"id": 1, "a": json.loads("[" * 90 + "]" * 90)}]}, "too_deep"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_ends_soon_with_a_verdict(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state, reason = HOSTILE[name]
    reference = {
        "initial": {"t": [{"id": 1, "a": 1}]},
        "goals": [{"kind": "equal", "table": "t", "where": {"id": 1}, "set": {"a": 2}}],
    }
    verdict = judge(reference, state)
    assert (verdict.score, verdict.reason) == (0.0, reason)
    assert not list(tmp_path.iterdir())


WORLD = {"t": [{"id": 1, "a": 1}], "u": [{"x": 1}, {"x": 1}]}
GOAL = {"kind": "absent", "table": "t", "where": {"id": 1}}


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {},
        {"initial": WORLD},
        {"initial": WORLD, "goals": []},
        {"initial": WORLD, "goals": [1]},
        {"initial": WORLD, "goals": [GOAL], "other": 1},
        {"initial": WORLD, "goals": [{**GOAL, "kind": "gone"}]},
        {"initial": WORLD, "goals": [{**GOAL, "table": "v"}]},
        {"initial": WORLD, "goals": [{**GOAL, "where": {}}]},
        {"initial": WORLD, "goals": [{**GOAL, "where": {"id": {"like": 1}}}]},
        {"initial": WORLD, "goals": [{**GOAL, "where": {"id": {}}}]},
        {"initial": WORLD, "goals": [{"kind": "equal", "table": "t", "where": {"id": 1}}]},
        {
            "initial": WORLD,
            "goals": [{"kind": "equal", "table": "t", "where": {"id": 7}, "set": {"a": 1}}],
        },
        {
            "initial": WORLD,
            "goals": [{"kind": "equal", "table": "u", "where": {"x": 1}, "set": {"x": 2}}],
        },
        {"initial": WORLD, "goals": [{"kind": "count", "table": "t"}]},
        {"initial": WORLD, "goals": [GOAL], "keys": {"v": ["id"]}},
        {"initial": WORLD, "goals": [GOAL], "keys": {"t": ["other"]}},
        {"initial": WORLD, "goals": [GOAL], "keys": {"u": ["x"]}},
        {"initial": WORLD, "goals": [GOAL], "allowed": [{"columns": ["a"]}]},
        {"initial": WORLD, "goals": [GOAL], "allowed": [{"table": "t", "kinds": ["drop"]}]},
        {"initial": "DROP TABLE t;", "goals": [GOAL]},
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault_without_a_score(reference):
    verdict = judge(reference, {"t": [], "u": [{"x": 1}, {"x": 1}]})
    assert verdict.score is None
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")


@pytest.mark.parametrize(
    "dump", [" " * 10**6, "\n" * 10**6, "PRAGMA " * 10**5, "(" * 10**5, "-" * 10**6]
)
def test_a_dump_of_nothing_costs_little(dump):
    began = time.process_time()
    verdict = judge({"initial": {"t": [{"id": 1}]}, "no_change": True}, dump)
    assert verdict.score == 0.0
    # A quadratic pattern took hours over a million blanks.
    assert time.process_time() - began < 10


GROWN = "replace(replace(replace('{}','a','{}'),'b','{}'),'c','zzz')".format(
    "a" * 100, "b" * 100, "c" * 260
)
HEAVY = {
    "rows": "CREATE TABLE t(a);" + f"INSERT INTO t VALUES(length({GROWN}));" * 400,
    "columns": f"CREATE TABLE t(a, b AS (length({GROWN})));" + "INSERT INTO t(a) VALUES(1);" * 400,
    "part": f"CREATE TABLE t(a CHECK(instr({GROWN}, replace('{'x' * 1000}', 'x', '{'z' * 1000}') || 'd') = 0));"
    + "INSERT INTO t VALUES(1);" * 9,
    "trim": f"CREATE TABLE t(a CHECK(trim({GROWN}, replace('{'x' * 1000}', 'x', '{'y' * 1000}') || 'z') = ''));"
    + "INSERT INTO t VALUES(1);" * 9,
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "part" else pytest.mark.slow) for n in HEAVY]
)
def test_a_dump_that_keeps_sqlite_busy_ends_soon_and_earns_nothing(name):
    reference = {"initial": {"t": [{"a": 1}]}, "goals": [], "no_change": True}
    began = time.thread_time()
    verdict = judge(reference, HEAVY[name])
    assert verdict.score == 0.0, verdict
    assert time.thread_time() - began < 8


@pytest.mark.parametrize(
    "call",
    ["trim('  ab ')", "trim('xxabx', 'x')", "ltrim('yxab', 'xy')", "rtrim('ab11', '1')", "trim(15, 1)",
     "instr('abcb', 'b')", "instr('abc', 'z')", "instr('a', '')", "instr(123, 2)", "replace('aaa', 'a', 'bc')",
     "replace('a', '', 'x')", "replace(NULL, 'a', 'b')", "instr(NULL, 'a')", "trim(NULL)", "replace(1.5, '.', ',')"],
)  # fmt: skip
def test_functions_of_dumps_are_those_of_sqlite(call):
    plain, bounded = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    bound_functions(bounded, 1000, lambda: False)
    try:
        results = [one.execute(f"SELECT {call}").fetchone() for one in (plain, bounded)]
    finally:
        plain.close()
        bounded.close()
    assert results[0] == results[1]
