"""Cheap answers to a task: its own words given back, constants, and wrong answers in a wrapping.

Nobody who reads a task learns anything by giving them, so they must earn no more than guessing does;
`laws/cheap.py` tries them. All are made of the prompt and of other tasks' solutions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from textwrap import indent
from typing import Any

from verigym.reply import fenced

CONSTANTS = (
    *(
        "0",
        "1",
        "2",
        "-1",
        "10",
        "yes",
        "no",
        "true",
        "false",
        "A",
        "B",
        "C",
        "D",
        "[]",
        "{}",
        '""',
    ),
    *("unknown", "none", "empty list", "NULL", "undefined", "x", "()"),
)
QUERIES = (
    *("SELECT 1", "SELECT 0", "SELECT NULL", "SELECT ''", "SELECT NULL WHERE 1 = 0"),
    "SELECT COUNT(*) FROM (SELECT 1) AS t",
)
PROGRAMS = ("print(0)", "print(1)", "print()", "print(input())")
VALUES = ("0", "-1", "None", "True", "''", "[]", "args[0]")
"""Results of the functions of constant programs; `args[0]` echoes what it is given."""

_MOST = 12
"""Maximum number of spans or sentences of a prompt that are tried."""
_TAG = re.compile(
    r"(.*<(answer|action|final_answer|final|solution)>)(.*)(</\2>\s*)", re.DOTALL | re.IGNORECASE
)
_FENCE = re.compile(r"(.*?```([\w+-]*)\n)(.*?)(\n?```\s*)", re.DOTALL)
_CALL = re.compile(r"\s*<tool_call>(.*)</tool_call>\s*", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[./]\d+)*%?(?![\w])")
_FUNCTION = r"\b(?:sqrt|exp|log|ln|sin|cos|tan|gcd|lcm|det|mod|abs|min|max|sum|floor|ceil)\b"
_EXPRESSION = re.compile(
    rf"(?:\d|(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z])|{_FUNCTION}|[-+*/^%=<>()\[\]{{}}|_.,'\u00d7\u00f7\u2212\u00b7!]|[ \t])+"
)
_OPERATOR = re.compile(r"[-+*/^%!\u00d7\u00f7\u2212\u00b7(\[,]|" + _FUNCTION)
_QUOTED = re.compile(
    r"\$\$?([^$\n]{1,400})\$\$?|`([^`\n]{1,400})`|\"([^\"\n]{1,400})\"|(?<!\w)'([^'\n]{1,400})'(?!\w)"
)
_TAGGED = re.compile(r"<(\w+)>([^<]{1,400})</\1>")
_SENTENCE = re.compile(r"(?<=[.?!:])\s+|\n+")
_QUERY = re.compile(r"\s*(?:SELECT|WITH)\b", re.IGNORECASE)
_IN_SIGNS = (
    (
        r"(?:what is|find|compute|evaluate|calculate)\s+([^?\n]+)[?\n]",
        "the phrase asked for",
        r"\1",
    ),
    (
        r"greatest common (?:divisor|factor) of (.+?) and (.+?)[?.\n]",
        *("a greatest common divisor", r"gcd(\1, \2)", r"\\gcd(\1, \2)"),
    ),
    (
        r"least common multiple of (.+?) and (.+?)[?.\n]",
        *("a least common multiple", r"lcm(\1, \2)", r"\\operatorname{lcm}(\1, \2)"),
    ),
    (r"determinant of (.+?)[?.\n]", "a determinant", r"det(\1)", r"\\det \1"),
    (r"inverse of (.+?)[?.\n]", "an inverse", r"\1^(-1)", r"\1^{-1}"),
    (
        r"remainder of (.+?) when divided by (.+?)[?.\n]",
        *("a remainder", r"(\1) mod \2", r"(\1) % \2", r"\1 \\bmod \2"),
    ),
    (r"(\d+)% of (\d+)[?.\n]", "a percentage", r"\1/100 * \2", r"\1% * \2"),
    (r"factorial of (\d+)", "a factorial", r"\1!"),
)
"""Questions that say in words what signs say shorter: as much of a restatement as a copied expression."""
_TABLE = re.compile(r"CREATE TABLE (\w+) \(((?:[^()]|\([^()]*\))*)\)")
_MANY = ", ".join(str(1_000_003 + 7 * n) for n in range(100))
_DEFINED = re.compile(r"^def (\w+)\(", re.MULTILINE)
_BOUND = re.compile(r"whole number from (-?\d+) to (-?\d+)")


@dataclass(frozen=True)
class Form:
    """The form in which a task wants its answer: a right reply with the answer taken out."""

    before: str = ""
    after: str = ""
    language: str = ""
    """Language tag of its fenced block, if it has one."""
    call: str = ""
    """The tool call whose first argument is the answer, as JSON."""

    def fill(self, answer: str) -> str:
        """Return a reply with `answer` in this form."""
        if not self.call:
            return f"{self.before}{answer}{self.after}"
        call = json.loads(self.call)
        name, old = next(iter(call["arguments"].items()))
        whole = isinstance(old, int) and re.fullmatch(r"-?\d{1,15}", answer)
        call["arguments"][name] = int(answer) if whole else answer
        return f"<tool_call>{json.dumps(call)}</tool_call>"

    def replies(self, answer: str) -> list[str]:
        """Return `answer` in this form, and as it is."""
        return list(dict.fromkeys((self.fill(answer), answer)))


def is_program(form: Form, right: str) -> bool:
    """Return True if an answer is a program or a query: no number or word of the prompt can be one."""
    return bool(form.language or _QUERY.match(right))


def read_form(reply: str) -> tuple[Form, str]:
    """Return the form of a right reply, and the answer in it."""
    if (match := _CALL.fullmatch(reply)) and (value := _first_argument(match[1])) is not None:
        return Form(call=match[1]), value
    if match := _TAG.fullmatch(reply):
        return Form(match[1], match[4]), match[3]
    if match := _FENCE.fullmatch(reply):
        return Form(match[1], match[4], match[2].lower() or "text"), match[3]
    return Form(), reply


def restatements(prompt: str) -> dict[str, list[str]]:
    """Return the question given back, by how: its expressions, formulas, quoted texts and code, the longest first,
    and what it asks for in words in signs. No lone numbers and no lone words."""
    spans = [block.body for block in fenced(prompt)]
    spans += [text for match in _QUOTED.finditer(prompt) for text in match.groups() if text]
    spans += [match[2] for match in _TAGGED.finditer(prompt)]
    for match in _EXPRESSION.finditer(prompt):
        spans += _parts(match[0])
    unlike = {" ".join(span.split()): span.strip() for span in spans if _is_compound(span)}
    ways = {"": sorted(unlike.values(), key=len, reverse=True)[:_MOST]}
    for pattern, name, *formulas in _IN_SIGNS:
        if asked := re.search(pattern, prompt, re.IGNORECASE):
            ways[f" {name}"] = [asked.expand(formula) for formula in formulas]
    return {name: found for name, found in ways.items() if found}


def echoes(prompt: str) -> list[str]:
    """Return the last line of a prompt, and its first sentences."""
    lines = [line for line in prompt.splitlines() if line.strip()]
    sentences = [text.strip() for text in _SENTENCE.split(prompt) if len(text.split()) > 2]
    return list(dict.fromkeys((*lines[-1:], *lines[:1], *sentences)))[:_MOST]


def numbers(prompt: str) -> list[str]:
    """Return the numbers of a prompt, each once, in order."""
    return list(dict.fromkeys(_NUMBER.findall(prompt)))


def words(prompt: str) -> list[str]:
    """Return the quoted words and short texts of a prompt, each once, in order."""
    found = (text for match in _QUOTED.finditer(prompt) for text in match.groups() if text)
    return list(dict.fromkeys(text for text in found if not _is_compound(text)))


def constants(form: Form, right: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the names and replies of answers that take no reading; `right` shows of what kind an answer is."""
    if _QUERY.match(right):
        for query in QUERIES:
            yield f"the query {query!r}", [form.fill(query)]
        yield (
            "a query without rows",
            [form.fill(f"SELECT * FROM ({_bare(right)}) AS t WHERE 1 = 0")],
        )
    elif form.language in ("python", "py"):
        names = _DEFINED.findall(right)
        programs = (
            [f"def {names[-1]}(*args):\n    return {value}" for value in VALUES]
            if names
            else PROGRAMS
        )
        for program in programs:
            yield f"the program {program!r}", [form.fill(program)]
    elif form.language == "verilog":
        yield from (
            (f"the module that gives {value}", [form.fill(text)]) for value, text in _modules(right)
        )
    else:
        for constant in CONSTANTS:
            yield f"the constant {constant!r}", form.replies(constant)


def given_wrong(prompt: str) -> list[str]:
    """Return the programs and queries that a prompt shows: to be mended or made faster, never the answer."""
    return [block.body for block in fenced(prompt) if len(block.body.split()) > 3][:2]


def inputs_of_constants(form: Form, right: str, prompt: str) -> dict[str, str]:
    """Return the names and replies that give a shown program its own numbers as inputs, in the shape of the
    right inputs.

    Empty unless the prompt shows a Python program and the right answer is a list of argument lists.
    """
    shown = "\n".join(block.body for block in fenced(prompt) if block.tag == "python")
    calls = _argument_lists(right) if form.language == "json" else []
    bounds = [(int(low), int(high)) for low, high in _BOUND.findall(prompt)]
    if not (shown and calls and bounds):
        return {}
    low, high = max(low for low, _ in bounds), min(high for _, high in bounds)
    own = [sign * int(text) for text in re.findall(r"\b\d+\b", shown) for sign in (1, -1)]
    near = [number + one for number in sorted(own, key=abs, reverse=True) for one in (1, -1)]
    sums = [one + other for one in own for other in own]
    replies = {}
    for name, values in (("", own), ("the neighbours of ", near), ("sums of ", sums)):
        fit = [value for value in dict.fromkeys(values) if low <= value <= high]
        places = count()
        if fit:
            filled = [[_replaced(value, fit, places) for value in call] for call in calls]
            replies[f"{name}the numbers of the shown program"] = form.fill(json.dumps(filled))
    return replies


def wrappings(form: Form, answer: str, prompt: str = "") -> dict[str, str]:
    """Return the answers that mean the same as `answer`, by name: a verifier that refuses it must refuse these.

    Those of a query also speak of the tables in `prompt`, so as to change the databases that it is run on.
    """
    if _QUERY.match(answer):
        query = _bare(answer)
        return {
            "SELECT * FROM (...)": f"SELECT * FROM ({query}) AS t",
            "SELECT * FROM (...), twice": f"SELECT * FROM (SELECT * FROM ({query}) AS t) AS u",
            "WITH": f"WITH w AS ({query}) SELECT * FROM w",
            "a constant condition": f"SELECT * FROM ({query}) AS t WHERE 1 = 1",
            "large constants": f"SELECT * FROM ({query}) AS t WHERE 987654321 <> 123456789",
            "texts and dates": f"SELECT * FROM ({query}) AS t WHERE 'zzzz' <> '1999-12-31'",
            "CASE": f"SELECT * FROM ({query}) AS t WHERE CASE WHEN 1 = 1 THEN 1 ELSE 0 END = 1",
            "UNION ALL of nothing": (
                f"SELECT * FROM ({query}) AS t UNION ALL SELECT * FROM ({query}) AS u WHERE 1 = 0"
            ),
            **{
                name: f"SELECT * FROM ({query}) AS t WHERE {condition}"
                for name, condition in _true_conditions(query, prompt).items()
            },
        }
    if form.language in ("python", "py"):
        if names := _DEFINED.findall(answer):
            return {
                "a function around it": f"{answer}\n\n_first = {names[-1]}\n\n\ndef {names[-1]}(*args):\n"
                "    return _first(*args)",
                "a comment": f"{answer}\n# All tests pass.",
            }
        return {
            "a function around it": f"def main():\n{indent(answer, '    ')}\n\n\nmain()",
            "a comment": f"{answer}\n# All tests pass.",
        }
    if form.language:
        return {}
    return {
        "parentheses": f"({answer})",
        "adding 0": f"{answer} + 0",
        "a factor of 1": f"1 * ({answer})",
        "bold": f"**{answer}**",
        "a box": f"\\boxed{{{answer}}}",
        "a fence": f"```\n{answer}\n```",
        "a sentence": f"The answer is {answer}.",
        "quotes": f'"{answer}"',
    }


def _true_conditions(query: str, prompt: str) -> dict[str, str]:
    """Conditions that always hold and name sizes, kinds and constants other than those of the question."""
    tables = dict.fromkeys(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", query, re.IGNORECASE))
    sizes = [f"(SELECT COUNT(*) FROM {name}) NOT IN (-2, 2, 3, 4, 5)" for name in tables]
    kinds, many = [], []
    for name, body in _TABLE.findall(prompt):
        if name not in tables:
            continue
        for column in re.findall(r"(?:^|,)\s*(\w+) \w", body):
            if column.upper() not in ("PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT"):
                kinds.append(f"(SELECT COUNT(*) FROM {name} WHERE {column} = 'zz') >= 0")
                many.append(f"(SELECT COUNT(*) FROM {name} WHERE {column} IN ({_MANY})) >= 0")
    made = {
        "sizes": f"({' OR '.join(sizes)} OR 1 = 1)" if sizes else "",
        "texts for all columns": " AND ".join(kinds),
        "many constants": " AND ".join(many),
    }
    return {name: condition for name, condition in made.items() if condition}


def _parts(run: str) -> Iterator[str]:
    """An arithmetic run of a prompt, and the sides of its equations."""
    whole = _balanced(run)
    yield whole
    if "=" in whole:
        yield from (_balanced(side) for side in re.split(r"[<>!]?=", whole))


def _balanced(text: str) -> str:
    """`text` without the punctuation of the sentence, and brackets at its ends that have no partner."""
    text = re.sub(
        r"^(?:\s*(?:[.,!'=|]|\ba\b(?=\s|$)))+|(?:[\s.,!?'=|]|\s\ba\b)+$", "", text
    ).strip()
    for opening, closing in ("()", "[]", "{}"):
        while text.startswith(closing) or (text.endswith(opening)):
            text = text.strip(closing if text.startswith(closing) else opening).strip()
        if text.count(opening) > text.count(closing) and text.startswith(opening):
            text = text[1:].strip()
        elif text.count(closing) > text.count(opening) and text.endswith(closing):
            text = text[:-1].strip()
    return text


def _is_compound(text: str) -> bool:
    bare = text.strip()
    if _NUMBER.fullmatch(bare) or len(bare) < 2:
        return False
    return bool(_OPERATOR.search(bare[1:]) and re.search(r"\w", bare)) or len(bare.split()) > 2


def _first_argument(call: str) -> str | None:
    """The first argument of a tool call, if it is a text or a whole number."""
    try:
        value = next(iter(json.loads(call)["arguments"].values()), None)
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _argument_lists(right: str) -> list[list[Any]]:
    try:
        calls = json.loads(right)
    except ValueError:
        return []
    is_list = isinstance(calls, list) and all(isinstance(call, list) for call in calls)
    return calls if is_list else []


def _replaced(value: Any, numbers: list[int], places: Iterator[int]) -> Any:
    """`value` with each of its numbers replaced by one of `numbers`, in turn."""
    if isinstance(value, list):
        return [_replaced(item, numbers, places) for item in value]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return numbers[next(places) % len(numbers)] if is_number else value


def _bare(query: str) -> str:
    return query.strip().rstrip(";").rstrip()


def _modules(right: str) -> Iterator[tuple[str, str]]:
    """Modules with the ports of `right` whose outputs are constant, or its first input."""
    header, end, _ = right.partition(");")
    outputs = re.findall(r"output\s+(?:reg\s+|wire\s+)?(?:\[[^\]]*\]\s*)?(\w+)", header)
    inputs = re.findall(r"input\s+(?:wire\s+)?(?:\[[^\]]*\]\s*)?(\w+)", header)
    if not (end and outputs):
        return
    for value in ("0", "~0", *inputs[:1]):
        body = "\n".join(f"  assign {name} = {value};" for name in outputs)
        yield value, f"{header.replace('output reg', 'output')}{end}\n{body}\nendmodule"
