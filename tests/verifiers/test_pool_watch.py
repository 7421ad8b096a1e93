"""Reports of a pool: the timings of its requests, and the state of its workers."""

import contextlib
import contextvars

from verigym import Task
from verigym.verifiers.cache import VerdictCache
from verigym.verifiers.pool import VerifierPool

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=1)
OBEYS = "unruly/obeys"


def test_reports_tell_of_every_verdict_in_the_context_of_its_caller(unruly):
    who = contextvars.ContextVar("who", default="")
    reports = []
    with VerifierPool(
        1,
        timeout_s=1.0,
        load_timeout_s=60.0,
        watch=lambda timings: reports.append((who.get(), timings)),
    ) as pool:
        who.set("me")
        does = ["nothing", "hang", "die", "raise"]
        pool.verify_batch(OBEYS, [(TASK, {"do": do}) for do in does])
        counts = pool.worker_counts()
    told = [
        (verdict.status.value, seconds)
        for _, timings in reports
        for verdict, seconds in zip(timings.verdicts, timings.seconds, strict=True)
    ]
    assert {name for name, _ in reports} == {"me"}
    assert {timings.verifier for _, timings in reports} == {OBEYS}
    assert all(timings.queued <= timings.taken <= timings.ended for _, timings in reports)
    assert [status for status, _ in told] == ["ok", "timeout", "infra", "verifier_error"]
    assert told[1][1] == 1.0  # the whole time that it had
    assert told[0][1] > 0
    # One at the start, one after the hang, one after each of two deaths on the same call.
    assert counts == {"started": 4, "killed": 1, "died": 2}


def test_what_the_cache_knew_took_no_time(unruly):
    reports = []
    with (
        contextlib.closing(VerdictCache(1.0)) as cache,
        VerifierPool(1, timeout_s=60.0, cache=cache, watch=reports.append) as pool,
    ):
        pool.verify(OBEYS, TASK, {"do": "nothing"})
        pool.verify(OBEYS, TASK, {"do": "nothing"})
    assert [timings.taken > 0 for timings in reports] == [True, False]
    assert reports[1].seconds == [0.0]
