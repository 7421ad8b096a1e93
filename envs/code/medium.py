"""Medium families: a small algorithm or a careful format."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import (
    LISTED,
    Params,
    ProblemFamily,
    listed,
    one_of,
    read_listed,
    whole,
    wholes,
)


class Windows(ProblemFamily):
    """Describe every run of neighbours."""

    name: ClassVar[str] = "windows"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {
            "w": whole(rng, 2, 6),
            "what": one_of(rng, ("largest", "smallest", "sum", "spread")),
        }

    @override
    def statement(self, p: Params) -> str:
        what = {
            "largest": "the largest of them",
            "smallest": "the smallest of them",
            "sum": "their sum",
            "spread": "the difference of the largest and the smallest of them",
        }[str(p["what"])]
        return (
            f"{LISTED} For every {p['w']} neighbours, from left to right, print {what}; separate the "
            f"results by spaces, on one line. Print none if n is less than {p['w']}."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return listed(wholes(rng, size + 2, -20, 20))

    @override
    def answer(self, p: Params, stdin: str) -> str:
        numbers, width = read_listed(stdin), int(p["w"])
        results = []
        for end in range(width, len(numbers) + 1):
            ordered = sorted(numbers[end - width : end])
            results.append(
                {
                    "largest": ordered[-1],
                    "smallest": ordered[0],
                    "sum": sum(ordered),
                    "spread": ordered[-1] - ordered[0],
                }[str(p["what"])]
            )
        return " ".join(map(str, results)) or "none"


class RunLengths(ProblemFamily):
    """Shorten runs of equal letters."""

    name: ClassVar[str] = "run-lengths"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"order": one_of(rng, ("letter", "number")), "most": whole(rng, 2, 9)}

    @override
    def statement(self, p: Params) -> str:
        first, second = ("letter", "number") if p["order"] == "letter" else ("number", "letter")
        return (
            "The input is one line of lower-case letters. From left to right, replace each run of "
            f"equal letters by its {first} and then its {second}, where the number is the length of "
            f"the run. A piece may be no longer than {p['most']}: break a longer run into pieces of "
            f"{p['most']} and a shorter last one if needed. Print the result."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return "".join(one_of(rng, "abc") * whole(rng, 1, 12) for _ in range(size)) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        most, pieces = int(p["most"]), []
        for letter, run in groupby(stdin.strip()):
            whole_ones, rest = divmod(len(list(run)), most)
            for length in [most] * whole_ones + ([rest] if rest else []):
                pieces.append(
                    f"{letter}{length}" if p["order"] == "letter" else f"{length}{letter}"
                )
        return "".join(pieces)


class Bases(ProblemFamily):
    """Write numbers in another base."""

    name: ClassVar[str] = "bases"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        source, target = whole(rng, 2, 16), whole(rng, 2, 15)
        return {"from": source, "to": target + (target >= source)}

    @override
    def statement(self, p: Params) -> str:
        return (
            f"The input is one line of whole numbers in base {p['from']}, separated by spaces. Print "
            f"them in base {p['to']}, in the same order, separated by spaces. Digits above 9 are the "
            "lower-case letters a to f. There are no leading zeros, in input or output."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return " ".join(_in_base(n, int(p["from"])) for n in wholes(rng, size, 0, 3000)) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        return " ".join(_in_base(int(word, int(p["from"])), int(p["to"])) for word in stdin.split())


def _in_base(number: int, base: int) -> str:
    """`number`, not negative, in `base`."""
    higher = _in_base(number // base, base) if number >= base else ""
    return higher + "0123456789abcdef"[number % base]


class Brackets(ProblemFamily):
    """Check how brackets nest."""

    name: ClassVar[str] = "brackets"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        pairs = ["()", "[]", "{}", "<>"]
        order = rng.permutation(4)
        count = whole(rng, 2, 4)
        chosen = "".join(pairs[int(i)] for i in sorted(order[:count]))
        return {"pairs": chosen, "want": one_of(rng, ("depth", "place"))}

    @override
    def statement(self, p: Params) -> str:
        start = f"The input is one line of brackets of the kinds {' '.join(str(p['pairs']))}. "
        if p["want"] == "depth":
            return (
                start + "If every bracket is closed by one of its own kind and they nest properly, "
                "print how deep they nest at the deepest, else print -1."
            )
        return (
            start + "Read from left to right. Print the position, counted from 1, of the first "
            "closing bracket that does not close the last one still open, or 0 if there is no such "
            "bracket (whether or not some stay open at the end)."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        pairs = str(p["pairs"])
        text = ""
        stack: list[str] = []
        while len(text) + len(stack) < 2 * size:
            if stack and rng.random() < 0.45:
                text += stack.pop()
            else:
                kind = 2 * whole(rng, 0, len(pairs) // 2 - 1)
                text += pairs[kind]
                stack.append(pairs[kind + 1])
        text += "".join(reversed(stack))
        if rng.random() < 0.5:
            place = whole(rng, 0, len(text) - 1)
            text = text[:place] + one_of(rng, pairs) + text[place + 1 :]
        return text + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        pairs, text = str(p["pairs"]), stdin.strip()
        wanted: list[str] = []
        deepest = 0
        for place, bracket in enumerate(text, 1):
            kind = pairs.index(bracket)
            if kind % 2 == 0:
                wanted.append(pairs[kind + 1])
                deepest = max(deepest, len(wanted))
            elif not wanted or wanted.pop() != bracket:
                return "-1" if p["want"] == "depth" else str(place)
        if p["want"] == "place":
            return "0"
        return "-1" if wanted else str(deepest)


class Orbit(ProblemFamily):
    """Follow a rule until a number comes back."""

    name: ClassVar[str] = "orbit"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"a": whole(rng, 2, 12), "c": whole(rng, 1, 20), "m": whole(rng, 20, 99)}

    @override
    def statement(self, p: Params) -> str:
        return (
            "The input is one line of starting numbers, separated by spaces. From each of them, apply the "
            f"rule x -> ({p['a']} * x + {p['c']}) mod {p['m']} again and again, until a number repeats. "
            "Print a line of two numbers for each: how many numbers, the starting one included, come "
            "before the first number of the cycle, and how many different numbers the cycle has."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return " ".join(map(str, wholes(rng, min(size, 20), 0, 200))) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        a, c, m = (int(p[name]) for name in "acm")
        lines = []
        for word in stdin.split():
            path = [int(word)]
            met = set(path)
            while (following := (a * path[-1] + c) % m) not in met:
                path.append(following)
                met.add(following)
            tail = path.index(following)
            lines.append(f"{tail} {len(path) - tail}")
        return "\n".join(lines)


class Spans(ProblemFamily):
    """Merge spans that touch or nearly touch."""

    name: ClassVar[str] = "spans"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"gap": whole(rng, 0, 7), "want": one_of(rng, ("list", "count", "longest"))}

    @override
    def statement(self, p: Params) -> str:
        want = {
            "list": "Print the spans that are left in ascending order, start and end, one a line.",
            "count": "Print how many spans are left.",
            "longest": "Print the largest length, end minus start, of the spans that are left.",
        }[str(p["want"])]
        return (
            "The first line holds n, each of the next n lines the start and the end of a span, two "
            "integers, the start not after the end. Two spans that overlap, or between which the gap "
            f"(the later start minus the earlier end) is at most {p['gap']}, become one that covers "
            f"both; go on until no two can be joined. {want}"
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        starts = wholes(rng, size, 0, 12 * size)
        lengths = wholes(rng, size, 0, 9)
        rows = [f"{a} {a + length}" for a, length in zip(starts, lengths, strict=True)]
        return "\n".join([str(size), *rows]) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        numbers, gap = read_listed(stdin), int(p["gap"])
        covered: set[int] = set()
        for start, end in zip(numbers[::2], numbers[1::2], strict=True):
            # A span reaches half a gap further at both ends; doubled, to stay with whole numbers.
            covered.update(range(2 * start, 2 * end + 2 * gap + 1))
        spans = []
        for place in sorted(covered):
            if place - 1 not in covered:
                first = place
            if place + 1 not in covered:
                spans.append((first // 2, (place - 2 * gap) // 2))
        if p["want"] == "count":
            return str(len(spans))
        if p["want"] == "longest":
            return str(max(end - start for start, end in spans))
        return "\n".join(f"{start} {end}" for start, end in spans)


FAMILIES: tuple[ProblemFamily, ...] = (
    Windows(),
    RunLengths(),
    Bases(),
    Brackets(),
    Orbit(),
    Spans(),
)
