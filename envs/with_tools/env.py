"""`WithTools`: an environment of one turn, played with tools, several attempts or reflection.

    verigym.make("math/arithmetic", tools=["python"], attempts=3, reflect=True)

The question, its split and its verifier are those of the environment; the prompt also says what may be used.
A reply with a tool call gets the tool's result, any other is an answer. After a wrong answer the policy hears
that it was wrong and nothing else, neither the verdict's reason nor its evidence, which may name the answer.

The reward is paid at the end of the episode: the score of the last answer, times 0.7 for each wrong one before
it, so that trying all candidates does not earn what knowing earns. An attempt with several candidates is judged
by the verifier as one answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from gymnasium.envs import registration
from gymnasium.envs.registration import EnvSpec
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Move, Transition
from verigym.envs.with_tools.aids import Aid, find_aids
from verigym.envs.with_tools.read import BadCall, read_call
from verigym.errors import RequestError
from verigym.making import make
from verigym.question import Question
from verigym.registry import described_files
from verigym.task import Task
from verigym.verdict import Status, Verdict

DECAY = 0.7
"""Share of the reward that a wrong attempt leaves, as in `math/attempts`."""
TOOL_TURNS = 6
"""Number of replies for tool calls, beside those for the attempts."""
MAX_ATTEMPTS = 64

_REFLECT = (
    "Before you answer again, say in a few sentences what may have gone wrong. Do not answer yet: this reply is "
    "not judged."
)


@dataclass(frozen=True)
class Working:
    """The state: cells of Python that ran, the text that the last reply led to, wrong attempts so far."""

    ran: tuple[str, ...] = ()
    shown: str = ""
    wrong: int = 0
    reflecting: bool = False
    solved: bool = False


class WithTools(Env[Working]):
    """The environment `inner`, which has one turn, with `tools`, `attempts` and reflection. Use `make`."""

    judges_reply: ClassVar[bool] = True

    def __init__(
        self,
        inner: Env[Any],
        *,
        tools: Sequence[str] = (),
        attempts: int = 1,
        reflect: bool = False,
        corpus: str | None = None,
        max_turns: int | None = None,
    ) -> None:
        if type(attempts) is not int or not 1 <= attempts <= MAX_ATTEMPTS:
            raise RequestError(f"attempts must be from 1 to {MAX_ATTEMPTS}, got {attempts!r}")
        if reflect and attempts == 1:
            raise RequestError("reflect needs at least 2 attempts: it follows a wrong answer")
        self._inner = inner
        self._attempts = attempts
        self._reflect = reflect
        self._aids: Mapping[str, Aid] = find_aids(tools, corpus)
        super().__init__(
            difficulty=inner.difficulty,
            split=inner.split,
            max_turns=max_turns,
            verifier=inner.verifier,
            render_mode=inner.render_mode,
        )
        self._help = "\n\n" + self._instructions()
        self._of: Task | None = None
        """The task that `inner` is at."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is made at run time, so pickle makes it again from the arguments.
        kept = ("_task", "_state", "_turn", "_done", "_rng", "difficulty", "split", "verifier")
        own = {name: value for name, value in vars(self).items() if name in kept}
        name = described_files.get(self.id, self.id)
        return partial(make, name, **dict(self.made_with or {})), (), own

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as the OpenAI chat API takes them."""
        return [aid.tool.schema() for aid in self._aids.values()]

    # The task is the inner one with a longer prompt, and judged as if it had not grown.

    @property
    def inner(self) -> Env[Any]:
        """The environment of one turn, at the start of the current task."""
        if self._of is not self._task:
            options = {
                "task": self._asked(self.task),
                "difficulty": self.difficulty,
                "split": self.split,
            }
            self._inner.reset(seed=self.task.seed, options=options)
            self._of = self._task
        return self._inner

    def _asked(self, task: Task) -> Task:
        return replace(task, prompt=task.prompt.removesuffix(self._help))

    @override
    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        task = self._inner._draw(rng, seed, difficulty, split)
        return replace(task, prompt=task.prompt + self._help)

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        return self._inner.generate(rng, level)

    @override
    def split_of(self, draft: Draft) -> str:
        return self._inner.split_of(draft)

    @override
    def propose(self, action: str) -> Move[Working]:
        return _with_task(super().propose(action), self.inner.task)

    @override
    def commit(
        self, move: Move[Working], verdict: Verdict | None = None
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Attempts that do not end the episode earn nothing; wrong ones before the last cost."""
        if move.task is not self.inner.task:
            raise RequestError("the move was proposed in another state; propose it again")
        wrong = self.state.wrong
        view, reward, terminated, truncated, info = super().commit(
            _with_task(move, self.task), verdict
        )
        reward = reward * DECAY**wrong if terminated or truncated else 0.0
        return view, reward, terminated, truncated, info

    # The play.

    @override
    def initial(self, task: Task) -> Working:
        return Working()

    @override
    def observe(self, state: Working) -> str:
        return "\n".join(part for part in (self.inner.view(), state.shown) if part)

    @override
    def transition(self, state: Working, action: str) -> Transition[Working]:
        """Raises VerifierFault if the sandbox failed; nothing has changed then."""
        if state.reflecting:
            after = replace(state, reflecting=False, shown=self._next_attempt(state.wrong))
            return Transition(state=after, valid=bool(action.strip()))
        call = read_call(action, self._aids)
        if isinstance(call, BadCall):
            return Transition(state=replace(state, shown=call.why), valid=False)
        if call is not None:
            ran, shown = self._aids[call.name].use(state.ran, call.text)
            return Transition(
                state=replace(state, ran=ran, shown=f"Result of {call.name}:\n{shown}")
            )
        inner = self.inner
        moved = inner.transition(inner.state, inner.action_in(action))
        submission = moved.submission
        if submission is None:
            submission = inner.submission(moved.state)
        return Transition(
            state=replace(state, wrong=state.wrong + 1),
            terminated=state.wrong + 1 >= self._attempts,
            valid=moved.valid,
            submission="" if submission is None else submission,
        )

    @override
    def judged(self, moved: Transition[Working], verdict: Verdict) -> Transition[Working]:
        """Right or wrong is all that is shown, and that no answer could be read."""
        valid = moved.valid and verdict.status is not Status.POLICY_FAULT
        state = moved.state
        if verdict.score == 1.0:
            won = replace(state, wrong=state.wrong - 1, solved=True, shown="That is right.")
            return replace(moved, state=won, terminated=True, valid=valid)
        said = "That is not right."
        if verdict.status is Status.POLICY_FAULT:
            said = "No answer could be read in your reply."
        if not moved.terminated:
            reflecting = self._reflect
            then = _REFLECT if reflecting else self._next_attempt(state.wrong)
            state = replace(state, reflecting=reflecting, shown=f"{said} {then}")
        else:
            state = replace(state, shown=said)
        return replace(moved, state=state, valid=valid)

    def _next_attempt(self, wrong: int) -> str:
        return f"This is attempt {wrong + 1} of {self._attempts}."

    @override
    def submission(self, state: Working) -> JSON:
        """Return an empty reply's submission; used if the turns end without an answer."""
        found = self.inner.submission(self.inner.state)
        return "" if found is None else found

    @override
    def turns_allowed(self, task: Task) -> int:
        return self._turns

    @property
    def _turns(self) -> int:
        reflections = self._attempts - 1 if self._reflect else 0
        return self._attempts + reflections + (TOOL_TURNS if self._aids else 0)

    @override
    def key(self, state: Working) -> JSON:
        """The cells decide the results of later ones, and the attempts left the reward."""
        return [list(state.ran), state.shown, state.wrong, state.reflecting, state.solved]

    @override
    def candidates(self, task: Task) -> list[str]:
        return self._inner.candidates(self._asked(task))

    @override
    def work(self, state: Working) -> int:
        return 1 if state.reflecting else self.inner.work(self.inner.state)

    @override
    def solve(self, state: Working) -> str:
        return "I shall work it out again." if state.reflecting else self.inner.oracle()

    @override
    def close(self) -> None:
        self._inner.close()

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's spec to make the environment again, through `verigym.make`."""
        if self._spec is None and self.made_with is not None:
            self._spec = replace(
                registration.registry[self.id],
                entry_point="verigym.making:make",
                kwargs={"name": described_files.get(self.id, self.id), **self.made_with},
            )
        return self._spec

    @spec.setter
    def spec(self, value: EnvSpec | None) -> None:
        self._spec = value

    def _instructions(self) -> str:
        lines = []
        if self._aids:
            first = next(iter(self._aids.values()))
            call = {"name": first.name, "arguments": {first.parameter: first.example}}
            lines += [
                "You may use tools before you answer. To call one, reply with one call, for example:",
                f"<tool_call>{json.dumps(call)}</tool_call>",
                "You then see the result and reply again. The tools and their arguments:",
                *(
                    f'{aid.name} {{"{aid.parameter}": "..."}}: {aid.about}'
                    for aid in self._aids.values()
                ),
                "A reply without a tool call is your answer.",
            ]
        if self._attempts > 1:
            lines.append(
                f"You have {self._attempts} attempts. You hear if an answer is right or wrong; each wrong answer "
                f"costs {1 - DECAY:.0%} of the reward."
            )
        turns = self.max_turns or self._turns
        return "\n".join([*lines, f"You have {turns} replies in all."])


def _with_task(move: Move[Working], task: Task) -> Move[Working]:
    return Move(
        task=task,
        state=move.state,
        turn=move.turn,
        transition=move.transition,
        truncated=move.truncated,
        submission=move.submission,
    )


def wrap(inner: Env[Any], max_turns: int | None, chosen: Mapping[str, Any]) -> WithTools:
    """Return `inner` with the tools and attempts in `chosen`.

    Raises RequestError if it has more than one turn, or answers that are tool calls themselves.
    """
    turns = 1 if isinstance(inner, Question) else inner.turns_allowed(inner.sample_task(0))
    if turns != 1:
        raise RequestError(
            f"tools and attempts are for environments of one turn; {inner.id} has {turns}"
        )
    if chosen.get("tools") and hasattr(inner, "tools"):
        raise RequestError(f"{inner.id} has tools of its own; give it attempts alone")
    return _kind(type(inner), int(chosen.get("attempts") or 1))(
        inner, max_turns=max_turns, **chosen
    )


_COPIED = (
    "id",
    "verifier_id",
    "verifier_params",
    "difficulties",
    "levels",
    "only_named",
    "oracle_absent",
    "costly",
    "waived",
)


@cache
def _kind(inner: type[Env[Any]], attempts: int) -> type[WithTools]:
    """Return the class of `inner` with tools: levels and names belong to classes."""
    own: dict[str, Any] = {name: getattr(inner, name) for name in _COPIED}
    own["max_action_chars"] = max(inner.max_action_chars, 1 << 14)
    own["max_observation_chars"] = inner.max_observation_chars + 4096
    own["chance"] = min(1.0, inner.chance * attempts)
    own["recoverable"] = inner.recoverable and attempts == 1
    own["__doc__"] = inner.__doc__
    return type(f"{inner.__name__}WithTools", (WithTools,), own)
