"""A server that speaks the Tinker protocol as a sampler: weights never leave the server.

The server trains a LoRA adapter and samples from it. `update` has it save the adapter that its learner
(trainers/tinker_learner.py) has trained, and samples from what was saved. The SDK `tinker` is the client: up to
version 0.24 it speaks JSON, later ones protobuf; install the one that the server speaks (docs/engines.md).
"""

from __future__ import annotations

import math
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar, cast

from verigym.agents.engines.sampler import (
    EngineDead,
    EngineFault,
    Sample,
    SamplingParams,
    Span,
    UpdateRefused,
    Weights,
)
from verigym.agents.policy import PolicyRefusal
from verigym.agents.sampling import generator
from verigym.errors import MissingError, RequestError

if TYPE_CHECKING:
    from tinker.types import Datum, SampledSequence

T = TypeVar("T")
PRECISION_NATS = {"float32": 1e-5, "bfloat16": 0.15}
"""Bound on the gap between the server's learner and its sampler, by the dtype of the server's model."""
_SEEDS = 2**31
_ANSWERS_S = 10.0


class TinkerModel:
    """One LoRA adapter on the server at `url`, created from `seed`; its learner and its sampler share it.

    `timeout_s` is the deadline of one call, `start_timeout_s` that of the creation. The key is that of the
    environment variable TINKER_API_KEY. Raises RequestError if the server is not there or does not have
    `base_model`.
    """

    def __init__(
        self,
        url: str,
        base_model: str,
        *,
        rank: int,
        seed: int,
        timeout_s: float,
        start_timeout_s: float,
    ) -> None:
        self.sdk = import_sdk()
        self.url = url
        self.base_model = base_model
        self.rank = rank
        self.timeout_s = timeout_s
        # The SDK waits for five minutes for a server that is not there.
        _check_answers(url)
        self.training: Any = None
        self.max_context: int | None = None
        """Maximum number of tokens, None if the server does not say."""

        def create() -> None:
            service = self.sdk.ServiceClient(base_url=url)
            known = {
                one.model_name: one for one in service.get_server_capabilities().supported_models
            }
            if base_model not in known:
                raise RequestError(
                    f"the server at {url} has no model {base_model!r}; set engine.base_model to one of "
                    f"{', '.join(sorted(str(name) for name in known)) or 'none'}"
                )
            self.max_context = known[base_model].max_context_length
            # As `all-linear` of peft, which leaves out the head.
            self.training = service.create_lora_training_client(
                base_model, rank=rank, seed=seed, train_unembed=False
            )

        self.call(create, start_timeout_s)

    def call(self, ask: Callable[[], T], timeout_s: float | None = None) -> T:
        """Return what `ask`, which waits for the server, returns; errors as of `wait`."""
        future: Future[T] = Future()

        def answer() -> None:
            try:
                future.set_result(ask())
            except Exception as error:  # noqa: BLE001 - the caller raises it
                future.set_exception(error)

        # A daemon: a server that hangs must not keep the process from ending.
        threading.Thread(target=answer, name="tinker", daemon=True).start()
        return cast(T, self.wait(future, timeout_s))

    def wait(self, future: Any, timeout_s: float | None = None) -> Any:
        """Return the future's result. Raises EngineDead past the deadline, EngineFault if the server fails."""
        limit = self.timeout_s if timeout_s is None else timeout_s
        try:
            return future.result(limit)
        except TimeoutError as error:
            raise EngineDead(
                f"the Tinker server at {self.url} did not answer within {limit:g} s; see its log, or "
                "raise engine.timeout_s"
            ) from error
        except (self.sdk.TinkerError, OSError) as error:
            raise EngineFault(f"the Tinker server at {self.url} failed: {error}") from error

    def forward_backward(
        self, data: Sequence[Datum], loss: str, options: Mapping[str, float] | None = None
    ) -> list[list[float]]:
        """Accumulate the gradient of `loss`; return the log-probability of each target."""
        found = self.wait(
            self.training.forward_backward(list(data), loss, options and dict(options))
        )
        return [_floats(one["logprobs"]) for one in found.loss_fn_outputs]

    def forward(self, data: Sequence[Datum]) -> list[list[float]]:
        """Return the log-probability of each target under the trained adapter."""
        found = self.wait(self.training.forward(list(data), "cross_entropy"))
        return [_floats(one["logprobs"]) for one in found.loss_fn_outputs]

    def optimise(self, **adam: float) -> dict[str, float]:
        """Take a step of Adam with the accumulated gradient; return the server's metrics."""
        done = self.wait(self.training.optim_step(self.sdk.AdamParams(**adam)))
        return dict(done.metrics or {})

    def save_state(self, name: str) -> str:
        """Save adapter and optimiser on the server; return their address."""
        return cast(str, self.wait(self.training.save_state(name)).path)

    def save_sampler(self, name: str) -> str:
        """Save the adapter on the server for sampling; return its address."""
        return cast(str, self.wait(self.training.save_weights_for_sampler(name)).path)

    def load_state(self, address: str) -> None:
        """Take adapter and optimiser from where `save_state` saved them."""
        self.wait(self.training.load_state_with_optimizer(address))

    def snapshot(self) -> Any:
        """Return the SDK's client that samples from the adapter as it is now."""
        return self.call(self.training.save_weights_and_get_sampling_client)

    def close(self) -> None:
        """End the session; the server then drops the adapter."""
        if self.training is not None:
            self.training.holder.close()


class TinkerSampler:
    """Samples from the adapter of `model` as it was at the last `update`."""

    name = "tinker"

    def __init__(self, model: TinkerModel, *, max_context: int, precision_nats: float) -> None:
        self.model = model
        self.max_context = min(max_context, model.max_context or max_context)
        self.precision_nats = precision_nats
        self._held: tuple[int, Any] = (-1, None)

    @property
    def version(self) -> int:
        """Version of the weights that the sampling client was saved from; -1 before the first."""
        return self._held[0]

    @version.setter
    def version(self, number: int) -> None:
        self._held = (number, self._held[1])

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
    ) -> list[Sample]:
        """Continue each prompt. Log-probabilities are those of temperature 1, whatever `params` say."""
        version, client = self._held
        types = self.model.sdk.types
        asked = [
            client.sample(
                prompt=types.ModelInput.from_ints(list(prompt)),
                num_samples=1,
                sampling_params=types.SamplingParams(
                    max_tokens=min(params.max_tokens, self.max_context - len(prompt)),
                    temperature=params.temperature,
                    top_p=params.top_p,
                    stop=sorted(params.end_ids),
                    seed=int(generator(key).integers(_SEEDS)),
                ),
            )
            for prompt, key in zip(prompts, keys, strict=True)
        ]
        return [read_sample(self.model.wait(one).sequences[0], version) for one in asked]

    def logprobs(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> list[list[float]]:
        """Return the log-probability of each token of each answer, by the sampling client."""
        client = self._held[1]
        asked = [
            client.compute_logprobs(self.model.sdk.ModelInput.from_ints([*prompt, *answer]))
            for prompt, answer in zip(prompts, answers, strict=True)
        ]
        # Some servers answer for the first token too, with None; the answer is the end in any case.
        return [
            [math.nan if p is None else p for p in self.model.wait(one)[-len(answer) :]]
            for one, answer in zip(asked, answers, strict=True)
        ]

    def update(self, weights: Weights) -> None:
        """Sample from what the learner has trained from now on. Raises UpdateRefused for weights from elsewhere."""
        if weights.tensors:
            raise UpdateRefused(
                "a Tinker server takes no weights; it samples from those that it has trained"
            )
        self._held = (weights.version, self.model.snapshot())

    def revive(self) -> bool:
        """Lose nothing: what was saved stays on the server. A server that lost it fails the next call."""
        return False

    def sleep(self) -> bool:
        """Leave the memory to the server."""
        return False

    def close(self) -> None:
        """End the session."""
        self.model.close()


def import_sdk() -> Any:
    """Return the module `tinker`. Raises MissingError if it or its key is missing."""
    # It would report each run to the server besides.
    os.environ.setdefault("TINKER_TELEMETRY", "0")
    try:
        import tinker
    except ImportError as error:
        raise MissingError("engine tinker needs its SDK; pip install 'verigym[tinker]'") from error
    if not os.environ.get("TINKER_API_KEY", "").startswith(("tml-", "eyJ")):
        raise MissingError(
            "engine tinker needs a key in the environment variable TINKER_API_KEY, which starts with tml-; a "
            "server of your own that asks for none takes TINKER_API_KEY=tml-none"
        )
    return tinker


def make_datum(ids: Sequence[int], **inputs: Sequence[float]) -> Datum:
    """Return a row of `ids` for the server; `inputs` of its loss are given for each token of the row.

    The server predicts each token from those before it, so the first is no target, and what `inputs` say of it
    is left out.
    """
    from tinker.types import Datum, ModelInput, TensorData

    n = len(ids) - 1
    return Datum(
        model_input=ModelInput.from_ints(list(ids[:-1])),
        loss_fn_inputs={
            "target_tokens": TensorData(data=list(ids[1:]), dtype="int64", shape=[n]),
            **{
                name: TensorData(data=[float(x) for x in values[1:]], dtype="float32", shape=[n])
                for name, values in inputs.items()
            },
        },
    )


def read_sample(sequence: SampledSequence, version: int) -> Sample:
    """Return what the server sampled. Raises EngineFault without log-probabilities, PolicyRefusal if one is not
    finite."""
    ids, logprobs = list(sequence.tokens), sequence.logprobs
    if not ids or logprobs is None or len(logprobs) != len(ids):
        n = "no" if logprobs is None else len(logprobs)
        raise EngineFault(f"tinker returned {len(ids)} tokens with {n} log-probabilities")
    if not all(map(math.isfinite, logprobs)):
        raise PolicyRefusal(
            f"tinker gave log-probabilities that are not finite; its weights are broken (version {version})"
        )
    return Sample(
        ids=ids,
        logprobs=list(logprobs),
        versions=[Span(version, 0, len(ids))],
        finish_reason="stop" if sequence.stop_reason == "stop" else "length",
    )


def _floats(tensor: Any) -> list[float]:
    return [float(value) for value in tensor.data]


def _check_answers(url: str) -> None:
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/api/v1/healthz", timeout=_ANSWERS_S):
            pass
    except urllib.error.HTTPError:
        pass  # it answers, if not to this question
    except (OSError, ValueError) as error:
        raise RequestError(
            f"no Tinker server answers at {url}: {error}; start it, or set engine.url (docs/engines.md)"
        ) from error
