"""`sql/explore`: what can be seen, what is refused, and that the answer is judged as elsewhere."""

import re
import sqlite3

import pytest

import verigym
from verigym.envs.sql.commands import SHOWN_ROWS, read_command
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.hidden import STYLES, HiddenWorld
from verigym.envs.sql.kinds import KINDS

ID = "sql/explore-v0"
MISTAKES = ((" > ", " >= "), (" >= ", " > "), (" < ", " <= "), (" <= ", " < "), (" <> '", " = '"))


@pytest.fixture
def env():
    made = verigym.make(ID, max_turns=100, difficulty="medium")
    made.reset(seed=4)
    return made


def shown(env, name, text=""):
    return env.step(f"<{name}>{text}</{name}>")[0]


def database(world):
    """The world in a database of our own, with keys that are enforced."""
    schema, rows = world.schema(), world.rows()
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA foreign_keys = ON")
    for table, columns in schema["tables"].items():
        parts = []
        for name, kind in columns:
            place = f"{table}.{name}"
            part = f"{name} {kind}" + (" NOT NULL" if place in schema["notnull"] else "")
            part += " PRIMARY KEY" if [place] in schema["primary"] else ""
            for child, parent in schema["foreign"]:
                part += f" REFERENCES {parent.replace('.', '(')})" if child == place else ""
            parts.append(part)
        db.execute(f"CREATE TABLE {table} ({', '.join(parts)})")
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", rows[table])
    return db


@pytest.mark.parametrize("style", STYLES)
def test_names_are_unique_and_rows_keep_the_keys(style):
    world = HiddenWorld(tuple(range(len(DOMAINS))), style, 7)
    tables = world.schema()["tables"]
    assert len(tables) == 3 * len(DOMAINS)
    for columns in tables.values():
        assert len({name for name, _ in columns}) == len(columns)
    database(world).close()  # raises where a key is broken


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", KINDS)
def test_the_query_means_the_same_under_other_names(difficulty):
    env = verigym.make(ID)
    for seed in range(30):
        reference = env.sample_task(seed, difficulty).reference
        world = HiddenWorld.read(reference["world"])
        plain = HiddenWorld(world.domains, "plain", world.seed)
        here, there = database(world), database(plain)
        assert (
            here.execute(reference["query"]).fetchall()
            == there.execute(reference["asked"]).fetchall()
        )
        here.close()
        there.close()


def test_what_is_shown_is_what_is_there(env):
    world = HiddenWorld.read(env.task.reference["world"])
    names = re.findall(r"^(\w+) \((\d+) rows\)$", shown(env, "tables"), re.MULTILINE)
    assert {name: int(n) for name, n in names} == {t: len(r) for t, r in world.rows().items()}
    db = database(world)
    for table, _ in names:
        text = shown(env, "describe", table)
        for name, kind in world.schema()["tables"][table]:
            assert re.search(rf"^{name} {kind}", text, re.MULTILINE)
        lines = shown(env, "query", f"SELECT * FROM {table} ORDER BY id").splitlines()
        rows = db.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
        assert lines[1] == " | ".join("NULL" if c is None else str(c) for c in rows[0])
        assert len(lines) == min(len(rows), SHOWN_ROWS) + 2
    db.close()


@pytest.mark.parametrize(
    "level", [pytest.param(level, marks=pytest.mark.slow) for level in ("8", "9", "10")]
)
def test_the_answer_of_the_highest_levels_fits_into_a_reply(level):
    """Queries of level 10 were longer than an action may be, so no answer was ever read."""
    env = verigym.make("sql/explore-v0", difficulty=level)
    for seed in range(3):
        env.reset(seed=seed)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.oracle())
            over = terminated or truncated
        assert (reward, truncated) == (1.0, False)


def test_wide_results_keep_the_rows_that_the_prompt_promises(env):
    """Twenty rows of ten long cells were cut after five."""
    table = re.search(r"^(\w+) \(", shown(env, "tables"), re.MULTILINE)[1]
    long = ", ".join(f"'{'x' * 60}' AS c{i}" for i in range(10))
    lines = shown(env, "query", f"SELECT {long} FROM {table} a, {table} b LIMIT 25").splitlines()
    assert len(lines) == SHOWN_ROWS + 2
    assert lines[-1] == "(25 rows, the first 20 shown)"
    assert all(len(line) == 10 * 60 + 9 * 3 for line in lines[1:-1])


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("DROP TABLE t", "only queries"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("PRAGMA table_info(t)", "only queries"),
        ("SELECT * FROM sqlite_master", "no table"),
        ("SELECT * FROM nothing", "no table"),
        ("SELECT random()", "random"),
        ("SELECT datetime('2020-01-01', 'localtime')", "without a moment"),
        (
            "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT COUNT(*) FROM a",
            "too long",
        ),
        ("WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x FROM a", "rows"),
        ("SELECT (1", "parse"),
        ("", "no query"),
    ],
)
def test_what_queries_may_not(env, query, why):
    observation, reward, over, cut, info = env.step(f"<query>{query}</query>")
    assert why in observation
    assert (reward, over, cut, info["valid_action"]) == (0.0, False, False, False)


def test_the_clock_stands_still(env):
    first = shown(
        env,
        "query",
        "SELECT datetime('now'), CURRENT_TIMESTAMP, date('now'), strftime('%Y', 'now'), unixepoch()",
    )
    moment = "2024-02-15 12:00:00"
    assert first.splitlines()[1] == f"{moment} | {moment} | 2024-02-15 | 2024 | 1707998400"


def test_wide_and_odd_results_are_cut(env):
    assert len(shown(env, "query", "SELECT '" + "x" * 2000 + "'")) < 200
    assert shown(env, "query", "SELECT 'a\nb', 'é', NULL, x'00ff', 1.0 / 4").splitlines()[-2] == (
        "a b | ? | NULL | 00ff | 0.25"
    )


def test_play_goes_on_from_a_snapshot_elsewhere(env):
    shown(env, "tables")
    point = env.snapshot()
    other = verigym.make(ID, max_turns=100)
    other.restore(point)
    table = HiddenWorld.read(env.task.reference["world"]).schema()["tables"].popitem()[0]
    query = f"SELECT COUNT(*) FROM {table}"
    assert shown(env, "query", query) == shown(other, "query", query)
    assert env.state_key() == other.state_key()
    # The same view by another query is the same state.
    shown(other, "query", f"SELECT COUNT(*) FROM {table} WHERE 1 = 1")
    assert env.state_key() == other.state_key()


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("I list.\n<tables></tables>", "tables"),
        ("<tables/>", "tables"),
        ("<query>\n```sql\nSELECT 1\n```\n</query>", "query"),
        ("<query>SELECT 1</query><answer>SELECT 1</answer>", None),
        ("<answer>SELECT 1</answer> <answer>SELECT 2</answer>", None),
        ("SELECT 1", None),
        ("<query>SELECT 1", None),
        ("", None),
    ],
)
def test_one_command_in_each_reply(reply, name):
    command = read_command(reply)
    assert (command and command.name) == name
    if name == "query":
        assert command.text == "SELECT 1"


def test_right_queries_in_the_names_found_are_paid_and_mistakes_are_not(env):
    for seed, difficulty in enumerate(("easy", "medium", "hard")):
        env.reset(seed=seed, options={"difficulty": difficulty})
        query = env.task.reference["query"]
        start = env.snapshot()
        _, reward, over, _, _ = env.step(f"<answer>```sql\n{query};\n```</answer>")
        assert (reward, over) == (1.0, True)
        wrong = [query.replace(old, new, 1) for old, new in MISTAKES if old in query]
        assert wrong
        for text in wrong:
            env.restore(start)
            _, reward, over, _, _ = env.step(f"<answer>{text}</answer>")
            assert (reward, over) == (0.0, True)


def test_the_rows_that_were_seen_are_no_answer(env):
    """A query that lists what the right one gives here is wrong on other rows."""
    for seed in range(3):
        env.reset(seed=seed, options={"difficulty": "easy"})
        world = HiddenWorld.read(env.task.reference["world"])
        db = database(world)
        rows = db.execute(env.task.reference["query"]).fetchall()
        db.close()
        if rows:
            values = ", ".join(f"({', '.join(map(repr, row))})" for row in rows)
            assert env.step(f"<answer>VALUES {values}</answer>")[1] == 0.0


def test_splits_share_no_question():
    env = verigym.make(ID)
    asked = {
        split: {env.sample_task(seed, split=split).reference["asked"] for seed in range(40)}
        for split in verigym.SPLITS
    }
    assert not asked["train"] & asked["test"]
    assert not asked["train"] & asked["validation"]
