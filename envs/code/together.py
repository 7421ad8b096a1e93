"""Several problems as one: an input that holds cases of several kinds, each of them a problem of its own.

The higher levels of `code/stdio`, `code/problems` and `code/repair` are made so, since one problem can grow no
further. A case is right or wrong as its problem says, so the answers are right by construction.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Test = Mapping[str, Any]
"""An input, the output wanted, and whether the test is shown, as `code/stdio` has them."""

LETTERS = "ABCDEFGH"

_STATEMENT = """\
The input holds several cases of {count} kinds. Its first line is the number of cases. Each case begins with a line \
with a letter, which is the kind of the case, and the number of lines that follow and belong to the case. \
Print the answers to the cases in their order, each on lines of its own. In the rules of a kind, "the input" means \
the lines of one case.

{kinds}"""

_PROGRAM = """\
{functions}


def reader(lines):
    return lambda: lines.pop(0)


for _ in range(int(input())):
    kind, count = input().split()
    lines = [input() for _ in range(int(count))]
    {{{table}}}[kind](reader(lines))
"""


def join_statements(statements: Sequence[str]) -> str:
    """Return the statement of the problem with a kind of case for each of `statements`."""
    kinds = zip(LETTERS, statements, strict=False)
    return _STATEMENT.format(
        count=len(statements),
        kinds="\n\n".join(f"Kind {letter}. {statement}" for letter, statement in kinds),
    )


def join_programs(programs: Sequence[str]) -> str:
    """Return a program that calls one of `programs` for each case; they read with `input` alone."""
    letters = LETTERS[: len(programs)]
    return _PROGRAM.format(
        functions="\n\n\n".join(
            f"def case_{letter.lower()}(input):\n{textwrap.indent(program.strip(), '    ')}"
            for letter, program in zip(letters, programs, strict=True)
        ),
        table=", ".join(f'"{letter}": case_{letter.lower()}' for letter in letters),
    )


def join_tests(rng: np.random.Generator, parts: Sequence[Sequence[Test]]) -> list[dict[str, Any]]:
    """Return the tests of the joined problem.

    Each test holds a case of each kind in a drawn order: the tests of a part in turn, so that each of them is
    in some test. A hidden one holds one case more, of any kind. Parts have equally many visible tests.
    """
    tests = []
    for number in range(max(map(len, parts))):
        cases = [
            (letter, own[number] if number < len(own) else _drawn(rng, own))
            for letter, own in zip(LETTERS, parts, strict=False)
        ]
        visible = bool(cases[0][1]["visible"])
        if not visible:
            kind = int(rng.integers(len(parts)))
            cases.append((LETTERS[kind], _drawn(rng, parts[kind])))
        cases = [cases[int(at)] for at in rng.permutation(len(cases))]
        tests.append(
            {
                "stdin": f"{len(cases)}\n"
                + "".join(case_lines(letter, case) for letter, case in cases),
                "stdout": "".join(case["stdout"] for _, case in cases),
                "visible": visible,
            }
        )
    return tests


def _drawn(rng: np.random.Generator, tests: Sequence[Test]) -> Test:
    """Draw one of the hidden tests."""
    hidden = [test for test in tests if not test["visible"]]
    return hidden[int(rng.integers(len(hidden)))]


def case_lines(letter: str, test: Test) -> str:
    """Return the lines of a case: its kind with the number of its lines, and these."""
    return f"{letter} {test['stdin'].count(chr(10))}\n{test['stdin']}"
