"""Long tokens for a tiny model, read from the oracle's play of an environment.

With them a prompt has a quarter of the tokens that its characters would make, and a common action is a single token: the
model has a choice to learn, and no spelling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from verigym.errors import RequestError
from verigym.making import make

_FIRST_SEED = 10_000_000
_OFTEN = 3


def learn_words(
    env_id: str,
    arguments: Mapping[str, Any] | None = None,
    difficulty: int | str | None = None,
    *,
    show_legal: bool = True,
    tasks: int = 60,
) -> list[str]:
    """Return sentences that all `tasks` share, and actions and words of at least three of them.

    Tasks are of the training split. Raises RequestError if the environment has no oracle.
    """
    lines: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    words: Counter[str] = Counter()
    options = {"split": "train"} | ({} if difficulty is None else {"difficulty": difficulty})
    with make(env_id, **(arguments or {})) as env:
        if env.oracle_absent:
            raise RequestError(
                f"the tokens of a tiny-words model come from the oracle, and {env_id} has none: "
                f"{env.oracle_absent}"
            )
        for seed in range(_FIRST_SEED, _FIRST_SEED + tasks):
            seen, _ = env.reset(seed=seed, options=options)
            over, texts, offered = False, [str(env.task.prompt), str(seen)], set[str]()
            while not over:
                action = env.oracle()
                offered |= {action, *(env.legal_actions(env.state) or ())}
                seen, _, ended, cut, _ = env.step(action)
                texts += [action, str(seen)]
                over = ended or cut
            text = "\n".join(texts)
            lines.update(set(re.findall(r"[^\n.]{12,}\.?", text)))
            actions.update(offered)
            words.update(set(re.findall(r" ?[A-Za-z]{2,}| \d", text)))
    own = ["Legal actions: ", ", "] if show_legal else []
    shared = sorted(line for line, n in lines.items() if n == tasks)
    several = sorted(action for action, n in actions.items() if n >= _OFTEN)
    frequent = sorted(word for word, n in words.items() if n >= _OFTEN)
    bare = sorted(word.strip() for word in frequent if len(word) > 2)
    # A single character is a token already.
    return [w for w in dict.fromkeys([*own, *shared, *several, *frequent, *bare]) if len(w) > 1]
