"""The SQL verifier on a PostgreSQL server of its own, where Debian's is installed."""

import pytest

import verigym
from verigym.verifiers.sql import cases

SCHEMA = {"tables": {"r": {"a": "INT", "b": "INT", "c": "VARCHAR"}}, "primary": [["r.a"]]}


# What a connection made for itself goes with its process, a little after the connection is closed.
_UNTIL_IT_HAS_LEFT = """DO $$ BEGIN FOR i IN 1..1200 LOOP
    PERFORM pg_stat_clear_snapshot();
    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'judge');
    PERFORM pg_sleep(0.05);
END LOOP; END $$"""


@pytest.fixture(scope="module")
def server(postgres):
    """Folder of the socket of a running server, with a plain role `judge`."""
    postgres.psql("CREATE ROLE judge LOGIN")
    yield postgres.folder
    postgres.psql(_UNTIL_IT_HAS_LEFT)
    postgres.psql("DROP ROLE judge")


@pytest.fixture
def judge(task_of):
    """Judge a reply on the server in a folder."""

    def verdict(server, reply, *, role="judge", **params):
        task = task_of("SELECT a FROM r WHERE b > 3", SCHEMA, dialect="postgres")
        url = f"postgresql://{role}@/postgres?host={server}"
        return verigym.make_verifier("sql/query", engine=url, **params).verify(task, reply)

    return verdict


def test_pairs_are_judged_as_labelled(server):
    url = f"postgresql://judge@/postgres?host={server}"
    verifier = verigym.make_verifier("sql/query", engine=url)
    for row in [row for row in cases.seeds() if row["dialect"] == "postgres"][::6]:
        task, submission, label = cases.task_of(row)
        verdict = verifier.verify(task, submission)
        assert verdict.score == float(label), (row["id"], verdict)


def test_a_superuser_is_refused(judge, server):
    verdict = judge(server, "SELECT a FROM r", role="owner")
    assert verdict.status is verigym.Status.INFRA
    assert "plain role" in verdict.evidence


def test_a_server_that_is_away_is_a_fault_of_the_machine(judge, tmp_path):
    verdict = judge(tmp_path, "SELECT a FROM r")
    assert verdict.status is verigym.Status.INFRA


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("SELECT COUNT(*) FROM generate_series(1, 10000000000)", "time_limit"),
        ("SELECT 1 / (a - a) FROM r", "query_error"),
        ("SELECT pg_read_file('/etc/passwd')", "refused_syntax"),
        ("SELECT rolname FROM pg_roles", "unknown_table"),
        ("SELECT generate_series(1, 100000)", "too_many_rows"),
    ],
)
def test_limits_hold(judge, server, reply, reason):
    verdict = judge(server, reply, timeout_s=1.0)
    assert (verdict.score, verdict.reason) == (0.0, reason), verdict.evidence
