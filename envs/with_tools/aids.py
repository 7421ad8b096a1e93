"""The tools that a policy may be given: the Python interpreter, a calculator, search over a corpus.

Each takes one text, and sees that text and the cells that ran before: never the task or its reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from verigym.envs.tools.calculator import BadExpression, compute, shown
from verigym.envs.tools.tool import Tool, text
from verigym.envs.with_tools.cells import CELL_S, SHOWN_CHARS, Cells, run
from verigym.envs.with_tools.corpus import Corpus
from verigym.errors import RequestError, suggestion

Ran = tuple[str, ...]
"""The cells of Python that ran, oldest first."""


@dataclass(frozen=True)
class Aid:
    """A tool that takes one text. `use` returns the cells after the call, and the result to show."""

    name: str
    parameter: str
    about: str
    example: str
    use: Callable[[Ran, str], tuple[Ran, str]]

    @property
    def tool(self) -> Tool:
        """The tool as environments with tools define theirs; checks arguments and gives the schema."""
        return Tool(self.name, self.about, {self.parameter: text("")}, self.use)


def _python(ran: Ran, code: str) -> tuple[Ran, str]:
    if not code.strip():
        return ran, "There is no code to run."
    after = run(Cells(ran), code)
    return after.ran, after.shown


def _calculator(ran: Ran, expression: str) -> tuple[Ran, str]:
    try:
        return ran, shown(compute(expression))
    except BadExpression as error:
        return ran, f"That cannot be computed: {error}."
    except ZeroDivisionError:
        return ran, "That cannot be computed: division by zero."


def _search(corpus: Corpus, ran: Ran, query: str) -> tuple[Ran, str]:
    return ran, corpus.search(query)


_ALONE = {
    "python": Aid(
        "python",
        "code",
        "Run Python code. Shows what it prints and the value of its last expression, "
        f"{SHOWN_CHARS} characters at most. Variables are kept from call to call. Code may run "
        f"{CELL_S:g} seconds; a call that takes longer is undone.",
        "print(6 * 7)",
        _python,
    ),
    "calculator": Aid(
        "calculator",
        "expression",
        "Compute exactly with + - * / ** ( ) and decimal numbers.",
        "12 * (3 + 4)",
        _calculator,
    ),
}
_SEARCH = "search"
NAMES = (*_ALONE, _SEARCH)


def find_aids(names: Sequence[str], corpus: str | None) -> Mapping[str, Aid]:
    """Return the tools by name. Raises RequestError for an unknown name or a corpus that is missing or unused."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise RequestError(f'tools must be a list of names, such as ["python"], got {names!r}')
    found: dict[str, Aid] = {}
    for name in names:
        if name not in NAMES:
            raise RequestError(f"there is no tool {name!r}; {suggestion(name, NAMES)}")
        if name != _SEARCH:
            found[name] = _ALONE[name]
        elif corpus is None:
            raise RequestError(
                "tool search needs a corpus: a folder of .txt and .md files, or a .jsonl file"
            )
        else:
            found[name] = Aid(
                _SEARCH,
                "query",
                "Find the passages that share most words with the query, best first.",
                "largest lake of Norway",
                partial(_search, Corpus.read(corpus)),
            )
    if corpus is not None and _SEARCH not in found:
        raise RequestError("corpus is for the tool search; add it to tools, or leave corpus out")
    return found
