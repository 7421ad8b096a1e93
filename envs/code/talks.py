"""Judges of `code/problems`: programs that ask and answer beside the policy's program (verifiers/code/conversation.py).

A judge reads the cases of a test, `[[kind, input, output], ...]`, from its first argument and deals with them in turn. A
case of an interactive kind is led by the body of a function of that problem, which gets `given`, the lines of the
hidden input, and speaks by `say(...)`, a line to the program, and `hear()`, the words of its next line. It returns "" if the
program was right, or a text that says what was wrong. Any other case is sent as it is, and its answer is read.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verigym.envs.code.together import LETTERS, Test

_JUDGE = '''\
import json
import sys


class SaysNoMore(Exception):
    """The program said no more."""


def say(*words):
    print(*words, flush=True)


def hear():
    line = sys.stdin.readline()
    if not line:
        raise SaysNoMore
    return line.split()


def read(expected):
    """Compare the words of the program with those that are expected, in their order."""
    wanted = expected.split()
    got = []
    while len(got) < len(wanted):
        got += hear()
    return "" if got == wanted else "another answer is right"

{functions}

TALKS = {{{table}}}


def lead():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    if {joined}:
        say(len(cases))
    for kind, given, expected in cases:
        lines = given.splitlines()
        if {joined}:
            say(kind, 1 if kind in TALKS else len(lines))
        if kind in TALKS:
            trouble = TALKS[kind](lines, say, hear)
        else:
            for line in lines:
                say(line)
            trouble = read(expected)
        if trouble:
            return f"wrong: {{trouble}}"
    while line := sys.stdin.readline():
        if line.strip():
            return "wrong: it went on after the last answer"
    return "right"


sys.stdin.reconfigure(errors="replace")
try:
    verdict = lead()
except SaysNoMore:
    verdict = "wrong: it said no more"
except (ValueError, IndexError):
    verdict = "wrong: what it said cannot be read"
print(verdict, file=sys.stderr)
'''

_STATEMENT = """\
Your program talks to a judge. Everything that it prints is read by the judge at once if it flushes its output after each \
line, and what the judge says comes on standard input. Do not read ahead of what the judge has to say. A test ends as \
failed with the first answer that is wrong, cannot be read or breaks a rule."""
_JOINED = """\
{talk}

The judge gives several cases of {count} kinds. Its first line is the number of cases. Each case begins with a line with a \
letter, which is the kind of the case, and a number of lines; these lines follow at once, and more may come as a conversation \
goes on. Print the answer to a case, or end its conversation, before the next case is given. In the rules of a kind, "the \
input" means the lines of one case; "the first line" means the first line after that with the letter. Each example is one case \
of a kind without a conversation.

{kinds}"""

_PROGRAM = """\
import functools

print = functools.partial(print, flush=True)
{functions}


def reader(lines):
    return lambda: lines.pop(0) if lines else input()


for _ in range(int(input())):
    kind, count = input().split()
    lines = [input() for _ in range(int(count))]
    {{{table}}}[kind](reader(lines))
"""


def write_judge(bodies: Mapping[str, str], *, is_joined: bool) -> str:
    """Return a judge that leads the conversations whose bodies are given by the letter of their kind."""
    functions = "\n".join(
        f"\ndef talk_{kind}(given, say, hear):\n{textwrap.indent(body.strip(), '    ')}\n"
        for kind, body in bodies.items()
    )
    table = ", ".join(f'"{kind}": talk_{kind}' for kind in bodies)
    return _JUDGE.format(functions=functions, table=table, joined=is_joined)


def as_talk(kinds: Sequence[str], cases: Sequence[Test], *, is_visible: bool) -> dict[str, Any]:
    """Return the test of a judge that deals with `cases` of these kinds."""
    rows = [[kind, case["stdin"], case["stdout"]] for kind, case in zip(kinds, cases, strict=True)]
    return {"stdin": json.dumps(rows), "stdout": "", "visible": is_visible}


def talk_tests(tests: Sequence[Test]) -> list[dict[str, Any]]:
    """Return the tests of an interactive problem that stands alone."""
    return [as_talk([LETTERS[0]], [test], is_visible=bool(test["visible"])) for test in tests]


def join_talk_tests(
    rng: np.random.Generator, parts: Sequence[Sequence[Test]]
) -> list[dict[str, Any]]:
    """Return tests with a case of each kind in a drawn order, as `join_tests` does for inputs and outputs."""
    tests = []
    for number in range(max(map(len, parts))):
        own = [
            part[number] if number < len(part) else part[int(rng.integers(len(part)))]
            for part in parts
        ]
        order = [int(at) for at in rng.permutation(len(parts))]
        tests.append(
            as_talk(
                [LETTERS[at] for at in order],
                [own[at] for at in order],
                is_visible=all(bool(case["visible"]) for case in own),
            )
        )
    return tests


def ask_talk(statement: str) -> str:
    """Return the statement of an interactive problem that stands alone."""
    return f"{_STATEMENT}\n\n{statement}"


def join_talks(statements: Sequence[str]) -> str:
    """Return the statement of cases of several kinds, some of which are conversations."""
    return _JOINED.format(
        talk=_STATEMENT,
        count=len(statements),
        kinds="\n\n".join(
            f"Kind {letter}. {statement}"
            for letter, statement in zip(LETTERS, statements, strict=False)
        ),
    )


def join_talkers(programs: Sequence[str]) -> str:
    """Return a program that calls one of `programs` for each case and flushes what it prints."""
    letters = LETTERS[: len(programs)]
    return _PROGRAM.format(
        functions="\n\n".join(
            f"def case_{letter.lower()}(input):\n{textwrap.indent(program.strip(), '    ')}\n"
            for letter, program in zip(letters, programs, strict=True)
        ),
        table=", ".join(f'"{letter}": case_{letter.lower()}' for letter in letters),
    )
