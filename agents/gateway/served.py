"""The environment of a session: what an agent program observes, does and earns through the gateway."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from verigym.agents.live import Started, Stepped
from verigym.agents.plan import Settings
from verigym.episode import Fault
from verigym.errors import RequestError
from verigym.missing import REASON as NOT_INSTALLED
from verigym.verdict import Status, Verdict, VerifierFault


class ServedFault(Exception):
    """The environment or its verifier failed; `fault` names the cause."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


@dataclass(frozen=True, kw_only=True)
class Paid:
    """One step: `turn` numbers the model's call before it, -1 if there was none."""

    turn: int
    action: str
    stepped: Stepped


class ServedEnv:
    """A started environment. Its methods may be called from any thread; steps are made one at a time."""

    def __init__(self, started: Started, settings: Settings) -> None:
        self.env = started.env
        self.prompt = started.env.task.prompt
        self.observation = started.view
        self.shown = started.shown
        self.state_key: str = started.info["state_key"]
        self.legal_actions: list[str] | None = started.info["legal_actions"]
        self.paid: list[Paid] = []
        self.retries = 0
        self.is_closed = False
        self._settings = settings
        self._lock = threading.Lock()

    @property
    def task(self) -> str:
        """Text of the task and the first observation, for an agent program to start with."""
        return "\n\n".join(part for part in (self.prompt, self.observation) if part)

    @property
    def is_done(self) -> bool:
        """True if the last step ended the task."""
        if not self.paid:
            return False
        last = self.paid[-1].stepped
        return last.terminated or last.truncated

    def describe(self) -> dict[str, Any]:
        """Return the state that an agent program may know, as data for JSON."""
        last = self.paid[-1].stepped if self.paid else None
        return {
            "prompt": self.prompt,
            "observation": self.observation,
            "legal_actions": self.legal_actions,
            "reward": 0.0 if last is None else last.reward,
            "done": self.is_done,
        }

    def step(self, action: str, turn: int) -> dict[str, Any]:
        """Make one step after the model's call `turn`, and return `describe`.

        Raises RequestError if the task is over, ServedFault if the environment or its verifier failed.
        """
        with self._lock:
            if self.is_closed or self.is_done:
                raise RequestError("the task is over; no further action is taken")
            began = time.perf_counter()
            shown, reward, terminated, truncated, info = self._made(action)
            stepped = Stepped(
                shown=shown,
                reward=float(reward),
                terminated=terminated,
                truncated=truncated,
                info=info,
                step_s=time.perf_counter() - began,
                verify_s=self.env.verify_s,
            )
            self.paid.append(Paid(turn=turn, action=action, stepped=stepped))
            self.shown = self.observation = shown
            self.state_key, self.legal_actions = info["state_key"], info["legal_actions"]
            return self.describe()

    def rest(self, timeout_s: float) -> bool:
        """Take no further action; return True if none is under way after `timeout_s`."""
        self.is_closed = True
        if not self._lock.acquire(timeout=timeout_s):
            return False
        self._lock.release()
        return True

    def finish(self, action: str, turn: int) -> None:
        """Make a last step, if the task is not over. Raises ServedFault."""
        self.is_closed = False
        try:
            if not self.is_done:
                self.step(action, turn)
        finally:
            self.is_closed = True

    def _made(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Make a step, again and again while the verifier may come back (as agents/loop.py does)."""
        settings = self._settings
        began, pause_s, tries = time.monotonic(), settings.backoff_s, 0
        while True:
            try:
                return self.env.step(action)
            except VerifierFault as error:
                fault = _fault(error.verdict, error)
                hopeless = error.verdict.status is Status.VERIFIER_ERROR and (
                    tries >= settings.error_retries or error.verdict.reason == NOT_INSTALLED
                )
                out_of_time = time.monotonic() - began + pause_s > settings.patience_s
                if hopeless or out_of_time or self.is_closed:
                    raise ServedFault(fault) from error
                tries += 1
                self.retries += 1
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, settings.backoff_max_s)
            except Exception as error:
                cause = f"env_error:{type(error).__name__}"
                raise ServedFault(Fault(cause=cause, detail=str(error))) from error


def _fault(verdict: Verdict, error: VerifierFault) -> Fault:
    return Fault(cause=f"verifier:{verdict.status.value}:{verdict.reason}", detail=str(error))
