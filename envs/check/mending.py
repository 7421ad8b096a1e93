"""Changes that mend programs and queries, learned from other tasks: a table of substitutions.

Whoever applies it to the program of a task never reads what the program is wanted for. The law of cheap
answers tries it on tasks that show something to mend.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from difflib import SequenceMatcher
from keyword import iskeyword

Change = tuple[str, tuple[str, ...], tuple[str, ...], str]
"""The sort of the token before, tokens to take out, tokens to put in, the sort of the token after."""

_TOKEN = re.compile(r"\w+|[^\w\s]+|\s+")
_MOST_TOKENS = 4
_MOST_CHANGES = 3
_LEAST_ALIKE = 0.8


def learn_changes(pairs: Iterable[tuple[str, str]]) -> Counter[Change]:
    """Count the small changes that turn what tasks show into their right answers, `pairs` of the two."""
    found: Counter[Change] = Counter()
    for shown, right in pairs:
        old, new = _tokens(shown), _tokens(right)
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
        if 0 < len(changes) <= _MOST_CHANGES and matcher.ratio() > _LEAST_ALIKE:
            for _, i, j, k, m in changes:
                if max(j - i, m - k) <= _MOST_TOKENS:
                    found[_around(old, i, j, tuple(new[k:m]))] += 1
    return found


def mend_by_table(shown: str, changes: Counter[Change]) -> str | None:
    """Make the most usual change that fits; None if none does."""
    tokens = _tokens(shown)
    for change, _ in changes.most_common():
        _, old, new, _ = change
        for i in range(len(tokens) - len(old) + 1):
            if _around(tokens, i, i + len(old), new) == change:
                return "".join((*tokens[:i], *new, *tokens[i + len(old) :]))
    return None


def _tokens(text: str) -> list[str]:
    """The tokens of a program, of a Python program without comments and in the layout of `ast.unparse`."""
    with suppress(SyntaxError):
        text = ast.unparse(ast.parse(text))
    return _TOKEN.findall(text)


def _around(tokens: list[str], i: int, j: int, new: tuple[str, ...]) -> Change:
    before = next((token for token in reversed(tokens[:i]) if token.strip()), "")
    after = next((token for token in tokens[j:] if token.strip()), "")
    return _sort(before), tuple(tokens[i:j]), new, _sort(after)


def _sort(token: str) -> str:
    """A keyword or sign itself; one mark for numbers and one for names, which differ from task to task."""
    if token.isdigit():
        return "0"
    is_word = token.isupper() or iskeyword(token) or hasattr(builtins, token)
    return "name" if token[:1].isalpha() and not is_word else token
