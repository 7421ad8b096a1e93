"""Every verifier with every form in which chat models write a reply: right answers paid, drafts not.

    python benchmarks/reply_forms.py

A reply is thoughts, a body and an end. Thoughts are those of public chat templates and R1-style prompts
(always with a wrong draft in them); bodies say where the answer stands; ends are the tokens of templates.
Each verifier judges the combinations that suit it with a right answer (must be paid in full), the same with a
wrong answer (must earn 0), and drafts and withdrawals with the right answer (must earn 0).

Prints the wrong verdicts by verifier, writes JSON (`--out`, by default results/reply_forms.json), and exits
with 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from verigym import Task, make_verifier

THOUGHTS = {
    "none": "",
    "think": "<think>\nPerhaps {wrong}\n</think>\n\n",
    "empty think": "<think>\n\n</think>\n\n",
    "prefilled think": "Perhaps {wrong}\n</think>\n\n",
    "capitals": "<THINK>Perhaps {wrong}</THINK>\n",
    "thinking": "<thinking>Perhaps {wrong}</thinking>\n",
    "reasoning": "<reasoning>\nPerhaps {wrong}\n</reasoning>\n",
    "two openings": "<think><think>Perhaps {wrong}</think>\n",
    "a stray closing": "<think>Perhaps {wrong}</think>\nHm.</think>\n",
    "interleaved": "<think>Perhaps {wrong}</think>I think again.<think>Or {wrong}</think>\n",
    "a tagged draft": "<think><answer>{wrong}</answer></think>\n",
    "a fenced draft": "<think>\n```\n{wrong}\n```\n</think>\n",
    "Magistral": "[THINK]Perhaps {wrong}[/THINK]",
    "Kimi": "\u25c1think\u25b7Perhaps {wrong}\u25c1/think\u25b7",
    "OpenThoughts": "<|begin_of_thought|>\nPerhaps {wrong}\n<|end_of_thought|>\n\n<|begin_of_solution|>\n",
    "Command A": "<|START_THINKING|>Perhaps {wrong}<|END_THINKING|><|START_RESPONSE|>",
    "Harmony": "<|channel|>analysis<|message|>Perhaps {wrong}<|end|><|start|>assistant<|channel|>final<|message|>",
}
ENDS = {
    "none": "",
    "ChatML": "<|im_end|>",
    "Llama 3": "<|eot_id|>",
    "Gemma": "<end_of_turn>\n",
    "DeepSeek": "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "Mistral": "</s>",
    "Harmony": "<|return|>",
    "the next turn": "<|im_end|>\n<|im_start|>user\n{wrong}",
}
TAGS = {
    "tags": "<answer>{right}</answer>",
    "tags on lines": "<answer>\n{right}\n</answer>",
    "capital tags": "<ANSWER>{right}</ANSWER>",
    "a closing tag that was cut": "<answer>{right}",
    "prose and tags": "I worked it out.\n\n<answer>{right}</answer>",
    "a draft in earlier tags": "<answer>{wrong}</answer>\nThat was a mistake.\n<answer>{right}</answer>",
    "tags in tags": "<answer><answer>{right}</answer></answer>",
}
BARE = {"bare": "{right}", "bare with lines around": "\n\n{right}\n\n"}
FENCES = {
    "a fence": "```{lang}\n{right}\n```",
    "an untagged fence": "```\n{right}\n```",
    "tildes": "~~~{lang}\n{right}\n~~~",
    "a fence in tags": "<answer>\n```{lang}\n{right}\n```\n</answer>",
    "a fence in the line of the tag": "<answer>```{lang}\n{right}\n```</answer>",
    "a fence that the tag cuts": "<answer>```{lang}\n{right}\n</answer>",
    "a fence closed in the last line": "```{lang}\n{right}```",
    "prose and a fence": "Here it is:\n\n```{lang}\n{right}\n```\n\nThat does what was asked for.",
    "a fence opened inline": "Here it is: ```{lang}\n{right}\n```",
}
LATER_FENCE = {
    "a fenced draft, then a fence": "```{lang}\n{wrong}\n```\nThat is wrong. Better:\n```{lang}\n{right}\n```",
    "a fenced draft, then tags": "```{lang}\n{wrong}\n```\n<answer>\n{right}\n</answer>",
}
SENTENCES = {
    "the answer is": "The answer is {right}.",
    "a bold label": "I worked it out.\n\n**Answer:** {right}",
    "a final label": "I worked it out.\n\nFinal answer: {right}",
}
BOXES = {
    "a box": "Hence $\\boxed{{right}}$.",
    "a box in tags": "<answer>$\\boxed{{right}}$</answer>",
    "a box in a display": "\\[\n\\boxed{{right}}\n\\]",
}
CALLS = {
    "call tags": "<tool_call>{right}</tool_call>",
    "call tags on lines": "I call it.\n<tool_call>\n{right}\n</tool_call>",
    "capital call tags": "<TOOL_CALL>{right}</TOOL_CALL>",
    "call tags in answer tags": "<answer><tool_call>{right}</tool_call></answer>",
    "call tags around a fence": "<tool_call>\n```json\n{right}\n```\n</tool_call>",
    "function call tags": "<function_call>{right}</function_call>",
    "call tags of Phi-4": "<|tool_call|>[{right}]<|/tool_call|>",
    "the token of Mistral": "[TOOL_CALLS][{right}]",
    "the token of Llama 3": "<|python_tag|>{right}",
    "prose and a call": "Here is the call: {right}",
    "prose and a list": "Here are the calls:\n[{right}]",
    "tool_calls": '{"tool_calls": [{right}]}',
}
UNPAID = {
    "a thought alone": "<think>{right}</think>I give up.",
    "a fenced thought alone": "<think>\n```{lang}\n{right}\n```\n</think>\nI give up.",
    "a tagged thought alone": "<think><answer>{right}</answer></think>\nI give up.",
    "a thought never closed": "<think>\n<answer>{right}</answer>",
    "a thought that the prompt opened": "<answer>{right}</answer>\n</think>\nI give up.",
    "a thought in another template": "[THINK]<answer>{right}</answer>[/THINK]I give up.",
    "an analysis alone": "<|channel|>analysis<|message|><answer>{right}</answer><|end|>",
    "a draft, then a wrong answer": "<answer>{right}</answer>\nNo.\n<answer>{wrong}</answer>",
    "a fenced draft, then a wrong answer": "```{lang}\n{right}\n```\nNo.\n<answer>{wrong}</answer>",
    "a thought, then a wrong answer": "<think><answer>{right}</answer></think><answer>{wrong}</answer>",
    "the next turn": "<answer>{wrong}</answer><|im_end|>\n<|im_start|>user\n<answer>{right}</answer>",
    "an answer taken back": "<answer>{right}</answer>\nWait, that is wrong. I give up.",
    "a fence taken back": "```{lang}\n{right}\n```\nActually, ignore that. I don't know.",
    "empty tags": "<think>{right}</think><answer></answer>",
}


@dataclass(frozen=True)
class Subject:
    """A verifier with a task, a right and a wrong answer, and the bodies that suit it."""

    verifier: str
    reference: Any
    answer: str
    wrong: str
    bodies: dict[str, str]
    lang: str = ""
    prompt: str = ""
    params: dict[str, Any] = field(default_factory=dict)


CALL = '{"name": "weather", "arguments": {"city": "Paris"}}'
OTHER_CALL = '{"name": "weather", "arguments": {"city": "Rome"}}'
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
REPOSITORY = {"pkg/main.py": "def one():\n    return 0\n"}
PATCH = "# file: pkg/main.py\ndef one():\n    return {}"
MODULE = "module m(input a, output y);\n  assign y = {}a;\nendmodule"
TOP = "def f(xs):\n    return {}"
ABOVE = "def f(n):\n    return n > 3\n"
SUBJECTS = (
    Subject("math/answer", {"answer": "3/4"}, "3/4", "2/3", BARE | TAGS | SENTENCES | BOXES),
    Subject("math/countdown", {"numbers": [3, 5, 7], "target": 22}, "3*5+7", "3*5-7", BARE | TAGS),
    Subject(
        "qa/answer",
        {"answer": "Paris"},
        "Paris",
        "London",
        BARE | TAGS | SENTENCES,
        prompt="What is the capital of France?",
    ),
    Subject(
        "code/value",
        {"literal": "[1, 2]"},
        "[1, 2]",
        "[2, 1]",
        # It takes two different values in tags for two answers.
        {name: form for name, form in TAGS.items() if "{wrong}" not in form},
    ),
    Subject(
        "sql/query",
        {
            "query": "SELECT a FROM t WHERE b > 3",
            "schema": {"tables": {"t": {"a": "INT", "b": "INT"}}},
        },
        "SELECT a FROM t WHERE 3 < b",
        "SELECT a FROM t WHERE b > 4",
        BARE | TAGS | FENCES | LATER_FENCE,
        lang="sql",
    ),
    Subject(
        "code/function",
        {"function": "f", "tests": [{"args": [2], "result": 4}, {"args": [5], "result": 25}]},
        "def f(n):\n    return n * n",
        "def f(n):\n    return n + n",
        BARE | TAGS | FENCES | LATER_FENCE,
        lang="python",
    ),
    Subject(
        "code/stdio",
        {"tests": [{"stdin": "4\n", "stdout": "8\n"}]},
        "print(2 * int(input()))",
        "print(3 * int(input()))",
        BARE | TAGS | FENCES | LATER_FENCE,
        lang="python",
    ),
    Subject(
        "code/cost",
        {
            "function": "f",
            "slow": "def f(xs):\n    m = 0\n    for x in xs:\n        if x > m:\n            m = x\n    return m",
            "fast": TOP.format("max(xs)"),
            "calls": [[[1, 2]], [[n * n % 17 for n in range(60)]]],
        },
        TOP.format("max(xs)"),
        TOP.format("min(xs)"),
        BARE | TAGS | FENCES | LATER_FENCE,
        lang="python",
    ),
    Subject(
        "code/mutants",
        {
            "function": "f",
            "program": ABOVE,
            "mutants": [ABOVE.replace(">", ">=")],
            "args": [{"kind": "int", "low": 0, "high": 9}],
            "inputs": 1,
        },
        "[[3]]",
        "[[4]]",
        BARE | TAGS | FENCES | LATER_FENCE,
        lang="json",
    ),
    Subject(
        "code/repo",
        {"files": REPOSITORY, "entry": "pkg.main:one", "tests": [{"args": [], "result": 1}]},
        PATCH.format(1),
        PATCH.format(2),
        # A patch that was cut short is none.
        {name: form for name, form in FENCES.items() if "cuts" not in name},
        lang="python",
    ),
    Subject(
        "code/verilog",
        {
            "module": "m",
            "inputs": [["a", 1]],
            "outputs": [["y", 1]],
            "vectors": [[0], [1]],
            "expected": [[1], [0]],
        },
        MODULE.format("~"),
        MODULE.format(""),
        BARE | TAGS | FENCES | LATER_FENCE,
        lang="verilog",
    ),
    Subject(
        "doors/reasoning-gym",
        {"task": "any", "judge": "exact", "answer": "a b"},
        "a b",
        "b a",
        TAGS,
    ),
    Subject(
        "tools/call",
        {"tools": [TOOL], "expected": [{"name": "weather", "arguments": {"city": "Paris"}}]},
        CALL,
        OTHER_CALL,
        BARE | TAGS | FENCES | CALLS,
        lang="json",
    ),
    Subject(
        "text/schema",
        {
            "kind": "json",
            "schema": {"type": "object", "properties": {"n": {"const": 1}}, "required": ["n"]},
        },
        '{"n": 1}',
        '{"n": 2}',
        BARE | TAGS | FENCES,
        lang="json",
    ),
    Subject(
        "games/replay",
        {"game": "hanoi", "disks": 2},
        "A B, A C, B C",
        "A B, B A",
        BARE | TAGS | FENCES,
    ),
)


def replies(subject: Subject) -> Iterator[tuple[str, str, bool]]:
    """Form, reply, and whether it is to be paid."""

    def written(form: str, right: str) -> str:
        text = form.replace("{lang}", subject.lang).replace("{wrong}", subject.wrong)
        return text.replace("{right}", right)

    ends = cycle([end for end in ENDS if end != "none"])
    for thought, before in THOUGHTS.items():
        for body, form in subject.bodies.items():
            # Every end with every kind of thoughts and with every body, but not with each pair of them.
            for end in ("none", next(ends)):
                after = ENDS[end]
                name = f"{thought} / {body} / {end}"
                reply = f"{before}{form}{after}"
                yield name, written(reply, subject.answer), True
                if "{wrong}" not in form:
                    yield f"{name}, wrong", written(reply, subject.wrong), False
    for name, form in UNPAID.items():
        yield name, written(form, subject.answer), False


def judge(subject: Subject, step: int = 1) -> dict[str, Any]:
    """Count the replies, or every `step`th of them, and list those that are judged wrongly."""
    task = Task(
        id="t",
        env_id="",
        seed=0,
        prompt=subject.prompt,
        difficulty="",
        reference=subject.reference,
    )
    forms = list(replies(subject))[::step]
    verifier = make_verifier(subject.verifier, **subject.params)
    verdicts = verifier.verify_batch([(task, reply) for _, reply, _ in forms])
    failures = [
        {
            "form": name,
            "reply": reply,
            "paid": paid,
            "score": verdict.score,
            "reason": verdict.reason,
        }
        for (name, reply, paid), verdict in zip(forms, verdicts, strict=True)
        if verdict.score != float(paid)
    ]
    return {"right": sum(paid for *_, paid in forms), "replies": len(forms), "failures": failures}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("results/reply_forms.json"))
    options = parser.parse_args()
    report = {}
    for subject in SUBJECTS:
        found = report[subject.verifier] = judge(subject)
        print(
            f"{subject.verifier:16} {found['replies']:5} replies, {found['right']} of them right:"
            f" {len(found['failures'])} judged wrongly"
        )
        for failure in found["failures"][:10]:
            print(f"    {failure['form']}: {failure['score']}, {failure['reason']}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1))
    return int(any(found["failures"] for found in report.values()))


if __name__ == "__main__":
    sys.exit(main())
