"""`OrsEnv`: a task of a server of the Open Reward Standard as an environment.

    env = verigym.make("served.toml")    # [ors] with url and env

An action is a tool call in `<tool_call>` tags; where the only tool takes one text, a reply without a call is that text.
A state holds the calls that led to it. Where a step goes on from another state (after `restore`), they are made again in a new
session, which gives the same only if the server repeats itself. The rewards of an episode are the server's.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON, digest
from verigym.env import Draft, Env, Transition
from verigym.envs.check.cheap_answers import Form
from verigym.envs.doors.foreign import AnyText
from verigym.envs.ors.client import OrsClient, OrsSession, text_of
from verigym.envs.tools.calls import submission_of
from verigym.errors import ConfigError, RequestError, SandboxError, TaskError
from verigym.judge import Judge
from verigym.task import Task
from verigym.verdict import Status, Verdict, VerifierFault, fault, scored
from verigym.verifiers.tools.read_calls import read_calls

KEY = "VERIGYM_ORS_KEY"
"""Environment variable with the key of the server, if it asks for one."""
_MOST_TURNS = 100
_HOW = (
    "Tools, as JSON Schema:\n{tools}\n\nCall one tool per reply, like this:\n"
    '<tool_call>{{"name": "...", "arguments": {{...}}}}</tool_call>'
)


@dataclass(frozen=True)
class Called:
    """The state: the calls so far, what the last one showed, and the reward that the server has given in all."""

    calls: tuple[str, ...] = ()
    view: str = ""
    reward: float = 0.0
    finished: bool = False


class Reported(Judge):
    """Gives the reward that the server reported as the verdict; the server alone can judge its tasks."""

    id = "ors/reported"
    version = 1
    params: ClassVar[Mapping[str, JSON]] = {}

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the reported rewards; one that is not from 0 to 1 is a fault."""
        return [
            self._verdict(submission).stamped(self.name, self.digest(task, submission))
            for task, submission in items
        ]

    def _verdict(self, submission: JSON) -> Verdict:
        reward = submission.get("reward") if isinstance(submission, dict) else None
        if not isinstance(reward, int | float) or not 0.0 <= reward <= 1.0:
            return fault(
                Status.VERIFIER_ERROR, "reward_out_of_range", f"the server gave {reward!r}"
            )
        return scored(float(reward), "reported", "the reward that the server reported")


class OrsEnv(Env[Called]):
    """One environment of a server. Subclasses set `url` and `server_env`."""

    verifier_id: ClassVar[str] = Reported.id
    difficulties: ClassVar[tuple[str, ...]] = ("all",)
    only_named: ClassVar[bool] = True
    judges_reply: ClassVar[bool] = True
    max_action_chars: ClassVar[int] = 1 << 16
    max_observation_chars: ClassVar[int] = 1 << 20
    oracle_absent: ClassVar[str | None] = "a server of the Open Reward Standard gives no solutions"
    url: ClassVar[str]
    server_env: ClassVar[str]
    timeout_s: ClassVar[float] = 60.0

    def __init__(self, *, verifier: Judge | str | None = None, **kwargs: Any) -> None:
        if verifier is not None:
            raise RequestError(f"{self.id} is judged by its server; leave the verifier out")
        super().__init__(verifier=Reported(), **kwargs)
        self.observation_space = AnyText(self.max_observation_chars)
        self.action_space = AnyText(self.max_action_chars)
        self._connect()

    def _connect(self) -> None:
        self._client = OrsClient(
            self.url, self.server_env, key=os.environ.get(KEY), timeout_s=self.timeout_s
        )
        self._live: tuple[str, tuple[str, ...], OrsSession] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle finds no class by name that was made of an address; connections stay here.
        own = {
            name: value for name, value in vars(self).items() if name not in ("_client", "_live")
        }
        return _make, (self.url, self.server_env, self.id), own

    @override
    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        name = self._split_name(split)
        most = self._client.num_tasks(name)
        if most < 1:
            raise TaskError(f"{self.id}: the server's split {name!r} has no tasks")
        reference: dict[str, JSON] = {"split": name, "index": seed % most}
        session = self._begin(reference)
        tools = session.tools()
        reference["tools"] = [_plain(tool) for tool in tools]
        self._live = (digest(reference), (), session)
        how = _HOW.format(tools="\n".join(json.dumps(_plain(tool)) for tool in tools))
        prompt = session.prompt()
        return Task(
            id=f"{self.id}:{split}:{reference['index']}",
            env_id=self.id,
            seed=seed,
            prompt=prompt if _lone_text(tools) else f"{prompt}\n\n{how}",
            difficulty=difficulty,
            split=split,
            reference=reference,
        )

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        raise TaskError("the tasks are the server's, by index")

    @override
    def initial(self, task: Task) -> Called:
        return Called()

    @override
    def turns_allowed(self, task: Task) -> int:
        return _MOST_TURNS

    @override
    def observe(self, state: Called) -> str:
        return state.view

    @override
    def transition(self, state: Called, action: str) -> Transition[Called]:
        """Raises VerifierFault if the server failed; the state is then unchanged."""
        call = _read(action, self._tools())
        if call is None:
            view = "No tool was called: give its name and arguments as JSON in <tool_call> tags."
            return Transition(state=_with(state, view), valid=False)
        try:
            session = self._session(state.calls)
            self._live = None  # until the call is whole
            found = session.call(*call)
        except SandboxError as error:
            verdict = fault(Status.INFRA, "server_failed", str(error)).stamped(
                self.verifier.name, ""
            )
            raise VerifierFault(verdict) from error
        calls = (*state.calls, json.dumps(call))
        self._live = (digest(self.task.reference), calls, session)
        if not found.get("ok"):
            return Transition(
                state=Called(calls, str(found.get("error")), state.reward), valid=False
            )
        output = found["output"]
        moved = Called(
            calls,
            text_of(output["blocks"]),
            state.reward + float(output.get("reward") or 0.0),
            bool(output.get("finished")),
        )
        paid = output.get("reward")
        submission = None if paid is None else {"reward": paid, "calls": len(calls)}
        if moved.finished and submission is None:
            submission = {"reward": 0.0, "calls": len(calls)}
        return Transition(state=moved, terminated=moved.finished, submission=submission)

    @override
    def key(self, state: Called) -> JSON:
        return list(state.calls)

    @override
    def solve(self, state: Called) -> str:
        raise RequestError(str(self.oracle_absent))

    @override
    def close(self) -> None:
        if self._live is not None:
            self._live[2].delete()
            self._live = None
        self._client.close()
        super().close()

    def answer_form(self) -> Form:
        """Return a call of the first tool with a text or number; the reply itself if it is the tool's one text."""
        tools = self._tools()
        if _lone_text(tools):
            return Form("<answer>", "</answer>")
        name, arguments = tools[0]["name"], _sample(tools[0])
        return Form(call=json.dumps({"name": name, "arguments": arguments or {"text": ""}}))

    def tampering(self) -> dict[str, str]:
        """Return calls that name a reward themselves."""
        found = {}
        for tool in self._tools():
            arguments = {**_sample(tool), "reward": 1.0, "finished": True}
            call = json.dumps({"name": tool["name"], "arguments": arguments})
            found[f"{tool['name']} with a reward of its own"] = f"<tool_call>{call}</tool_call>"
        return found

    def _tools(self) -> list[dict[str, Any]]:
        reference: Any = self.task.reference
        return list(reference["tools"])

    def _split_name(self, split: str) -> str:
        splits = self._client.splits()
        for field in ("name", "type"):
            for one in splits:
                if one.get(field) == split:
                    return str(one["name"])
        names = ", ".join(str(one.get("name")) for one in splits)
        raise TaskError(f"{self.id}: the server has no split {split!r}, but {names}")

    def _begin(self, reference: Mapping[str, Any]) -> OrsSession:
        if self._live is not None:
            self._live[2].delete()
            self._live = None
        return self._client.begin(str(reference["split"]), int(reference["index"]))

    def _session(self, calls: tuple[str, ...]) -> OrsSession:
        """Return the live session after `calls`: the one that is kept, or a new one in which they are made again."""
        reference: Any = self.task.reference
        if self._live is not None and self._live[:2] == (digest(reference), calls):
            return self._live[2]
        session = self._begin(reference)
        for call in calls:
            session.call(*json.loads(call))
        return session


def server_env(url: str, env: str, name: str | None = None) -> type[OrsEnv]:
    """Return the environment `env` of the server at `url`, with the id `name`."""
    short = re.sub(r"[^\w-]", "-", env, flags=re.ASCII)
    fields = {
        "__module__": __name__,
        "__doc__": f"{env}, played by the server at {url}.",
        "id": name or f"verigym/ors/{short}-v0",
        "url": url,
        "server_env": env,
    }
    made: type[OrsEnv] = type("Served", (OrsEnv,), fields)
    return made


def _make(url: str, env: str, name: str) -> OrsEnv:
    return server_env(url, env, name)()


def load_server(path: Path) -> type[OrsEnv]:
    """Return the environment that a TOML file with `id` and `[ors] url, env` describes. Raises ConfigError."""
    described = tomllib.loads(path.read_text(encoding="utf-8"))
    section = described["ors"]
    values = [described.get("id"), section.get("url"), section.get("env")]
    if not all(isinstance(value, str) for value in values):
        raise ConfigError(f"{path}: it needs id, ors.url and ors.env, all texts")
    return server_env(section["url"], section["env"], described["id"])


def split_address(source: str) -> tuple[str, str]:
    """Return address and environment of `ors+http://HOST:PORT/ENV`. Raises RequestError."""
    url, _, env = source.removeprefix("ors+").rstrip("/").rpartition("/")
    if "://" not in url or not env or url.endswith("/"):
        raise RequestError(f"an ORS server is named ors+http://HOST:PORT/ENV, got {source!r}")
    return url, env


def _read(action: str, tools: list[dict[str, Any]]) -> tuple[str, dict[str, Any]] | None:
    """Return the one tool call in an action, in any form that `read_calls` knows; None without one."""
    submission = submission_of(action)
    found = read_calls(submission)
    calls = [] if isinstance(found, Verdict) else found.calls
    if len(calls) == 1:
        return calls[0].name, calls[0].arguments
    is_broken_call = isinstance(found, Verdict) and isinstance(submission, str)
    lone = None if calls or is_broken_call else _lone_text(tools)
    return None if lone is None else (tools[0]["name"], {lone: action})


def _lone_text(tools: list[dict[str, Any]]) -> str | None:
    """Return the name of the one text that the one tool takes; None if there is more, or less."""
    properties = _properties(tools[0]) if len(tools) == 1 else {}
    texts = [name for name, kind in properties.items() if kind.get("type") == "string"]
    return texts[0] if len(properties) == 1 and texts else None


def _properties(tool: Mapping[str, Any]) -> dict[str, Any]:
    return dict((tool.get("input_schema") or {}).get("properties") or {})


def _sample(tool: Mapping[str, Any]) -> dict[str, Any]:
    values = {"string": "", "integer": 0, "number": 0, "boolean": True, "array": [], "object": {}}
    return {name: values.get(kind.get("type"), "") for name, kind in _properties(tool).items()}


def _plain(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tool.get(name) for name in ("name", "description", "input_schema")}


def _with(state: Called, view: str) -> Called:
    return Called(state.calls, view, state.reward, state.finished)
