"""Checkpoints of a run: what of its parts is saved, and how it is restored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from verigym.agents.engines.sampler import EngineFault, UpdateRefused
from verigym.agents.plan import FaultLimit
from verigym.errors import RequestError
from verigym.trainers import checkpoint
from verigym.trainers.delivery import DeliveryError
from verigym.trainers.identity import versions
from verigym.trainers.progress import Interrupted
from verigym.trainers.run_parts import Run


def keep(run: Run) -> None:
    """Write a checkpoint of the last whole step, unless it is there."""
    state = checkpoint.TrainState(
        step=run.step,
        env_steps=run.env_steps,
        optimizer_steps=run.optimizer_steps,
        wall_s=run.wall_s,
        policy_version=run.policy.version,
        config_digest=run.digest,
        versions=versions(),
        curriculum=run.tasks.curriculum.state(),
        branching={} if run.branching is None else run.branching.state(),
        best=run.best,
    )
    folder = run.folder.checkpoints
    if not any(path.name == f"step-{run.step:06d}" for path in checkpoint.find(folder)):
        extra = run.engine.reference_state()
        optimizer = {"policy": run.engine.optimizer_state()}
        if run.critic is not None:
            extra["critic"] = run.critic.state_dict()
            optimizer["critic"] = run.critic.optimizer.state_dict()
        files = run.source.files()
        checkpoint.save(folder, state, run.policy.save, extra, optimizer, files)
    checkpoint.prune(folder, run.config.checkpoint.keep)


def restore(run: Run, saved: Path, start_reinforcement: Callable[[Run], None]) -> None:
    """Put the parts of `run` in the state of the checkpoint `saved`."""
    state, extra, optimizer = checkpoint.load(saved)
    if state.config_digest != run.digest:
        raise RequestError(
            f"{saved} was written by a run with another configuration; only the number of steps, "
            "the time limit, limits, checkpoints and the verifier's address may change on resume"
        )
    run.engine.load(saved / "policy")
    start_reinforcement(run)
    run.engine.load_reference_state(extra)
    if run.critic is not None:
        run.critic.load_state_dict(extra["critic"])
        run.critic.optimizer.load_state_dict(optimizer["critic"])
    run.engine.load_optimizer_state(optimizer["policy"])
    run.step, run.env_steps = state.step, state.env_steps
    run.optimizer_steps, run.wall_s = state.optimizer_steps, state.wall_s
    run.policy.version = state.policy_version
    run.tasks.curriculum.load(state.curriculum)
    if run.branching is not None:
        run.branching.load(state.branching)
    run.best = state.best
    run.is_whole = True
    run.source.restore(saved)


def publish(run: Run, name: str) -> None:
    """Replace the folder `name` of the run by the policy, as a model to load."""
    lora = run.config.policy.lora
    run.folder.publish(name, run.policy.save, merge=lora is not None and lora.merge)


@contextmanager
def resumable(run: Run) -> Iterator[None]:
    """Keep the last whole step if the run is stopped within; say how to go on.

    Raises Interrupted for faults of environments and engines, KeyboardInterrupt for the user's.
    """
    try:
        yield
    except (FaultLimit, DeliveryError, EngineFault, UpdateRefused, KeyboardInterrupt) as error:
        after = f"{str(error) or 'interrupted'}. {_keep_what_there_is(run)}"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(after) from error
        raise Interrupted(after) from error


def _keep_what_there_is(run: Run) -> str:
    """Save the last whole step where the weights are its own, and say what can be gone on from."""
    if run.is_whole:
        try:
            keep(run)
        except EngineFault:
            # The weights are on a server that is gone, or cannot save.
            found = checkpoint.find(run.path / "checkpoints")
            last = f"resume goes on from {found[-1].name}" if found else "--resume starts it over"
            return f"The weights of step {run.step} could not be saved; {last}"
    if not checkpoint.find(run.path / "checkpoints"):
        return f"Nothing was saved in {run.path} yet; --resume starts it over"
    return (
        f"The run in {run.path} stopped after step {run.step}; nothing was scored for "
        "the step under way, and it is done again with --resume"
    )
