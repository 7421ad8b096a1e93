"""Audit of a library's own scorer or reward for paying worthless play, on each task of an adapter.

Questions are answered with constants, parts of the prompt, nothing, and the right answer turned
into a wrong one (denied, negated, its digits swapped, its order reversed, yes for no, another
answer beside it). Games are played with the same action in every turn. `python
benchmarks/door_answers.py 'reasoning-gym/*'` prints what was paid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import verigym
from verigym.env import Env
from verigym.envs.doors.reasoning import Reasoning

CONSTANTS = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "2",
        "10",
        "0.5",
        "True",
        "False",
        "yes",
        "no",
        "None",
        "null",
        "nan",
    ),
    *(
        "A",
        "B",
        "x",
        "[]",
        "{}",
        "()",
        "[[]]",
        '""',
        "unknown",
        "infeasible",
        "impossible",
        "the answer",
    ),
    *("1 2 3", "[0, 0]", "(0, 0)", "up", "north", "#", "...", "\\boxed{}"),
)
_OPPOSITES = {
    "yes": "no", "true": "false", "1": "0", "possible": "impossible", "feasible": "infeasible", "odd": "even",
    "knight": "knave", "up": "down", "left": "right", "on": "off", "entailed": "not entailed",
}  # fmt: skip
_OPPOSITES |= {other: one for one, other in _OPPOSITES.items()}
_WORD = re.compile(r"[A-Za-z]+|\d")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_OTHER = "17"
_MOST_TURNS = 300


def echoes(prompt: str) -> Iterator[str]:
    """Yield the prompt, its lines, and its last sentence."""
    yield prompt
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    yield from dict.fromkeys((*lines[-4:], *lines[:4]))
    yield from re.split(r"(?<=[.?!:])\s+", prompt.strip())[-3:]


def wrong_answers(right: str) -> dict[str, str]:
    """Return the answers that are wrong because `right` is right, by how they were made."""
    made = {
        "denied": f"not {right}",
        "doubted": f"{right} or not",
        "another beside it": f"{right}, {_OTHER if right != _OTHER else 19}",
        "an alternative": f"{right} or {_OTHER if right != _OTHER else 19}",
    }
    flipped = _WORD.sub(lambda word: _opposite(word[0]), right)
    made["flipped"] = flipped if _is_choice(right) else right
    if match := _NUMBER.search(right):
        number = match[0]
        changed = number.removeprefix("-") if number.startswith("-") else f"-{number}"
        if float(number):
            made["negated"] = right[: match.start()] + changed + right[match.end() :]
        digits = number.replace("-", "").replace(".", "")
        if len(digits) > 1 and digits[0] != digits[-1] and "." not in number:
            swapped = number[:-1].replace(digits[0], digits[-1], 1) + digits[0]
            made["digits swapped"] = right[: match.start()] + swapped + right[match.end() :]
        if number == right.strip() and "." not in number and len(digits) < 9:
            made["one more"] = str(int(number) + 1)
    return {how: answer for how, answer in made.items() if not _is_same(answer, right)}


def _opposite(word: str) -> str:
    other = _OPPOSITES.get(word.lower(), word)
    return other.capitalize() if word[:1].isupper() else other


def _is_choice(right: str) -> bool:
    return len(right.split()) == 1 and right.strip().lower() in _OPPOSITES


def _is_same(answer: str, right: str) -> bool:
    return "".join(answer.lower().split()) == "".join(right.lower().split())


def audit_question(env: Reasoning, seeds: range) -> tuple[Counter[str], int]:
    """Count how often each cheap or wrong answer was paid, and the tasks tried.

    Answers that are wrong by construction ("wrong: ...") must never be paid; a constant or an echo
    may be right now and then.
    """
    paid: Counter[str] = Counter()
    played = 0
    for difficulty in env.difficulties:
        for seed in seeds:
            env.reset(seed=seed, options={"difficulty": difficulty})
            played += 1
            task = env.task
            reference: Any = task.reference
            right = str(reference.get("solution", reference.get("answer")) or "")
            replies = {f"constant {text!r}": text for text in CONSTANTS}
            replies |= {f"echo {i}": text for i, text in enumerate(echoes(task.prompt))}
            if right:
                replies |= {f"wrong: {how}": text for how, text in wrong_answers(right).items()}
            for name, text in replies.items():
                if name.startswith("echo") and _is_same(text, right):
                    continue
                for reply in (f"<answer>{text}</answer>", text):
                    score = env.verifier.verify(task, reply).score
                    if score is None:
                        paid[f"fault: {name}"] += 1
                    elif score > 0:
                        paid[name] += 1
                        break
    return paid, played


def audit_game(env: Env[Any], seeds: range) -> tuple[Counter[str], int]:
    """Count how often the same action in every turn earned a reward, and the games played."""
    paid: Counter[str] = Counter()
    played = 0
    for seed in seeds:
        played += 1
        observation, info = env.reset(seed=seed)
        legal = list(info.get("legal_actions") or ())
        actions = dict.fromkeys(
            ("", "x", "0", "[0]", "[up]", str(observation)[-200:], *legal[:8], *legal[-2:])
        )
        for action in actions:
            env.reset(seed=seed)
            total = 0.0
            for _ in range(min(env.max_turns or _MOST_TURNS, _MOST_TURNS)):
                _, reward, terminated, truncated, _ = env.step(action)
                total += float(reward)
                if terminated or truncated:
                    break
            if total > 0:
                paid[f"always {action[-40:]!r}"] += 1
    return paid, played


def audit(name: str, n_seeds: int) -> tuple[Counter[str], int]:
    """Count what a task of an adapter pays for worthless play, by name, and the tasks tried."""
    env = verigym.make(name)
    seeds = range(n_seeds)
    return audit_question(env, seeds) if isinstance(env, Reasoning) else audit_game(env, seeds)
