"""Small hardware modules with a golden model in Python: what `code/verilog` asks for.

Each function draws one module: what it does in words, its ports, a right source, and a model that is
called with the inputs of each vector in turn and gives the outputs. Clocked modules have `clk` and a
synchronous `rst`; their outputs depend on what is stored alone, so that they are the same for every right
module whenever in the cycle they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from verigym.envs.code.program_files import fill_logic

Ports = list[tuple[str, int]]
Model = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True, kw_only=True)
class DrawnModule:
    """One module. `logic` stands between the ports and `endmodule`; outputs named in `stored` are regs."""

    says: str
    inputs: Ports
    outputs: Ports
    logic: str
    model: Model
    steps: int
    clocked: bool = False
    stored: tuple[str, ...] = ()
    fed: Mapping[str, list[int]] = field(default_factory=dict)
    """Values fed to an input from the first vector on, for inputs on which random values would
    show little."""
    units: tuple[str, ...] = ()
    """Sources of the modules that `logic` uses."""


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a number from `low` to `high`, both included."""
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, choices: Sequence[str]) -> str:
    """Draw one of `choices`."""
    return choices[int(rng.integers(len(choices)))]


def gates(rng: np.random.Generator) -> DrawnModule:
    """Return a formula of gates."""
    words, signs, names = ("AND", "OR", "XOR"), ("&", "|", "^"), "abcd"
    parts = []
    for name in rng.permutation(4):
        negated = bool(rng.integers(2))
        parts.append((names[int(name)], negated))
    ops = [int(n) for n in rng.integers(3, size=3)]

    def term(number: int, inverted: str) -> str:
        name, negated = parts[number]
        return f"{inverted}{name}" if negated else name

    def formula(table: Sequence[str], inverted: str) -> str:
        left = f"({term(0, inverted)} {table[ops[0]]} {term(1, inverted)})"
        right = f"({term(2, inverted)} {table[ops[2]]} {term(3, inverted)})"
        return f"{left} {table[ops[1]]} {right}"

    def apply(op: int, a: int, b: int) -> int:
        return (a & b, a | b, a ^ b)[op]

    def model(given: Sequence[int]) -> list[int]:
        a, b, c, d = (given["abcd".index(name)] ^ negated for name, negated in parts)
        return [apply(ops[1], apply(ops[0], a, b), apply(ops[2], c, d))]

    return DrawnModule(
        says=f"y = {formula(words, 'NOT ')}, where NOT is applied first.",
        inputs=[(name, 1) for name in names],
        outputs=[("y", 1)],
        logic=fill_logic("gates", FORMULA=formula(signs, "~")),
        model=model,
        steps=4,
    )


def truth(rng: np.random.Generator) -> DrawnModule:
    """Draw a truth table."""
    ones = sorted(int(n) for n in rng.permutation(8)[: whole(rng, 2, 5)])
    table = sum(1 << n for n in ones)
    return DrawnModule(
        says=f"y is 1 if the number a is one of {', '.join(map(str, ones))}, and 0 otherwise.",
        inputs=[("a", 3)],
        outputs=[("y", 1)],
        logic=fill_logic("truth", TABLE=table),
        model=lambda given: [table >> given[0] & 1],
        steps=3,
    )


def mux(rng: np.random.Generator) -> DrawnModule:
    """Draw a multiplexer whose last choices are missing."""
    count, width = whole(rng, 3, 6), whole(rng, 2, 12)
    other = whole(rng, 0, (1 << width) - 1)
    bits = 2 if count < 4 else 3
    names = [f"d{n}" for n in range(count)]
    rows = "\n".join(f"      {n}: y = {name};" for n, name in enumerate(names))
    return DrawnModule(
        says=f"y is d0 if sel is 0, d1 if sel is 1, and so on up to {names[-1]}; if sel is larger, y is {other}.",
        inputs=[("sel", bits), *((name, width) for name in names)],
        outputs=[("y", width)],
        logic=fill_logic("mux", ROWS=rows, OTHER=f"{width}'d{other}"),
        model=lambda given: [given[1 + given[0]] if given[0] < count else other],
        steps=3,
        stored=("y",),
    )


def parity(rng: np.random.Generator) -> DrawnModule:
    """Draw a module for parity and the number of ones."""
    width, odd = whole(rng, 4, 16), whole(rng, 0, 1)
    kind = "odd" if odd else "even"
    bits = width.bit_length()
    terms = " + ".join(f"a[{n}]" for n in range(width))

    def model(given: Sequence[int]) -> list[int]:
        ones = given[0].bit_count()
        return [ones % 2 ^ odd, ones]

    return DrawnModule(
        says=f"p is a parity bit: the number of ones in a and p together is {kind}. n is the number of ones in a.",
        inputs=[("a", width)],
        outputs=[("p", 1), ("n", bits)],
        logic=fill_logic("parity", INVERT="~" if odd else "", TERMS=terms),
        model=model,
        steps=4,
    )


def adder(rng: np.random.Generator) -> DrawnModule:
    """Draw an adder or a subtracter."""
    width, minus = whole(rng, 3, 16), bool(rng.integers(2))
    mask = (1 << width) - 1

    def model(given: Sequence[int]) -> list[int]:
        a, b, c = given
        total = a - b - c if minus else a + b + c
        return [total & mask, int(not 0 <= total <= mask)]

    says = (
        f"s = a - b - cin modulo 2**{width}, and cout is the borrow: 1 if a < b + cin, else 0."
        if minus
        else f"s = a + b + cin modulo 2**{width}, and cout is the carry out."
    )
    sign = "-" if minus else "+"
    return DrawnModule(
        says=says,
        inputs=[("a", width), ("b", width), ("cin", 1)],
        outputs=[("s", width), ("cout", 1)],
        logic=fill_logic("adder", SIGN=sign),
        model=model,
        steps=4,
    )


def decoder(rng: np.random.Generator) -> DrawnModule:
    """Draw a decoder, with outputs that are active high or low."""
    bits, low = whole(rng, 2, 4), bool(rng.integers(2))
    width = 1 << bits
    full = (1 << width) - 1

    def model(given: Sequence[int]) -> list[int]:
        hot = 1 << given[0] if given[1] else 0
        return [hot ^ full if low else hot]

    active, idle = (0, 1) if low else (1, 0)
    return DrawnModule(
        says=f"If en is 1, bit number a of y is {active} and all other bits are {idle}; if en is 0, all bits "
        f"of y are {idle}.",
        inputs=[("a", bits), ("en", 1)],
        outputs=[("y", width)],
        logic=fill_logic("decoder", INVERT="~" if low else "", WIDTH=width),
        model=model,
        steps=3,
    )


def gray(rng: np.random.Generator) -> DrawnModule:
    """Draw a converter of Gray code, either way."""
    width, back = whole(rng, 4, 14), bool(rng.integers(2))

    def model(given: Sequence[int]) -> list[int]:
        value = given[0]
        if not back:
            return [value ^ value >> 1]
        shift = value >> 1
        while shift:
            value ^= shift
            shift >>= 1
        return [value]

    logic = "  assign y = a ^ (a >> 1);"
    if back:
        logic = "\n".join(f"  assign y[{n}] = ^(a >> {n});" for n in range(width))
    says = "a is a number in reflected Gray code; y is the same number in binary."
    return DrawnModule(
        says=says
        if back
        else "y is the reflected Gray code of the number a, that is, a ^ (a >> 1).",
        inputs=[("a", width)],
        outputs=[("y", width)],
        logic=logic,
        model=model,
        steps=6,
    )


def priority(rng: np.random.Generator) -> DrawnModule:
    """Draw a priority encoder."""
    width, highest = whole(rng, 5, 16), bool(rng.integers(2))
    bits = (width - 1).bit_length()
    order = range(width) if highest else range(width - 1, -1, -1)
    rows = "\n".join(f"    if (a[{n}]) y = {n};" for n in order)

    def model(given: Sequence[int]) -> list[int]:
        a = given[0]
        at = a.bit_length() - 1 if highest else (a & -a).bit_length() - 1
        return [max(at, 0), int(a != 0)]

    return DrawnModule(
        says=f"y is the index of the {'highest' if highest else 'lowest'} bit of a that is 1, and v is 1. If a "
        "is 0, y and v are 0.",
        inputs=[("a", width)],
        outputs=[("y", bits), ("v", 1)],
        logic=fill_logic("priority", ROWS=rows),
        model=model,
        steps=6,
        stored=("y",),
    )


def rotate(rng: np.random.Generator) -> DrawnModule:
    """Draw a rotation by a number of places."""
    bits = whole(rng, 2, 4)
    width, left = 1 << bits, bool(rng.integers(2))
    mask = (1 << width) - 1

    def model(given: Sequence[int]) -> list[int]:
        a, n = given
        n = n if left else (width - n) % width
        return [(a << n | a >> width - n) & mask]

    way = "left" if left else "right"
    one, other = ("<<", ">>") if left else (">>", "<<")
    return DrawnModule(
        says=f"y is a, rotated {way} by n bits.",
        inputs=[("a", width), ("n", bits)],
        outputs=[("y", width)],
        logic=fill_logic("rotate", WAY=one, BACK=other, WIDTH=f"{bits + 1}'d{width}"),
        model=model,
        steps=6,
    )


def compare(rng: np.random.Generator) -> DrawnModule:
    """Draw a comparison of two numbers, with or without a sign."""
    width, signed = whole(rng, 4, 12), bool(rng.integers(2))
    half = 1 << width - 1

    def model(given: Sequence[int]) -> list[int]:
        a, b = (n ^ half if signed else n for n in given)
        return [int(a > b), given[0] if a <= b else given[1]]

    a, b = ("$signed(a)", "$signed(b)") if signed else ("a", "b")
    kind = "two's complement numbers" if signed else "unsigned numbers"
    return DrawnModule(
        says=f"a and b are {kind}. gt is 1 if a is greater than b, else 0; least is the smaller of the two.",
        inputs=[("a", width), ("b", width)],
        outputs=[("gt", 1), ("least", width)],
        logic=fill_logic("compare", A=a, B=b),
        model=model,
        steps=6,
    )


def edges(rng: np.random.Generator) -> DrawnModule:
    """Draw a detector of edges."""
    kind = pick(rng, ("rising", "falling", "any"))
    width = whole(rng, 1, 8)
    logic = {"rising": "a & ~last", "falling": "~a & last", "any": "a ^ last"}[kind]
    state = {"last": 0, "y": 0}
    mask = (1 << width) - 1

    def model(given: Sequence[int]) -> list[int]:
        rst, a = given
        last = state["last"]
        found = {"rising": a & ~last, "falling": ~a & last, "any": a ^ last}[kind]
        state.update(last=0 if rst else a, y=0 if rst else found & mask)
        return [state["y"]]

    edge = {"rising": "from 0 to 1", "falling": "from 1 to 0", "any": "in either direction"}[kind]
    return DrawnModule(
        says=f"At each rising edge of clk, each bit of y becomes 1 if the same bit of a has changed {edge} "
        "since the rising edge before, else 0. If rst is 1 at a rising edge, y becomes 0 instead, and a counts as "
        "0 when the next edge compares with this one.",
        inputs=[("rst", 1), ("a", width)],
        outputs=[("y", width)],
        logic=fill_logic("edges", HIGH=width - 1, CHANGED=logic),
        model=model,
        steps=7,
        clocked=True,
        stored=("y",),
    )
