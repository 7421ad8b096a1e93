"""Fair sharing of a service's capacity between callers, who take turns."""

import asyncio

import pytest

from verigym import Task
from verigym.server import crowd as crowds
from verigym.server.crowd import NOBODY, Crowd
from verigym.server.refusals import Refusal
from verigym.server.shares import Share, fits
from verigym.server.turns import Turns
from verigym.verifiers.pool_queue import PoolQueue
from verigym.verifiers.pool_requests import JudgeRequest, PoolCall


def takes(share, caller):
    """Return how often `caller` can take a share, one after the other."""
    n = 0
    while share.has_room(caller):
        share.take(caller)
        n += 1
    return n


def test_nobody_takes_everything_where_there_are_several():
    share = Share(16, lambda: 3)
    assert [takes(share, name) for name in "abcdef"] == [8, 4, 2, 1, 1, 0]
    share.give_back("a", 8)
    assert takes(share, "f") == 4


def test_one_caller_may_take_everything():
    for n_callers in (0, 1):
        assert takes(Share(16, lambda n=n_callers: n), "a") == 16


def test_the_first_piece_is_refused_to_nobody():
    assert fits(own=0, taken=700, total=1024, n=256, n_callers=2)
    assert not fits(own=1, taken=700, total=1024, n=256, n_callers=2)
    assert not fits(own=0, taken=1000, total=1024, n=256, n_callers=2)


def test_callers_take_turns_and_one_without_a_place_gets_one_more():
    async def main():
        turns = Turns(2)
        first = [turns.enter("a") for _ in range(5)]
        assert [turn.ready.done() for turn in first] == [True, True, False, False, False]
        other, third = turns.enter("b"), turns.enter("c")
        assert other.ready.done()
        assert not third.ready.done()
        assert not turns.may_start("c")
        turns.leave(first[0])  # two are left, so the one without a place goes first
        assert third.ready.done()
        assert not first[2].ready.done()
        for turn in (other, third, first[1]):
            turns.leave(turn)
        assert first[2].ready.done()
        assert first[3].ready.done()
        turns.leave(first[4])  # who waits may leave
        turns.leave(first[3])
        turns.leave(first[2])
        assert turns.may_start("a")

    asyncio.run(main())


def request(lane, n=1):
    task = Task(id="t", env_id="e", seed=0, prompt="p", difficulty="d")
    return JudgeRequest("v", {}, b"v", [PoolCall(task, "x") for _ in range(n)], 1.0, lane=lane)


def test_lanes_of_a_pool_take_turns():
    queue = PoolQueue()
    requests = [request("a", 2), request("a"), request("a"), request("b"), request("c")]
    for one in requests:
        queue.add(one)
    assert (queue.calls, queue.calls_of["a"], queue.n_lanes) == (6, 4, 3)
    order = []
    while (one := queue.next(spare=False)) is not None:
        order.append(one.lane)
        queue.start(one)
    assert order == ["a", "b", "c", "a", "a"]
    assert queue.calls == 0
    late = request("a")
    queue.add(late)
    assert queue.next(spare=True) is None  # it has workers
    queue.add(request("d"))
    found = queue.next(spare=True)
    assert found is not None
    assert found.lane == "d"
    for one in requests[:3]:
        queue.finish(one)
    assert queue.next(spare=True) is late


class Member:
    def __init__(self):
        self.owner = NOBODY
        self.is_idle = True
        self.closed = False

    def hang_up(self):
        self.closed = True


def test_strangers_make_room_for_each_other_and_callers_for_themselves(monkeypatch):
    monkeypatch.setattr(crowds, "MAX_UNKEYED", 3)
    monkeypatch.setattr(crowds, "MAX_CONNECTIONS", 11)
    crowd = Crowd(keyed=True, n_callers=lambda: 2)
    members = [Member() for _ in range(4)]
    members[0].is_idle = False  # is being answered
    for one in members:
        crowd.join(one)
    assert [one.closed for one in members] == [False, True, False, False]
    mine = [Member() for _ in range(5)]
    for one in mine:
        crowd.join(one)
        crowd.claim(one, "ann")
    assert [one.closed for one in mine] == [True, False, False, False, False]  # half of eight
    for one in mine:
        one.is_idle = False
    with pytest.raises(Refusal) as refused:
        crowd.claim(Member(), "ann")
    assert refused.value.status == 429
    theirs = Member()
    crowd.claim(theirs, "bob")
    assert theirs.owner == "bob"
    crowd.leave(theirs)
    assert theirs.owner == NOBODY


def test_without_keys_a_crowd_closes_nothing():
    crowd = Crowd(keyed=False)
    members = [Member() for _ in range(1000)]
    for one in members:
        crowd.join(one)
    assert not any(one.closed for one in members)
