"""Talks to a verifier service: `RemoteVerifier` and `RemoteEnv`, `Client` and `AsyncClient`.

    env = verigym.make("countdown", verifier="http://127.0.0.1:8080")   # judged there, played here
    env = RemoteEnv("http://127.0.0.1:8080", "countdown")               # played there

    with Client("http://127.0.0.1:8080") as client:
        verdict = client.verify("math/countdown", task, reply)

What the network or the service does wrong is a verdict without a score, never a 0 and never an
exception of `verify`: status `timeout` where no answer came in `timeout_s`, else `infra`. Other calls
raise it as VerifierFault. What the caller does wrong (unknown verifier or parameter, wrong key) raises
RequestError with the service's own message. A request that failed is sent again, after a pause with
full jitter, while `timeout_s` allows and where that repeats nothing: judging is pure, steps are
numbered, jobs carry a key; making a session is repeated only where the service cannot have seen it.
The HTTP library is imported by the first request.
"""

from __future__ import annotations

from verigym.client.asynchronous import AsyncClient
from verigym.client.blocking import Client
from verigym.client.remote_env import RemoteEnv
from verigym.client.types import EnvInfo, Job, Numbered, Session, SessionState, Step, TaskInfo
from verigym.client.verifier import RemoteVerifier
from verigym.service import VerifierInfo

__all__ = [
    "AsyncClient",
    "Client",
    "EnvInfo",
    "Job",
    "Numbered",
    "RemoteEnv",
    "RemoteVerifier",
    "Session",
    "SessionState",
    "Step",
    "TaskInfo",
    "VerifierInfo",
]
