"""Laws of the cache of artefacts."""

import threading
from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from verigym.sandbox.artefacts import ArtefactCache, Build, cut
from verigym.sandbox.job import JobStatus, Result

FAULT = Build(failure=Result(status=JobStatus.SANDBOX_ERROR, detail="no memory"), keep=False)
KEYS = st.sampled_from("abcdef")
OUTCOMES = st.one_of(
    st.builds(lambda size: Build(files={"main": b"x" * size}), st.integers(0, 6000)),
    st.builds(
        lambda size: Build(
            failure=Result(status=JobStatus.COMPILE_ERROR, stderr=b"e" * size), keep=size % 2 == 0
        ),
        st.integers(0, 3000),
    ),
    st.just(FAULT),
)


@given(st.integers(1, 20_000), st.lists(st.tuples(KEYS, OUTCOMES), max_size=40))
def test_it_holds_what_a_list_of_the_recently_used_would(max_bytes, requests):
    cache = ArtefactCache(max_bytes)
    model = OrderedDict()
    for key, outcome in requests:
        made = []
        given_back = cache.get(key, lambda o=outcome, m=made: m.append(1) or o, wait_s=1)
        if key in model:
            model.move_to_end(key)
            assert (given_back, made) == (model[key], [])
            continue
        assert (given_back, made) == (outcome, [1])
        if outcome.keep and not outcome.faulty and outcome.size_bytes <= max_bytes:
            model[key] = outcome
            while sum(build.size_bytes for build in model.values()) > max_bytes:
                model.popitem(last=False)
        held = sum(build.size_bytes for build in cache._builds.values())
        assert held == cache._size_bytes <= max_bytes
        assert list(cache._builds) == list(model)
        assert cache._running == {}


class Turns:
    """A maker that says when it has begun and goes on when it is let."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.begun = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        outcome = self.outcomes.pop(0)
        self.begun.release()
        assert self.go.acquire(timeout=30)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def ask(cache, make, n, results, **further):
    """`n` threads that ask for one key."""

    def one():
        try:
            results.append(cache.get("key", make, wait_s=further.get("wait_s", 30)))
        except ValueError as error:
            results.append(error)

    threads = [threading.Thread(target=one) for _ in range(n)]
    for thread in threads:
        thread.start()
    return threads


@given(st.integers(1, 5), st.booleans())
def test_those_who_ask_together_share_one_making(n, keep):
    build = Build(files={"main": b"x"}, keep=keep)
    cache, make, results = ArtefactCache(10_000), Turns(build), []
    first = ask(cache, make, 1, results)
    assert make.begun.acquire(timeout=30)
    further = []
    waiting = threading.Semaphore(0)

    def wait():
        # Asked for while it waits, so it has found the making under way.
        asked = threading.Event()

        def cancelled():
            if not asked.is_set():
                asked.set()
                waiting.release()
            return False

        further.append(cache.get("key", make, wait_s=30, cancelled=cancelled))

    others = [threading.Thread(target=wait) for _ in range(n)]
    for thread in others:
        thread.start()
    for _ in others:
        assert waiting.acquire(timeout=30)
    make.go.release()
    for thread in first + others:
        thread.join(30)
    assert results + further == [build] * (n + 1)
    assert make.calls == 1


@given(st.integers(1, 4), st.sampled_from([FAULT, ValueError("bug")]))
def test_after_a_fault_another_one_tries(n, fault):
    build = Build(files={"main": b"x"})
    cache, make, results = ArtefactCache(10_000), Turns(fault, build), []
    first = ask(cache, make, 1, results)
    assert make.begun.acquire(timeout=30)
    others = ask(cache, make, n, results)
    make.go.release(2)
    for thread in first + others:
        thread.join(30)
    assert results.count(fault) == 1
    assert results.count(build) == n
    assert make.calls == 2
    assert cache._running == {}


def test_a_wait_ends_at_its_deadline_or_when_cancelled():
    build = Build(files={"main": b"x"})
    cache, make, results = ArtefactCache(10_000), Turns(build), []
    first = ask(cache, make, 1, results)
    assert make.begun.acquire(timeout=30)
    late = cache.get("key", make, wait_s=0)
    assert late.faulty
    assert "another job's compilation" in late.failure.detail
    cancelled = cache.get("key", make, wait_s=30, cancelled=lambda: True)
    assert cancelled.faulty
    assert "cancelled" in cancelled.failure.detail
    make.go.release()
    first[0].join(30)
    assert results == [build]


@given(st.binary(max_size=20), st.binary(max_size=20), st.integers(1, 25), st.booleans())
def test_a_failure_says_no_more_than_the_job_allows(stdout, stderr, output_bytes, already):
    result = cut(
        Result(
            status=JobStatus.COMPILE_ERROR, stdout=stdout, stderr=stderr, stderr_truncated=already
        ),
        output_bytes,
    )
    assert stdout.startswith(result.stdout)
    assert len(result.stdout) == min(len(stdout), output_bytes)
    assert result.stdout_truncated == (result.stdout != stdout)
    assert result.stderr_truncated == (already or result.stderr != stderr)
