"""`sql/explore` over several systems: the documents decide again by SQLite, and copies are worth nothing."""

import re
import sqlite3

import pytest

import verigym
from verigym.envs.sql.explore import Explore
from verigym.envs.sql.records import BY_LEVEL
from verigym.envs.sql.systems import Document, SourceSystems, leading
from verigym.envs.sql.systems_world import SystemsWorld

ID = "sql/explore-v0"
LEADS = """
WITH RECURSIVE held AS (SELECT * FROM documents WHERE written_on <= '2023-07-01'),
w AS (SELECT id, CAST(SUBSTR(says, 11) AS INT) AS gone FROM held WHERE says LIKE 'withdraws %'),
-- What nothing withdraws holds; what it withdraws does not, and so on down. A document is withdrawn by one other at most that holds.
way(id, holds, place) AS (
  SELECT id, 1, 0 FROM held WHERE id NOT IN (SELECT gone FROM w)
  UNION ALL SELECT w.gone, 1 - way.holds, way.place + 1 FROM way JOIN w ON w.id = way.id
)
SELECT topic, system FROM (
  SELECT topic, system, ROW_NUMBER() OVER (PARTITION BY topic ORDER BY written_on DESC, id DESC) AS n FROM held h
  WHERE says = 'leads' AND NOT EXISTS (SELECT 1 FROM way WHERE way.id = h.id AND holds = 0)
) WHERE n = 1
"""


def decided(rows):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE documents (id, written_on, topic, system, says)")
    db.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", rows)
    return dict(db.execute(LEADS).fetchall())


@pytest.mark.parametrize("level", [9, 10])
def test_sqlite_finds_the_same_systems(level):
    for seed in range(100):
        systems = SourceSystems(("sales", "codes", "units", "products", "sellers"), level, seed)
        rows = systems.documents()
        leads = {topic: table.partition("_")[0] for topic, table in systems.leads.items()}
        assert decided(rows) == leads, seed
        assert [row[1] for row in rows] == sorted(row[1] for row in rows)
        assert set(leads) == set(systems.topics)


def test_documents_by_hand():
    written = [
        Document(1, "2022-01-01", "codes", "crm"),
        Document(2, "2022-02-01", "codes", "erp"),
        Document(3, "2022-03-01", "codes", "", withdraws=2),
        Document(4, "2023-08-01", "codes", "web"),  # a draft
    ]
    assert leading(written) == {"codes": "crm"}
    again = [*written[:3], Document(4, "2022-04-01", "codes", "", withdraws=3)]
    assert leading(again) == {"codes": "erp"}
    draft = [*written[:3], Document(4, "2023-07-02", "codes", "", withdraws=3)]
    assert leading(draft) == {"codes": "crm"}
    assert leading(again, in_turn=False) == {"codes": "crm"}
    assert leading([*written[:1], Document(5, "2022-01-01", "codes", "hub")]) == {"codes": "hub"}


def test_who_follows_the_last_document_is_misled():
    """The system that is named last does not lead on half of the topics, nor is any system always right."""
    same = total = 0
    for seed in range(40):
        systems = SourceSystems(("sales", "codes", "units", "products", "sellers"), 10, seed)
        last = {row[2]: row[3] for row in systems.documents() if row[3]}
        same += sum(systems.leads[topic] == f"{last[topic]}_{topic}" for topic in last)
        total += len(last)
    assert same / total < 0.6


@pytest.mark.parametrize("level", [9, pytest.param(10, marks=pytest.mark.slow)])
def test_copies_earn_nothing(level):
    env = Explore(difficulty=level)
    env.reset(seed=5)
    world = env._world()
    assert isinstance(world, SystemsWorld)
    reference = env.task.reference
    leads, copies = world.systems.leads, world.systems.copies()
    assert len(leads) == len(world.old.records.tables())
    wrong = 0
    for table, topic in copies.items():
        query = re.sub(rf"\b{leads[topic]}\b", table, reference["query"])
        assert query != reference["query"]
        verdict = env.verifier.verify(env.task, query)
        assert verdict.score == 0.0, table
        wrong += 1
    assert wrong == 2 * len(leads)


@pytest.mark.parametrize("level", [9, 10])
def test_a_copy_looks_like_the_table_that_leads(level):
    env = Explore(difficulty=level)
    env.reset(seed=2)
    world = env._world()
    for table, topic in world.systems.copies().items():
        here, there = env.describe(table), env.describe(world.systems.leads[topic])
        columns = [text.partition("Notes:")[0].splitlines()[1:] for text in (here, there)]
        assert columns[0] == columns[1]
        assert ("Notes:" in here) == ("Notes:" in there)
        assert len(here.splitlines()) == len(there.splitlines())
        assert "REFERENCES" not in here + there
    rows = world.rows()
    for table, topic in world.systems.copies().items():
        assert rows[table] != rows[world.systems.leads[topic]]


def test_the_notes_are_on_the_table_that_they_are_about():
    env = Explore(difficulty=10)
    env.reset(seed=4)
    world = env._world()
    said = "\n".join(env.describe(table) for table in world.systems.leads.values())
    for name in BY_LEVEL[10]:
        assert len(world.old.records.picks) == len(BY_LEVEL[10]), name
    for note in world.old.records.notes().splitlines():
        assert note in said


def test_splits_share_no_question_whatever_the_systems():
    env = verigym.make(ID)
    essence = {
        split: env.sample_task(3, "10", split=split).prompt.splitlines()[1:9]
        for split in ("train", "test")
    }
    assert essence["train"] != essence["test"]
