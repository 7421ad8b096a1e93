"""Prompts and settings of the episode loop, from a configuration."""

from __future__ import annotations

from verigym.agents.chat import StepRows, Transcript
from verigym.agents.envpool import EnvPool
from verigym.agents.plan import Settings
from verigym.agents.prompts import PromptChoices
from verigym.trainers.config import Config, PolicySection


def make_encoding(policy: PolicySection) -> StepRows | Transcript:
    """Return the prompts that `policy` is trained and evaluated with."""
    steps = policy.encoding == "steps"
    return PromptChoices(
        encoding=policy.encoding,
        history=policy.history if steps else None,
        show_task=policy.show_task if steps else None,
        show_legal=policy.show_legal,
        thoughts=policy.thoughts,
        parse=policy.parse,
        system_prompt=policy.system_prompt,
        native_tools=policy.native_tools,
        system=policy.task_in_system,
        show_turns=policy.show_turns,
        show_tokens=policy.show_tokens,
    ).apply(None)


def make_settings(config: Config) -> Settings:
    """Return the settings of the episode loop."""
    limits, play = config.limits, config.play
    return Settings(
        # An engine forms its own batches, so sets in lockstep would wait for nothing.
        batching="ready" if config.engine.samples_apart else play.batching,
        n_cohorts=play.cohorts,
        max_live=play.max_live,
        env_workers=play.env_workers,
        generate_deadline_s=limits.generate_timeout_s,
        step_deadline_s=limits.step_timeout_s,
        patience_s=limits.patience_s,
        error_retries=limits.error_retries,
        backoff_s=limits.backoff_s,
        backoff_max_s=limits.backoff_max_s,
        fault_limit=limits.fault_share,
    )


def make_envs(config: Config) -> EnvPool:
    """Return where environments and verifiers run: in this process, or in actors of Ray."""
    workers = config.workers
    if workers.name == "threads":
        return EnvPool()
    from verigym.agents.ray_envs import RayEnvPool
    from verigym.agents.ray_judges import RayVerifierPool

    pool = RayEnvPool if workers.runs == "environments" else RayVerifierPool
    engines = config.engine.replicas
    return pool(
        actors=workers.actors,
        slots=workers.slots,
        cpus=workers.cpus,
        address=workers.address,
        # A cluster that is started here has room for the engines, too.
        cluster_cpus=workers.actors * workers.cpus
        + (0 if engines is None else engines.actors * engines.cpus),
        # Later than the loop's own deadline, which says what was too slow.
        timeout_s=config.limits.step_timeout_s + 5.0,
    )
