"""Clients of a verifier service: `RemoteVerifier` and `RemoteEnv`, `Client` and `AsyncClient`.

    env = verigym.make("countdown", verifier="http://127.0.0.1:8080")   # judged there, played here
    env = RemoteEnv("http://127.0.0.1:8080", "countdown")               # played there

    with Client("http://127.0.0.1:8080") as client:
        verdict = client.verify("math/countdown", task, reply)

A failure of the network or the service is a verdict without a score, never a 0 and never an
exception of `verify`: status `timeout` if no answer came within `timeout_s`, else `infra`. Other calls
raise it as VerifierFault. A mistake of the caller (unknown verifier or parameter, wrong key) raises
RequestError with the service's own message. A failed request is retried, with exponential backoff and
full jitter, while `timeout_s` allows and if a retry repeats nothing: judging is pure, steps are
numbered, jobs carry a key; creating a session is retried only if the service cannot have seen the
request. The first request imports the HTTP library.
"""

from __future__ import annotations

from verigym.client.asynchronous import AsyncClient
from verigym.client.blocking import Client
from verigym.client.remote_env import RemoteEnv
from verigym.client.types import (
    EnvInfo,
    Numbered,
    Session,
    SessionState,
    Step,
    TaskInfo,
    VerdictJob,
)
from verigym.client.verifier import RemoteVerifier
from verigym.service import VerifierInfo

__all__ = [
    "AsyncClient",
    "Client",
    "EnvInfo",
    "Numbered",
    "RemoteEnv",
    "RemoteVerifier",
    "Session",
    "SessionState",
    "Step",
    "TaskInfo",
    "VerdictJob",
    "VerifierInfo",
]
