"""The other half of rollouts_vs_verifiers.py: Prime's verifiers, in an environment of its own.

Reads one job a line from its input, {"model", "at_once", "turns", "episodes", "url"}, and answers with
{"seconds", "cpu_s", "reward"}.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from typing import Any

from model_server import BODY
from rollout_game import SYSTEM, move, question, score, seen

os.environ["OPENAI_API_KEY"] = os.environ["PRIME_API_KEY"] = "none"
from datasets import Dataset, disable_progress_bars
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from verifiers.clients import OpenAIChatCompletionsClient

import verifiers as vf

logging.disable(logging.WARNING)
disable_progress_bars()


class Staircase(vf.MultiTurnEnv):
    """The game. The last reply is scored by the rubric, so that one turn is asked for once."""

    async def setup_state(self, state: vf.State) -> None:
        state["step"] = 0

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs: Any) -> Any:
        state["step"] = move(state["step"], _said(state["trajectory"][-1]["completion"]))
        return [{"role": "user", "content": seen(state["step"])}]


def _said(completion: Any) -> str:
    last = completion[-1]
    content = last["content"] if isinstance(last, dict) else last.content
    return content if isinstance(content, str) else ""


class _Instant:
    """The client library of a model that answers at once, without a network."""

    def __init__(self) -> None:
        reply = ChatCompletion.model_validate_json(BODY)

        async def create(**fields: Any) -> ChatCompletion:
            return reply

        self.create = create
        self.chat = self.completions = self

    async def close(self) -> None:
        """Nothing is open."""


class InstantClient(OpenAIChatCompletionsClient):
    """The framework's own client over `_Instant`."""


def make_env(turns: int, episodes: int) -> vf.Environment:
    async def on_the_step(completion: Any, state: vf.State) -> float:
        return score(move(state["step"], _said(completion)), turns)

    dataset = Dataset.from_list(
        [{"question": question(i, turns), "answer": ""} for i in range(episodes)]
    )
    return Staircase(
        max_turns=turns,
        dataset=dataset,
        system_prompt=SYSTEM,
        rubric=vf.Rubric(funcs=[on_the_step]),
    )


async def play(job: dict[str, Any], env: vf.Environment) -> dict[str, float]:
    if job["model"] == "in process":
        client: Any = InstantClient(_Instant())
    else:
        client = OpenAIChatCompletionsClient(AsyncOpenAI(base_url=job["url"], max_retries=0))
    inputs = env.get_dataset(n=job["episodes"]).to_list()
    began, used = time.perf_counter(), time.process_time()
    outputs = await env.generate(
        inputs,
        client,
        "m",
        max_concurrent=job["at_once"],
        independent_scoring=True,
        on_progress=lambda *_: None,
        on_start=lambda *_: None,
    )
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - used
    await client.client.close()
    rewards = [output["reward"] for output in outputs["outputs"]]
    turns = {output["metrics"]["num_turns"] for output in outputs["outputs"]}
    assert turns == {float(job["turns"])}, turns
    return {"seconds": seconds, "cpu_s": cpu_s, "reward": sum(rewards) / len(rewards)}


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        env = make_env(job["turns"], job["episodes"])
        print("answer " + json.dumps(asyncio.run(play(job, env))), flush=True)


if __name__ == "__main__":
    main()
