"""Modules that keep to a protocol: an arbiter, receivers, a pipeline, a queue with watermarks; see `hardware.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verigym.envs.code.hardware import DrawnModule, pick, whole
from verigym.envs.code.program_files import fill_logic

_CYCLES = 150


def arbiter(rng: np.random.Generator) -> DrawnModule:
    """Draw an arbiter of four requesters that takes turns."""
    most, urgent = whole(rng, 2, 5), whole(rng, 0, 3)
    step = 3 if rng.integers(2) else 1
    state = {"grant": 0, "last": 3, "held": 0}

    def choose(req: int) -> int | None:
        last = state["last"]
        if req >> urgent & 1 and not (last == urgent and req & ~(1 << urgent)):
            return urgent
        return next((at for k in range(1, 5) if req >> (at := (last + k * step) % 4) & 1), None)

    def model(given: Sequence[int]) -> list[int]:
        rst, req = given
        if rst:
            state.update(grant=0, last=3, held=0)
        elif state["grant"] & req and state["held"] < most:
            state["held"] += 1
        else:
            winner = choose(req)
            state["grant"] = 0
            if winner is not None:
                state.update(grant=1 << winner, last=winner, held=1)
        return [state["grant"], state["last"]]

    order = "last + 1, last + 2" if step == 1 else "last - 1, last - 2"
    # Now and then one requester alone, for longer than it keeps the grant.
    requests: list[int] = []
    while len(requests) < _CYCLES:
        requests += rng.integers(16, size=whole(rng, 6, 14)).tolist()
        requests += [1 << whole(rng, 0, 3)] * (most + whole(rng, 2, 4))
    return DrawnModule(
        says=f"An arbiter of requesters 0 to 3; bit i of req and grant belongs to requester i, and at most one bit of "
        f"grant is 1. At each rising edge of clk: if rst is 1, grant becomes 0 and last becomes 3. Else, if the "
        f"requester with the grant still requests, and it has been granted at fewer than {most} edges in a row, counting "
        f"the one at which it was chosen, it keeps the grant. Else a requester is chosen among "
        f"those whose bit of req is 1 at this edge: requester {urgent} if it requests, but not if it is last and "
        f"another one requests; otherwise the first one in the order {order} and so on (modulo 4), which ends with "
        "last itself. The chosen one gets the grant, its count begins anew, and it becomes last; if nobody requests, "
        "grant becomes 0 and last stays.",
        inputs=[("rst", 1), ("req", 4)],
        outputs=[("grant", 4), ("last", 2)],
        logic=fill_logic("arbiter", MOST=most, URGENT=urgent, STEP=step),
        model=model,
        steps=24,
        clocked=True,
        stored=("grant", "last"),
        fed={"req": requests[:_CYCLES]},
    )


def serial(rng: np.random.Generator) -> DrawnModule:
    """Draw a receiver of an asynchronous serial line."""
    divide, size = whole(rng, 3, 4), whole(rng, 4, 6)
    parity = pick(rng, ("even", "odd", ""))
    low_first = bool(rng.integers(2))
    half, stop = divide // 2, size + 1 + bool(parity)
    state: dict[str, Any] = {"phase": "idle", "edge": 0, "bits": 0, "ones": 0, "data": 0}

    def sample(place: int, rx: int) -> tuple[int, int]:
        """Take bit number `place` of a frame; return valid and error."""
        if place == 0 and rx:
            state["phase"] = "idle"
        elif 1 <= place <= size:
            shift = place - 1 if low_first else size - place
            state["bits"] |= rx << shift
            state["ones"] += rx
        elif place == stop:
            state["phase"] = "idle" if rx else "broken"
            wrong = bool(parity) and state["ones"] % 2 != (parity == "odd")
            if rx and not wrong:
                state["data"] = state["bits"]
                return 1, 0
            return 0, 1
        elif place:
            state["ones"] += rx
        return 0, 0

    def model(given: Sequence[int]) -> list[int]:
        rst, rx = given
        valid = error = 0
        if rst:
            state.update(phase="idle", data=0)
        elif state["phase"] == "idle":
            if not rx:
                state.update(phase="frame", edge=0, bits=0, ones=0)
        elif state["phase"] == "broken":
            state["phase"] = "idle" if rx else "broken"
        else:
            state["edge"] += 1
            place, rest = divmod(state["edge"] - half, divide)
            if not rest and place >= 0:
                valid, error = sample(place, rx)
        return [state["data"], valid, error]

    checked = ""
    if parity:
        checked = (
            f", then a parity bit, with which the number of ones in data and parity is {parity}"
        )
    wrong = " or the parity is wrong" if parity else ""
    return DrawnModule(
        says=f"A serial receiver. The line rx rests at 1. A frame is a start bit 0, {size} data bits, the "
        f"{'lowest' if low_first else 'highest'} first{checked}, and a stop bit 1; each takes {divide} cycles of clk. "
        "While the receiver is idle, a rising edge of clk at which rx is 0 is edge 0 of a frame. Bit k of the frame "
        f"(the start bit is bit 0) is rx at edge {half} + {divide} * k. If bit 0 is 1, the receiver is idle again. "
        f"After the edge of the stop bit: if the stop bit is 0{wrong}, error is 1 and data keeps its value; else data "
        "becomes the data bits and valid is 1. At all other edges valid and error become 0. After a stop bit of 1 "
        "the receiver is idle at the next edge. After a stop bit of 0 it waits for an edge at which rx is 1, does nothing else at that "
        "edge, and is idle at the next. If rst is 1 at an edge, the receiver becomes idle, and data, valid and error 0.",
        inputs=[("rst", 1), ("rx", 1)],
        outputs=[("data", size), ("valid", 1), ("error", 1)],
        logic=fill_logic(
            "serial",
            HIGH=size - 1,
            HALF=half,
            DIVIDE=divide,
            SIZE=size,
            STOP=stop,
            ODD=int(parity == "odd"),
            WRONG="odd" if parity else "1'b0",
            SHIFTED=f"{{rx, bits[{size - 1}:1]}}" if low_first else f"{{bits[{size - 2}:0], rx}}",
        ),
        model=model,
        steps=30,
        clocked=True,
        stored=("data", "valid", "error"),
        fed={"rx": _frames(rng, divide, size, parity)},
    )


def _frames(rng: np.random.Generator, divide: int, size: int, parity: str) -> list[int]:
    """Return a line with right frames, false starts, and wrong stop and parity bits."""
    line = [1, 1, 1]
    while len(line) < _CYCLES:
        bits = rng.integers(2, size=size).tolist()
        check = [(sum(bits) + (parity == "odd")) % 2] if parity else []
        stop, kind = 1, whole(rng, 0, 5)
        if kind == 0:
            stop = 0
        elif kind == 1 and check:
            check[0] ^= 1
        elif kind == 2:
            line += [0, *[1] * whole(rng, 1, 3)]
        for bit in (0, *bits, *check, stop):
            line += [bit] * divide
        line += [1 - stop] * whole(rng, 0, 2) + [1] * whole(rng, 0, 3)
    return line[:_CYCLES]


def bus(rng: np.random.Generator) -> DrawnModule:
    """Draw a receiver of a serial bus with a clock and a chip select."""
    size, high_first, rising = whole(rng, 3, 6), bool(rng.integers(2)), bool(rng.integers(2))
    state = {"clock": 1 - rising, "count": 0, "bits": 0, "word": 0, "lost": 0}

    def model(given: Sequence[int]) -> list[int]:
        rst, cs_n, sclk, mosi = given
        valid = 0
        if rst:
            state.update(clock=1 - rising, count=0, bits=0, word=0, lost=0)
            return [0, 0, 0]
        if cs_n:
            state["lost"] = (state["lost"] + (state["count"] > 0)) % 8
            state["count"] = 0
        elif sclk == rising and state["clock"] != sclk:
            bits, count = state["bits"], state["count"]
            # The bits of an earlier word are shifted out by the time this one is whole.
            bits = (bits << 1 | mosi) if high_first else (bits >> 1 | mosi << size - 1)
            state["bits"] = bits & (1 << size) - 1
            state["count"] = (count + 1) % size
            if count + 1 == size:
                state["word"], valid = state["bits"], 1
        state["clock"] = sclk
        return [state["word"], valid, state["lost"]]

    edge = "1 at this edge of clk and was 0 at the one before"
    if not rising:
        edge = "0 at this edge of clk and was 1 at the one before"
    # Select for long stretches, and let the clock of the bus tick often.
    select = [1, 1]
    while len(select) < _CYCLES:
        select += [0] * whole(rng, 5, 5 * size) + [1] * whole(rng, 1, 3)
    return DrawnModule(
        says=f"A receiver of a serial bus; all signals are read at rising edges of clk. A bit arrives if cs_n is 0 and "
        f"sclk is {edge} (an edge with rst at 1 counts as one at which sclk was {1 - rising}); it is mosi at this "
        f"edge. {size} bits that arrive while cs_n stays 0 make a word, the {'highest' if high_first else 'lowest'} "
        "bit first, and the next bit begins another: when the last one arrives, word takes it and valid becomes 1; at "
        "every other edge valid becomes 0 and word keeps its value. If cs_n is 1 at an edge, the bits of an unfinished "
        "word are dropped, and if there was at least one, lost counts up by one, modulo 8. If rst is 1 at an edge, "
        "word, valid and lost become 0 and the bits of an unfinished word are forgotten.",
        inputs=[("rst", 1), ("cs_n", 1), ("sclk", 1), ("mosi", 1)],
        outputs=[("word", size), ("valid", 1), ("lost", 3)],
        logic=fill_logic(
            "bus",
            HIGH=size - 1,
            IDLE=int(not rising),
            TICK=int(rising),
            LAST=size - 1,
            SHIFTED=f"{{bits[{size - 2}:0], mosi}}"
            if high_first
            else f"{{mosi, bits[{size - 1}:1]}}",
        ),
        model=model,
        steps=26,
        clocked=True,
        stored=("word", "valid", "lost"),
        fed={"cs_n": select[:_CYCLES], "sclk": (rng.random(_CYCLES) < 0.5).astype(int).tolist()},
    )


_RESULTS = (
    ("the sum of a and b", "a + b"),
    ("a - b", "a - b"),
    ("the bitwise XOR of a and b", "a ^ b"),
    ("a + 2 * b", "a + b + b"),
    ("the product of a and b", "a * b"),
    ("the bitwise OR of a and the complement of b", "a | ~b"),
)


def pipeline(rng: np.random.Generator) -> DrawnModule:
    """Draw a pipeline of three stages with four registers."""
    width = whole(rng, 5, 10)
    chosen = [int(n) for n in rng.permutation(len(_RESULTS))[:2]]
    skips, mask = whole(rng, 0, 1), (1 << width) - 1
    regs = [0] * 4
    first: list[tuple[int, int, int, int]] = []
    second: list[int] = []
    y = [0]

    def execute(op: int, rd: int, ra: int, rb: int) -> int:
        a, b = regs[ra], regs[rb]
        if op < 2:
            found = (a + b, a - b, a ^ b, a + 2 * b, a * b, a | ~b)[chosen[op]]
        else:
            found = a if op == 2 else ra * 4 + rb
        regs[rd] = found & mask
        return found & mask

    def model(given: Sequence[int]) -> list[int]:
        rst, valid, flush, *instruction = given
        if rst:
            regs[:] = [0] * 4
            first.clear()
            second.clear()
            y[0] = 0
            return [0, 0]
        done = len(second)
        if second:
            y[0] = second.pop()
        skip = False
        if first:
            op, rd, ra, rb = first.pop()
            if not flush:
                second.append(execute(op, rd, ra, rb))
                skip = op == 2 and (second[0] & 1) == skips
        if valid and not flush and not skip:
            op, rd, ra, rb = instruction
            first.append((op, rd, ra, rb))
        return [y[0], done]

    one, other = (_RESULTS[n] for n in chosen)
    return DrawnModule(
        says=f"A processor with registers 0 to 3 of {width} bits and a pipeline. An instruction is offered at a rising edge "
        "of clk at which valid is 1, in op, rd, ra and rb. If it is accepted there, it is executed at the next edge, and "
        "at the edge after that y becomes its result and done becomes 1; at an edge at which no result comes out, done "
        "becomes 0 and y keeps its value. The result is computed modulo "
        f"2**{width} from a and b, the values of registers ra and rb as all instructions executed at earlier edges left "
        f"them, and is what register rd holds from then on. op 0: {one[0]}; op 1: {other[0]}; op 2: a; op 3: the number "
        f"4 * ra + rb. If an instruction with op 2 has {'an odd' if skips else 'an even'} result, the instruction offered "
        "at the edge at which it is executed is not accepted. If flush is 1 at an edge, nothing is accepted there, and the "
        "instruction that would be executed there is dropped; results executed before still come out. If rst is 1 at an "
        "edge, all registers, y and done become 0 and all instructions in the pipeline are dropped.",
        inputs=[("rst", 1), ("valid", 1), ("flush", 1), ("op", 2), ("rd", 2), ("ra", 2), ("rb", 2)],
        outputs=[("y", width), ("done", 1)],
        logic=fill_logic("pipeline", HIGH=width - 1, ZERO=one[1], ONE=other[1], SKIPS=skips),
        model=model,
        steps=30,
        clocked=True,
        stored=("y", "done"),
        fed={
            "valid": (rng.random(_CYCLES) < 0.8).astype(int).tolist(),
            "flush": (rng.random(_CYCLES) < 0.08).astype(int).tolist(),
        },
    )


def watermarks(rng: np.random.Generator) -> DrawnModule:
    """Draw a queue of eight words that asks its writer to pause."""
    width, high, low = whole(rng, 3, 10), whole(rng, 5, 7), whole(rng, 1, 3)
    keeps_old = bool(rng.integers(2))
    queue: list[int] = []
    state = {"pause": 0, "overflow": 0}

    def model(given: Sequence[int]) -> list[int]:
        rst, push, pop, clear, d = given
        if rst:
            queue.clear()
            state.update(pause=0, overflow=0)
            return [0, 0, 0, 0]
        was_full = len(queue) == 8
        if pop and queue:
            queue.pop(0)
        lost = push and was_full and not pop
        if lost and not keeps_old:
            queue.pop(0)
        if push and not (lost and keeps_old):
            queue.append(d)
        state["overflow"] = int(lost or (state["overflow"] and not clear))
        if len(queue) >= high:
            state["pause"] = 1
        elif len(queue) <= low:
            state["pause"] = 0
        return [queue[0] if queue else 0, len(queue), state["pause"], state["overflow"]]

    loses = "d is dropped" if keeps_old else "the first word is dropped and d is added"
    # Filled up, overfilled and emptied in turn.
    fill: list[int] = []
    while len(fill) < _CYCLES:
        fill += [1] * whole(rng, 8, 16) + [0] * whole(rng, 6, 14)
    push = [int(rng.random() < (0.85 if up else 0.3)) for up in fill]
    pop = [int(rng.random() < (0.2 if up else 0.8)) for up in fill]
    return DrawnModule(
        says=f"A queue of at most 8 words. At each rising edge of clk: if rst is 1, the queue becomes empty, pause 0 and "
        "overflow 0. Else, if pop is 1 and the queue was not empty before the edge, its first word is removed; if push is 1, "
        "d is added at its end, also if the queue was full before the edge and pop is 1. If push is 1 and pop is 0 while "
        f"the queue was full, a word is lost: {loses}, and overflow becomes 1. At an edge at which no word is lost, "
        "overflow becomes 0 if clear is 1, and keeps its value if not. After the edge, level is the number of words and "
        f"head the first word, or 0 if there is none. pause becomes 1 at an edge after which level is {high} or more, "
        f"becomes 0 at one after which level is {low} or less, and keeps its value otherwise.",
        inputs=[("rst", 1), ("push", 1), ("pop", 1), ("clear", 1), ("d", width)],
        outputs=[("head", width), ("level", 4), ("pause", 1), ("overflow", 1)],
        logic=fill_logic(
            "watermarks",
            WIDTH=width - 1,
            HIGH=high,
            LOW=low,
            DROPS="takes" if keeps_old else "takes || lost",
            ADDS="push" if not keeps_old else "push && !lost",
        ),
        model=model,
        steps=30,
        clocked=True,
        stored=("pause", "overflow"),
        fed={
            "push": push[:_CYCLES],
            "pop": pop[:_CYCLES],
            "clear": [int(rng.random() < (0.4 if up else 0.15)) for up in fill[:_CYCLES]],
        },
    )
