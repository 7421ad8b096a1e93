"""The process in which reasoning-gym makes and scores its own items: `python -m verigym.envs.audit.raw_scorer`.

Some of its scorers run answers as code, so they run here, in a process that is killed if it does not answer. It reads a request
a line, `["item", task, seed]` or `["score", answer]` of the last item, and writes `{"ok": ...}` or `{"raised": text}`.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints must not be read as a reply
    import reasoning_gym

    dataset: Any = None
    entry: Any = None
    for line in sys.stdin:
        kind, *given = json.loads(line)
        try:
            if kind == "item":
                task, seed = given
                dataset = reasoning_gym.create_dataset(task, seed=seed, size=1)
                entry = dataset[0]
                answer = entry["answer"]
                found: Any = [str(entry["question"]), None if answer is None else str(answer)]
            else:
                found = float(dataset.score_answer(given[0], entry))
        except Exception as error:  # noqa: BLE001 - what it raises is the finding
            reply = {"raised": f"{type(error).__name__}: {error}"[:300]}
        else:
            reply = {"ok": found}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
