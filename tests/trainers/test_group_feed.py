"""The admission of groups ahead of training, in any order in which they may end; no model and no clock."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.trainers.group_feed import GroupFeed


def make_plans(number: int, size: int) -> list[Plan]:
    return [
        Plan(id=f"{number}.{i}", env="games/nim", seed=number, group_id=str(number))
        for i in range(size)
    ]


def ended(plan: Plan) -> Episode:
    return Episode(
        id=plan.id,
        env_id="",
        task_id="",
        seed=plan.seed,
        group_id=plan.group_id,
        difficulty="",
        split="",
    )


@settings(max_examples=40, deadline=None)
@given(
    batch=st.integers(1, 4),
    staleness=st.integers(1, 4),
    concurrent=st.integers(1, 12),
    size=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
def test_any_order_of_ends_keeps_the_bound_and_counts_each_group_once(
    batch: int, staleness: int, concurrent: int, size: int, seed: int
) -> None:
    feed = GroupFeed(batch=batch, max_staleness=staleness, max_running=concurrent)
    drawn, trained, dropped = 0, [], []
    choose = random.Random(seed)
    started: list[Plan] = []
    while feed.version < 6:
        for _ in range(feed.capacity()):
            feed.admit(make_plans(drawn, size))
            drawn += 1
        assert len(feed.open_groups()) <= concurrent
        # AReaL's rule, on all that was ever admitted and not dropped.
        assert drawn - len(dropped) <= (feed.version + staleness + 1) * batch
        if feed.is_complete():
            for group in feed.take_batch():
                assert 0 <= feed.version - group.version <= staleness
                trained.append(group.name)
            feed.version += 1
            continue
        started += feed.take(choose.randint(0, 4)) or []
        if started:
            feed.finish(ended(started.pop(choose.randrange(len(started)))))
        for group in feed.collect(0.0):
            if choose.random() < 0.2:
                dropped.append(group.name)
            else:
                feed.keep(group)
    assert len(trained) == 6 * batch
    left = [group.name for group in [*feed.ready, *feed.open_groups()]]
    assert sorted(map(int, trained + dropped + left)) == list(range(drawn))


def test_a_closed_feed_ends_the_stream_and_wakes_the_player() -> None:
    feed, woken = GroupFeed(batch=1, max_staleness=1, max_running=2), []
    feed.watch(lambda: woken.append(True))
    feed.admit(make_plans(0, 2))
    assert [plan.id for plan in feed.take(1) or []] == ["0.0"]
    feed.close()
    assert feed.take(1) is None
    assert len(woken) == 2


def test_an_error_of_the_player_is_the_trainers() -> None:
    feed = GroupFeed(batch=1, max_staleness=1, max_running=2)
    feed.fail(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        feed.collect(0.0)
