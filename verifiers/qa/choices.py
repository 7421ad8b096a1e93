"""Questions with lettered options: a reply may give the letter, the option's text, or both if they agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from verigym.canonical import JSON
from verigym.verifiers.math.choice import letters_of, options_of
from verigym.verifiers.qa.normalise import tokens

_MOST_PROMPT = 20_000
_MOST_CHARS = 400
_NEXT_SENTENCE = re.compile(r"(?<=[\w)])[.?!]\s+(?=[A-Z])")


@lru_cache(maxsize=256)
def read_options(prompt: str) -> Mapping[str, str]:
    """Return the options of a question by letter; empty if it has none."""
    if len(prompt) > _MOST_PROMPT:
        return {}
    return {
        letter: _NEXT_SENTENCE.split(text)[0].strip(" .*_")
        for letter, text in options_of(prompt).items()
    }


def right_letters(options: Mapping[str, str], right: Sequence[JSON]) -> frozenset[str]:
    """Return the letters of the options that right answers give, by letter or text."""
    found: set[str] = set()
    for one in right:
        text = str(one).strip(" ().")
        if text in options:
            found.add(text)
        else:
            found |= _letters_with(options, text)
    return frozenset(found)


def chosen_letter(options: Mapping[str, str], answer: str) -> str | None:
    """Return the letter of the one option that a reply chooses; None if it chooses none, or its text is another's."""
    if len(answer) > _MOST_CHARS:
        return None
    same = _letters_with(options, answer)
    if len(same) == 1:
        return next(iter(same))
    choice = letters_of(answer, several=False)
    if choice is None or choice[0] not in options:
        return None
    letter, text = choice
    return letter if not text or letter in _letters_with(options, text) else None


def _letters_with(options: Mapping[str, str], text: str) -> set[str]:
    wanted = tokens(text)
    return {letter for letter, option in options.items() if wanted and tokens(option) == wanted}
