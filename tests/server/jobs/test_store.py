"""Guarantees of both stores: accepted jobs are kept, each item gets one verdict, and jobs are
private."""

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from verigym import ConfigError
from verigym.server.jobs.node import is_dead, own_name
from verigym.server.jobs.opening import default_path, opener
from verigym.server.jobs.store import JobState, NewJob, Settled, StoreError

MANY = 1 << 40
ALIVE = "m:1:1"


def new(id, n=1, owner="ann", idempotency=None, digest=b"body", verifier="math/answer"):
    asks = [(verifier, f"{id}/{place}".encode()) for place in range(n)]
    return NewJob(id=id, owner=owner, idempotency=idempotency, digest=digest, asks=asks)


def add(store, *jobs, most=100, most_bytes=MANY):
    return store.add(jobs, most, most_bytes)


def claim(store, n=100, verifiers=("math/answer",), node=ALIVE, lease_s=60.0):
    return store.claim(node, list(verifiers), n, lease_s)


def age(store, table="items", column="lease_s", by=1e6):
    """Make rows look older by this many seconds."""
    with store.transaction():
        store.each(f"UPDATE verigym_{table} SET {column} = {column} - ?", [(by,)])


def test_a_job_goes_its_way(open_store):
    store = open_store()
    (added,) = add(store, new("a", 2))
    assert added.outcome == "new"
    assert (added.job.status, added.job.items, added.job.unjudged) == (JobState.QUEUED, 2, 2)
    assert store.get("ann", "a") == added.job
    assert store.counts() == {JobState.QUEUED: 1, JobState.RUNNING: 0}
    first, second = claim(store)
    assert (first.ask, second.ask) == (b"a/0", b"a/1")
    assert not claim(store)
    assert store.get("ann", "a").status is JobState.RUNNING
    assert store.settle([Settled(second, b"two")]) == []
    assert store.get("ann", "a").unjudged == 1
    assert store.unfinished(["a", "b"]) == {"a"}
    assert store.settle([Settled(first, b"one")]) == ["a"]
    job = store.get("ann", "a")
    assert job.status is JobState.DONE
    assert job.created_s <= job.started_s <= job.finished_s
    assert store.verdicts("a") == [b"one", b"two"]
    assert store.unfinished(["a"]) == set()
    assert store.counts() == {JobState.QUEUED: 0, JobState.RUNNING: 0}


def test_another_connection_sees_what_was_accepted(open_store):
    add(open_store(), new("a"))
    assert open_store().get("ann", "a").status is JobState.QUEUED


def test_the_same_key_is_the_same_job(open_store):
    store = open_store()
    both = add(store, new("a", idempotency="k"), new("b", idempotency="k"))
    assert [each.outcome for each in both] == ["new", "same"]
    assert both[1].job.id == "a"
    again, other, bobs, without = add(
        store,
        new("c", idempotency="k"),
        new("d", idempotency="k", digest=b"other"),
        new("e", idempotency="k", owner="bob"),
        new("f"),
    )
    assert (again.outcome, again.job.id) == ("same", "a")
    assert (other.outcome, other.job) == ("other", None)
    assert bobs.outcome == without.outcome == "new"
    assert len(claim(store)) == 3
    store.drop("ann", "a")
    assert add(store, new("g", idempotency="k"))[0].job.status is JobState.CANCELLED
    store.drop("ann", "a")
    assert add(store, new("g", idempotency="k"))[0].outcome == "new"


def test_the_queue_is_bounded_in_jobs_and_bytes(open_store):
    store = open_store()
    outcomes = [each.outcome for each in add(store, *map(new, "abc"), most=2)]
    assert outcomes == ["new", "new", "full"]
    assert add(store, new("d"), most=3, most_bytes=8)[0].outcome == "full"
    assert add(store, new("d"), most=3, most_bytes=9)[0].outcome == "new"
    one = claim(store, 1)
    store.settle([Settled(one[0], b"v")])
    assert add(store, new("e"), most=3)[0].outcome == "new"  # a finished job takes no place


def test_nobody_sees_the_jobs_of_others(open_store):
    store = open_store()
    add(store, new("a"))
    assert store.get("bob", "a") is None
    assert store.own("bob", None, 10, "") == []
    assert store.drop("bob", "a") is None
    assert store.get("ann", "a") is not None


def test_jobs_are_listed_by_pages(open_store):
    store = open_store()
    add(store, *map(new, "abcde"))
    claimed = claim(store, 2)
    store.settle([Settled(each, b"v") for each in claimed])
    ids = lambda jobs: "".join(job.id for job in jobs)  # noqa: E731
    assert ids(store.own("ann", None, 10, "")) == "edcba"
    assert ids(store.own("ann", None, 2, "")) == "ed"
    assert ids(store.own("ann", None, 2, "d")) == "cb"
    assert ids(store.own("ann", JobState.DONE, 10, "")) == "ba"
    assert ids(store.own("ann", JobState.QUEUED, 10, "d")) == "c"


def test_only_what_is_served_is_claimed_and_the_oldest_first(open_store):
    store = open_store()
    add(store, new("a", verifier="sql/query"))
    add(store, new("b"))
    add(store, new("c"))
    assert claim(store, 9, ()) == []
    assert [each.job for each in claim(store, 1)] == ["b"]
    assert [each.job for each in claim(store, 9, ("math/answer", "sql/query"))] == ["a", "c"]


def test_a_cancelled_job_keeps_no_verdict(open_store):
    store = open_store()
    add(store, new("a", 2))
    first, second = claim(store)
    store.settle([Settled(first, b"v")])
    assert store.drop("ann", "a").status is JobState.RUNNING
    assert store.get("ann", "a").status is JobState.CANCELLED
    assert store.settle([Settled(second, b"v")]) == []
    assert store.renew([second], 60) == [second]
    assert store.verdicts("a") == []
    assert store.get("ann", "a").status is JobState.CANCELLED
    assert store.drop("ann", "a").status is JobState.CANCELLED
    assert store.get("ann", "a") is None
    assert store.drop("ann", "a") is None


def test_the_first_verdict_is_kept(open_store):
    one, two = open_store(), open_store()
    add(one, new("a"))
    (slow,) = claim(one)
    age(one)
    assert two.reclaim(lambda node: False) == 1
    (fast,) = claim(two)
    assert (fast.seq, fast.lost) == (slow.seq, 1)
    assert one.renew([slow], 60) == [slow]
    assert one.settle([Settled(slow, b"late")]) == []
    assert one.get("ann", "a").unjudged == 1
    assert two.settle([Settled(fast, b"kept")]) == ["a"]
    assert two.settle([Settled(fast, b"again")]) == []
    one.release([slow, fast])
    assert one.verdicts("a") == [b"kept"]
    assert one.get("ann", "a").unjudged == 0


def test_leases_hold_while_they_are_renewed(open_store):
    store = open_store()
    add(store, new("a"))
    (held,) = claim(store, lease_s=60)
    assert store.reclaim(lambda node: False) == 0
    age(store, by=59)
    assert store.renew([held], 60) == []
    age(store, by=59)
    assert store.reclaim(lambda node: False) == 0
    age(store, by=2)
    assert store.reclaim(lambda node: False) == 1


def test_claims_of_a_dead_process_return_at_once(open_store):
    store = open_store()
    add(store, new("a"), new("b"))
    claim(store, 1, node="dead:1:1")
    claim(store, 1, node=ALIVE)
    assert store.reclaim(lambda node: node == "dead:1:1") == 1
    assert [each.job for each in claim(store)] == ["a"]


def test_a_fault_waits_for_its_next_try(open_store):
    store = open_store()
    add(store, new("a"))
    (first,) = claim(store)
    assert store.settle([Settled(first, None, 100.0)]) == []
    assert not claim(store)
    age(store, column="ready_s", by=101)
    (again,) = claim(store)
    assert (again.faults, again.lost) == (1, 0)
    store.release([again])
    (same,) = claim(store)
    assert (same.faults, same.lost) == (1, 0)  # giving it back counts against nothing


def test_finished_jobs_are_forgotten_after_a_time(open_store):
    store = open_store()
    add(store, *map(new, "abc"))
    first = claim(store, 1)
    store.settle([Settled(each, b"v") for each in first])
    store.drop("ann", "b")
    assert store.prune(60) == 0
    age(store, "jobs", "finished_s", 61)
    assert store.prune(60) == 2
    assert [job.id for job in store.own("ann", None, 9, "")] == ["c"]
    assert store.verdicts("a") == []


def test_many_connections_claim_and_settle_each_item_once(open_store):
    add(open_store(), *(new(f"{n:02}", 10) for n in range(20)))
    kept, lock, failures = [], threading.Lock(), []

    def work(store):
        try:
            while claims := claim(store, 7):
                for each in claims:
                    with lock:
                        kept.append(each.seq)
                store.settle([Settled(each, each.ask) for each in claims])
        except StoreError as error:
            failures.append(error)

    stores = [open_store() for _ in range(4)]
    threads = []
    for store in stores:
        if "Sqlite" in type(store).__name__:
            # A connection of sqlite3 belongs to the thread that made it.
            threads.append(threading.Thread(target=lambda: _closing(work, open_store)))
        else:
            threads.append(threading.Thread(target=work, args=(store,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(kept) == len(set(kept)) == 200
    reader = open_store()
    assert {job.status for job in reader.own("ann", None, 100, "")} == {JobState.DONE}
    assert reader.verdicts("07") == [f"07/{place}".encode() for place in range(10)]


def _closing(work, open_store):
    store = open_store()
    try:
        work(store)
    finally:
        store.close()


def test_another_version_is_refused(open_store):
    store = open_store()
    with store.transaction():
        store.each("UPDATE verigym_store SET version = ?", [(99,)])
    with pytest.raises(StoreError, match="version 99"):
        open_store()


def test_a_file_that_is_none_is_refused(tmp_path):
    path = tmp_path / "jobs.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="not a database"):
        opener(f"sqlite:///{path}")()


def test_a_server_that_is_away_is_an_error(tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="cannot be used"):
        opener(f"postgresql://nobody@/jobs?host={tmp_path}")()


def test_a_server_that_crashed_is_used_again(postgres, postgres_url):
    store = opener(postgres_url)()
    add(store, new("a"))
    postgres.stop()
    postgres.start()
    with pytest.raises(StoreError):
        store.get("ann", "a")
    store.close()
    store = opener(postgres_url)()
    assert store.get("ann", "a").status is JobState.QUEUED
    store.close()


def test_the_file_is_its_owners(tmp_path):
    path = tmp_path / "state" / "jobs.sqlite"
    opener(f"sqlite:///{path}")().close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_accepts_is_on_the_disk(tmp_path):
    store = opener(f"sqlite:///{tmp_path}/jobs.sqlite")()
    with store.transaction(accept=True):
        assert store.run("PRAGMA synchronous") == [(2,)]  # FULL
    assert store.run("PRAGMA synchronous") == [(1,)]
    assert store.run("PRAGMA journal_mode") == [("wal",)]
    store.close()


@pytest.mark.parametrize("url", ["", "jobs", "mysql://h/d", "sqlite:///", "sqlite://h/f"])
def test_other_urls_are_refused(url):
    with pytest.raises(ConfigError, match="--store takes"):
        opener(url)


def test_a_password_is_not_repeated():
    with pytest.raises(ConfigError) as refused:
        opener("mysql://me:secret@h/d")
    assert "secret" not in str(refused.value)


def test_the_default_is_in_the_state_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "verigym" / "jobs.sqlite"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local" / "state" / "verigym" / "jobs.sqlite"


def test_a_process_is_dead_when_it_has_ended():
    own = own_name()
    assert not is_dead(own)
    assert not is_dead("elsewhere:1:1")
    machine, _, start = own.split(":")
    assert is_dead(f"{machine}:{os.getpid()}:{int(start) - 1}")  # the pid is another's now
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        script = "from verigym.server.jobs.node import own_name; print(own_name())"
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert is_dead(done.stdout.strip())
        assert not is_dead(f"{machine}:{child.pid}:{_start(child.pid)}")
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(f"{machine}:{child.pid}:{_start(child.pid)}")  # a zombie
        child.stdin.close()


def _start(pid):
    with open(f"/proc/{pid}/stat") as stat_file:
        return stat_file.read().rpartition(")")[2].split()[19]


class Life(RuleBasedStateMachine):
    """Any order of calls: one verdict an item, and a count that fits."""

    def __init__(self):
        super().__init__()
        self.store = None
        self.items = {}
        self.claims = []
        self.verdicts = {}
        self.number = 0

    @initialize()
    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = opener(f"sqlite:///{self.folder.name}/jobs.sqlite")()

    @rule(n=st.integers(1, 3))
    def add(self, n):
        self.number += 1
        add(self.store, new(f"{self.number:03}", n), most=1000)
        self.items[f"{self.number:03}"] = n

    @rule(n=st.integers(1, 4))
    def claim(self, n):
        self.claims += claim(self.store, n)

    @rule(data=st.data(), good=st.booleans())
    def settle(self, data, good):
        if not self.claims:
            return
        chosen = data.draw(st.lists(st.sampled_from(self.claims), max_size=3))
        verdict = f"v{self.number}".encode() if good else None
        self.store.settle([Settled(each, verdict) for each in chosen])

    @rule(data=st.data())
    def release(self, data):
        if self.claims:
            self.store.release([data.draw(st.sampled_from(self.claims))])

    @rule()
    def expire(self):
        age(self.store)
        self.store.reclaim(lambda node: False)

    @rule(data=st.data())
    def cancel(self, data):
        unfinished = sorted(self.store.unfinished(list(self.items)))
        if unfinished:
            id = data.draw(st.sampled_from(unfinished))
            self.store.drop("ann", id)
            del self.items[id]

    @invariant()
    def one_verdict_each(self):
        if self.store is None:
            return
        for id, n in self.items.items():
            job, verdicts = self.store.get("ann", id), self.store.verdicts(id)
            assert len(verdicts) == n - job.unjudged
            assert (job.status is JobState.DONE) == (job.unjudged == 0)
            # What was kept stays.
            before = self.verdicts.get(id, {})
            kept = dict(
                self.store.run(
                    "SELECT place, verdict FROM verigym_items WHERE job = ? AND state = 2", (id,)
                )
            )
            assert before.items() <= kept.items()
            self.verdicts[id] = kept

    def teardown(self):
        if self.store is not None:
            self.store.close()
            self.folder.cleanup()


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=40, stateful_step_count=30, suppress_health_check=list(HealthCheck)
)


def test_an_sqlite_error_is_a_store_error(tmp_path):
    store = opener(f"sqlite:///{tmp_path}/jobs.sqlite")()
    other = sqlite3.connect(tmp_path / "jobs.sqlite")
    other.execute("DROP TABLE verigym_items")
    other.close()
    with pytest.raises(StoreError, match="verigym_items"):
        claim(store)
    store.close()
