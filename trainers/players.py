"""The policies that play in training and in evaluation, on the engine that the configuration names."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from verigym.agents.engines.policy import EnginePolicy
from verigym.agents.engines.sampler import EngineFault, Sampler, SamplingParams
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Policy
from verigym.trainers.config import Config
from verigym.trainers.delivery import Delivery, Proof
from verigym.trainers.learner import Learner
from verigym.trainers.sampler_copy import SamplerCopy


class Players:
    """`trained` plays the training split, `judge` the others.

    With engine torch both use the model of `policy` itself; if episodes are played during updates, `trained` is a
    copy, which `deliver` brings to the learner's weights. Otherwise they use a sampler, which `delivery` keeps at the
    learner's weights.
    """

    def __init__(self, config: Config, folder: Path, policy: HFPolicy, learner: Learner) -> None:
        self.delivery: Delivery | None = None
        self.proof: Proof | None = None
        """The last proof that weights were delivered."""
        self.trained: Policy = policy
        self.judge: Policy = policy
        self._learning = threading.RLock()
        self.copy: SamplerCopy | None = None
        if config.engine.replicas is not None:
            self._on_sampler(config, _start_replicas(config, folder), policy, learner)
            return
        if config.engine.name == "vllm":
            self._on_sampler(config, _start_vllm(config, folder), policy, learner)
            return
        if config.engine.name == "tinker":
            from verigym.trainers.tinker_start import sampler_of

            self._on_sampler(config, sampler_of(config, policy, learner), policy, learner)
            return
        if config.train.mode != "sync":
            self.trained = self.copy = SamplerCopy(policy, config.policy.temperature)
        if config.eval.temperature != config.policy.temperature:
            self.judge = HFPolicy(
                policy.model,
                policy.tokenizer,
                max_new_tokens=config.policy.max_new_tokens,
                temperature=config.eval.temperature,
                think=config.policy.think,
                max_batch=policy.max_batch,
            )

    def _on_sampler(
        self, config: Config, sampler: Sampler, policy: HFPolicy, learner: Learner
    ) -> None:
        params = SamplingParams(
            max_tokens=config.policy.max_new_tokens,
            temperature=config.policy.temperature,
            end_ids=policy.end_ids,
        )

        def keep(proof: Proof) -> None:
            self.proof = proof

        self.delivery = Delivery(
            learner,
            sampler,
            version=lambda: policy.version,
            params=params,
            n_tokens=policy.model.get_input_embeddings().num_embeddings,
            seed=config.seed,
            on_proof=keep,
            learning=self._learning,
        )
        concurrency, max_batch = config.engine.max_sequences, 1
        if (replicas := config.engine.replicas) is not None:
            concurrency *= replicas.actors
            if config.engine.name == "torch":
                # It computes what a call brings, so a step's episodes are dealt out in as many calls as there are engines.
                live = min(config.train.groups * config.train.group_size, config.play.max_live)
                concurrency, max_batch = replicas.actors, -(-live // replicas.actors)
        self.trained, self.judge = (
            EnginePolicy(
                sampler,
                policy.tokenizer,
                SamplingParams(
                    max_tokens=params.max_tokens, temperature=temperature, end_ids=params.end_ids
                ),
                concurrency=concurrency,
                max_batch=max_batch,
                ready=self.delivery.ensure,
                think=config.policy.think,
            )
            for temperature in (config.policy.temperature, config.eval.temperature)
        )

    def rest(self) -> None:
        """Let the engine sleep while the learner works, if it is to."""
        if self.delivery is not None:
            self.delivery.sleep()

    @contextmanager
    def updating(self) -> Iterator[None]:
        """Keep the weights from being delivered while the learner changes them and their version."""
        with self._learning:
            yield

    def deliver(self) -> None:
        """Bring the players that have weights of their own to the learner's, and prove it."""
        if self.copy is not None:
            self.copy.take_weights()
        if self.delivery is not None:
            self.delivery.held = False
            # A player's next request tries again, with pauses and patience.
            with suppress(EngineFault):
                self.delivery.ensure()

    def hold(self) -> None:
        """Let the players go on with the weights that they have, whatever the learner does."""
        if self.delivery is not None:
            self.delivery.held = True

    @property
    def computed_tokens(self) -> int:
        """Number of tokens that the model of `trained` has computed so far, 0 if its engine does not count."""
        return int(getattr(self.trained, "computed_tokens", 0))

    def figures(self) -> dict[str, Any]:
        """Return what metrics record of the delivery that the last episodes were played with."""
        return {} if self.proof is None else {"delivery": asdict(self.proof)}

    def close(self) -> None:
        """Stop the engine."""
        if self.delivery is not None:
            self.delivery.sampler.close()


def _start_replicas(config: Config, folder: Path) -> Sampler:
    """Return a sampler of several engines on Ray."""
    from verigym.agents.engines.ray_sampler import RaySampler
    from verigym.agents.engines.ray_sampler_host import StartTorch, StartVllm

    engine, chosen, train = config.engine, config.policy, config.train
    replicas = engine.replicas
    assert replicas is not None
    make = (
        StartTorch(
            folder=folder,
            dtype=chosen.dtype,
            device=chosen.device,
            max_batch=train.groups * train.group_size,
        )
        if engine.name == "torch"
        else StartVllm(
            folder=folder,
            dtype=chosen.dtype,
            transfer=engine.transfer,
            max_sequences=engine.max_sequences,
            cache_gib=engine.cache_gib,
            deadline_s=engine.timeout_s,
            start_deadline_s=engine.start_timeout_s,
            options=engine.options,
        )
    )
    return RaySampler(
        make,
        actors=replicas.actors,
        slots=1 if engine.name == "torch" else engine.max_sequences,
        cpus=replicas.cpus,
        gpus=replicas.gpus,
        address=replicas.address,
        # Later than the engine's own deadline, which says what was too slow.
        timeout_s=engine.timeout_s + 5.0,
        start_timeout_s=engine.start_timeout_s,
    )


def _start_vllm(config: Config, folder: Path) -> Sampler:
    """Return a sampler on the vLLM server that `config` names, or on vLLM in a child process."""
    from verigym.agents.engines.vllm import VllmSampler
    from verigym.agents.engines.vllm_process import ProcessLink
    from verigym.agents.engines.vllm_server import ServerLink

    engine, lora = config.engine, config.policy.lora
    link = (
        ServerLink(engine.url, deadline_s=engine.timeout_s)
        if engine.url is not None
        else ProcessLink(
            folder,
            dtype=config.policy.dtype,
            transfer=engine.transfer,
            max_sequences=engine.max_sequences,
            cache_gib=engine.cache_gib,
            deadline_s=engine.timeout_s,
            start_deadline_s=engine.start_timeout_s,
            lora_rank=None if lora is None else lora.rank,
            **engine.options,
        )
    )
    return VllmSampler(
        link,
        folder,
        dtype=config.policy.dtype,
        transfer=engine.transfer,
        deadline_s=engine.timeout_s,
        sleep_level=engine.sleep_level,
    )
