"""Sessions that clients open and end themselves, recorded as episodes in a JSON Lines file.

A session is opened by its first call, or by `POST /sessions {"env", "seed", "difficulty", "split", "id"}`, which gives
it an environment, one of those that the gateway was started with. `POST /s/ID/end {"reward"}` pays a session without an
environment; one with an environment is judged on what was done, or on `{"answer"}`. Sessions that are idle for
long, or open when the gateway stops, are recorded as `truncated`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from verigym import __version__
from verigym.agents import live as under_way
from verigym.agents.envpool import EnvPool
from verigym.agents.gateway.app import SESSION_ID, NotFound
from verigym.agents.gateway.episodes import fill
from verigym.agents.gateway.gateway import Gateway
from verigym.agents.gateway.served import ServedEnv, ServedFault
from verigym.agents.gateway.session import GatewaySession, new_id
from verigym.agents.live import Cohort
from verigym.agents.plan import Plan
from verigym.agents.policy import Policy
from verigym.agents.record import append_episodes
from verigym.episode import Episode
from verigym.errors import RequestError


class _Opening(msgspec.Struct, forbid_unknown_fields=True):
    env: str
    seed: int
    difficulty: str | int | None = None
    split: str = "train"
    id: str | None = None


class _End(msgspec.Struct, forbid_unknown_fields=True):
    reward: float | None = None
    answer: str | None = None


class Recorder:
    """Opens and ends the sessions of a gateway; `environments` are the ids that clients may name.

    Set `gateway` before the first request.
    """

    gateway: Gateway

    def __init__(
        self, policy: Policy, out: Path, environments: tuple[str, ...], idle_s: float
    ) -> None:
        self._policy = policy
        self._out = out
        self._environments = environments
        self._idle_s = idle_s
        self._envs = EnvPool()
        self._episodes: dict[str, Episode] = {}
        self._writing = asyncio.Lock()
        self.n_recorded = 0

    async def manage(self, path: str, own: str | None, given: dict[str, Any]) -> Mapping[str, Any]:
        """Answer a request to open (`/sessions`) or to end a session (`/end`)."""
        if path == "/sessions":
            return await self._open(_read(given, _Opening))
        session = self.gateway.sessions.get(own or "")
        if session is None:
            raise NotFound(f"there is no session {own!r} here")
        asked = _read(given, _End)
        episode = await self._end(session, asked, "done")
        return {
            "id": session.id,
            "status": episode.status,
            "reward": episode.return_,
            "calls": len(episode.turns),
            "fault": None if episode.fault is None else msgspec.to_builtins(episode.fault),
        }

    async def end_idle(self, idle_s: float | None = None) -> None:
        """End sessions that were not used for `idle_s`, by default the recorder's."""
        limit_s = self._idle_s if idle_s is None else idle_s
        for session in list(self.gateway.sessions.values()):
            if time.monotonic() - session.used_at >= limit_s:
                await self._end(session, _End(), "truncated")

    def close(self) -> None:
        """Record the sessions that are open, and close their environments."""
        self.gateway.run(self.end_idle(0.0))
        self._envs.close()

    async def _open(self, asked: _Opening) -> dict[str, Any]:
        if asked.env not in self._environments:
            known = ", ".join(self._environments) or "none; start the gateway with --env"
            raise RequestError(f"environment {asked.env!r} is not served; served are: {known}")
        id = asked.id or new_id()
        if not SESSION_ID.fullmatch(id):
            raise RequestError("a session id has 1 to 128 letters, digits and . _ : -")
        plan = Plan(
            id=id,
            env=asked.env,
            seed=asked.seed,
            difficulty=asked.difficulty,
            split=asked.split,
            key=(asked.seed, time.time_ns()),
        )
        live = under_way.new_live(plan, 0, Cohort(), self._policy)
        started = await asyncio.to_thread(under_way.start, plan, self._envs)
        under_way.begin(live, started)
        served = ServedEnv(started, self.gateway.settings)
        try:
            session = self.gateway.open(id, key=plan.key, served=served)
        except RequestError:
            started.env.close()
            raise
        self._episodes[session.id] = live.episode
        root = f"{self.gateway.url}/s/{session.id}"
        return {"id": session.id, "base_url": f"{root}/v1", "env_url": f"{root}/env"} | (
            served.describe()
        )

    async def _end(self, session: GatewaySession, asked: _End, status: str) -> Episode:
        served = session.served
        if asked.reward is not None and served is not None:
            raise RequestError("the reward of a session with an environment is the environment's")
        if asked.answer is not None and served is None:
            raise RequestError("this session has no environment to judge the answer; give a reward")
        self.gateway.forget(session)
        await session.end()
        if served is not None:
            status = await self._judge(session, served, asked.answer)
        episode = self._episodes.pop(session.id, None) or _plain(session, self._policy.name)
        fill(episode, session, status, asked.reward)
        if served is not None:
            served.env.close()
        if episode.turns or episode.fault is not None:
            async with self._writing:
                await asyncio.to_thread(append_episodes, self._out, [episode])
            self.n_recorded += 1
        return episode

    async def _judge(self, session: GatewaySession, served: ServedEnv, answer: str | None) -> str:
        """Judge an answer, if there is one; return the episode's status."""
        settings = self.gateway.settings
        await asyncio.to_thread(served.rest, settings.step_deadline_s)
        if answer is not None and not served.paid and session.fault is None:
            action = served.env.action_in(answer.strip())
            try:
                await asyncio.to_thread(served.finish, action, len(session.turns) - 1)
            except ServedFault as error:
                session.fault = error.fault
        is_done = served.is_done and not served.paid[-1].stepped.truncated
        return "done" if is_done else "truncated"


def _plain(session: GatewaySession, policy: str) -> Episode:
    """Return the episode of a session without an environment."""
    return Episode(
        id=session.id,
        env_id="gateway",
        task_id=session.id,
        seed=0,
        group_id=session.id,
        difficulty="",
        split="train",
        policy=policy,
        versions={"verigym": __version__, "policy": policy},
    )


def _read(given: dict[str, Any], kind: Any) -> Any:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise RequestError(f"the request cannot be read: {error}") from error
