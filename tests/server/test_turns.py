"""Turns are short while requests are refused, and as before when that is over."""

import asyncio
import sys

from verigym.server import turns


def test_turns_are_short_while_there_are_refusals(monkeypatch):
    monkeypatch.setattr(turns, "_CALM_S", 0.05)
    usual_s = sys.getswitchinterval()

    async def play():
        here = turns.Turns()
        assert sys.getswitchinterval() == usual_s
        here.refused()
        here.refused()
        assert sys.getswitchinterval() < usual_s / 10
        while sys.getswitchinterval() < usual_s / 10:
            await asyncio.sleep(0.01)
        here.refused()
        assert sys.getswitchinterval() < usual_s / 10
        while sys.getswitchinterval() < usual_s / 10:
            await asyncio.sleep(0.01)

    asyncio.run(play())
    assert abs(sys.getswitchinterval() - usual_s) < 1e-6
