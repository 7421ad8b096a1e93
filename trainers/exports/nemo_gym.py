"""Environments for NeMo Gym: `VerigymServer`, a resources server. Tested with nemo-gym 0.4.0.

    # resources_servers/verigym/app.py
    if __name__ == "__main__":
        VerigymServer.run_webserver()

With `gymnasium_agent` (`/reset`, `/step`) a reply is an action. With `simple_agent` (`/seed_session`, `/act`, `/verify`)
the model calls the tool `act`; if it calls nothing, its reply is the action. A fault is HTTP 503 in place of a reward,
so the rollout fails.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from typing_extensions import override

from verigym.canonical import to_json
from verigym.errors import RequestError
from verigym.levels import Difficulty
from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import OVER, EpisodePlayer
from verigym.trainers.exports.rows import first_prompt, row_of, task_rows
from verigym.verdict import VerifierFault

try:
    from fastapi import FastAPI, HTTPException, Request
    from fastapi.concurrency import run_in_threadpool
    from nemo_gym.base_resources_server import (
        BaseResourcesServerConfig,
        BaseSeedSessionResponse,
        BaseVerifyRequest,
        BaseVerifyResponse,
    )
    from nemo_gym.server_utils import SESSION_ID_KEY
    from pydantic import BaseModel, ConfigDict, Field
    from resources_servers.gymnasium import GymnasiumServer, extract_text
except ImportError as error:
    raise_missing(error)

ACT: Final[dict[str, Any]] = {
    "type": "function",
    "name": "act",
    "description": "Send the next action, or the answer, to the environment; it returns what happens.",
    "parameters": {
        "type": "object",
        "properties": {"action": {"type": "string", "description": "As the task describes."}},
        "required": ["action"],
        "additionalProperties": False,
    },
    "strict": True,
}
"""Tool of `simple_agent`, in the form of the Responses API."""


class VerigymServerConfig(BaseResourcesServerConfig):
    """Configuration: `options` are the arguments of environments, which rows must have too.

    `retries` is how often a step is repeated if its verifier gives no score. A session that is unused for
    `session_idle_s` seconds is closed when the next one begins.
    """

    options: dict[str, Any] = Field(default_factory=dict)
    retries: int = 2
    session_idle_s: float = 3600.0


class TaskRequest(BaseModel):
    """Request with the columns of a row."""

    model_config = ConfigDict(extra="allow")


class ActRequest(BaseModel):
    """Arguments of the tool `act`."""

    action: str


class VerifyRequest(BaseVerifyRequest):
    """Request to `/verify`, with the columns of a row."""

    model_config = ConfigDict(extra="allow")


class VerifyResponse(BaseVerifyResponse):
    """Answer of `/verify`: the reward, and the last verdict in `verdict`."""

    model_config = ConfigDict(extra="allow")


class VerigymServer(GymnasiumServer):
    """Serves the tasks of rows, one play for each session. Sessions live in this process: keep `num_workers` 1."""

    config: VerigymServerConfig

    @override
    def setup_webserver(self) -> FastAPI:
        app: FastAPI = super().setup_webserver()
        app.post("/seed_session")(self.seed_session)
        app.post("/act")(self.act)
        app.post("/verify")(self.verify)
        return app

    @override
    async def reset(
        self, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str | None, dict[str, Any]]:
        """Begin the task of a row; return its first observation, with the prompt, and `info`."""
        await self._close_idle()
        with _as_http():
            row = row_of(metadata)
            if row["options"] != to_json(self.config.options).decode():
                raise RequestError(
                    f"this server plays with the options {self.config.options}, and the row has {row['options']}; "
                    "set `options` in the server's configuration"
                )
            await self.close_session(session_id)
            play = EpisodePlayer(self.config.retries)
            try:
                observation, info = await run_in_threadpool(play.start, row)
            except BaseException:
                play.close()
                raise
            self.session_state[session_id] = (play, time.monotonic())
        return observation, _plain(info)

    @override
    async def step(
        self, action: Any, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str | None, float, bool, bool, dict[str, Any]]:
        """Play one reply. A fault is HTTP 503, and the episode ends."""
        play = self._play(session_id)
        with _as_http():
            try:
                found = await run_in_threadpool(play.step_or_raise, extract_text(action))
            except VerifierFault:
                await self.close_session(session_id)
                raise
        observation, reward, terminated, truncated, info = found
        return observation, reward, terminated, truncated, _plain(info)

    @override
    async def seed_session(self, request: Request, body: TaskRequest) -> BaseSeedSessionResponse:
        """Begin the task of a row, which the row's own prompt shows."""
        await self.reset(body.model_extra or {}, request.session[SESSION_ID_KEY])
        return BaseSeedSessionResponse()

    async def act(self, request: Request, body: ActRequest) -> str:
        """Play one action; return the next observation. A fault ends the episode, and `/verify` reports it."""
        play = self._play(request.session[SESSION_ID_KEY])
        if play.over:
            return OVER
        return (await run_in_threadpool(play.step, body.action)).observation

    @override
    async def verify(self, request: Request, body: VerifyRequest) -> VerifyResponse:
        """End the session; return the sum of its rewards. If nothing was played, the reply is the action."""
        session_id = request.session[SESSION_ID_KEY]
        play = self._play(session_id)
        try:
            with _as_http():
                if play.turns == 0 and not play.over:
                    await run_in_threadpool(play.step, extract_text(body.response))
                if play.reward is None:
                    assert play.verdict is not None
                    raise VerifierFault(play.verdict)
            verdict = None if play.verdict is None else play.verdict.to_builtins()
            return VerifyResponse(**body.model_dump(), reward=play.reward, verdict=verdict)
        finally:
            await self.close_session(session_id)

    @override
    async def close_session(self, session_id: str | None) -> None:
        if found := self.session_state.pop(session_id, None):
            await run_in_threadpool(found[0].close)

    def _play(self, session_id: str | None) -> EpisodePlayer:
        if session_id not in self.session_state:
            detail = "no episode in this session: call /reset or /seed_session first, and keep its cookie"
            raise HTTPException(409, detail)
        play: EpisodePlayer = self.session_state[session_id][0]
        self.session_state[session_id] = (play, time.monotonic())
        return play

    async def _close_idle(self) -> None:
        oldest = time.monotonic() - self.config.session_idle_s
        for session_id in [key for key, (_, used) in self.session_state.items() if used < oldest]:
            await self.close_session(session_id)


def dataset_rows(
    *envs: str,
    n: int,
    agent: str,
    split: str = "train",
    difficulty: Difficulty | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    tool: bool = False,
) -> list[dict[str, Any]]:
    """Return rows for the JSONL file of an agent's data set; the other arguments are those of `task_rows`.

    `agent` is the configured name of a `gymnasium_agent`, which shows the first observation itself; if `tool`, of a
    `simple_agent`, whose rows have the prompt and the tool `act`.
    """
    found: list[dict[str, Any]] = []
    for row in task_rows(
        *envs, n=n, split=split, difficulty=difficulty, seed=seed, options=options
    ):
        asked = {"input": first_prompt(row), "tools": [ACT]} if tool else {"input": []}
        reference = {"type": "responses_api_agents", "name": agent}
        found.append({"responses_create_params": asked, "agent_ref": reference, **row})
    return found


@contextmanager
def _as_http() -> Iterator[None]:
    try:
        yield
    except VerifierFault as error:
        raise HTTPException(503, str(error)) from error
    except RequestError as error:
        raise HTTPException(422, str(error)) from error


def _plain(info: Mapping[str, Any]) -> dict[str, Any]:
    verdict = info["verdict"]
    return {**info, "verdict": None if verdict is None else verdict.to_builtins()}
