"""The heap of leases holds what lives, and little more."""

import asyncio
from dataclasses import dataclass

import uvloop

from verigym.server.envs.leases import Leases


@dataclass(eq=False)
class Thing:
    expires: float
    gone: bool = False


def test_what_ended_leaves_the_heap():
    async def main():
        loop = asyncio.get_running_loop()
        leases = Leases(lambda thing: None)
        live = []
        for number in range(20_000):
            thing = Thing(loop.time() + 300)
            leases.add(thing)
            if number % 100:
                thing.gone = True
                leases.forget(thing)
            else:
                live.append(thing)
            assert len(leases) <= 2 * len(live) + 66
        for thing in live:
            thing.gone = True
            leases.forget(thing)
        assert len(leases) <= 66
        leases.close()

    asyncio.run(main())


def test_leases_that_are_over_when_they_are_added():
    async def main():
        loop = asyncio.get_running_loop()
        ended = []
        leases = Leases(ended.append)
        for _ in range(3):  # a busy loop comes to its timers late
            leases.add(Thing(loop.time() - 1))
        while len(ended) < 3:
            await asyncio.sleep(0.01)
        leases.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


def test_what_lives_still_ends_in_time():
    async def main():
        loop = asyncio.get_running_loop()
        ended = []

        def end(thing):
            thing.gone = True
            leases.forget(thing)
            ended.append(thing)

        leases = Leases(end)
        things = [Thing(loop.time() + 0.05) for _ in range(300)]
        for thing in things:
            leases.add(thing)
        for thing in things[:200]:
            thing.gone = True
            leases.forget(thing)
        renewed = things[-1]
        renewed.expires = loop.time() + 0.2
        while len(ended) < 100:
            await asyncio.sleep(0.01)
        assert set(ended) == set(things[200:])
        assert ended[-1] is renewed
        assert len(leases) == 0
        leases.close()

    asyncio.run(main())
