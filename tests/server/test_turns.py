"""Turns are short while requests are refused, and as before when that is over."""

import asyncio
import sys

from verigym.server import turns


def test_turns_are_short_while_there_are_refusals(monkeypatch):
    monkeypatch.setattr(turns, "_CALM_S", 0.05)
    found_s, usual_s = sys.getswitchinterval(), 0.005
    sys.setswitchinterval(usual_s)

    async def play():
        here = turns.Turns()
        here.refused()
        here.refused()
        assert sys.getswitchinterval() < usual_s / 10
        while sys.getswitchinterval() < usual_s / 10:
            await asyncio.sleep(0.01)
        here.refused()
        assert sys.getswitchinterval() < usual_s / 10
        here.close()
        assert sys.getswitchinterval() > usual_s / 10

    try:
        asyncio.run(play())
        assert abs(sys.getswitchinterval() - usual_s) < 1e-6
    finally:
        sys.setswitchinterval(found_s)
