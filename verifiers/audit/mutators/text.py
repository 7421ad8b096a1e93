"""Texts with a form: another one of the same form, and ones that break it in one place.

Of `text/constraints` only seeds with one constraint of the kinds below are changed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from verigym.canonical import JSON
from verigym.verifiers.audit.cases import Case

VERIFIERS = frozenset({"text/constraints", "text/format", "text/schema"})

Change = Callable[[str, dict[str, Any]], str]
_SAME: dict[str, Change] = {
    "punctuation:no_comma": lambda text, _: f"{text} And so on; and more.",
    "keywords:existence": lambda text, _: f"So it goes. {text.upper()}",
    "keywords:forbidden_words": lambda text, _: f"{text} Nothing else.",
    "change_case:english_lowercase": lambda text, _: f"{text} and the old house too.",
    "startend:end_checker": lambda text, _: f"So it goes. {text}",
    "length_constraints:number_words": lambda text, args: (
        f"{text} more" if args["relation"] == "at least" else text.split()[0]
    ),
    "detectable_format:json_format": lambda text, _: f"```json\n{text}\n```",
    "detectable_format:title": lambda text, _: f"{text}\nAnd so on.",
    "digits:none": lambda text, _: f"{text} Ten more.",
    "characters:ascii": lambda text, _: f"{text} ~!",
    "words:whole": lambda text, args: f"{text} {args['word']}",
}
_BROKEN: dict[str, Change] = {
    "punctuation:no_comma": lambda text, _: f"{text} Well, no.",
    "keywords:existence": lambda text, args: _without(text, args["keywords"][0]),
    "keywords:forbidden_words": lambda text, args: f"{text} {args['forbidden_words'][0]}",
    "change_case:english_lowercase": lambda text, _: f"{text} Then",
    "change_case:english_capital": lambda text, _: f"{text} then",
    "startend:end_checker": lambda text, _: f"{text} Is that all?",
    "startend:quotation": lambda text, _: f"{text} He said.",
    "length_constraints:number_words": lambda text, args: (
        text.split()[0]
        if args["relation"] == "at least"
        else f"{text} " + "word " * args["num_words"]
    ),
    "detectable_format:json_format": lambda text, _: text[:-1],
    "detectable_format:title": lambda text, _: text.replace("<<", "<").replace(">>", ">"),
    "detectable_format:number_bullet_lists": lambda text, _: f"{text}\n* one more",
    "combination:two_responses": lambda text, _: text.replace("******", ""),
    "digits:none": lambda text, _: f"{text} 10",
    "characters:ascii": lambda text, _: f"{text} é",
    "words:whole": lambda text, args: text.replace(args["word"], args["word"] + "x"),
    "words:exactly": lambda text, _: f"{text} more",
    "lines:exactly": lambda text, _: f"{text}\nmore",
    "startend:first_word": lambda text, _: f"Then {text}",
    "startend:last_word": lambda text, _: f"{text} then",
    "format:tag": lambda text, _: text[:-1],
    "format:json_keys": lambda text, _: text.replace("{", '{"zz": 1, ', 1),
}


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield a text of the same form, and texts that break the form in one place."""
    reference, text = case.task.reference, case.submission
    if not case.label or not isinstance(text, str):
        return
    if (
        text.startswith("<think>")
        and text.endswith("</answer>")
        and not isinstance(reference, dict)
    ):
        yield from _tags(case, text)
    elif not isinstance(reference, dict):
        return
    elif "schema" in reference and text.startswith("{") and text.endswith("}"):
        yield _made(case, "fenced", f"```json\n{text}\n```", 1)
        yield _made(case, "white-space", f"\n  {text}\n\n", 1)
        for category, broken in (
            ("breaks-off", text[:-1]),
            ("two-values", f"{text}\n{text}"),
            ("a-comma-more", f"{text[:-1]},}}"),
            ("a-comment", f"// the object\n{text}"),
            ("single-quotes", text.replace('"', "'") if '"' in text else text[:-1]),
        ):
            yield _made(case, category, broken, 0)
    elif "constraints" in reference and len(reference["constraints"]) == 1:
        (one,) = reference["constraints"]
        args = one.get("args") or {}
        if one["id"] in _SAME:
            yield _made(case, "still-follows", _SAME[one["id"]](text, args), 1)
        if one["id"] in _BROKEN:
            yield _made(case, "follows-no-more", _BROKEN[one["id"]](text, args), 0)


def _tags(case: Case, text: str) -> Iterator[Case]:
    thought, _, rest = text.partition("</think>")
    yield _made(case, "white-space", f"\n{thought}</think>\n\n{rest.strip()}\n", 1)
    yield _made(case, "longer", text.replace("</think>", " and so on</think>"), 1)
    for category, broken in (
        ("turned", f"{rest}{thought}</think>"),
        ("no-closing", text.removesuffix("</answer>")),
        ("no-thought", rest),
        ("empty", "<think></think><answer></answer>"),
        ("twice", f"{text}{text}"),
        ("nested", f"{thought}{rest}</think>"),
        ("words-beside", f"Here it is: {text}"),
        ("words-behind", f"{text} Done."),
        ("other-case", text.replace("think>", "Think>")),
    ):
        yield _made(case, category, broken, 0)


def _without(text: str, word: str) -> str:
    at = text.lower().find(word.lower())
    while at >= 0:
        text = text[:at] + text[at + len(word) :]
        at = text.lower().find(word.lower())
    return text


def _made(case: Case, category: str, submission: JSON, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
