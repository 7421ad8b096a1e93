"""The pool judges as the process does: verdicts, deadlines, faults, refusals."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verifiers.pool_calls import (
    LONG_S,
    OBEYS,
    TASK,
    ask,
    assert_ends,
    in_background,
    read_pid,
    watched,
)
from verigym import RequestError, Status, Task, make_verifier
from verigym.verifiers.pool import VerifierPool

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_verdicts_and_digests_are_those_of_the_process(unruly):
    local = make_verifier("unruly/picky", size=3)
    countdown = make_verifier("math/countdown")
    with VerifierPool(2, preload=["unruly/picky", "math/countdown"]) as pool:

        @settings(max_examples=60)
        @given(JSON_VALUES, JSON_VALUES)
        def same(reference, submission):
            task = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=reference)
            here = local.verify(task, submission)
            assert pool.verify("unruly/picky", task, submission, params={"size": 3}) == here
            here = countdown.verify(task, submission)
            assert pool.verify("math/countdown", task, submission) == here

        same()


def test_what_json_cannot_hold_gives_the_same_verdict(pool):
    local = make_verifier(OBEYS)
    for submission in (float("nan"), "\ud800", {"a": "\ud800"}, object(), {1: 2}):
        assert ask(pool, submission) == local.verify(TASK, submission)


def test_a_hang_is_killed_and_called_a_timeout(pool, fifo):
    result = in_background(lambda: ask(pool, {"do": "hang", "at": str(fifo)}, timeout_s=3.0))
    with watched(read_pid(fifo)) as worker:
        verdict = result()
        assert_ends(worker)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.TIMEOUT, None, "deadline")
    submission = {"do": "hang", "at": str(fifo)}
    assert verdict.verifier == "unruly/obeys@3"
    assert verdict.digest == make_verifier(OBEYS).digest(TASK, submission)
    assert ask(pool, {"do": "nothing"}).score == 1.0


def test_a_hang_takes_nothing_else_of_its_batch_with_it(unruly):
    with VerifierPool(1, timeout_s=1.0, load_timeout_s=LONG_S) as pool:
        does = ["nothing", "hang", "nothing", "die", "raise", "nothing"]
        verdicts = pool.verify_batch(OBEYS, [(TASK, {"do": do}) for do in does])
    statuses = [verdict.status.value for verdict in verdicts]
    assert statuses == ["ok", "timeout", "ok", "infra", "verifier_error", "ok"]


def test_faults_of_the_verifier_keep_their_status(pool):
    local = make_verifier(OBEYS)
    for do in ("raise", "bad_task", "sandbox"):
        assert ask(pool, {"do": do}) == local.verify(TASK, {"do": do})
        assert ask(pool, {"do": do}).fault


def test_ids_and_parameters_are_refused_as_in_process(pool):
    with pytest.raises(RequestError, match="did you mean 'unruly/obeys'"):
        pool.verify("unruly/obey", TASK, {})
    with pytest.raises(RequestError, match="no parameter 'strickt'; did you mean 'strict'"):
        ask(pool, {}, params={"strickt": True})
    with pytest.raises(RequestError, match="size must be"):
        pool.verify("unruly/picky", TASK, 1, params={"size": 0})
    with pytest.raises(RequestError, match="timeout_s"):
        ask(pool, {}, timeout_s=0)


def test_a_refused_parameter_costs_no_worker(pool):
    assert ask(pool, {"do": "nothing"}).score == 1.0
    for _ in range(3):
        with pytest.raises(RequestError, match="strickt"):
            ask(pool, {}, params={"strickt": True})
    assert ask(pool, {"do": "nothing"}).score == 1.0
    assert pool.worker_counts()["started"] <= 2


def test_a_verifier_that_cannot_be_imported_is_a_fault(pool):
    verdict = pool.verify("unruly/unloadable", TASK, 1)
    assert (verdict.status, verdict.reason) == (Status.VERIFIER_ERROR, "cannot_load")
    with pytest.raises(RequestError, match="could not be loaded"):
        pool.describe("unruly/unloadable")


def test_describe_is_what_the_verifier_says(pool):
    assert pool.describe(OBEYS) == make_verifier(OBEYS).describe()
    described = pool.describe("unruly/picky", {"size": 4})
    assert described == make_verifier("unruly/picky", size=4).describe()


@pytest.mark.parametrize("name", ["workers", "timeout_s", "load_timeout_s", "max_queue"])
def test_settings_must_be_above_zero(name):
    with pytest.raises(RequestError, match=name):
        VerifierPool(**{name: 0})


def test_a_deadline_that_passes_while_it_is_judged_ends_the_worker(unruly):
    with VerifierPool(1, timeout_s=LONG_S) as pool:
        pool.describe(OBEYS)
        futures = pool.submit(OBEYS, [(TASK, {"do": "hang"})] * 2, deadline=time.monotonic() + 0.2)
        verdicts = [verdict for future in futures for verdict in future.result(LONG_S)]
        assert [v.status for v in verdicts] == [Status.TIMEOUT] * 2
        assert pool.verify(OBEYS, TASK, {"do": "nothing"}).score == 1.0
        assert pool.worker_counts() == {"started": 2, "killed": 1, "died": 0}
