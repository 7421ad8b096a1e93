"""Machines that make items at regular times: questions about times far ahead."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import Params, one_of, whole
from verigym.envs.code.systems import System, draw_asked

_ORDERED, _OTHERS = ("item", "share"), ("made", "worth", "last", "both")
_SMALL_SIZE = 5
_ORDERS = {
    "low": "the one of the machine with the lower number comes first",
    "high": "the one of the machine with the higher number comes first",
    "slow": "the one of the machine with the longer step comes first, and with equal steps that of the lower number",
}
_RULES = """\
Machines are numbered from 1 in the order of their commands. machine s p m v: a machine is due to make an item at the times s, s + p, \
s + 2 * p and so on, m items in all, or without end if m is 0; each of its items is worth v. The works rest whenever the remainder \
of the time divided by {DAY} is {OPEN} or more: an item that is due then is not made. Nor is an item made that is due at a time at which \
its machine is stopped. stop i a b: machine i is stopped at all times from a to b, both included; this counts in the questions \
that follow, whatever the time they ask about, and stops of a machine may overlap. Of the items that are due \
on a machine, made or not, each {FAULT}th ({FAULT}th, {TWICE}th and so on) is faulty; good items are those that are made and are not \
faulty. Good items are put in the order of their times; if several are made at the same time, {order}. Nothing after the time \
10**18 counts. All other commands are questions. """


class Works(System):
    """Counts over arithmetic progressions under remainders, gaps and ties."""

    name: ClassVar[str] = "works"
    faults: ClassVar[tuple[tuple[str, str], ...]] = (
        ("found[-1][1] = max(found[-1][1], high)", "found[-1][1] = high"),
        ("count(min(high, last)) - count(low - 1)", "count(high) - count(low - 1)"),
        ("- count(low - 1)", "- count(low)"),
        ("t = min(t, end, other_end)", "t = min(t, end)"),
        ("with_stops(count, stops + other_stops, t)", "with_stops(count, stops, t)"),
        ("                + common(c, p * FAULT, d, q * FAULT, t)\n", ""),
        ("c, d = a + (FAULT - 1) * p, b + (FAULT - 1) * q", "c, d = a + FAULT * p, b + FAULT * q"),
        ("if good(i, t) > good(i, t - 1)]", "if (t - machines[i][0]) % machines[i][1] == 0]"),
        ("good(i, t - 1) + int(i in at_once(t)[: n - made(t - 1)])", "good(i, t)"),
        ("(first - max(a, b)) // step", "(first - a) // step"),
        ("ending = first + (most - 1) * step if most", "ending = first + most * step if most"),
        ("low <= found[-1][1] + 1", "low <= found[0][1] + 1"),
        ("late = first + (FAULT - 1) * step", "late = first + FAULT * step"),
    )

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        day = whole(rng, 11, 40)
        return {
            # One question at least is about the order.
            "asked": f"{draw_asked(rng, _OTHERS, 3)} {draw_asked(rng, _ORDERED, whole(rng, 1, 2))}",
            "day": day,
            "open": whole(rng, day // 2, day - 3),
            "fault": whole(rng, 4, 9),
            "order": one_of(rng, tuple(_ORDERS)),
        }

    @override
    def rules(self, p: Params) -> str:
        says = {
            "made": "made t: the number of good items up to the time t, itself included.",
            "worth": "worth t: what all good items up to the time t, itself included, are worth together.",
            "item": "item n: the time and the machine of the good item that is number n of all in their order, or none if "
            "there are fewer.",
            "share": "share i n: how many of the first n good items in their order are of machine i, or none if there are fewer than n.",
            "last": "last i t: the time of the last good item of machine i up to the time t, itself included, or none if there is none.",
            "both": "both i j t: at how many times up to t, itself included, the machines i and j, which differ, both make a good item.",
        }
        return _RULES.format(
            DAY=p["day"],
            OPEN=p["open"],
            FAULT=p["fault"],
            TWICE=2 * int(p["fault"]),
            order=_ORDERS[str(p["order"])],
        ) + " ".join(says[question] for question in str(p["asked"]).split())

    @override
    def lines(self, rng: np.random.Generator, p: Params, size: int) -> list[str]:
        is_small = size <= _SMALL_SIZE
        count = 2 if is_small else 2 + size // 15
        step, until = (6, 150) if is_small else (10 ** whole(rng, 2, 6), 10 ** whole(rng, 14, 17))
        machines: list[tuple[int, int, int]] = []
        # Steps with common factors, so that items are often made at the same time.
        base = whole(rng, 1, 2 if is_small else 9)
        for _ in range(count):
            p_i = base * whole(rng, 1, step)
            most = 0 if rng.random() < 0.7 else whole(rng, 1, max(2 * until // p_i, 1))
            machines.append((base * whole(rng, 0, step), p_i, most))
        # All that is due on the last machine is due on the first one at the same time.
        (first, p_i, _), _ = machines[0], machines.pop()
        machines.append((first + p_i * whole(rng, 0, 9), p_i * whole(rng, 1, 3), 0))
        made = [f"machine {s} {p_i} {most} {whole(rng, 1, 9)}" for s, p_i, most in machines]
        found: list[str] = []
        stops: list[str] = []
        asked = str(p["asked"]).split()
        for question in asked if is_small else [*asked, *asked[: size // 20]]:
            if rng.random() < 0.6:
                low = whole(rng, 0, until)
                found.append(f"stop {whole(rng, 1, count)} {low} {low + whole(rng, 0, until // 3)}")
            t = whole(rng, until // 4, until)
            i = whole(rng, 1, count)
            n = 0
            if question in ("item", "share"):
                # At a time at which several may be made.
                at = machines[-1][0] + machines[-1][1] * whole(rng, 0, t // machines[-1][1])
                (count_there,) = self.answers({**p, "asked": "made"}, [*made, *stops, f"made {at}"])
                n = max(int(count_there) - whole(rng, 0, 1), 1)
            j = 1 + (i + whole(rng, 0, count - 2)) % count
            found.append(
                {
                    "item": f"item {n}",
                    "share": f"share {i} {n}",
                    "last": f"last {i} {t}",
                    "both": f"both {i} {j} {t}",
                }.get(question, f"{question} {t}")
            )
        return made + found
