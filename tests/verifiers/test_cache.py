"""The cache: what it gives is what would be judged, faults are never kept, and it may break."""

import os
import sqlite3
import stat
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym import RequestError, Status, Task, Verifier, fault, make_verifier, scored
from verigym.verifiers.cache import Cached, VerdictCache
from verigym.verifiers.pool import VerifierPool

REFERENCE = {"numbers": [3, 5, 7], "target": 22}
SUBMISSIONS = st.one_of(
    st.sampled_from(
        ["<answer>3*5+7</answer>", "<answer>3*5</answer>", "", "\ud800", {"a": "\udfff"}]
    ),
    st.text(max_size=5),
    st.none(),
    st.lists(st.floats(), max_size=2),
)


def task(reference=1, **fields):
    base = {"id": "t", "env_id": "e", "seed": 1, "prompt": "p", "difficulty": "d"}
    return Task(**{**base, **fields}, reference=reference)


class Fold(msgspec.Struct, frozen=True):
    """Parameters of `Counting`."""

    fold: bool = False


class Counting(Verifier[Fold]):
    """Equality, with a count of what was judged."""

    id = "tests/counting"
    version = 1

    def __init__(self, **params):
        super().__init__(**params)
        self.judged = 0

    def judge(self, task, submission):
        self.judged += 1
        if submission == "down":
            return fault(Status.INFRA, "down")
        return scored(float(submission == task.reference), "compared", parts={"same": 1.0})


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from([1, REFERENCE, None]), SUBMISSIONS), max_size=8))
def test_what_is_kept_is_what_would_be_judged(pairs):
    """The law, in process: twice through one cache, each equal to a fresh verdict."""
    cached = Cached(make_verifier("math/countdown"), VerdictCache())
    items = [(task(reference), submission) for reference, submission in pairs]
    fresh = make_verifier("math/countdown").verify_batch(items)
    assert cached.verify_batch(items) == fresh
    assert cached.verify_batch(items) == fresh


def test_the_pool_gives_the_same_with_a_cache(tmp_path, unruly):
    cache = VerdictCache(path=tmp_path / "verdicts.sqlite")
    here = make_verifier("math/countdown", use_all=False)
    with (
        VerifierPool(2, preload=["math/countdown"], cache=cache) as pool,
        VerifierPool(1, cache=VerdictCache(path=tmp_path / "verdicts.sqlite")) as other,
    ):
        pool.describe("math/countdown", {"use_all": False})

        @settings(max_examples=60)
        @given(st.lists(SUBMISSIONS, max_size=6))
        def same(submissions):
            items = [(task(REFERENCE), submission) for submission in submissions]
            fresh = here.verify_batch(items)
            for judge in (pool, pool, other):
                params = {"use_all": False}
                assert judge.verify_batch("math/countdown", items, params=params) == fresh

        same()
        assert cache.hits
        do = {"do": "raise"}
        for _ in range(2):
            verdict = pool.verify("unruly/obeys", task(), do)
            assert verdict.reason == "crashed"
            assert cache.get(verdict.digest) is None


def test_a_call_that_is_known_needs_no_worker(unruly):
    with VerifierPool(1, cache=VerdictCache()) as pool:
        first = pool.verify("unruly/picky", task(), 1)
        for pid in pool.worker_pids():
            os.kill(pid, 9)
        (future,) = pool.submit("unruly/picky", [(task(), 1)])
        assert future.done()
        assert future.result() == [first]


def test_only_scored_verdicts_are_kept():
    cache = VerdictCache()
    verifier = Counting()
    cached = Cached(verifier, cache)
    for submission, judged in ((1, 1), (2, 2), (1, 2), ("down", 3), ("down", 4), (object(), 4)):
        cached.verify(task(), submission)
        assert verifier.judged == judged
    cached.verify(task(), "\ud800")
    assert len(cache) == 3


def test_everything_that_can_change_a_verdict_is_told_apart():
    class Newer(Counting):
        version = 2

    cache = VerdictCache()
    verifiers = [Counting(), Counting(fold=True), Newer()]
    for verifier in verifiers:
        Cached(verifier, cache).verify(task(), 1)
        Cached(verifier, cache).verify(task(prompt="q"), 1)
        assert verifier.judged == 2


def test_memory_is_bounded_and_the_least_used_goes():
    cache = VerdictCache(max_mib=0.01)
    verifier = Counting()
    cached = Cached(verifier, cache)
    for i in range(200):
        cached.verify(task(), 0)  # used all the time
        cached.verify(task(), i)
    assert 5 < len(cache) < 40
    judged = verifier.judged
    cached.verify(task(), 0)
    assert verifier.judged == judged


def test_the_file_is_bounded_private_and_outlives_the_process(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    cache = VerdictCache(path=path, max_rows=100)
    cached = Cached(Counting(), cache)
    for i in range(600):
        cached.verify(task(), i)
    cache.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite3.connect(path) as disk:
        (rows,) = disk.execute("SELECT count(*) FROM verdicts").fetchone()
    disk.close()
    assert 100 <= rows <= 400
    again = Counting()
    reopened = VerdictCache(path=path)
    assert Cached(again, reopened).verify(task(), 599) == Counting().verify(task(), 599)
    assert again.judged == 0
    reopened.close()


SHARING = """
import sys
from verigym import Task, make_verifier
from verigym.verifiers.cache import Cached, VerdictCache

cache = VerdictCache(path=sys.argv[1])
fresh = make_verifier("math/countdown")
cached = Cached(fresh, cache)
task = Task(
    id="t", env_id="e", seed=1, prompt="p", difficulty="d",
    reference={"numbers": [3, 5, 7], "target": 22},
)
start = int(sys.argv[2])
for i in range(start, start + 200):
    assert cached.verify(task, f"<answer>{i}</answer>") == fresh.verify(task, f"<answer>{i}</answer>")
assert cache.path is not None, "given up"
cache.close()
"""


@pytest.mark.slow
def test_processes_share_a_file(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    command = [sys.executable, "-c", SHARING, str(path)]
    workers = [subprocess.Popen([*command, str(50 * i)]) for i in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\x00" + b"x" * 5000])
def test_a_broken_file_costs_hits_only(tmp_path, content, caplog):
    path = tmp_path / "verdicts.sqlite"
    path.write_bytes(content)
    verifier = Counting()
    cached = Cached(verifier, VerdictCache(path=path))
    assert cached.verify(task(), 1).score == 1.0
    assert cached.verify(task(), 1).score == 1.0
    assert verifier.judged == 1
    assert "not used any more" in caplog.text
    assert VerdictCache(path=tmp_path / "no" / "folder" / "v").path is None


def test_rows_that_are_no_verdict_of_that_digest_are_not_believed(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    first = VerdictCache(path=path)
    verdict = Counting().verify(task(), 1)
    first.put(verdict)
    first.close()
    other = Counting().verify(task(), 2)
    with sqlite3.connect(path) as disk:
        for body in (b"{", other.to_json(), b"\xff"):
            disk.execute("UPDATE verdicts SET verdict = ?", (body,))
            disk.commit()
            cache = VerdictCache(path=path)
            assert cache.get(verdict.digest) is None
            cache.close()
    disk.close()


def test_a_cached_verifier_is_the_verifier():
    inner = make_verifier("math/countdown", use_all=False)
    cached = Cached(inner, VerdictCache())
    for name in ("id", "version", "params", "name"):
        assert getattr(cached, name) == getattr(inner, name)
    with pytest.raises(RequestError, match="max_mib"):
        VerdictCache(max_mib=0)
