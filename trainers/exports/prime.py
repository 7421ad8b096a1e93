"""Environments as tasksets of Prime's verifiers, and a harness that plays them. Tested with verifiers 0.4.

Prime's programs load a package by its name; `verigym new --for prime` writes one, whose `__init__` exports a
taskset, the harness and `LocalEnv`:

    class WordsConfig(VerigymConfig):
        envs: list[str] = ["games/wordle"]

    class WordsTaskset(VerigymTaskset, vf.Taskset[VerigymTask, WordsConfig]):
        pass

The harness plays in Prime's own process and fetches nothing: each reply of the model is an action, each observation
a user message. Another harness may answer tasks of one turn; its last reply is graded. A fault makes scoring fail,
so the trace has an error and no reward.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import msgspec
from pydantic import Field

from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import TaskRow, grade, row_of, task_rows
from verigym.verdict import Verdict, VerifierFault

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise_missing(error)

_OUTCOME = "verigym"
"""Key of a trace's `info` that holds the outcome of the episode so far."""


class VerigymData(vf.TaskData):
    """A task as Prime records it; the fields are those of `TaskRow`, and none is the reference."""

    env: str
    seed: int
    split: str
    difficulty: str
    options: str


class VerigymConfig(vf.TasksetConfig):
    """Tasks to load, set with `--env.taskset.NAME`; the arguments of `task_rows`."""

    envs: list[str] = Field(default_factory=list)
    num_tasks: int = 100
    split: str = "train"
    difficulty: str | None = None
    seed: int = 0
    options: dict[str, Any] = Field(default_factory=dict)


class VerigymTask(vf.Task[VerigymData]):
    """A task whose reward is the sum of what its episode earned."""

    @vf.reward
    async def outcome(self, trace: vf.Trace) -> float:
        """Return what the harness recorded, or grade the last reply. Raises VerifierFault on a fault."""
        found = trace.info.get(_OUTCOME)
        if found is None:
            if not trace.assistant_messages:
                return 0.0
            (verdict,) = await asyncio.to_thread(grade, [_row(self.data)], [trace.last_reply])
            found = trace.info[_OUTCOME] = _outcome(verdict.score, verdict)
        if found["reward"] is None:
            raise VerifierFault(msgspec.convert(found["verdict"], Verdict))
        return float(found["reward"])

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Return True if the environment's oracle earns full marks; None if it has no oracle."""
        return await asyncio.to_thread(_oracle_earns_all, _row(self.data))


class VerigymTaskset(vf.Taskset[VerigymTask, VerigymConfig]):
    """Tasks of the environments that `envs` names, by ids or patterns."""

    def load(self) -> Iterable[VerigymTask]:
        """Yield the tasks; each prompt is the first observation."""
        given = self.config
        rows = task_rows(
            *given.envs,
            n=given.num_tasks,
            split=given.split,
            difficulty=given.difficulty,
            seed=given.seed,
            options=given.options,
        )
        play = EpisodePlayer()
        try:
            for row in rows:
                observation, info = play.start(row)
                data = VerigymData(id=info["task_id"], prompt=observation, **row)
                yield VerigymTask(data, given.task)
        finally:
            play.close()


class VerigymHarnessConfig(vf.HarnessConfig):
    """Settings of the harness, set with `--env.agent.harness.NAME`."""

    retries: int = 2
    """Number of times that a step is repeated if its verifier gives no score."""
    timeout_s: float = 600
    """Deadline of one reply, in seconds."""


class VerigymHarness(vf.Harness[VerigymHarnessConfig]):
    """Plays the episode of a `VerigymTask`: asks the model, steps, shows the observation, until it ends."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Play the episode through `endpoint`; exit code 1 if the model gave no reply."""
        system, prompt = self.resolve_text_prompt(data)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        play = EpisodePlayer(self.config.retries)
        # Steps may run programs, so they leave the event loop. If Prime cancels the rollout during a step, the
        # single thread closes the environment after that step.
        thread = ThreadPoolExecutor(1, thread_name_prefix="verigym-prime")
        run = asyncio.get_running_loop().run_in_executor
        try:
            async with httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {secret}"},
                timeout=self.config.timeout_s,
                trust_env=False,
            ) as http:
                await run(thread, play.start, _row(trace.task.data))
                trace.info[_OUTCOME] = _outcome(play.reward, None)
                while not play.over:
                    response = await http.post(
                        f"{endpoint}/chat/completions",
                        json={"model": ctx.model, "messages": messages},
                    )
                    if response.status_code != 200:
                        return vf.ProgramResult(1, "", response.text)
                    reply = response.json()["choices"][0]["message"]
                    moved = await run(thread, play.step, reply.get("content") or "")
                    trace.info[_OUTCOME] = _outcome(play.reward, play.verdict)
                    # The whole message, as Prime compares it with what the model sent.
                    messages += [reply, {"role": "user", "content": moved.observation}]
            return vf.ProgramResult(0, "", "")
        finally:
            thread.submit(play.close)
            thread.shutdown(wait=False)


class LocalConfig(vf.SingleAgentEnvConfig):
    """One agent, in a process of this machine: the harness needs no container, and Prime's default is its cloud."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class LocalEnv(vf.SingleAgentEnv, vf.Env[LocalConfig]):
    """Prime's environment of one agent, with `LocalConfig`."""


def _row(data: vf.TaskData) -> TaskRow:
    return row_of(data.model_dump())


def _outcome(reward: float | None, verdict: Verdict | None) -> dict[str, Any]:
    """Return the outcome as the trace keeps it; the evidence may quote the reference, but traces are the evaluator's."""
    return {"reward": reward, "verdict": None if verdict is None else verdict.to_builtins()}


def _oracle_earns_all(row: TaskRow) -> bool | None:
    play = EpisodePlayer()
    try:
        play.start(row)
        if play.env.oracle_absent:
            return None
        while not play.over:
            play.step(play.env.oracle())
        if play.verdict is not None and play.faulted:
            raise VerifierFault(play.verdict)
        return play.reward == 1.0
    finally:
        play.close()
