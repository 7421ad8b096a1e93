"""`tools/call`: requests in words, answered by the right function calls in one message."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

import msgspec
import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Transition
from verigym.envs.tools.abilities import ABILITIES, Ability, define
from verigym.envs.tools.calls import as_text, submission_of
from verigym.envs.tools.dispatch import Dispatcher, Freight, draw_freight, is_sound, with_limit
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.freight_words import POSTPONE, TOOLS, steps_of, words_of
from verigym.envs.tools.held_freight import draw_held_freight
from verigym.envs.tools.hold import Hold, HoldLoad
from verigym.question import Ask, Question, QuestionState
from verigym.task import Task
from verigym.verifiers.tools.read_calls import ReadCall

_PROMPT = """\
Answer the requests below by function calls: one call for each request, all in one reply, in any order. Leave \
out optional arguments that a request does not mention, and copy names and quoted texts exactly. {lacking}\
Write each call as <tool_call>{{"name": "FUNCTION", "arguments": {{"PARAMETER": "value"}}}}</tool_call>, or reply \
with one OpenAI message that has tool_calls. You have one reply.

{requests}

Functions:
{tools}"""
_LACKING = (
    "If a request does not give an argument that its function requires, call ask_user for that argument "
    "instead of the function. "
)
_ASK_USER = define(
    "ask_user",
    "Ask the user for something that a request lacks.",
    {
        "function": {"type": "string", "description": "The function that requires it."},
        "argument": {"type": "string", "description": "Name of the argument that is lacking."},
    },
    ("function", "argument"),
)

LEVELS = {
    1: (1, 1, 0, 1),
    2: (1, 1, 0, 3),
    3: (1, 1, 1, 6),
    4: (2, 2, 2, 4),
    5: (3, 3, 3, 5),
    6: (3, 5, 3, 7),
}
"""Requests (least, most), siblings of functions that are wanted, further functions."""


FREIGHT = {7: (7, 2), 8: (10, 4)}
"""Consignments, and articles of each rank, by level."""
HELD = {9: HoldLoad(20, 6, 8, 13), 10: HoldLoad(30, 7, 14, 20)}
"""Sizes of tasks with several limits and pairs, by level."""
UNLIMITED = 7
"""Consignments up to which there is no limit of kilograms."""
_DISPATCH = """\
{steps}

Write each call as <tool_call>{{"name": "FUNCTION", "arguments": {{"PARAMETER": "value"}}}}</tool_call>, or reply \
with one OpenAI message that has tool_calls. You have one reply.

{tables}

Functions:
{tools}"""


class FunctionCall(Question):
    """Pick functions and arguments; judged by `tools/call`, calls in any order, none more and none less.

    At level 6 times and dates are worded, and now and then a request lacks what its function requires. From level 7
    on, consignments are to be dispatched by rules: which calls there are, and with what, has to be worked out.
    """

    id: ClassVar[str] = "verigym/tools/call-v0"
    verifier_id: ClassVar[str] = "tools/call"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_observation_chars: ClassVar[int] = 1 << 14
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        draws = Draws(rng)
        if level in FREIGHT:
            return _freight(draws, *FREIGHT[level])
        if level in HELD:
            return ask_held(draws, HELD[level])
        least, most, siblings, further = LEVELS[level]
        hard = level >= 6
        n = draws.between(least, most)
        abilities = draws.shuffled(ABILITIES)
        # One function may be wanted twice, with other arguments.
        wanted = [*abilities[: n - 1], draws.pick(abilities[:n])]
        requests: list[str] = []
        calls: list[ReadCall] = []
        for ability in wanted:
            words, call = _asked(draws, ability, hard, hard and wanted.count(ability) == 1)
            if call not in calls:
                requests.append(words)
                calls.append(call)
        own = list(dict.fromkeys(wanted))
        tools = [ability.schema() for ability in own]
        tools += [ability.sibling_schema() for ability in draws.some(own, siblings)]
        tools += [ability.schema() for ability in abilities[n : n + further]]
        if hard:
            tools.append(_ASK_USER)
        tools = draws.shuffled(tools)
        prompt = _PROMPT.format(
            lacking=_LACKING if hard else "",
            requests="\n".join(f"- {words}" for words in requests),
            tools="\n".join(json.dumps(tool["function"]) for tool in tools),
        )
        expected: list[JSON] = [{"name": c.name, "arguments": c.arguments} for c in calls]
        return Ask(
            prompt=prompt,
            answer="",
            steps=sum(1 + len(call.arguments) for call in calls) + len(tools) // 4,
            reference={"tools": tools, "expected": expected, "order": "bag"},
            essence=expected,
        )

    @override
    def reply(self, reference: Any) -> str:
        return as_text(*(ReadCall(one["name"], one["arguments"]) for one in reference["expected"]))

    @override
    def work(self, state: QuestionState) -> int:
        """Compare each request with every function, for some sound alike, and look in it for each parameter of
        the function that fits; in freight, the entries looked up, the conditions compared and the steps calculated."""
        reference: Any = state.task.reference
        if "env" in reference:
            hold = msgspec.convert(reference["hold"], Hold) if "hold" in reference else None
            dispatcher = Dispatcher(msgspec.convert(reference["env"], Freight), hold)
            dispatcher.calls()
            return dispatcher.operations
        operations = 0
        for one in reference["expected"]:
            asked_back = one["name"] == _ASK_USER["function"]["name"]
            wanted = one["arguments"]["function"] if asked_back else one["name"]
            for tool in reference["tools"]:
                operations += 1
                if tool["function"]["name"] != wanted:
                    continue
                for name in tool["function"]["parameters"]["properties"]:
                    operations += 1
                    if asked_back and name == one["arguments"]["argument"]:
                        break
        return operations

    @override
    def transition(self, state: QuestionState, action: str) -> Transition[QuestionState]:
        """A reply that is JSON is handed on as the message or the calls that it is."""
        return replace(super().transition(state, action), submission=submission_of(action))

    def tools(self, task: Task | None = None) -> list[dict[str, Any]]:
        """Return the functions of `task`, by default the one being played, as the OpenAI chat API takes them."""
        reference: Any = (self.task if task is None else task).reference
        return [dict(tool) for tool in reference["tools"]]

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """`info` also has `tools`, as `tools()` gives them."""
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "tools": self.tools()}


def _freight(draws: Draws, count: int, articles: int) -> Ask:
    freight = None
    while freight is None or not is_sound(freight):
        freight = draw_freight(draws, count, articles, count > UNLIMITED)
        if count > UNLIMITED:
            freight = with_limit(draws, freight)
    tools = [*TOOLS, POSTPONE] if freight.limit else list(TOOLS)
    calls = Dispatcher(freight).calls()
    return _ask(
        steps_of(freight), words_of(freight), tools, calls, {"env": msgspec.to_builtins(freight)}
    )


def _ask(
    steps: str, tables: str, tools: list[Any], calls: list[ReadCall], plain: dict[str, Any]
) -> Ask:
    expected: list[JSON] = [{"name": c.name, "arguments": c.arguments} for c in calls]
    freight = plain["env"]
    return Ask(
        prompt=_DISPATCH.format(
            steps=steps,
            tables=tables,
            tools="\n".join(json.dumps(tool["function"]) for tool in tools),
        ),
        answer="",
        steps=20 * len(freight["consignments"]),
        reference={"tools": tools, "expected": expected, "order": "bag", **plain},
        essence=[freight["consignments"], freight["articles"]],
    )


def ask_held(draws: Draws, load: HoldLoad) -> Ask:
    """Draw a task with several limits and pairs."""
    freight, hold, calls = draw_held_freight(draws, load)
    plain = {"env": msgspec.to_builtins(freight), "hold": msgspec.to_builtins(hold)}
    return _ask(steps_of(freight, hold), words_of(freight, hold), [*TOOLS, POSTPONE], calls, plain)


def _asked(draws: Draws, ability: Ability, worded: bool, may_lack: bool) -> tuple[str, ReadCall]:
    words, arguments = ability.ask(draws, worded)
    before, lacking, after = words.split("||")
    if may_lack and draws.below(5) == 0:
        missing: dict[str, JSON] = {"function": ability.name, "argument": ability.may_lack}
        return before + after, ReadCall("ask_user", missing)
    # "four o'clock p.m." ends a sentence, too.
    return f"{before}{lacking}{after}".replace("p.m..", "p.m."), ReadCall(ability.name, arguments)
