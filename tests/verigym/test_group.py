"""`GroupVerifier`: all members at once, each at its own risk, by questions to an ordinary judge."""

from dataclasses import replace

import msgspec
import pytest

import verigym
from verigym import GroupVerifier, RequestError, Status, Task, TaskError, Verifier, fault, scored
from verigym.group import MAX_MEMBERS
from verigym.verifiers.cache import Cached, VerdictCache
from verigym.verifiers.pool import VerifierPool
from verigym.verifiers.pooled import Pooled

TASK = Task(id="t", env_id="e", seed=0, prompt="What is 1/4 + 1/4?", difficulty="d")


class Moody(Verifier):
    """Answers by the submission: a score, the name of a fault, or `once`, a fault the first time."""

    id = "tests/moody"
    version = 1

    def __init__(self):
        super().__init__()
        self.asked = []
        self.down = None

    def judge(self, task, submission):
        if self.down is not None:
            return fault(self.down, "down")
        first = submission not in self.asked
        self.asked.append(submission)
        if submission == "once" and first:
            return fault(Status.INFRA, "away")
        if isinstance(submission, str) and submission in {*map(str, Status)}:
            return fault(Status(submission), "by_order")
        if submission == "down":
            raise RuntimeError("not today")
        return scored(submission if isinstance(submission, float) else 1.0, "said")


class Params(msgspec.Struct, frozen=True):
    """Parameters of `Alone`."""

    bonus: float = 0.0


class Alone(GroupVerifier[Params]):
    """Passes on the judge's own verdicts; `control` is what is asked beside a fault."""

    id = "tests/alone"
    version = 3
    control = "fine"
    raises = None

    def judge_group(self, task, members):
        if self.raises is not None:
            raise self.raises
        return (yield from self.answers((task, self.control), [(task, one) for one in members]))


def statuses(verdicts):
    return [(verdict.status.value, verdict.score) for verdict in verdicts]


def test_a_member_that_upsets_the_judge_pays_alone():
    group = Alone(Moody())
    verdicts = group.verify_group(TASK, [0.5, "infra", "timeout", "down", "once", 1.0])
    assert statuses(verdicts) == [
        ("ok", 0.5),
        *[("policy_fault", 0.0)] * 3,
        ("ok", 1.0),
        ("ok", 1.0),
    ]
    assert verdicts[1].reason == "upsets_verifier"


@pytest.mark.parametrize("cause", ["infra", "timeout", "verifier_error", "cancelled"])
def test_a_judge_that_is_down_scores_nobody(cause):
    moody = Moody()
    moody.down = Status(cause)
    assert statuses(Alone(moody).verify_group(TASK, [0.5, "x"])) == [(cause, None)] * 2


def test_a_cache_does_not_hide_that_the_judge_is_down():
    moody = Moody()
    group = Alone(Cached(moody, VerdictCache()))
    assert statuses(group.verify_group(TASK, [0.5, "infra"])) == [("ok", 0.5), ("policy_fault", 0)]
    moody.down = Status.INFRA
    assert statuses(group.verify_group(TASK, [0.5, 0.6])) == [("infra", None)] * 2
    assert statuses(group.verify_group(TASK, [0.5, 0.5])) == [("ok", 0.5)] * 2  # all cached


def test_what_was_taken_back_is_no_fault_of_a_member():
    assert (
        statuses(Alone(Moody()).verify_group(TASK, [0.5, "cancelled"])) == [("cancelled", None)] * 2
    )


def test_members_that_json_cannot_hold_take_part_and_earn_nothing():
    deep = [[[]]]
    for _ in range(100):
        deep = [deep]
    verdicts = Alone(Moody()).verify_group(TASK, [0.5, "\ud800", float("nan"), deep, object()])
    assert statuses(verdicts) == [
        ("ok", 0.5),
        *[("policy_fault", 0.0)] * 3,
        ("verifier_error", None),
    ]


@pytest.mark.parametrize(
    ("error", "reason"), [(TaskError("no rubric"), "bad_task"), (KeyError("x"), "crashed")]
)
def test_a_broken_task_or_verifier_is_a_fault_for_all(error, reason):
    group = Alone(Moody())
    group.raises = error
    verdicts = group.verify_group(TASK, [0.1, 0.2])
    assert {(v.status, v.score, v.reason) for v in verdicts} == {
        (Status.VERIFIER_ERROR, None, reason)
    }


def test_a_group_has_members():
    for size in (0, 1, MAX_MEMBERS + 1):
        with pytest.raises(RequestError, match=f"2 to {MAX_MEMBERS} submissions, got {size}"):
            Alone(Moody()).verify_group(TASK, [0.5] * size)


def test_digests_cover_all_members_and_the_judge():
    def digests(group, *members, task=TASK):
        return [verdict.digest for verdict in group.verify_group(task, members)]

    class Newer(Moody):
        version = 2

    found = [
        *digests(Alone(Moody()), 0.5, 1.0),
        *digests(Alone(Moody()), 0.5, 0.9),
        *digests(Alone(Moody()), 1.0, 0.5),
        *digests(Alone(Moody()), 0.5, "\ud800"),
        *digests(Alone(Moody(), bonus=1.0), 0.5, 1.0),
        *digests(Alone(Newer()), 0.5, 1.0),
        *digests(Alone(Moody()), 0.5, 1.0, task=replace(TASK, prompt="other")),
    ]
    assert len(set(found)) == len(found) == 14
    assert all(len(digest) == 64 for digest in found)
    assert digests(Alone(Moody()), 0.5, 1.0) == found[:2]
    assert Alone(Moody()).verify_group(TASK, [0.5, 1.0])[0].verifier == "tests/alone@3"


def test_group_verifiers_are_made_by_id():
    assert set(verigym.list_group_verifiers()) >= {"group/best", "group/majority", "group/pairwise"}
    of = {"verifier": "math/answer", "params": {"tolerance": 0.5}}
    made = verigym.make_group_verifier("group/majority", of)
    assert (made.of.id, made.of.params["tolerance"]) == ("math/answer", 0.5)
    for name, of, params, message in (
        ("group/majorty", "math/answer", {}, "did you mean 'group/majority'"),
        ("group/best", "math/anwser", {}, "did you mean 'math/answer'"),
        ("group/best", "math/answer", {"pay": "rnk"}, "did you mean 'rank'"),
        ("group/best", "math/answer", {"pya": "rank"}, "no parameter 'pya'; did you mean 'pay'"),
        ("group/best", {"verifer": "math/answer"}, {}, "did you mean 'verifier'"),
        ("group/best", {"verifier": 3}, {}, "of must be the id"),
    ):
        with pytest.raises(RequestError, match=message):
            verigym.make_group_verifier(name, of, **params)


@pytest.mark.parametrize("name", sorted(verigym.list_group_verifiers()))
def test_they_say_what_they_take_and_what_counts(name):
    told = verigym.registry.find_group_verifier(name).describe()
    assert told["about"].endswith(".")
    assert told["evidence"].endswith(".")
    for schema in told["schema"]["properties"].values():
        assert schema["description"].endswith(".")


REPLIES = ["<answer>1/2</answer>", "The answer is 0.5.", "<answer>2</answer>", "no idea"]


def test_a_pool_and_a_cache_serve_groups_with_the_same_verdicts():
    here = verigym.make_group_verifier("group/majority", "math/answer").verify_group(TASK, REPLIES)
    assert [verdict.score for verdict in here] == [1.0, 1.0, 0.0, 0.0]
    with VerifierPool(workers=1, preload=["math/answer"]) as pool:
        cache = VerdictCache()
        judge = Cached(Pooled(pool, "math/answer"), cache)
        group = verigym.make_group_verifier("group/majority", judge)
        assert group.verify_group(TASK, REPLIES) == here
        asked = cache.hits
        assert group.verify_group(TASK, REPLIES) == here
        assert cache.hits > asked


def test_a_large_group_is_asked_about_in_parts():
    class Narrow(Moody):
        def verify_batch(self, items):
            assert len(items) <= 64  # as a short queue of a pool would
            return super().verify_batch(items)

    class Pairs(Alone):
        def judge_group(self, task, members):
            pairs = [(task, float(one == other)) for one in members for other in members]
            verdicts = yield from self.answers((task, 1.0), pairs)
            return verdicts[:: len(members) + 1]

    verdicts = Pairs(Narrow()).verify_group(TASK, list(range(9)))
    assert [verdict.score for verdict in verdicts] == [1.0] * 9


@pytest.mark.parametrize("do", ["hang", "die"])
def test_a_member_that_hangs_or_kills_a_worker_pays_alone(unruly, do):
    with VerifierPool(workers=1, timeout_s=0.5, preload=["unruly/obeys"]) as pool:
        group = Alone(Pooled(pool, "unruly/obeys"))
        group.control = {"do": "nothing"}
        verdicts = group.verify_group(TASK, [{"do": "nothing"}, {"do": do}, {"do": "nothing"}])
    assert statuses(verdicts) == [("ok", 1.0), ("policy_fault", 0.0), ("ok", 1.0)]
