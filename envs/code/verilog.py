"""`code/verilog`: write a small hardware module from its description; one turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code import hardware, hardware_clocked
from verigym.envs.code.hardware import Drawn
from verigym.question import Ask, Question

LEVELS: dict[int, tuple[Callable[[np.random.Generator], Drawn], ...]] = {
    2: (
        hardware.gates,
        hardware.truth,
        hardware.mux,
        hardware.parity,
        hardware.adder,
        hardware.decoder,
    ),
    4: (
        hardware.gray,
        hardware.priority,
        hardware.rotate,
        hardware.compare,
        hardware.edges,
        hardware_clocked.counter,
        hardware_clocked.shifter,
    ),
    6: (
        hardware_clocked.alu,
        hardware_clocked.detector,
        hardware_clocked.lfsr,
        hardware_clocked.accumulator,
        hardware_clocked.machine,
        hardware_clocked.fifo,
    ),
}
_MODULE = "top_module"
_VECTORS = {False: 64, True: 150}

_PROMPT = """\
Write a Verilog module {module} with the ports

{ports}

{says}{clocked}

All numbers are decimal and without a sign unless it says otherwise, and bit 0 is the lowest. It is simulated with \
Icarus Verilog (SystemVerilog 2012) on inputs that you cannot see; all outputs must be right and known.
System tasks (names that begin with $, except $signed, $unsigned, $clog2, $bits, $countones, $onehot), compiler \
directives (`timescale and the like) and texts in quotes are refused.
Answer with the module, alone or in a fenced block."""
_CLOCKED = """
rst is applied first. Inputs change while clk is 0; outputs are read after each rising edge of clk."""


class Verilog(Question):
    """A description; the reply is a module, judged by simulation against a model in Python
    (`code/verilog`). Nineteen kinds of module with drawn numbers; no two splits share one.
    """

    id: ClassVar[str] = "verigym/code/verilog-v0"
    verifier_id: ClassVar[str] = "code/verilog"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        kinds = LEVELS[level]
        while True:
            kind = kinds[int(rng.integers(len(kinds)))]
            drawn = kind(rng)
            prompt = _PROMPT.format(
                module=_MODULE,
                ports=_described(drawn),
                says=drawn.says,
                clocked=_CLOCKED if drawn.clocked else "",
            )
            if self.wants(prompt):
                break
        vectors = _vectors(rng, drawn)
        return Ask(
            prompt=prompt,
            answer="",
            steps=drawn.steps,
            reference={
                "module": _MODULE,
                "clock": "clk" if drawn.clocked else "",
                "inputs": drawn.inputs,
                "outputs": drawn.outputs,
                "vectors": vectors,
                "expected": [drawn.model(vector) for vector in vectors],
                "solution": source(drawn),
            },
            tags=("code", "verilog", kind.__name__),
            essence=prompt,
        )

    @override
    def reply(self, reference: Any) -> str:
        return f"```verilog\n{reference['solution']}```"


def source(drawn: Drawn) -> str:
    """A right module."""
    ports = [f"  input [{width - 1}:0] {name}" for name, width in drawn.inputs]
    if drawn.clocked:
        ports.insert(0, "  input clk")
    for name, width in drawn.outputs:
        kind = "reg " if name in drawn.stored else ""
        ports.append(f"  output {kind}[{width - 1}:0] {name}")
    head = ",\n".join(ports)
    return f"module {_MODULE} (\n{head}\n);\n{drawn.logic}\nendmodule\n"


def _described(drawn: Drawn) -> str:
    clock = ["- input clk (1 bit)"] if drawn.clocked else []
    sides = (("input", drawn.inputs), ("output", drawn.outputs))
    rows = [
        f"- {side} {name} ({width} bit{'s' if width > 1 else ''})"
        for side, ports in sides
        for name, width in ports
    ]
    return "\n".join(clock + rows)


def _vectors(rng: np.random.Generator, drawn: Drawn) -> list[list[int]]:
    """Random vectors with edges among them: all zeros, all ones, and values next to others."""
    count = _VECTORS[drawn.clocked]
    columns = []
    for name, width in drawn.inputs:
        high = 1 << width
        column = rng.integers(high, size=count)
        if name == "rst":
            # Long stretches without it, for what takes long to come about.
            column = np.zeros(count, np.int64)
            column[[0, 1, int(rng.integers(90, 110)), int(rng.integers(115, 140))]] = 1
        elif name in ("en", "push"):
            column = (rng.random(count) < 0.75).astype(np.int64)
        elif width > 1:
            edge = rng.integers(8, size=count)
            column = np.where(edge == 0, 0, np.where(edge == 1, high - 1, column))
        fed = drawn.fed.get(name, [])[:count]
        column[: len(fed)] = fed
        columns.append(column)
    rows: list[list[int]] = np.stack(columns, axis=1).tolist()
    if not drawn.clocked:
        rows[0] = [0] * len(columns)
        rows[1] = [(1 << width) - 1 for _, width in drawn.inputs]
        total = sum(width for _, width in drawn.inputs)
        if total <= 6:
            rows[: 1 << total] = _all(drawn)
    names = [name for name, _ in drawn.inputs]
    if "b" in names and sum(width for _, width in drawn.inputs) > 6:
        # Equal operands are rarely drawn.
        for row in rows[2::5]:
            row[names.index("b")] = row[names.index("a")]
    return rows


def _all(drawn: Drawn) -> list[list[int]]:
    """Every input of a small module."""
    rows: list[list[int]] = [[]]
    for _, width in drawn.inputs:
        rows = [[*row, value] for row in rows for value in range(1 << width)]
    return rows
