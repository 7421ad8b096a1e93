"""`OrsClient`: a server of the Open Reward Standard, one environment of it, under deadlines.

Source: the wire of openreward 0.1.167: `POST /create_session` gives an id, which `X-Session-ID` carries; `POST /create`
begins a task; `POST /{env}/call` answers with server-sent events.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from verigym.errors import RequestError, SandboxError, TaskError

_MOST_BYTES = 16 << 20


class OrsClient:
    """One environment of one server. Raises SandboxError if the server is down, late or refuses a request."""

    def __init__(
        self, url: str, env: str, *, key: str | None = None, timeout_s: float = 60.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RequestError(
                f"the address of a server begins with http:// or https://, got {url!r}"
            )
        import httpx2

        self.env = env
        headers = {"X-API-Key": key, "Authorization": f"Bearer {key}"} if key else {}
        self._errors: tuple[type[Exception], ...] = (httpx2.HTTPError, ValueError)
        self._http = httpx2.Client(base_url=url.rstrip("/"), timeout=timeout_s, headers=headers)

    def splits(self) -> list[dict[str, Any]]:
        """Return the splits, each with `name` and `type`."""
        found: list[dict[str, Any]] = self._get(f"/{self.env}/splits")
        return found

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return int(self._post(f"/{self.env}/num_tasks", {"split": split})["num_tasks"])

    def begin(self, split: str, index: int) -> OrsSession:
        """Begin a task."""
        session = self._events("/create_session", None, None).get("task_id", "").strip()
        if not session:
            raise SandboxError(f"{self.env}: the server gave no session")
        self._post("/create", {"env_name": self.env, "split": split, "index": index}, session)
        return OrsSession(self, session)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _get(self, path: str, session: str | None = None) -> Any:
        return self._send("GET", path, None, session).json()

    def _post(self, path: str, body: Any, session: str | None = None) -> Any:
        return self._send("POST", path, body, session).json()

    def _events(self, path: str, body: Any, session: str | None) -> dict[str, str]:
        """Return the data of each event of a stream by its name; chunks are joined to the end."""
        found: dict[str, str] = {}
        for block in (
            self._send("POST", path, body, session).text.replace("\r\n", "\n").split("\n\n")
        ):
            lines = [line.partition(":") for line in block.split("\n")]
            name = next((value.strip() for key, _, value in lines if key == "event"), "")
            data = "\n".join(value.removeprefix(" ") for key, _, value in lines if key == "data")
            name = "end" if name == "chunk" else name
            found[name] = found.get(name, "") + data
        if "error" in found:
            raise SandboxError(f"{self.env}: {found['error'][:500]}")
        return found

    def _send(self, method: str, path: str, body: Any, session: str | None) -> Any:
        headers = {"X-Session-ID": session} if session else {}
        try:
            answer = self._http.request(method, path, json=body, headers=headers)
            answer.raise_for_status()
            if len(answer.content) > _MOST_BYTES:
                raise ValueError(f"the answer has {len(answer.content)} bytes")
        except self._errors as error:
            raise SandboxError(
                f"{method} {self._http.base_url}{path}: {type(error).__name__}: {error}"
            ) from error
        return answer


class OrsSession:
    """One task that is being played."""

    def __init__(self, client: OrsClient, session: str) -> None:
        self._client = client
        self._session = session

    def prompt(self) -> str:
        """Return the text of the prompt. Raises TaskError for pictures."""
        return text_of(self._client._get(f"/{self._client.env}/prompt", self._session))

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools of the task: `name`, `description`, `input_schema`."""
        found = self._client._get(f"/{self._client.env}/task_tools", self._session)
        return list(found["tools"])

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, and return `{"ok": true, "output": ...}` or `{"ok": false, "error": ...}`."""
        body = {"name": name, "input": arguments}
        end = self._client._events(f"/{self._client.env}/call", body, self._session).get("end", "")
        try:
            found = json.loads(end)
        except ValueError as error:
            raise SandboxError(f"{self._client.env}: the call ended without a result") from error
        return dict(found)

    def delete(self) -> None:
        """End the session; a server that is gone has ended it."""
        try:
            self._client._post("/delete", None, self._session)
        except SandboxError:
            return


def text_of(blocks: Any) -> str:
    """Return the text of blocks. Raises TaskError for pictures."""
    if any(block.get("type") != "text" for block in blocks):
        raise TaskError("the server shows pictures, and Verigym's environments are text")
    return "\n".join(block["text"] for block in blocks)
