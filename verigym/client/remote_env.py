"""`RemoteEnv`: an environment that a service plays, as a Gymnasium environment of this process.

    env = RemoteEnv("http://127.0.0.1:8080", "games/keydoor", difficulty="hard")
    env = gymnasium.make("verigym/remote-v0", url="http://127.0.0.1:8080", env="games/keydoor")

Observations, rewards and `info` equal those of the environment in process. Each instance holds one
session at the service. Steps are numbered, so a step that is sent again after a broken connection or a
VerifierFault happens once.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import Any, Literal

import gymnasium
import msgspec
from gymnasium.spaces import Text

from verigym.canonical import JSON
from verigym.client import calls
from verigym.client.blocking import Client
from verigym.client.calls import Answer, HttpCall
from verigym.client.socket import NoWebSocket, Socket
from verigym.client.types import FaultInfo, Session
from verigym.env import CHARSET
from verigym.errors import RequestError
from verigym.reply import action as read_action
from verigym.service import ServiceRefusal, bad_answer
from verigym.verdict import Status, Verdict, VerifierFault, fault

_CLOSE_S = 5.0


class RemoteEnv(gymnasium.Env[str, str]):
    """Environment `env` at the service `url`; `params` are arguments of its constructor.

    `key` and `timeout_s` are as for `Client`; `transport` defaults to a WebSocket if both the service
    and this machine support it. A session that the service lost, or that was idle longer than its
    lease, raises VerifierFault `session_lost` until the next `reset`. Not available: `snapshot` and
    `restore`, `oracle`, and the reset option `task`, whose reference only the service knows.
    For one thread; a forked process must `reset` first, which gives it a session of its own.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own name and type

    def __init__(
        self,
        url: str,
        env: str,
        *,
        key: str | None = None,
        timeout_s: float = 60.0,
        transport: Literal["websocket", "http"] | None = None,
        render_mode: str | None = None,
        **params: JSON,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise RequestError(f"render_mode must be None or 'ansi', got {render_mode!r}")
        if transport not in (None, "websocket", "http"):
            raise RequestError(f"transport must be 'websocket' or 'http', got {transport!r}")
        self.render_mode = render_mode
        self.client = Client(url, key=key, timeout_s=timeout_s)
        self._socket = None if transport == "http" else Socket(url, key=key, timeout_s=timeout_s)
        self._must_have_socket = transport == "websocket"
        self.about = self.client.env(env)
        self.id = self.about.id
        self.params = params
        self.observation_space = Text(
            self.about.max_observation_chars, min_length=0, charset=CHARSET
        )
        self.action_space = Text(self.about.max_action_chars, min_length=0, charset=CHARSET)
        self._session = ""
        self._seq = 0
        self._lost = ""
        self._pid = os.getpid()
        self._seen = ""
        self._info: dict[str, Any] = {}

    @property
    def session(self) -> str:
        """Id of the session at the service; empty before the first `reset`."""
        return self._session if self._pid == os.getpid() else ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Reset the environment at the service. Raises VerifierFault if the service is unavailable."""
        super().reset(seed=seed)
        if not self.session or self._lost:
            self._begin(seed, options)
        else:
            try:
                self._restart(seed, options)
            except _SessionLost:
                self._begin(seed, options)
        return self._seen, self._info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one action at the service. After a VerifierFault the same action may be repeated; it happens
        once."""
        if not self.session:
            raise RequestError("call reset() first")
        if not isinstance(action, str):
            raise RequestError(f"an action is text, got {type(action).__name__}")
        most = self.about.max_action_chars
        # As `Env` reads a reply that is too long; what is longer still is invalid, and so is this.
        sent = action if len(action) <= most else read_action(action)[: most + 1]
        step = self._of_session(calls.step(self._session, self._seq + 1, sent))
        if step.fault is not None:
            raise VerifierFault(_verdict(step.fault))
        self._info = _info(step.info)
        self._seq += 1
        self._seen = step.observation
        return step.observation, step.reward, step.terminated, step.truncated, self._info

    def render(self) -> str | None:
        """Return the last observation in mode `ansi`, else None."""
        return self._seen if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the session and close the connections. If the service is unavailable, the lease ends it."""
        if self.session and not self._lost:
            with contextlib.suppress(RequestError, VerifierFault):
                self._call(calls.close(self._session), _CLOSE_S)
        self._session = ""
        if self._socket is not None:
            self._socket.close()
        self.client.close()

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        create = calls.create(self.id, seed=seed, options=options, params=self.params, count=1)
        (session,) = self._call(create)
        self._pid = os.getpid()
        self._session, self._lost = session.session, ""
        self._start(session, session.seq)

    def _restart(self, seed: int | None, options: dict[str, Any] | None) -> None:
        try:
            call = calls.reset(self._session, self._seq + 1, seed=seed, options=options)
            session = self._of_session(call)
        except ServiceRefusal as refusal:
            if refusal.code != "seq_conflict":
                raise
            # A step happened, and was given up, without our hearing of it.
            self._seq += 1
            call = calls.reset(self._session, self._seq + 1, seed=seed, options=options)
            session = self._of_session(call)
        self._start(session, self._seq + 1)

    def _start(self, session: Session, seq: int) -> None:
        if session.fault is not None:
            raise VerifierFault(_verdict(session.fault))
        self._info = _info(session.info)
        self._seq = seq
        self._seen = session.observation

    def _of_session(self, call: HttpCall[Answer]) -> Answer:
        if self._lost:
            raise _SessionLost(self._lost)
        try:
            return self._call(call)
        except ServiceRefusal as refusal:
            if refusal.code in ("unknown_session", "session_lost"):
                self._lost = f"{self.id} at {self.client.url}: {refusal}; call reset()"
                raise _SessionLost(self._lost) from refusal
            raise

    def _call(self, call: HttpCall[Answer], timeout_s: float | None = None) -> Answer:
        if self._socket is not None:
            try:
                return self._socket.call(call, timeout_s)
            except NoWebSocket as absent:
                if self._must_have_socket:
                    raise RequestError(f"{absent}; leave transport out to use HTTP") from absent
                self._socket = None
        return self.client.call(call, timeout_s)


class _SessionLost(VerifierFault):
    """The service has lost the session."""

    def __init__(self, evidence: str) -> None:
        super().__init__(fault(Status.INFRA, "session_lost", evidence))


def _verdict(told: FaultInfo) -> Verdict:
    status = Status(told.status) if told.status in set(Status) else Status.INFRA
    evidence = "details are in the service's log, under this digest"
    return replace(fault(status, told.reason or "unknown", evidence), digest=told.digest)


def _info(told: dict[str, Any]) -> dict[str, Any]:
    """Return `info` as in process, with the verdict as a `Verdict`."""
    verdict = told.get("verdict")
    if not isinstance(verdict, dict):
        return told
    try:
        return {**told, "verdict": msgspec.convert(verdict, Verdict)}
    except msgspec.ValidationError as error:
        raise VerifierFault(bad_answer(str(error)).verdict) from error
