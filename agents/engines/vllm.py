"""vLLM as a sampler: token ids in and out, weights through its own transfer API.

An update pauses the engine with its requests kept, sends (vllm_channels.py), labels the weights, clears the prefix
cache and goes on; tokens drawn before and after carry their own versions. Names and shapes are compared with the
model's folder before anything is sent, since an exception in the middle leaves layers without weights: such an engine
is killed and started anew by `revive`.

Whoever calls `update` proves the delivery (trainers/delivery.py): vLLM's answers do not.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verigym.agents.engines.sampler import (
    EngineDead,
    EngineFault,
    Sample,
    SamplingParams,
    Span,
    UpdateRefused,
    Watch,
    Weights,
)
from verigym.agents.engines.shapes import misfit, read_shapes
from verigym.agents.engines.shards import Holders
from verigym.agents.engines.vllm_channels import Transfer, WeightChannel, open_channel
from verigym.agents.engines.vllm_link import EngineAnswer, EngineCall, Link
from verigym.agents.policy import PolicyRefusal
from verigym.agents.sampling import generator
from verigym.errors import RequestError

_COUNT = itertools.count()
PRECISION_NATS = {"float32": 1e-5, "bfloat16": 0.15}
"""Bound on the gap to the torch learner with the same weights and dtype (docs/engines.md). Each is ten
times the largest gap measured, on models of a million parameters."""


class VllmSampler:
    """Samples through `link`, which this starts. `folder` holds the model that the engine loads.

    `sleep_level` is what `sleep` does: 0 nothing; 1 keeps the weights in the host's memory, 2 drops them.
    """

    def __init__(
        self,
        link: Link,
        folder: Path,
        *,
        dtype: str,
        transfer: Transfer,
        deadline_s: float,
        sleep_level: int = 0,
        host: str = "127.0.0.1",
    ) -> None:
        if (folder / "adapter_config.json").exists():
            raise RequestError(
                f"engine vllm needs the folder of a whole model, and {folder} holds a LoRA adapter; "
                "merge it first"
            )
        self.link = link
        self.name = link.name
        self.version = 0
        self.precision_nats = PRECISION_NATS[dtype]
        self.sleep_level = sleep_level
        self._transfer = transfer
        self._deadline_s = deadline_s
        self._host = host
        self._shapes = read_shapes(folder)
        self._scratch = Path(tempfile.mkdtemp(prefix="verigym-weights-"))
        self._lock = threading.Lock()
        self._channel: WeightChannel | None = None
        self._holders: Holders | None = None
        """Holders of the weights that the channel is open to: another learner needs one of its own."""
        self.sent_bytes = 0
        """Size of the weights in the last update; of a delta, of what changed."""
        self._adapter: int | None = None
        self._asleep = False
        self._lost = False
        try:
            self.start()
        except EngineFault:
            self.close()
            raise

    def start(self) -> None:
        """Start the engine; its weights are those of the folder, as version 0."""
        self.link.start()
        self.link.label("0")
        self.max_context = self.link.max_context()
        self.version = 0
        self._channel = self._adapter = None
        self._asleep = self._lost = False

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
    ) -> list[Sample]:
        """Continue each prompt. A key seeds its request; in another batch rounding may differ."""
        return self._sample(prompts, params, keys, None)

    def sample_watched(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
        watch: Watch,
    ) -> list[Sample]:
        """Return the same as `sample`; `watch` gets each token before."""
        return self._sample(prompts, params, keys, watch)

    def _sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
        watch: Watch | None,
    ) -> list[Sample]:
        version, adapter = self.version, self._adapter
        asked = [
            EngineCall(
                ids=list(prompt),
                params={
                    **self._params(params),
                    "max_tokens": min(params.max_tokens, self.max_context - len(prompt)),
                    "seed": int(generator(key).integers(2**63)),
                    "logprobs": 0,
                    "stop_token_ids": sorted(params.end_ids),
                },
                adapter=adapter,
                request_id=_request_id(key),
            )
            for prompt, key in zip(prompts, keys, strict=True)
        ]
        try:
            answers = self.link.generate(asked, watch)
        except EngineFault:
            # Others may have restarted the server, and then it serves other weights.
            self._lost = not self.link.has_process
            raise
        return [self._sample_of(answer, version, adapter) for answer in answers]

    def _sample_of(self, answer: EngineAnswer, version: int, adapter: int | None) -> Sample:
        if not all(p == p and p > float("-inf") for p in answer.logprobs):
            raise PolicyRefusal(
                f"engine {self.name} gave log-probabilities that are not finite; its weights are broken "
                f"(version {self.version})"
            )
        if adapter is None:
            spans = [Span(self._number(label), a, b) for label, a, b in answer.versions]
        else:  # the label is the base's, and a request keeps its adapter
            spans = [Span(version, 0, len(answer.ids))]
        reason = answer.finish_reason
        return Sample(
            ids=answer.ids,
            logprobs=answer.logprobs,
            versions=spans,
            finish_reason="stop"
            if reason == "stop"
            else "length"
            if reason == "length"
            else "abort",
        )

    def _number(self, label: str) -> int:
        """Return the version behind a label. Raises EngineDead if others restarted the engine."""
        if not label.isdecimal() or int(label) > self.version:
            self._lost = True
            raise EngineDead(
                f"engine {self.name} holds weights labelled {label!r}, which this run did not send as "
                f"version {self.version}; it was restarted, or serves another run"
            )
        return int(label)

    def logprobs(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> list[list[float]]:
        """Return the log-probability of each token of each answer: that of drawing it, prefix cache and
        temperature included."""
        asked = [
            EngineCall(
                ids=[*prompt, *answer[:place]],
                params={
                    **self._params(params),
                    "max_tokens": 1,
                    "seed": 0,
                    # A server returns as many as there are here, the sampled one first: so one more.
                    "logprobs": 2,
                    "logprob_token_ids": [token, 0 if token else 1],
                },
                adapter=self._adapter,
            )
            for prompt, answer in zip(prompts, answers, strict=True)
            for place, token in enumerate(answer)
        ]
        found = iter(self.link.generate(asked))
        return [
            [next(found).first.get(token, float("nan")) for token in answer] for answer in answers
        ]

    @staticmethod
    def _params(params: SamplingParams) -> dict[str, Any]:
        """Return all that shapes the distribution; what is left out a server may fill in itself."""
        return {
            "n": 1,
            "temperature": params.temperature,
            "top_p": params.top_p if params.temperature else 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "repetition_penalty": 1.0,
            "min_tokens": 0,
            "ignore_eos": True,
            "detokenize": False,
        }

    def update(self, weights: Weights) -> None:
        """Take `weights`. After EngineDead the engine holds nothing of use until `revive`."""
        with self._lock:
            self.sent_bytes = weights.n_bytes
            if weights.is_adapter:
                self._load_adapter(weights)
            else:
                if found := misfit(weights.tensors, self._shapes):
                    raise UpdateRefused(
                        f"engine {self.name} cannot take version {weights.version}, and nothing was "
                        f"sent: {found}"
                    )
                self._send(weights)
            self.version = weights.version

    def _send(self, weights: Weights) -> None:
        is_unharmed = False
        try:
            if self._channel is None or self._holders is not weights.holders:
                self._channel = open_channel(
                    self._transfer, self.link, self._scratch, self._host, self._deadline_s
                )
                self._holders = weights.holders
            self._channel.prepare(weights)
            self.link.pause("keep")
            self.sent_bytes = self._channel.send(weights)
            self.link.reset_prefix_cache()
            self.link.resume()
            is_unharmed = True
        except UpdateRefused:
            is_unharmed, self._channel = True, None
            raise
        except (EngineFault, RuntimeError, TimeoutError, OSError) as error:
            raise EngineDead(
                f"engine {self.name} was left in the middle of the update to version {weights.version}: "
                f"{error}"
            ) from error
        finally:
            if not is_unharmed:
                self._lost = True
                self._channel = None
                self.link.kill()

    def _load_adapter(self, weights: Weights) -> None:
        """Load the adapter under a number of its own, so that no cached key of an older one fits it."""
        number, old = weights.version + 1, self._adapter
        folder = self._scratch / f"adapter-{number}"
        weights.save(folder)
        try:
            if old == number:
                self.link.drop_adapter(number)
                self._adapter = old = None
            self.link.add_adapter(number, str(folder))
        except EngineDead:
            raise
        except EngineFault as error:
            raise UpdateRefused(
                f"engine {self.name} refused the adapter of version {weights.version}: {error}"
            ) from error
        self._adapter = number
        if old is not None:
            self.link.drop_adapter(old)
            shutil.rmtree(self._scratch / f"adapter-{old}", ignore_errors=True)

    def revive(self) -> bool:
        """Wake the engine, or start it anew if it died or was left in the middle of an update."""
        with self._lock:
            if self.link.has_process and (self._lost or not self.link.is_alive()):
                self.link.close()
                self.start()
                return True
            if self._lost:
                self.link.start()
                self.link.label(str(self.version))
                self._channel = self._adapter = None
                self._lost = False
                return True
            if self._asleep:
                self.link.wake()
                self._asleep = False
            return False

    def sleep(self) -> bool:
        """Sleep, if the engine is to; it wakes in `revive`. True if the weights must be proved anew."""
        if self.sleep_level == 0 or self._asleep:
            return False
        self.link.sleep(self.sleep_level)
        self._asleep = True
        return True

    def close(self) -> None:
        """Stop an engine that is a child of this process, and remove what was written for it."""
        self.link.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _request_id(key: Sequence[int]) -> str:
    """Return an id that no other request has, with the key in it for the engine's log."""
    return f"verigym-{'.'.join(str(part) for part in key)}-{next(_COUNT)}"
