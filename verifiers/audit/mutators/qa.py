"""Short answers: other dress for a right one, and lists, hedges, denials and conflicts around it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from verigym.canonical import JSON
from verigym.verifiers.audit.cases import Case

VERIFIERS = frozenset({"qa/answer"})

_PLAIN = re.compile(r"[\w .,'&%/−×^-]{1,60}")
_OTHERS = ("Xanadu", "Ultima Thule", "Brigadoon")


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield variants of a bare right answer; text around any other answer could itself be an
    answer."""
    reference, text = case.task.reference, case.submission
    if not case.label or not isinstance(text, str) or not isinstance(reference, dict):
        return
    if not _PLAIN.fullmatch(text) or "supporting" in reference or "nswer" in text or " is " in text:
        return
    for form in (
        "<answer>{}</answer>",
        "Answer: {}",
        "**{}**",
        '"{}"',
        "{}\n",
        "Some work.\nAnswer: {}",
    ):
        yield _made(case, "wrapped", form.format(text), 1)
    other = rng.choice(_OTHERS)
    yield _made(case, "thought-first", f"<think>{other}? No.</think>{text}", 1)
    yield _made(case, "as-data", {"answer": text}, 1)
    yield _made(case, "taken-back", f"<answer>{other}</answer> No. <answer>{text}</answer>", 1)
    yield _made(
        case, "taken-back-wrongly", f"<answer>{text}</answer> No. <answer>{other}</answer>", 0
    )
    yield _made(case, "another", other, 0)
    for form in (
        "{} or {}",
        "{}, {}",
        "{}; {}",
        "{} / {}",
        "{}\n{}",
        "either {} or {}",
        "{} and {}",
    ):
        pair = [text, other]
        rng.shuffle(pair)
        yield _made(case, "candidate-list", form.format(*pair), 0)
    yield _made(case, "candidate-list", ", ".join([*_OTHERS, text]), 0)
    for form in (
        "maybe {}",
        "{}?",
        "I am not sure, but {}",
        "possibly {}",
        "it might be {}",
        "I guess {}",
    ):
        yield _made(case, "hedge", form.format(text), 0)
    for form in ("not {}", "It is not {}.", "anything but {}"):
        yield _made(case, "denied", form.format(text), 0)
    yield _made(case, "in-a-flood", f"{text} {'and so on ' * 60}", 0)
    yield _made(case, "list-as-data", {"answer": [text, other]}, 0)


def _made(case: Case, category: str, submission: JSON, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
