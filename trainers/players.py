"""The policies that play in training and in evaluation, on the engine that the configuration names."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from verigym.agents.engines.policy import EnginePolicy
from verigym.agents.engines.sampler import SamplingParams
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Policy
from verigym.trainers.config import Config
from verigym.trainers.delivery import Delivery, Proof
from verigym.trainers.learner import Learner


class Players:
    """`trained` plays the training split, `judge` the others.

    With engine torch both use the model of `policy` itself. Otherwise they use a sampler, which `delivery`
    keeps at the learner's weights.
    """

    def __init__(self, config: Config, folder: Path, policy: HFPolicy, learner: Learner) -> None:
        self.delivery: Delivery | None = None
        self.proof: Proof | None = None
        """The last proof that weights were delivered."""
        self.trained: Policy = policy
        self.judge: Policy = policy
        if config.engine.name == "vllm":
            self._on_vllm(config, folder, policy, learner)
        elif config.eval.temperature != config.policy.temperature:
            self.judge = HFPolicy(
                policy.model,
                policy.tokenizer,
                max_new_tokens=config.policy.max_new_tokens,
                temperature=config.eval.temperature,
                think=config.policy.think,
                max_batch=policy.max_batch,
            )

    def _on_vllm(self, config: Config, folder: Path, policy: HFPolicy, learner: Learner) -> None:
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
        sampler = VllmSampler(
            link,
            folder,
            dtype=config.policy.dtype,
            transfer=engine.transfer,
            deadline_s=engine.timeout_s,
            sleep_level=engine.sleep_level,
        )
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
        )
        self.trained, self.judge = (
            EnginePolicy(
                sampler,
                policy.tokenizer,
                SamplingParams(
                    max_tokens=params.max_tokens, temperature=temperature, end_ids=params.end_ids
                ),
                concurrency=engine.max_sequences,
                ready=self.delivery.ensure,
                think=config.policy.think,
            )
            for temperature in (config.policy.temperature, config.eval.temperature)
        )

    def rest(self) -> None:
        """Let the engine sleep while the learner works, if it is to."""
        if self.delivery is not None:
            self.delivery.sleep()

    def figures(self) -> dict[str, Any]:
        """Return what metrics record of the delivery that the last episodes were played with."""
        return {} if self.proof is None else {"delivery": asdict(self.proof)}

    def close(self) -> None:
        """Stop the engine."""
        if self.delivery is not None:
            self.delivery.sampler.close()
