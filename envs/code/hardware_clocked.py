"""Modules with more of a state, or more to do; see `hardware.py`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verigym.envs.code.hardware import DrawnModule, pick, whole
from verigym.envs.code.program_files import fill_logic


def counter(rng: np.random.Generator) -> DrawnModule:
    """Draw a counter that wraps at a number of its own."""
    top = whole(rng, 5, 40)
    start = whole(rng, 0, 4)
    down = bool(rng.integers(2))
    bits = top.bit_length()
    q = [0]

    def model(given: Sequence[int]) -> list[int]:
        rst, en = given
        if rst:
            q[0] = start
        elif en:
            q[0] = (q[0] - 1 if q[0] else top) if down else (q[0] + 1 if q[0] < top else 0)
        return [q[0], int(q[0] == (0 if down else top))]

    way = f"down by one, and from 0 to {top}" if down else f"up by one, and from {top} to 0"
    step = f"q == 0 ? {top} : q - 1" if down else f"q == {top} ? 0 : q + 1"
    return DrawnModule(
        says=f"At each rising edge of clk: if rst is 1, q becomes {start}; else if en is 1, q counts {way}; else q "
        f"keeps its value. last is 1 while q is {0 if down else top}, else 0.",
        inputs=[("rst", 1), ("en", 1)],
        outputs=[("q", bits), ("last", 1)],
        logic=fill_logic("counter", LAST=0 if down else top, START=start, STEP=step),
        model=model,
        steps=8,
        clocked=True,
        stored=("q",),
    )


def shifter(rng: np.random.Generator) -> DrawnModule:
    """Draw a shift register that can be loaded."""
    width, left = whole(rng, 4, 12), bool(rng.integers(2))
    loads_first = bool(rng.integers(2))
    mask = (1 << width) - 1
    q = [0]

    def model(given: Sequence[int]) -> list[int]:
        rst, load, shift, bit, d = given
        if rst:
            q[0] = 0
        elif load and (loads_first or not shift):
            q[0] = d
        elif shift:
            q[0] = (q[0] << 1 | bit) & mask if left else q[0] >> 1 | bit << width - 1
        return [q[0]]

    moved = f"{{q[{width - 2}:0], bit_in}}" if left else f"{{bit_in, q[{width - 1}:1]}}"
    way = "left (towards the highest bit) and bit_in becomes its lowest bit"
    if not left:
        way = "right (towards the lowest bit) and bit_in becomes its highest bit"
    cases = ["if load is 1, q becomes d", f"if shift is 1, q shifts by one bit to the {way}"]
    says = "; else ".join(cases if loads_first else cases[::-1])
    rows = [("load", "d"), ("shift", moved)]
    first, second = rows if loads_first else rows[::-1]
    return DrawnModule(
        says=f"At each rising edge of clk: if rst is 1, q becomes 0; else {says}; else q keeps its value.",
        inputs=[("rst", 1), ("load", 1), ("shift", 1), ("bit_in", 1), ("d", width)],
        outputs=[("q", width)],
        logic=fill_logic(
            "shifter", FIRST=first[0], FIRSTQ=first[1], SECOND=second[0], SECONDQ=second[1]
        ),
        model=model,
        steps=8,
        clocked=True,
        stored=("q",),
    )


_OPERATIONS = (
    ("a + b", "a + b"),
    ("a - b", "a - b"),
    ("the bitwise AND of a and b", "a & b"),
    ("the bitwise OR of a and b", "a | b"),
    ("the bitwise XOR of a and b", "a ^ b"),
    ("a with all bits inverted", "~a"),
    ("a shifted left by one bit", "a << 1"),
    ("a shifted right by one bit arithmetically (the highest bit is kept)", "$signed(a) >>> 1"),
    ("1 if a < b as unsigned numbers, else 0", "(a < b)"),
    ("the larger of a and b as unsigned numbers", "a > b ? a : b"),
)


def alu(rng: np.random.Generator) -> DrawnModule:
    """Draw an arithmetic unit with operations in a drawn order."""
    width = whole(rng, 4, 16)
    chosen = [int(n) for n in rng.permutation(len(_OPERATIONS))[:6]]
    mask, high = (1 << width) - 1, 1 << width - 1

    def model(given: Sequence[int]) -> list[int]:
        op, a, b = given
        y = 0
        if op < len(chosen):
            y = (
                a + b, a - b, a & b, a | b, a ^ b, ~a, a << 1, a >> 1 | a & high, int(a < b), max(a, b),
            )[chosen[op]] & mask  # fmt: skip
        return [y, int(y == 0), y >> width - 1]

    says = "; ".join(f"{n}: {_OPERATIONS[which][0]}" for n, which in enumerate(chosen))
    rows = "\n".join(f"      {n}: y = {_OPERATIONS[w][1]};" for n, w in enumerate(chosen))
    return DrawnModule(
        says=f"op selects the value of y, modulo 2**{width}: {says}; 6 or 7: 0. zero is 1 if y is 0, else 0; "
        "negative is the highest bit of y.",
        inputs=[("op", 3), ("a", width), ("b", width)],
        outputs=[("y", width), ("zero", 1), ("negative", 1)],
        logic=fill_logic("alu", HIGH=width - 1, ROWS=rows),
        model=model,
        steps=14,
        stored=("y",),
    )


def detector(rng: np.random.Generator) -> DrawnModule:
    """Draw a detector of a bit pattern in a stream."""
    size = whole(rng, 4, 6)
    pattern = whole(rng, 1, (1 << size) - 2)
    overlap = bool(rng.integers(2))
    mask = (1 << size) - 1
    state = {"seen": 0, "count": 0, "y": 0}
    # The pattern, whole or without its first bits, some of it right after a reset, and noise between.
    bits, resets = [0, 0], [1, 1]
    for cut in rng.integers(5, size=60).tolist():
        if cut == 4:
            bits.append(1)
            resets.append(1)
        bits += [pattern >> n & 1 for n in reversed(range(size - cut % 3))]
        bits += [1] * (cut == 3)
        resets += [0] * (len(bits) - len(resets))

    def model(given: Sequence[int]) -> list[int]:
        rst, en, bit = given
        if rst:
            state.update(seen=0, count=0, y=0)
        elif en:
            seen = (state["seen"] << 1 | bit) & mask
            count = min(state["count"] + 1, size)
            found = int(count == size and seen == pattern)
            state.update(seen=seen, count=0 if found and not overlap else count, y=found)
        else:
            state["y"] = 0
        return [state["y"]]

    again = "" if overlap else "\n      if (hit) count <= 0;"
    shared = "may be part of the next match, too" if overlap else "cannot be part of the next match"
    return DrawnModule(
        says=f"At each rising edge of clk at which en is 1, the bit bit_in arrives, and y becomes 1 if the last "
        f"{size} bits that arrived since the reset are {pattern:0{size}b} (the oldest bit first), else 0. At an edge "
        f"at which en is 0, no bit arrives and y becomes 0. The bits of a match {shared}. If rst is 1 at an edge, "
        "y becomes 0 and all earlier bits are forgotten.",
        inputs=[("rst", 1), ("en", 1), ("bit_in", 1)],
        outputs=[("y", 1)],
        logic=fill_logic(
            "detector",
            HIGH=size - 1,
            REST=size - 2,
            SIZE=size,
            PATTERN=f"{size}'b{pattern:0{size}b}",
            AGAIN=again,
        ),
        model=model,
        steps=16,
        clocked=True,
        stored=("y",),
        fed={"bit_in": bits, "rst": resets, "en": [int(n > 0) for n in rng.integers(20, size=150)]},
    )


def lfsr(rng: np.random.Generator) -> DrawnModule:
    """Draw a feedback shift register with drawn taps."""
    width = whole(rng, 5, 12)
    taps = sorted({width - 1, *(int(n) for n in rng.permutation(width - 1)[: whole(rng, 1, 3)])})
    first = whole(rng, 1, (1 << width) - 1)
    mask = (1 << width) - 1
    q = [0]

    def model(given: Sequence[int]) -> list[int]:
        rst, en = given
        if rst:
            q[0] = first
        elif en:
            q[0] = (q[0] << 1 | sum(q[0] >> tap & 1 for tap in taps) % 2) & mask
        return [q[0]]

    bits = " ^ ".join(f"q[{tap}]" for tap in taps)
    return DrawnModule(
        says=f"At each rising edge of clk: if rst is 1, q becomes {first}; else if en is 1, q shifts left by one bit "
        f"and its lowest bit becomes {bits}, with the bits before the shift; else q keeps its value.",
        inputs=[("rst", 1), ("en", 1)],
        outputs=[("q", width)],
        logic=fill_logic("lfsr", START=first, REST=width - 2, BITS=bits),
        model=model,
        steps=14,
        clocked=True,
        stored=("q",),
    )


def accumulator(rng: np.random.Generator) -> DrawnModule:
    """Draw an accumulator that stops at the ends of its range."""
    width = whole(rng, 6, 10)
    top = (1 << width - 1) - 1 - whole(rng, 0, 3)
    bottom = -(1 << width - 1) + whole(rng, 0, 3)
    small = width - 2
    q = [0]
    # Up to the one end, down to the other, and about it.
    most = (1 << small - 1) - 1
    steps = [0, 0] + [most - n for n in rng.integers(3, size=24).tolist()]
    steps += [-1 - most + n for n in rng.integers(3, size=40).tolist()]
    steps += rng.integers(-3, 4, size=10).tolist()

    def model(given: Sequence[int]) -> list[int]:
        rst, en, d = given
        step = d - (1 << small) if d >> small - 1 else d
        if rst:
            q[0] = 0
        elif en:
            q[0] = min(max(q[0] + step, bottom), top)
        return [q[0] & (1 << width) - 1, int(q[0] in (top, bottom))]

    return DrawnModule(
        says=f"q and d are two's complement numbers. At each rising edge of clk: if rst is 1, q becomes 0; else if "
        f"en is 1, q becomes q + d, but {top} if that is greater than {top} and {bottom} if it is less than {bottom}; "
        f"else q keeps its value. full is 1 while q is {top} or {bottom}, else 0.",
        inputs=[("rst", 1), ("en", 1), ("d", small)],
        outputs=[("q", width), ("full", 1)],
        logic=fill_logic("accumulator", WIDTH=width, TOP=top, BOTTOM=bottom),
        model=model,
        steps=16,
        clocked=True,
        stored=("q",),
        fed={"d": [step & (1 << small) - 1 for step in steps]},
    )


def machine(rng: np.random.Generator) -> DrawnModule:
    """Draw a Moore machine with a drawn table."""
    count = whole(rng, 4, 6)
    table = rng.integers(count, size=(count, 2)).tolist()
    # Every state is reached: input 1 goes round.
    order = [int(n) for n in rng.permutation(count)]
    for at, one in enumerate(order):
        table[one][1] = order[(at + 1) % count]
    outs = rng.integers(8, size=count).tolist()
    first = order[0]
    state = [first]

    def model(given: Sequence[int]) -> list[int]:
        rst, x = given
        state[0] = first if rst else table[state[0]][x]
        return [outs[state[0]]]

    says = ". ".join(
        f"S{n}: y = {outs[n]}; to S{row[0]} if x is 0, to S{row[1]} if x is 1"
        for n, row in enumerate(table)
    )
    moves = "\n".join(f"        {n}: s <= x ? {row[1]} : {row[0]};" for n, row in enumerate(table))
    shows = "\n".join(f"      {n}: y = {out};" for n, out in enumerate(outs))
    return DrawnModule(
        says=f"A Moore machine: its state decides y, and changes at each rising edge of clk. {says}. If rst is 1 at "
        f"an edge, it goes to S{first}.",
        inputs=[("rst", 1), ("x", 1)],
        outputs=[("y", 3)],
        logic=fill_logic("machine", START=first, MOVES=moves, SHOWS=shows),
        model=model,
        steps=16,
        clocked=True,
        stored=("y",),
    )


def fifo(rng: np.random.Generator) -> DrawnModule:
    """Draw a queue of four words."""
    width = whole(rng, 3, 12)
    both = pick(rng, ("pop", "both"))
    empty_value = whole(rng, 0, (1 << width) - 1)
    queue: list[int] = []

    def model(given: Sequence[int]) -> list[int]:
        rst, push, take, d = given
        if rst:
            queue.clear()
        else:
            was_full, was_empty = len(queue) == 4, not queue
            if take and not was_empty:
                queue.pop(0)
            if push and not was_full and not (take and both == "pop"):
                queue.append(d)
        return [queue[0] if queue else empty_value, int(len(queue) == 4), int(not queue)]

    rule = "both happen, each under its own condition"
    if both == "pop":
        rule = "nothing is pushed"
    guard = " && !pop" if both == "pop" else ""
    return DrawnModule(
        says=f"A queue of at most 4 words. At each rising edge of clk: if rst is 1, the queue becomes empty; else if "
        f"push is 1, d is added at its end unless it was full before the edge, and if pop is 1, its first word is "
        f"removed unless it was empty before the edge. If push and pop are both 1, {rule}. head is the first word, or "
        f"{empty_value} while the queue is empty; full is 1 while there are 4 words, empty is 1 while there are none.",
        inputs=[("rst", 1), ("push", 1), ("pop", 1), ("d", width)],
        outputs=[("head", width), ("full", 1), ("empty", 1)],
        logic=fill_logic("fifo", HIGH=width - 1, GUARD=guard, NOTHING=empty_value),
        model=model,
        steps=20,
        clocked=True,
    )
