"""`code/verilog`: a hardware module, judged by its outputs in simulation.

The module is compiled with a test bench of ours (Icarus Verilog, in the sandbox), which applies the
task's inputs and prints the outputs after each; they are compared here with the wanted ones, which
come from a model in Python and are never near the simulation (law 4). A source may not hold system
tasks but the pure ones in `_PURE`, nor compiler directives, so it can neither print nor end the
simulation, read or write files or include any; what is printed is the bench's alone. A module that
reaches up into the bench, or drives its inputs, changes what it is asked, which pays nothing: the
answers to the right questions are wanted.
Covers: printed results, early ends, files, includes, delays without end (the sandbox's limit), unknown
and floating outputs (wrong), missing or extra ports (does not compile). Does not cover: whether a
module could be built in hardware.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.code.runs import ENDINGS, run_one, trouble

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_PURE = ("signed", "unsigned", "clog2", "bits", "countones", "onehot")
# No texts: one could hold what begins a comment here and not there. No backslash: escaped names.
_SYSTEM = re.compile(rf"\$(?!(?:{'|'.join(_PURE)})\b)|[`\"\\]|[^\t\n\r -~]")
_COMMENT = re.compile(r"//[^\r\n]*|/\*[\t\n\r -~]*?\*/")
_BENCH = "verigym_bench"
_MAX_VECTORS = 4096
_LIMITS = Limits(wall_s=10.0, cpu_s=3.0, memory_mib=256)


@dataclass(frozen=True)
class _Design:
    module: str
    clock: str
    inputs: list[tuple[str, int]]
    outputs: list[tuple[str, int]]
    vectors: list[list[int]]
    expected: list[list[int]]


class VerilogParams(Struct, frozen=True):
    """Parameters of `VerilogVerifier`."""

    max_chars: Annotated[int, Meta(ge=0, description="Characters of a submission at most.")] = (
        32_768
    )


class VerilogVerifier(Verifier[VerilogParams]):
    """Full marks if every output is as wanted after every vector, else 0.

    `Task.reference` is `{"module": name, "clock": name or "", "inputs": [[name, bits], ...], "outputs": the
    same, "vectors": [[number, ...], ...], "expected": [[number, ...], ...]}`, a number for each port in order;
    the clock is not among the inputs. Without a clock, outputs are read when they have settled;
    with one, inputs change while it is low, and outputs are read after its rising edge, before they
    change again. Other keys are left alone. The submission is Verilog text, fenced or bare; it may
    hold further modules.
    Reasons: `correct`, `wrong_output`; `not_text`, `too_long`, `no_program`, `no_module`, `refused_syntax`, and
    names of `JobStatus` (`compile_error`, `time_limit`). `parts["passed"]` is the share of right vectors.
    """

    id: ClassVar[str] = "code/verilog"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Simulates a Verilog module on the task's inputs in the sandbox and compares its outputs; the "
        "submission is the module's text, fenced or bare."
    )
    evidence: ClassVar[str] = (
        "The module's outputs after each input vector, printed by the test bench; a source with "
        "system tasks or compiler directives is not run."
    )
    weights: ClassVar[Mapping[str, float]] = {"passed": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self.sandbox: Sandbox | None = None

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        design = _read(task.reference)
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is the text of a module")
        if len(submission) > self.settings.max_chars:
            return unusable("too_long", f"{len(submission)} characters are too many")
        source = extract_program(submission, "verilog")
        if not source.strip():
            return unusable("no_program", "the reply holds no module")
        if refused := _refused(source, design):
            return refused
        job = Job(
            source=bench(design),
            language="verilog",
            # The compiler looks for a module that it lacks in a file of that name.
            files={f"{design.module}.v": source.encode("utf-8", "surrogatepass")},
            limits=_LIMITS,
        )
        result = run_one(self.sandbox or default_sandbox(), job)
        if result.status is not JobStatus.OK:
            told = trouble(result) if result.status is JobStatus.COMPILE_ERROR else ""
            return unusable(result.status.value, ENDINGS[result.status] + told)
        return _compared(result.stdout.decode("ascii", "replace").split("\n"), design)


def _refused(source: str, design: _Design) -> Verdict | None:
    code = _COMMENT.sub(" ", source)
    if found := _SYSTEM.search(code):
        line = code[: found.start()].count("\n") + 1
        return unusable(
            "refused_syntax",
            f"near line {line}: {found.group()!a} is refused; system tasks (but "
            f"{', '.join('$' + name for name in _PURE)}), directives, texts and escaped names are not allowed",
        )
    if not re.search(rf"\bmodule\s+{design.module}\b", code):
        return unusable("no_module", f"the reply holds no module {design.module}")
    return None


def _compared(lines: list[str], design: _Design) -> Verdict:
    printed = [line for line in lines if line]
    right = 0
    first = ""
    for at, wanted in enumerate(design.expected):
        bits = " ".join(
            f"{number:0{width}b}" for number, (_, width) in zip(wanted, design.outputs, strict=True)
        )
        if at < len(printed) and printed[at] == bits:
            right += 1
        elif not first:
            first = f"wrong outputs after vector {at + 1} of {len(design.expected)}"
    if len(printed) > len(design.expected):
        first = first or "more was printed than the bench prints"
    parts = {"passed": right / len(design.expected)}
    if first:
        return scored(0.0, "wrong_output", first, parts)
    return scored(1.0, "correct", f"all {right} vectors are right", parts)


def bench(design: _Design) -> str:
    """Return a test bench that applies the vectors and prints the outputs, in binary, a line for each."""
    ports = [f".{name}({name})" for name, _ in (*design.inputs, *design.outputs)]
    declared = [f"  reg [{width - 1}:0] {name};" for name, width in design.inputs]
    declared += [f"  wire [{width - 1}:0] {name};" for name, width in design.outputs]
    if design.clock:
        ports.insert(0, f".{design.clock}({design.clock})")
        declared.append(f"  reg {design.clock};")
    shown = ", ".join(name for name, _ in design.outputs)
    print_all = f'$display("{" ".join("%b" for _ in design.outputs)}", {shown});'
    steps = []
    for vector in design.vectors:
        low = f"{design.clock} = 0; #2 " if design.clock else ""
        puts = " ".join(
            f"{name} = {width}'d{number};"
            for number, (name, width) in zip(vector, design.inputs, strict=True)
        )
        edge = f"{design.clock} = 1; #5 " if design.clock else ""
        steps.append(f"    {low}{puts} #5 {edge}{print_all}")
    body = "\n".join([*declared, f"  {design.module} dut({', '.join(ports)});"])
    return (
        f"`timescale 1ns/1ns\nmodule {_BENCH};\n{body}\n  initial begin\n"
        + "\n".join(steps)
        + "\n    $finish(0);\n  end\nendmodule\n"
    )


def _read(reference: JSON) -> _Design:
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with module, ports, vectors and expected")
    names = [reference.get("module"), *([reference["clock"]] if reference.get("clock") else [])]
    inputs, outputs = (_ports(reference, side) for side in ("inputs", "outputs"))
    names += [name for name, _ in (*inputs, *outputs)]
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == _BENCH:
            raise TaskError(f"a module or port is named by small letters and digits, got {name!r}")
    vectors = _table(reference, "vectors", inputs)
    expected = _table(reference, "expected", outputs)
    if len(vectors) != len(expected) or not 0 < len(vectors) <= _MAX_VECTORS:
        raise TaskError(f"as many vectors as expected are wanted, 1 to {_MAX_VECTORS}")
    return _Design(
        str(names[0]), str(reference.get("clock") or ""), inputs, outputs, vectors, expected
    )


def _ports(reference: Mapping[str, Any], side: str) -> list[tuple[str, int]]:
    ports = reference.get(side)
    if not isinstance(ports, list | tuple) or not ports:
        raise TaskError(f"{side} must be a list of [name, bits]")
    made = []
    for port in ports:
        if not isinstance(port, list | tuple) or len(port) != 2:
            raise TaskError(f"a port is [name, bits], got {port!r}")
        name, width = port
        if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= 64:
            raise TaskError(f"a port has 1 to 64 bits, got {width!r}")
        made.append((name, width))
    return made


def _table(
    reference: Mapping[str, Any], what: str, ports: list[tuple[str, int]]
) -> list[list[int]]:
    rows = reference.get(what)
    if not isinstance(rows, list | tuple):
        raise TaskError(f"{what} must be a list of lists of numbers")
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != len(ports):
            raise TaskError(f"each of {what} must have a number for each of {len(ports)} ports")
        for number, (name, width) in zip(row, ports, strict=True):
            if isinstance(number, bool) or not isinstance(number, int) or number >> width:
                raise TaskError(f"{what}: {number!r} does not fit {name} with {width} bits")
    return [list(row) for row in rows]
