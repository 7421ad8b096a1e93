"""Address of a service, and the error handling that the blocking and the async client share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

from verigym import service
from verigym.errors import RequestError
from verigym.service import Failed
from verigym.verdict import Status

KEY_VARIABLE = "VERIGYM_API_KEY"
"""Environment variable with the default key."""

MAX_ANSWER_BYTES = 64 << 20
_MAX_CONNECTIONS = 256
_KEEPALIVE_S = 30.0


class Address:
    """A service's URL and key. `timeout_s` bounds a call with all its attempts.

    Raises RequestError if the URL is malformed.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        try:
            parts = urlsplit(url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number
            good = False
        if not good:
            raise RequestError(f"the URL of a service must read http://host:port, got {url!r}")
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        key = os.environ.get(KEY_VARIABLE) if key is None else key
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        # A proxy named in the environment cannot reach this machine's own addresses.
        self._use_proxy = parts.hostname not in ("localhost", "127.0.0.1", "::1")

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return the body of a successful answer. Raises RequestError or Failed."""
        return service.read_answer(status, headers, body)

    def _options(self) -> dict[str, Any]:
        import httpx2

        limits = httpx2.Limits(
            max_connections=_MAX_CONNECTIONS,
            max_keepalive_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
        )
        return {"headers": self._headers, "trust_env": self._use_proxy, "limits": limits}

    def _fail(self, error: Exception) -> NoReturn:
        """Raise the error of this package that stands for an error of the HTTP library."""
        import httpx2

        if isinstance(error, (httpx2.ReadTimeout, httpx2.WriteTimeout, TimeoutError)):
            evidence = f"no answer from {self.url} in time"
            raise Failed(Status.TIMEOUT, "no_answer", evidence) from error
        if isinstance(error, httpx2.PoolTimeout):
            evidence = f"all {_MAX_CONNECTIONS} connections to {self.url} were in use"
            raise Failed(Status.INFRA, "no_connection", evidence, unsent=True) from error
        evidence = f"{self.url} cannot be reached: {str(error) or type(error).__name__}"
        unsent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        failed = Failed(Status.INFRA, "unreachable", evidence, again=True, unsent=unsent)
        raise failed from error


def deadline_header(left_s: float) -> dict[str, str]:
    """Return the header that tells the service the remaining time, so that it stops in time."""
    return {"Verigym-Deadline-S": f"{service.judging_time(left_s):.3f}"}


def check_size(received: bytearray) -> None:
    """Raise Failed if an answer is too large."""
    if len(received) > MAX_ANSWER_BYTES:
        raise service.bad_answer(f"more than {MAX_ANSWER_BYTES} bytes")
