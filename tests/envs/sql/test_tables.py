"""`sql/tables`: each answer found again by SQLite, from the tables and the words of the prompt."""

import csv
import re
import sqlite3
from collections import Counter
from fractions import Fraction

import pytest

import verigym
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.read_sheet import SheetReader
from verigym.envs.sql.statements import OWNERS
from verigym.envs.sql.tables import KINDS

ID = "sql/tables-v0"
N = r"(\w+)"


def read(prompt):
    """The tables in a database as `things` and `owners`, and the question."""
    *tables, question = prompt.split("\n\n")
    db = sqlite3.connect(":memory:")
    for name, text in zip(("things", "owners"), tables, strict=False):
        lines = text.splitlines()[1:]
        if lines[0].startswith("|"):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            rows.pop(1)
        else:
            rows = [*csv.reader(lines)]
        db.execute(f"CREATE TABLE {name} ({', '.join(f'{c} NUMERIC' for c in rows[0])})")
        db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", rows[1:])
    return db, question.partition("\nThink as long")[0]


def joined(d):
    return f"things t JOIN owners o ON o.name = t.{d.owner}"


# What a question says, as SQL; `{d}` is its domain, the groups are its words.
SAID = (
    (rf"What is the {N} of the \w+ {N}\?", "SELECT {0} FROM things WHERE name = '{1}'"),
    (
        rf"How many of the \w+ have {N} of at least {N}\?",
        "SELECT COUNT(*) FROM things WHERE {0} >= {1}",
    ),
    (
        rf"Which of the \w+ has the highest {N}\?.*",
        "SELECT name FROM things ORDER BY {0} DESC LIMIT 1",
    ),
    (rf"Which of the \w+ has the lowest {N}\?.*", "SELECT name FROM things ORDER BY {0} LIMIT 1"),
    (
        rf"How many of the \w+ have the {N} {N} and {N} of at least {N}\?",
        "SELECT COUNT(*) FROM things WHERE {0} = '{1}' AND {2} >= {3}",
    ),
    (
        rf"What is the total {N} of all \w+ with the {N} {N}\?",
        "SELECT SUM({0}) FROM things WHERE {1} = '{2}'",
    ),
    (
        rf"What is the average {N} of the \w+ with the {N} {N}\?",
        "SELECT AVG({0}) FROM things WHERE {1} = '{2}'",
    ),
    (
        rf"By how much is the total {N} of the \w+ with the {N} {N} higher than that of those with the "
        rf"{N} {N}\?",
        "SELECT SUM(CASE {1} WHEN '{2}' THEN {0} WHEN '{4}' THEN -{0} END) FROM things",
    ),
    (
        rf"Which of the \w+ have the {N} {N} and {N} below {N}\?.*",
        "SELECT name FROM things WHERE {0} = '{1}' AND {2} < {3}",
    ),
    (
        rf"What is the total {N} of all \w+ whose {N} has the {N} {N}\?",
        "SELECT SUM({0}) FROM {j} WHERE {2} = '{3}'",
    ),
    (
        rf"Which of the \w+ with the {N} {N} has the highest total {N} over its \w+\?.*",
        "SELECT o.name FROM {j} WHERE {0} = '{1}' GROUP BY o.name ORDER BY SUM({2}) DESC LIMIT 1",
    ),
    (
        rf"Among the \w+ whose {N} was founded in {N} or later, which has the second highest {N}\?.*",
        "SELECT t.name FROM {j} WHERE founded >= {1} ORDER BY {2} DESC LIMIT 1 OFFSET 1",
    ),
    (
        rf"Which of the \w+ with the {N} {N} belong to {N} founded before {N}\?.*",
        "SELECT t.name FROM {j} WHERE {0} = '{1}' AND founded < {3}",
    ),
    (
        rf"How many of the \w+ have a {N} above the average {N} of all \w+ whose {N} has the same {N}\?",
        "SELECT COUNT(*) FROM (SELECT {0} * COUNT(*) OVER g > SUM({0}) OVER g AS above FROM {j} "
        "WINDOW g AS (PARTITION BY o.{3})) WHERE above",
    ),
    (
        rf"Leave out the \w+ with the {N} {N}\. For each {N}, add up the {N} .*",
        "SELECT MAX(s) - MIN(s) FROM (SELECT SUM({3}) AS s FROM {j} WHERE {0} <> '{1}' GROUP BY {2})",
    ),
    (
        rf"For each {N} that has \w+, take the one with the highest {N};.* What is the total {N} of .*",
        "SELECT SUM({2}) FROM (SELECT {2}, ROW_NUMBER() OVER (PARTITION BY {0} ORDER BY {1} DESC, rowid) "
        "AS place FROM things) WHERE place = 1",
    ),
    (
        rf"Exactly {N} of the \w+ have the {N} {N}\.",
        "SELECT COUNT(*) = {0} FROM things WHERE {1} = '{2}'",
    ),
    (
        rf"The \w+ whose {N} has the {N} {N} have a total {N} above (-?\d+)\.",
        "SELECT COALESCE(SUM({3}), 0) > {4} FROM {j} WHERE {1} = '{2}'",
    ),
    (
        rf"The {N} of {N} is higher than that of {N}\.",
        "SELECT a.{0} > b.{0} FROM things a, things b WHERE a.name = '{1}' AND b.name = '{2}'",
    ),
    (
        rf"The {N} of {N} was founded before the {N} of {N} was\.",
        "SELECT (SELECT founded FROM {j} WHERE t.name = '{1}') < "
        "(SELECT founded FROM {j} WHERE t.name = '{3}')",
    ),
)


def found(db, domain, sentence):
    sentence = sentence.replace("`", "")  # around the names of columns
    for pattern, sql in SAID:
        if match := re.fullmatch(pattern, sentence):
            rows = db.execute(sql.format(*match.groups(), j=joined(domain))).fetchall()
            return [row[0] for row in rows]
    raise AssertionError(f"no reading of {sentence!r}")


@pytest.mark.parametrize("difficulty", KINDS)
def test_sqlite_finds_the_same(difficulty):
    env = verigym.make(ID)
    met = Counter()
    for seed in range(40):
        task = env.sample_task(seed, difficulty)
        domain = next(d for d in DOMAINS if d.thing == task.tags[0])
        met[task.tags[1]] += 1
        db, question = read(task.prompt)
        answer = task.reference["answer"]
        read_off = SheetReader(task.prompt).answer()
        if task.reference["kind"] == "number":
            assert read_off == Fraction(answer)
        else:
            assert read_off == answer
        first, *statements = question.splitlines()
        if statements:
            said = [found(db, domain, line.partition(" ")[2])[0] for line in statements]
            assert answer == [str(i) for i, true in enumerate(said, 1) if true]
            assert 2 <= len(answer) <= 3
        else:
            rows = found(db, domain, first)
            if task.reference["kind"] == "list":
                assert sorted(rows) == sorted(answer)
            elif task.reference["kind"] == "text":
                assert rows == [answer]
            else:
                assert rows == [float(answer)]
        db.close()
    assert set(met) == {kind.__name__ for kind in KINDS[difficulty]}


def test_winners_are_alone():
    env = verigym.make(ID)
    for difficulty in ("easy", "hard"):
        for seed in range(60):
            task = env.sample_task(seed, difficulty)
            domain = next(d for d in DOMAINS if d.thing == task.tags[0])
            db, question = read(task.prompt)
            for pattern, sql in SAID:
                match = re.fullmatch(pattern, question.replace("`", ""))
                if match and " LIMIT 1" in sql:
                    order = sql[sql.index("ORDER BY ") + 9 : sql.index(" LIMIT")]
                    sql = sql.partition(" LIMIT")[0].replace(
                        "SELECT ", f"SELECT {order.split()[0]}, ", 1
                    )
                    values = [
                        row[0] for row in db.execute(sql.format(*match.groups(), j=joined(domain)))
                    ]
                    at = int("second" in question)
                    assert values.count(values[at]) == 1, question
            db.close()


@pytest.mark.slow
def test_what_a_lazy_reply_earns():
    """Fixed replies, all names at once, and right values among wrong ones."""
    env = verigym.make(ID)
    paid = Counter()
    for seed in range(120):
        for difficulty in env.difficulties:
            task = env.sample_task(seed, difficulty)
            answer = task.reference["answer"]
            names = re.findall(r"\b[A-Z]\d\d\b", task.prompt)
            right = answer if isinstance(answer, list) else [answer]
            for name, reply in {
                "two": "2",
                "three": "3",
                "all": ", ".join(names),
                "owners": ", ".join(OWNERS),
                "statements": "1, 2, 3, 4, 5",
                "some statements": "1, 3",
                "more": ", ".join([*right, "Z99", "77"]),
                "either": f"{right[0]} or Z99",
            }.items():
                paid[name] += env.verifier.verify(task, f"<answer>{reply}</answer>").score
    assert all(n <= 0.04 * 360 for n in paid.values()), paid
    assert not paid["more"]
    assert not paid["either"]
    assert not paid["all"] + paid["owners"] + paid["statements"]


def test_a_list_is_right_in_any_order_and_only_whole():
    env = verigym.make(ID)
    tasks = [env.sample_task(seed, "medium") for seed in range(40)]
    task = next(task for task in tasks if task.reference["kind"] == "list")
    names = task.reference["answer"]
    judge = env.verifier.verify
    assert judge(task, f"<answer>{' and '.join(reversed(names))}</answer>").score == 1.0
    assert judge(task, f"<answer>{', '.join(names[1:])}</answer>").score == 0.0
