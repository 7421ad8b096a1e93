"""The training loop: play groups, assign credit, update, evaluate, keep.

Every draw is a function of the run's seed and the step, and batches are formed in lockstep, so a
run that is stopped and resumed ends in the weights of one that was not (on CPU, to the bit).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from verigym.agents.engines.sampler import UpdateRefused
from verigym.agents.envpool import EnvPool
from verigym.agents.fork import Fork
from verigym.agents.groups import reward_groups
from verigym.agents.loop import play
from verigym.agents.plan import FaultLimit, Plan
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Policy
from verigym.agents.record import summarise
from verigym.episode import Episode, Turn
from verigym.errors import RequestError, VerigymError
from verigym.trainers import checkpoint, tiny
from verigym.trainers.alarms import alarms
from verigym.trainers.batch import Row, TurnCredit, assign_credit, give_credit, make_rows
from verigym.trainers.branching import State, make_branching
from verigym.trainers.canaries import play_canaries
from verigym.trainers.certificate import certify
from verigym.trainers.config import Config, CriticSection, read_config
from verigym.trainers.credit.table import Sdpo
from verigym.trainers.critic import Critic, CriticStats
from verigym.trainers.delivery import DeliveryError
from verigym.trainers.engine import Engine, PolicyLoss, StepStats
from verigym.trainers.groups import make_group
from verigym.trainers.hints import hint_counts, unhinted
from verigym.trainers.how_to_play import make_encoding, make_settings
from verigym.trainers.identity import identity, versions
from verigym.trainers.lora import add_adapter
from verigym.trainers.measures import (
    by_difficulty,
    generation_tokens,
    optimisation,
    outcome,
    signal,
    total,
    values,
)
from verigym.trainers.players import Players
from verigym.trainers.policy_rewards import Reading, last_replies
from verigym.trainers.recompute import recompute
from verigym.trainers.rewards import shape_rewards
from verigym.trainers.run_folder import RunFolder
from verigym.trainers.sampling import play_enough
from verigym.trainers.stop import StopRequest
from verigym.trainers.tasks import CANARY, EVAL, TRAIN, WARM_UP, Tasks, check_step_rewards
from verigym.trainers.teacher import Reader, show_teachers
from verigym.trainers.warm_start import WarmStart
from verigym.trainers.warmup import Demonstrator, oracle_plans
from verigym.trainers.watchdog import Watchdog


class Interrupted(VerigymError):
    """The run stopped before its end and can be resumed; the message says why and how."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """An event for listeners: the `stage`, its progress, and a sentence for people."""

    stage: str
    done: int
    total: int
    text: str
    line: Mapping[str, Any] | None = None


Listener = Callable[[Progress], None]


def train_from_config(
    path: Path,
    overrides: Mapping[str, Any] | None = None,
    resume: bool = False,
    out: Path | None = None,
    listen: Listener | None = None,
) -> Path:
    """Train as the TOML file at `path` says, into `out` or `runs/<name>`; gives the run folder.

    Raises ConfigError or RequestError for the caller's mistakes, Interrupted where the run stopped
    early and can be resumed.
    """
    config = read_config(path, overrides)
    folder = out if out is not None else Path("runs") / config.name
    return train(config, folder, resume=resume, listen=listen)


def train(
    config: Config, folder: Path, *, resume: bool = False, listen: Listener | None = None
) -> Path:
    """Run `config` in `folder`. See `train_from_config`."""
    saved = checkpoint.find(folder / "checkpoints")
    if not resume and (saved or (folder / "run.json").exists()):
        raise RequestError(
            f"{folder} holds a run already; resume it with --resume or choose another with --out"
        )
    if config.train.threads is not None:
        torch.set_num_threads(config.train.threads)
    with StopRequest() as stop:
        run = _Run(config, folder, listen or (lambda progress: None), stop)
        try:
            with run.watchdog:
                run.start(saved[-1] if resume and saved else None)
                run.loop()
        except (FaultLimit, DeliveryError, UpdateRefused, KeyboardInterrupt) as error:
            after = f"{str(error) or 'interrupted'}. {run.keep_what_there_is()}"
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(after) from error
            raise Interrupted(after) from error
        finally:
            run.close()
    return folder


class _Run:
    """One run: model, engine, folder and counters."""

    def __init__(self, config: Config, folder: Path, listen: Listener, stop: StopRequest) -> None:
        self.config = config
        self.listen = listen
        self.stop = stop
        self.watchdog = Watchdog(
            folder / "stuck.txt", config.limits.stuck_s, partial(self._say, "alarm")
        )
        self.tasks = Tasks(config)
        self.digest = identity(config)
        self.folder_path = folder
        policy = config.policy
        path = (folder / "model" if policy.model == "tiny" else Path(policy.model)).resolve()
        if policy.model == "tiny" and not (path / "config.json").exists():
            tiny.build(path, seed=config.seed)
        self.policy = HFPolicy.load(
            path,
            max_new_tokens=policy.max_new_tokens,
            temperature=policy.temperature,
            think=policy.think,
            device=policy.device,
            dtype=policy.dtype,
            max_batch=config.train.groups * config.train.group_size,
        )
        if policy.lora is not None:
            add_adapter(self.policy.model, policy.lora, config.seed)
        self.engine = Engine(
            self.policy.model,
            pad_id=self.policy.tokenizer.pad_token_id or 0,
            temperature=policy.temperature,
            train=config.train,
            algorithm=config.algorithm,
            max_tokens=policy.max_new_tokens,
        )
        self.encoding = make_encoding(policy)
        self.policy.prompts = self.encoding
        self.settings = make_settings(config)
        self.envs = EnvPool()
        self.group = make_group(config.group, config.env[0])
        self.critic: Critic | None = None
        self.branching = make_branching(config)
        self.folder: RunFolder | None = None
        self.step = 0
        self.env_steps = 0
        self.optimizer_steps = 0
        self.wall_s = 0.0
        self.stages: list[dict[str, Any]] = []
        self.success: float | None = None
        self.best: float | None = None
        self.history: list[dict[str, Any]] = []
        self.validated: list[float | None] = []
        self.alarms_on: set[str] = set()
        # Whether the weights are those of `step`: not in warm-up, nor in the middle of an update.
        self.whole = False
        self.finished = False
        self.players = Players(config, path, self.policy, self.engine)

    # Beginning and end.

    def start(self, saved: Path | None) -> None:
        """Load the checkpoint `saved`, or warm up and keep step 0."""
        if saved is not None:
            self._load(saved)
        self.folder = RunFolder(
            self.folder_path, self.step if saved is not None else None, self.config.log
        )
        facts = self.folder.read_run() if saved is not None else {}
        self.history = self.folder.read_lines("metrics.jsonl")
        self.validated = [
            line["success_rate"]
            for line in self.folder.read_lines("eval.jsonl")
            if line["split"] == "validation"
        ]
        self.stages = list(facts.get("stages", ()))
        self.started = facts.get("started") or datetime.now(UTC).isoformat(timespec="seconds")
        self._write_facts()
        if warning := check_step_rewards(self.tasks, self.config):
            self._say("warning", warning)
        if self.engine.unshared is not None:
            self._say(
                "warning",
                f"tokens that rows share are computed for each row: {self.engine.unshared}",
            )
        if saved is None:
            if self.config.warmup.is_used:
                self._warm_up()
            self._start_reinforcement()
            self.whole = True
            self._finish_stage("warm-up" if self.config.warmup.is_used else "start")
            self.keep()

    def close(self) -> None:
        """Close environments and files."""
        self.envs.close()
        self.players.close()
        if self.folder is not None:
            self.folder.close()

    def keep_what_there_is(self) -> str:
        """Save the last whole step where the weights are its own, and say what can be gone on from."""
        if self.whole:
            self.keep()
        if not checkpoint.find(self.folder_path / "checkpoints"):
            return f"Nothing was saved in {self.folder_path} yet; --resume starts it over"
        return (
            f"The run in {self.folder_path} stopped after step {self.step}; nothing was scored for "
            "the step under way, and it is done again with --resume"
        )

    def keep(self) -> None:
        """Write a checkpoint of the last whole step, unless it is there."""
        assert self.folder is not None
        state = checkpoint.TrainState(
            step=self.step,
            env_steps=self.env_steps,
            optimizer_steps=self.optimizer_steps,
            wall_s=self.wall_s,
            policy_version=self.policy.version,
            config_digest=self.digest,
            versions=versions(),
            curriculum=self.tasks.curriculum.state(),
            branching={} if self.branching is None else self.branching.state(),
            best=self.best,
        )
        folder = self.folder.checkpoints
        if not any(path.name == f"step-{self.step:06d}" for path in checkpoint.find(folder)):
            extra = {}
            optimizer = {"policy": self.engine.optimizer.state_dict()}
            if self.engine.reference is not None:
                extra["reference"] = self.engine.reference.state_dict()
            if self.critic is not None:
                extra["critic"] = self.critic.state_dict()
                optimizer["critic"] = self.critic.optimizer.state_dict()
            checkpoint.save(folder, state, self.policy.save, extra, optimizer)
        checkpoint.prune(folder, self.config.checkpoint.keep)

    def _publish(self, name: str) -> None:
        """Replace the folder `name` of the run by the policy, as a model to load."""
        assert self.folder is not None
        lora = self.config.policy.lora
        self.folder.publish(name, self.policy.save, merge=lora is not None and lora.merge)

    def _load(self, saved: Path) -> None:
        state, extra, optimizer = checkpoint.load(saved)
        if state.config_digest != self.digest:
            raise RequestError(
                f"{saved} was written by a run with another configuration; only the number of steps, "
                "the time limit, limits, checkpoints and the verifier's address may change on resume"
            )
        self.engine.load(saved / "policy")
        self._start_reinforcement()
        if self.engine.reference is not None:
            self.engine.reference.load_state_dict(extra["reference"])
        if self.critic is not None:
            self.critic.load_state_dict(extra["critic"])
            self.critic.optimizer.load_state_dict(optimizer["critic"])
        self.engine.optimizer.load_state_dict(optimizer["policy"])
        self.step, self.env_steps = state.step, state.env_steps
        self.optimizer_steps, self.wall_s = state.optimizer_steps, state.wall_s
        self.policy.version = state.policy_version
        self.tasks.curriculum.load(state.curriculum)
        if self.branching is not None:
            self.branching.load(state.branching)
        self.best = state.best
        self.whole = True

    def _start_reinforcement(self) -> None:
        """Give the engine fresh optimiser state, and the estimator the critic that it needs."""
        self.engine.start_reinforcement()
        heads = self.config.algorithm.estimator.heads
        if heads:
            self.critic = Critic(
                self.policy.model,
                heads,
                pad_id=self.engine.pad_id,
                critic=self.config.critic or CriticSection(),
                train=self.config.train,
                tree=self.engine.unshared is None,
            )

    def _write_facts(self) -> None:
        assert self.folder is not None
        self.folder.write_run(
            {
                "name": self.config.name,
                "algorithm": self.config.algorithm.name,
                "env_id": ", ".join(self.tasks.env_ids),
                "started": self.started,
                "seed": self.config.seed,
                "config": self.config.model_dump(mode="json"),
                "versions": versions(),
                "n_parameters": sum(p.numel() for p in self.policy.model.parameters()),
                "stages": self.stages,
                "finished": self.finished,
            }
        )

    # Stages.

    def _warm_up(self) -> None:
        config = self.config.warmup
        began = time.perf_counter()

        def on_batch(done: int, total: int, loss: float) -> None:
            self.stop.check()
            self.watchdog.moved("warming up")
            self.listen(Progress(stage="warm-up", done=done, total=total, text=f"loss {loss:.3f}"))

        plans = []
        whose = {
            "oracle": f"{config.episodes} episodes of the oracle",
            "episodes": "recorded episodes",
        }
        self._say("warm-up", whose.get(config.source, f"episodes of {config.teacher}"))
        if config.source != "episodes":
            plans = self.tasks.plans(WARM_UP, 0, config.episodes, config.samples, "train")
        WarmStart(
            section=config,
            policy=self.policy,
            engine=self.engine,
            encoding=self.encoding,
            settings=self.settings,
            seed=self.config.seed,
            folder=self.folder_path,
            say=partial(self._say, "warm start"),
            on_batch=on_batch,
            on_wait=self._wait,
        ).run(plans)
        self.wall_s += time.perf_counter() - began

    def loop(self) -> None:
        """Train until the configured end, then note that the run is whole."""
        config = self.config
        while not self._ended():
            began = time.perf_counter()
            self._train_step()
            self.wall_s += time.perf_counter() - began
            if self.step % config.eval.every == 0:
                self.success = self._evaluate("validation")["success_rate"]
                self.validated.append(self.success)
                if self.success is not None and (self.best is None or self.success > self.best):
                    self.best = self.success
                    self._publish("best")
            if self._ended() or self.step % config.checkpoint.every == 0:
                self.keep()
        self._publish("last")
        self.finished = True
        self._finish_stage("reinforcement")

    def _ended(self) -> bool:
        train, target = self.config.train, self.config.eval.stop_at
        return (
            self.step >= train.steps
            or (train.max_env_steps is not None and self.env_steps >= train.max_env_steps)
            or (train.time_limit_s is not None and self.wall_s >= train.time_limit_s)
            or (target is not None and self.success is not None and self.success >= target)
        )

    def _train_step(self) -> None:
        assert self.folder is not None
        config, number = self.config, self.step + 1
        clock = [time.perf_counter()]
        read = self.policy.computed_tokens
        chances = self.tasks.probabilities(number)
        (plans, episodes), (all_plans, played) = play_enough(
            partial(self._draw, number),
            self._play_rewarded,
            config.sampling,
            lambda plans: self._play_oracle(oracle_plans(plans)),
        )
        read = self.policy.computed_tokens - read
        shown = self._demonstrations(plans)
        continued: dict[State, float] = {}
        extra_steps, branched = 0, {}
        if self.branching is not None:
            continued, extra_steps = self.branching.run(
                number,
                plans,
                episodes,
                partial(self._play, policy=self.players.trained),
                self.engine.statistics,
            )
            branched = {"branch": {"states": len(continued), "env_steps": extra_steps}}
        canaries = self._canaries(number)
        self.players.rest()
        clock.append(time.perf_counter())
        reading = partial(self._reading, plans)
        rows, credit = self._credit(episodes, shown, continued, reading)
        gaps = self._transcripts(number, episodes, credit)
        self.whole = False
        stats, critic_stats = self._update(number, rows)
        clock.append(time.perf_counter())
        self.step = number
        earned = {e.id: turns for e, turns in zip(episodes, credit, strict=True)}
        self.tasks.observe(all_plans, unhinted(all_plans, played), earned)
        self.env_steps += sum(len(episode.turns) for episode in played) + extra_steps
        self.optimizer_steps += len(stats)
        version, self.policy.version = self.policy.version, self.policy.version + 1
        self.whole = True
        line = {
            "step": number,
            "env_steps": self.env_steps,
            "wall_s": self.wall_s + clock[-1] - clock[0],
            **outcome(unhinted(all_plans, played)),
            **hint_counts(all_plans, played),
            **branched,
            **signal(episodes, credit),
            **generation_tokens(played, read),
            **optimisation(stats),
            **values(critic_stats),
            **gaps,
            **canaries,
            **self.players.figures(),
            **({"arms": chances} if len(chances) > 1 else {}),
            "time": {
                "generation_s": total(played, "generate_s"),
                "environment_s": total(played, "step_s") - total(played, "verify_s"),
                "verifier_s": total(played, "verify_s"),
                "update_s": clock[2] - clock[1],
                "play_s": clock[1] - clock[0],
            },
        }
        self.folder.certificate(
            certify(number, version, played, episodes, rows, stats, config.train.epochs)
        )
        self._raise_alarms(line)
        self.folder.metrics(line)
        self.listen(
            Progress(
                stage="reinforcement",
                done=number,
                total=config.train.steps,
                text=f"success {line['success_rate'] or 0:.0%} over {line['episodes']} episodes",
                line=line,
            )
        )

    def _raise_alarms(self, line: dict[str, Any]) -> None:
        """Say each alarm once when it comes on, and note all that are on in the step's line."""
        self.history.append(line)
        found = alarms(self.history, self.validated)
        for name in found.keys() - self.alarms_on:
            self._say("alarm", found[name])
        self.alarms_on = set(found)
        line["alarms"] = sorted(found)

    def _canaries(self, number: int) -> dict[str, Any]:
        """Play episodes of known worth where they are due, and give the shares of wrong outcomes."""
        section = self.config.canary
        if not section.every or (number - 1) % section.every:
            return {}
        plans = self.tasks.plans(CANARY, number, section.episodes, 1, "train")
        return {"canaries": play_canaries(plans, self._play, self.tasks.has_oracle)}

    def _play(
        self,
        plans: Sequence[Plan],
        policy: Policy,
        on_fork: Callable[[Episode, Fork], None] | None = None,
    ) -> list[Episode]:
        return play(
            plans,
            policy,
            self.encoding,
            self.settings,
            envs=self.envs,
            on_turn=self._on_turn,
            on_wait=self._wait,
            on_fork=on_fork,
        )

    def _on_turn(self, episode: Episode, turn: Turn) -> None:
        self.stop.check()
        self.watchdog.moved(f"playing {episode.env_id} with policy {episode.policy}")

    def _draw(self, number: int, batch: int) -> list[Plan]:
        train = self.config.train
        return self.tasks.plans(TRAIN, number, train.groups, train.group_size, "train", batch)

    def _play_rewarded(self, plans: Sequence[Plan]) -> list[Episode]:
        """Play `plans`; the group verifier, if there is one, sets their rewards."""
        on_fork = None if self.branching is None else self.branching.keep
        episodes = self._play(plans, self.players.trained, on_fork)
        if self.group is not None:
            reward_groups(episodes, self.group, fault_limit=self.config.limits.fault_share)
        return episodes

    def _demonstrations(self, plans: Sequence[Plan]) -> list[Episode]:
        """Play the oracle's episodes of each group, if the loss learns from them."""
        n = self.config.algorithm.demonstrations
        return self._play_oracle(oracle_plans(plans, n)) if n else []

    def _play_oracle(self, plans: Sequence[Plan]) -> list[Episode]:
        return self._play(plans, Demonstrator(self.policy, 0.0))

    def _reading(self, plans: Sequence[Plan], episodes: Sequence[Episode]) -> Reading:
        """Return what rewards from the policy read of `episodes`."""
        return Reading(
            episodes=episodes,
            engine=self.engine,
            encode=self.policy.encode,
            references=lambda: last_replies(plans, episodes, self._play_oracle),
        )

    def _credit(
        self,
        episodes: Sequence[Episode],
        shown: Sequence[Episode],
        continued: Mapping[State, float],
        reading: Callable[[Sequence[Episode]], Reading],
    ) -> tuple[list[Row], list[list[TurnCredit]]]:
        """Return the rows to train on, and the credit of all turns; demonstrations come last."""
        algorithm, engine = self.config.algorithm, self.engine
        everything = [*episodes, *shown]
        rows = [
            replace(row, demonstration=row.trajectory >= len(episodes))
            for row in make_rows(everything)
        ]
        # The oracle's lengths and successes say nothing of the policy's.
        paid = shape_rewards(episodes, self.config.reward, reading)
        paid += [[turn.reward for turn in episode.turns] for episode in shown]
        if self.critic is not None:
            rows = self.critic.evaluate(rows)
        statistics = engine.statistics(rows) if algorithm.estimator.reads_tokens else None
        credit = assign_credit(
            everything, algorithm, rows, statistics, self.policy.decode, paid, continued
        )
        rows = engine.prepare(give_credit(rows, credit))
        if isinstance(algorithm.estimator_options, Sdpo):
            reader = Reader(message=self.policy.message_ids, context=self.policy.max_context)
            rows = show_teachers(rows, everything, algorithm.estimator_options, reader)
        return rows, credit[: len(episodes)]

    def _update(
        self, number: int, rows: Sequence[Row]
    ) -> tuple[list[StepStats], list[CriticStats]]:
        """Optimiser steps over shuffled mini-batches; none if nothing was played."""
        train, stats, critic_stats = self.config.train, [], []
        risen = min(1.0, number / max(1, train.lr_warmup_steps))
        fallen = 1.0 - (1.0 - train.lr_final) * number / train.steps
        self.engine.set_lr(train.lr * risen * fallen)
        held = self.critic is not None and number <= self.critic.section.warmup_steps
        for epoch in range(train.epochs):
            order = np.random.default_rng((self.config.seed, number, epoch)).permutation(len(rows))
            for start in range(0, len(rows), train.minibatch_rows):
                part = [rows[i] for i in order[start : start + train.minibatch_rows]]
                self.watchdog.moved(
                    f"updating on rows {start} to {start + len(part)} of {len(rows)}"
                )
                if not held:
                    loss = PolicyLoss(seed=(self.config.seed, number, epoch, start))
                    stats.append(self.engine.train_step(part, loss))
                if self.critic is not None:
                    critic_stats += self.critic.fit(part)
        return stats, critic_stats

    def _transcripts(
        self,
        number: int,
        episodes: Sequence[Episode],
        credit: Sequence[Sequence[TurnCredit]],
    ) -> dict[str, float]:
        """Write a few episodes, and give the gap between sampled and recomputed log-probabilities."""
        assert self.folder is not None
        heads = {episode.group_id: i for i, episode in reversed(list(enumerate(episodes)))}
        first = sorted(heads.values())[: self.config.checkpoint.transcripts]
        chosen = [i for i in first if episodes[i].status != "fault"]
        shown, earned = [episodes[i] for i in chosen], [credit[i] for i in chosen]
        per_episode, gaps = recompute(shown, self.engine)
        if shown:
            self.folder.transcripts(number, shown, earned, per_episode, self.policy)
        return {"logp_gap_mean": float(np.mean(gaps)), "logp_gap_max": float(np.max(gaps))}

    def _finish_stage(self, name: str) -> None:
        """Play the test split, which decides nothing, and note the result as the stage's."""
        line = self._evaluate("test")
        self.stages = [stage for stage in self.stages if stage["name"] != name]
        kept = ("split", "episodes", "success_rate", "interval")
        self.stages.append({"name": name, "step": self.step, **{key: line[key] for key in kept}})
        self._write_facts()

    def _evaluate(self, split: str) -> dict[str, Any]:
        """Play `eval.episodes` tasks of `split`; the same tasks and draws each time."""
        assert self.folder is not None
        config = self.config.eval
        self._say("evaluation", f"{config.episodes} episodes of the {split} split")
        plans = self.tasks.plans(EVAL, 0, config.episodes, 1, split)
        episodes = self._play(plans, self.players.judge)
        found = summarise(episodes)
        line = {
            "step": self.step,
            "env_steps": self.env_steps,
            "split": split,
            "episodes": len(episodes),
            "success_rate": found["success_rate"],
            "interval": found["success_interval"],
            "faults": found["faults_by_cause"],
            "by_difficulty": by_difficulty(found),
        }
        self.folder.evaluation(line)
        self.listen(
            Progress(
                stage="evaluation",
                done=self.step,
                total=self.config.train.steps,
                text=f"{split} success {found['success_rate'] or 0:.1%}",
                line=line,
            )
        )
        return line

    def _wait(self, text: str) -> None:
        self.stop.check()
        self.watchdog.waiting(f"waiting for {text}")
        self._say("waiting", text)

    def _say(self, stage: str, text: str) -> None:
        self.listen(Progress(stage=stage, done=self.step, total=self.config.train.steps, text=text))
