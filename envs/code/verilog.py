"""`code/verilog`: write a small hardware module from its description; one turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from typing_extensions import override

from verigym.envs.code import hardware, hardware_clocked, hardware_protocols
from verigym.envs.code.hardware import DrawnModule
from verigym.envs.code.traced import Solver
from verigym.question import Ask, Question, QuestionState

LEVELS: dict[int, tuple[Callable[[np.random.Generator], DrawnModule], ...]] = {
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
    8: (
        hardware_protocols.arbiter,
        hardware_protocols.serial,
        hardware_protocols.bus,
        hardware_protocols.pipeline,
        hardware_protocols.watermarks,
    ),
}
_EASY, _MEDIUM, _HARD, _PROTOCOLS = LEVELS[2], LEVELS[4], LEVELS[6], LEVELS[8]
Kind: TypeAlias = Callable[[np.random.Generator], DrawnModule]
SLOTS: dict[int, tuple[tuple[Kind, ...], ...]] = {
    1: ((hardware.gates, hardware.truth, hardware.decoder),),
    2: (_EASY,),
    3: ((hardware.mux, hardware.compare, hardware_clocked.counter),),
    4: (_MEDIUM,),
    5: ((hardware.priority, hardware_clocked.shifter, hardware_clocked.accumulator),),
    6: (_HARD,),
    7: (_PROTOCOLS, _HARD),
    8: (_PROTOCOLS, _PROTOCOLS, _HARD),
    9: (*(_PROTOCOLS,) * 3, _HARD, _HARD),
    10: (*(_PROTOCOLS,) * 5, _HARD, _HARD, _HARD),
}
"""The kinds that each unit of a module is drawn from; a module of one unit is that kind itself."""
_MODULE = "top_module"
_UNIT = re.compile(r"^u\d_")
_TOTAL_BITS = 8
_SYMBOL = re.compile(r"\w+'\w+|[$\w]+|<=|>=|==|&&|\|\||<<|>>>|>>|\S")
_DECLARING = frozenset(["]", "reg", "signed", "wire"])
_VECTORS = {False: 64, True: 150}

_PROMPT = """\
Write a Verilog module {module} with these ports:

{ports}

{says}{clocked}

All numbers are decimal and unsigned unless stated otherwise, and bit 0 is the lowest. The module is simulated with \
Icarus Verilog (SystemVerilog 2012) on inputs that you cannot see; every output must be right, with no bit x or z.
System tasks (names that begin with $, except $signed, $unsigned, $clog2, $bits, $countones, $onehot), compiler \
directives (such as `timescale) and string literals are not allowed.
Answer with the module, alone or in a fenced block."""
_UNITS = """\
The module has {count} units that work side by side. The ports of unit u1 begin with u1_, those of u2 with u2_, and so \
on; the descriptions below leave out this prefix.{shared}
{says}
total is {sum}, modulo 2**{bits}, where the bits of each count as a number from 0 up, also of those that are two's complement numbers."""
_SHARED = " All units that store a state share clk and rst."
_CLOCKED = """
The simulation begins with rst at 1. Inputs change while clk is 0; outputs are read after each rising edge of clk."""


class Verilog(Question):
    """A description; the reply is a module, judged by simulation against a model in Python
    (`code/verilog`). Twenty-four kinds of module with drawn numbers; no two splits share one. From level 7 on, a
    module has 2, 3, 5 or 8 units, of which 1, 2, 3 or 5 keep to a protocol (hardware_protocols.py).
    """

    id: ClassVar[str] = "verigym/code/verilog-v0"
    verifier_id: ClassVar[str] = "code/verilog"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True
    max_observation_chars: ClassVar[int] = 1 << 14
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        units: list[DrawnModule] = []
        kinds: list[Kind] = []
        for some in SLOTS[level]:
            left = [kind for kind in some if kind not in kinds]
            while True:
                kind = left[int(rng.integers(len(left)))]
                drawn = kind(rng)
                if self.wants(source(drawn)):
                    break
            units.append(drawn)
            kinds.append(kind)
        whole = units[0] if len(units) == 1 else join(units)
        vectors = _vectors(rng, whole)
        return Ask(
            prompt=_prompt(whole),
            answer="",
            steps=whole.steps,
            reference={
                "module": _MODULE,
                "clock": "clk" if whole.clocked else "",
                "inputs": whole.inputs,
                "outputs": whole.outputs,
                "vectors": vectors,
                "expected": [whole.model(vector) for vector in vectors],
                "solution": source(whole),
            },
            tags=("code", "verilog", *(kind.__name__ for kind in kinds)),
            # All units lie in one split, so the first one decides.
            essence=source(units[0]),
        )

    @override
    def work(self, state: QuestionState) -> int:
        """Read what the module does word by word, write it symbol by symbol, and look up each name that is used
        among its ports and declarations."""
        solver = Solver()
        reference: Any = state.task.reference
        _, _, says, *_ = state.task.prompt.split("\n\n")
        for _ in says.split():
            solver.look()
        for module in reference["solution"].split("endmodule"):
            ports, _, logic = module.partition(");")
            declared = set(_SYMBOL.findall(ports))
            before = ""
            for symbol in _SYMBOL.findall(logic):
                solver.look()
                if before in _DECLARING:
                    declared.add(symbol)
                elif symbol in declared:
                    solver.look()
                before = symbol
        return solver.operations

    @override
    def reply(self, reference: Any) -> str:
        return f"```verilog\n{reference['solution']}```"


def _prompt(drawn: DrawnModule) -> str:
    return _PROMPT.format(
        module=_MODULE,
        ports=_described(drawn),
        says=drawn.says,
        clocked=_CLOCKED if drawn.clocked else "",
    )


def source(drawn: DrawnModule, module: str = _MODULE) -> str:
    """Return a right module."""
    ports = [f"  input [{width - 1}:0] {name}" for name, width in drawn.inputs]
    if drawn.clocked:
        ports.insert(0, "  input clk")
    for name, width in drawn.outputs:
        kind = "reg " if name in drawn.stored else ""
        ports.append(f"  output {kind}[{width - 1}:0] {name}")
    head = ",\n".join(ports)
    own = f"module {module} (\n{head}\n);\n{drawn.logic}\nendmodule\n"
    return "\n".join([own, *drawn.units])


def join(units: Sequence[DrawnModule]) -> DrawnModule:
    """Return a module of several units side by side, with one reset, and the sum of their first outputs."""
    named = [(f"u{number}", unit) for number, unit in enumerate(units, 1)]
    clocked = any(unit.clocked for unit in units)
    inputs = [(f"{name}_{port}", bits) for name, unit in named for port, bits in _own_inputs(unit)]
    outputs = [(f"{name}_{port}", bits) for name, unit in named for port, bits in unit.outputs]
    sizes = [len(_own_inputs(unit)) for unit in units]

    def model(given: Sequence[int]) -> list[int]:
        rst, rest = list(given[:clocked]), list(given[clocked:])
        values: list[int] = []
        total = 0
        for unit, size in zip(units, sizes, strict=True):
            own, rest = rest[:size], rest[size:]
            found = unit.model([*rst, *own] if unit.clocked else own)
            values += found
            total += found[0]
        return [*values, total % (1 << _TOTAL_BITS)]

    fed = {f"{name}_{port}": row for name, unit in named for port, row in unit.fed.items()}
    resets = [unit.fed["rst"] for unit in units if "rst" in unit.fed]
    says = "\n".join(f"{name}: {unit.says}" for name, unit in named)
    firsts = [f"{name}_{unit.outputs[0][0]}" for name, unit in named]
    return DrawnModule(
        says=_UNITS.format(
            count=len(units),
            shared=_SHARED if clocked else "",
            says=says,
            sum=" + ".join(firsts),
            bits=_TOTAL_BITS,
        ),
        inputs=[*([("rst", 1)] if clocked else []), *inputs],
        outputs=[*outputs, ("total", _TOTAL_BITS)],
        logic="\n".join([*(_instance(name, unit) for name, unit in named), _total(firsts)]),
        model=model,
        steps=sum(unit.steps for unit in units),
        clocked=clocked,
        fed=fed | ({"rst": resets[0]} if resets else {}),
        units=tuple(source(unit, f"unit_{name}") for name, unit in named),
    )


def _own_inputs(unit: DrawnModule) -> list[tuple[str, int]]:
    """Return the inputs that a unit does not share."""
    return [port for port in unit.inputs if not (unit.clocked and port[0] == "rst")]


def _instance(name: str, unit: DrawnModule) -> str:
    own = [port for port, _ in (*_own_inputs(unit), *unit.outputs)]
    ports = ["clk", "rst"] if unit.clocked else []
    wired = [f".{port}({port})" for port in ports] + [f".{port}({name}_{port})" for port in own]
    return f"  unit_{name} {name} ({', '.join(wired)});"


def _total(outputs: Sequence[str]) -> str:
    return f"  assign total = {' + '.join(outputs)};"


def _described(drawn: DrawnModule) -> str:
    clock = ["- input clk (1 bit)"] if drawn.clocked else []
    sides = (("input", drawn.inputs), ("output", drawn.outputs))
    rows = [
        f"- {side} {name} ({width} bit{'s' if width > 1 else ''})"
        for side, ports in sides
        for name, width in ports
    ]
    return "\n".join(clock + rows)


def _vectors(rng: np.random.Generator, drawn: DrawnModule) -> list[list[int]]:
    """Random vectors with edges among them: all zeros, all ones, and values next to others."""
    count = _VECTORS[drawn.clocked]
    columns = []
    for name, width in drawn.inputs:
        high = 1 << width
        column = rng.integers(high, size=count)
        own = _own_name(name)
        if own == "rst":
            # Long stretches without it, for what takes long to come about.
            column = np.zeros(count, np.int64)
            column[[0, 1, int(rng.integers(90, 110)), int(rng.integers(115, 140))]] = 1
        elif own in ("en", "push"):
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
    operands = [name for name in names if _own_name(name) == "b"]
    if operands and sum(width for _, width in drawn.inputs) > 6:
        # Equal operands are rarely drawn.
        for row in rows[2::5]:
            for name in operands:
                row[names.index(name)] = row[names.index(name[:-1] + "a")]
    return rows


def _own_name(port: str) -> str:
    """Return the name of a port in its unit."""
    return _UNIT.sub("", port)


def _all(drawn: DrawnModule) -> list[list[int]]:
    """Every input of a small module."""
    rows: list[list[int]] = [[]]
    for _, width in drawn.inputs:
        rows = [[*row, value] for row in rows for value in range(1 << width)]
    return rows
