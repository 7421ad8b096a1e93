"""Asks an OpenAI-compatible chat endpoint once; what goes wrong is a `EndpointFault` with a status."""

from __future__ import annotations

import json
import time
from typing import Any

from verigym.verdict import Status

MAX_BYTES = 1 << 20
_BUSY = (408, 409, 425, 429)


class EndpointFault(Exception):
    """The endpoint gave nothing that can be used; `status` says whose doing it is."""

    def __init__(self, status: Status, reason: str, evidence: str, code: int | None = None) -> None:
        super().__init__(evidence)
        self.status = status
        self.reason = reason
        self.code = code  # of the HTTP answer, where that is the fault


def chat(url: str, key: str | None, body: dict[str, Any], timeout_s: float) -> str:
    """Return the text of the one completion, whole and not refused. Raises Fault.

    `timeout_s` bounds the call as a whole, an answer that drips included.
    """
    import httpx2

    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    until = time.monotonic() + timeout_s
    data = bytearray()
    host = httpx2.URL(url).host
    local = host in ("localhost", "127.0.0.1", "::1")
    try:
        with (
            httpx2.Client(timeout=timeout_s, trust_env=not local, headers=headers) as client,
            client.stream("POST", url, content=json.dumps(body).encode()) as answer,
        ):
            code = answer.status_code
            for chunk in answer.iter_raw():
                data += chunk
                if time.monotonic() > until:
                    raise EndpointFault(
                        Status.TIMEOUT, "judge_timeout", f"no whole answer in {timeout_s:g} s"
                    )
                if len(data) > MAX_BYTES:
                    raise EndpointFault(
                        Status.INFRA, "judge_malformed", f"over {MAX_BYTES} bytes came back"
                    )
    except (httpx2.TimeoutException, TimeoutError) as error:
        raise EndpointFault(
            Status.TIMEOUT, "judge_timeout", f"no answer in {timeout_s:g} s"
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        said = str(error) or type(error).__name__
        raise EndpointFault(Status.INFRA, "judge_unreachable", f"the endpoint: {said}") from error
    if code != 200:
        ours = 400 <= code < 500 and code not in _BUSY
        status = Status.VERIFIER_ERROR if ours else Status.INFRA
        raise EndpointFault(status, "judge_http_error", f"the endpoint answered {code}", code)
    return _content(bytes(data))


def _content(data: bytes) -> str:
    try:
        choice = json.loads(data)["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text = message.get("content")
        refusal = message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise EndpointFault(
            Status.INFRA, "judge_malformed", "the endpoint's answer has no completion"
        ) from error
    if refusal or finish == "content_filter":
        raise EndpointFault(Status.VERIFIER_ERROR, "judge_refused", "the judge refused to answer")
    if finish not in ("stop", None):
        raise EndpointFault(
            Status.VERIFIER_ERROR, "judge_truncated", f"the judge ended with {str(finish)[:40]!r}"
        )
    if not isinstance(text, str) or not text.strip():
        raise EndpointFault(Status.VERIFIER_ERROR, "judge_malformed", "the judge said nothing")
    return text
