"""A regular grammar: named pieces that may use each other, put together into one pattern.

`{"start": name, "rules": {name: pattern}}`; a pattern is a regular expression in which `<name>`
stands for another rule. No rule may reach itself (that would not be regular). The whole runs in an
engine without backtracking, so time is linear in the text. `\\<` is a literal `<`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from verigym.canonical import JSON
from verigym.errors import TaskError

MAX_PATTERN_CHARS = 100_000

_REFERENCE = re.compile(r"\\.|\(\?P?<|<([A-Za-z_]\w*)>", re.DOTALL)


def read_grammar(grammar: JSON) -> str:
    """Return the one pattern that `grammar` (a pattern, or an object as above) stands for.

    Raises TaskError for unknown names, recursion, or a pattern that grows too long.
    """
    if isinstance(grammar, str):
        return grammar
    if not isinstance(grammar, dict):
        raise TaskError('a grammar is a pattern or {"start": name, "rules": {name: pattern}}')
    start, rules = grammar.get("start"), grammar.get("rules")
    if not isinstance(rules, dict) or not all(isinstance(rule, str) for rule in rules.values()):
        raise TaskError("the rules of a grammar must be an object of patterns")
    if not isinstance(start, str) or start not in rules:
        raise TaskError(f"the start {start!r} is not a rule of the grammar")
    return _expand(start, rules, (), {})


def _expand(
    name: str, rules: Mapping[str, str], above: tuple[str, ...], done: dict[str, str]
) -> str:
    if name in above:
        raise TaskError(
            f"the rule {name!r} refers to itself; a regular grammar must not be recursive"
        )
    if name not in done:

        def inner(match: re.Match[str]) -> str:
            used = match[1]
            if used is None:
                return "<" if match[0] == "\\<" else match[0]
            if used not in rules:
                raise TaskError(f"the rule {name!r} uses <{used}>, which is not defined")
            return f"(?:{_expand(used, rules, (*above, name), done)})"

        done[name] = _REFERENCE.sub(inner, rules[name])
        if len(done[name]) > MAX_PATTERN_CHARS:
            raise TaskError(f"the rule {name!r} grows beyond {MAX_PATTERN_CHARS} characters")
    return done[name]
