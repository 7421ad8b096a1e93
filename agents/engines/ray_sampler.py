"""`RaySampler`: several engines as one sampler, each with the whole model in an actor of Ray, here or on other machines.

A request goes to the actor that has the fewest. New weights go to all actors at once, through Ray's object store, and
each hands them to its engine as that takes them; the proof of delivery (trainers/delivery.py) asks every one. Only
actors that hold the newest weights are asked for samples. What an actor was sampling when it was lost, with its node
or alone, or when it hung past its deadline, is sampled by another from the start; the actor that comes up in its
place takes part from the next update on.

Needs the extra `ray`; tried with Ray 2.60. Objects travel pickled: connect only to a cluster of your own. Each node needs
the same Verigym, and the model's folder under the same path.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from verigym.agents.engines.ray_sampler_host import SamplerHost
from verigym.agents.engines.sampler import (
    EngineDead,
    Sample,
    Sampler,
    SamplingParams,
    UpdateRefused,
    Weights,
)
from verigym.agents.ray_actors import RayActor, RayActors

_TRIES = 4
"""Actors that may be lost under one request before it fails."""
_CLOSE_S = 10.0


class RaySampler:
    """Samples with `actors` engines that `make`, which must be picklable, starts in actors of Ray.

    An actor continues `slots` requests at once, reserves `cpus` and `gpus`, and is killed if a call takes longer than
    `timeout_s`. `address` is that of a running cluster (`auto` for the one of this machine); None starts one on loopback.
    """

    def __init__(
        self,
        make: Callable[[], Sampler],
        *,
        actors: int = 2,
        slots: int = 8,
        cpus: float = 1.0,
        gpus: float = 0.0,
        address: str | None = None,
        timeout_s: float = 300.0,
        start_timeout_s: float = 600.0,
    ) -> None:
        self.name = "ray"
        self.version = 0
        self.sent_bytes = 0
        """Size of the weights in the last update, for all actors."""
        self.timeout_s = timeout_s
        self._start_timeout_s = start_timeout_s
        self._updating = threading.Lock()
        self._holding: dict[RayActor, str] = {}
        """Places of the actors that hold the weights of `version`."""
        self._was_given = False
        self.actors = RayActors(
            SamplerHost,
            arguments=(make,),
            actors=actors,
            slots=slots,
            cpus=cpus,
            gpus=gpus,
            address=address,
        )
        try:
            first = self._any_up()
            found = self._get(first, first.handle.facts.remote())
        except BaseException:
            self.actors.close()
            raise
        self.name, self.max_context, self.precision_nats = found

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
    ) -> list[Sample]:
        """Continue each prompt, all by one actor."""
        tries = 0
        while True:
            actor, tries = self._take(), tries + 1
            try:
                asked = actor.handle.ask.remote("sample", prompts, params, keys)
                found: list[Sample] = self._get(actor, asked)
                return found
            except EngineDead:
                if tries == _TRIES:
                    raise
            finally:
                with self.actors.lock:
                    actor.load -= 1

    def logprobs(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> list[list[float]]:
        """Return the log-probability of each token of each answer, by one actor."""
        return next(iter(self.logprobs_of_each(prompts, answers, params).values()))

    def logprobs_of_each(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> dict[str, list[list[float]]]:
        """Return the same as `logprobs`, by each actor that holds the newest weights, under its name."""
        asked = {
            actor: actor.handle.ask.remote("logprobs", prompts, answers, params)
            for actor in self._holders()
        }
        names = {actor: f"{self.name} {where}" for actor, where in self._holding.items()}
        found, lost = self._gather(asked)
        if not found:
            raise EngineDead(self._nobody(lost))
        return {names[actor]: lines for actor, lines in found.items()}

    def update(self, weights: Weights) -> None:
        """Give `weights` to all actors; one that does not take them in time is killed."""
        if weights.is_adapter:
            raise UpdateRefused(f"{self.name} takes whole models in actors of Ray, not adapters")
        with self._updating:
            first = self._any_up()
            actors = {first, *self.actors.up(0.0)}
            tensors = {name: one.detach().cpu() for name, one in weights.tensors.items()}
            sent = self.actors.ray.put(tensors)
            asked = {actor: actor.handle.update.remote(weights.version, sent) for actor in actors}
            took, lost = self._gather(asked)
            with self.actors.lock:
                self._holding, self._was_given = took, True
                self.version = weights.version
            self.sent_bytes = weights.n_bytes * len(took)
        if not took:
            raise EngineDead(self._nobody(lost))

    def revive(self) -> bool:
        """Return True if no actor has the weights any more that they were sent."""
        self.actors.up(0.0)
        if self._holders() or not self._was_given:
            return False
        self._was_given = False
        return True

    def sleep(self) -> bool:
        """Hold on to all memory."""
        return False

    def close(self) -> None:
        """End the engines and their actors, and the cluster if it was started here."""
        asked = [actor.handle.close.remote() for actor in self.actors.up(0.0)]
        if asked:
            # Those that do not end in time end with their actors.
            self.actors.ray.wait(asked, num_returns=len(asked), timeout=_CLOSE_S)
        self.actors.close()

    def _any_up(self) -> RayActor:
        """Return an actor that is up; wait for one."""
        up = self.actors.up(self._start_timeout_s)
        if not up:
            raise EngineDead(self._nobody(self.actors.last_error))
        return up[0]

    def _holders(self) -> list[RayActor]:
        with self.actors.lock:
            return [actor for actor in self._holding if self.actors.has(actor)]

    def _take(self) -> RayActor:
        """Return the holder of the newest weights with the least load, and add one to it."""
        with self.actors.lock:
            holders = self._holders()
            if not holders:
                raise EngineDead(self._nobody(self.actors.last_error))
            actor = min(holders, key=lambda one: one.load)
            actor.load += 1
            return actor

    def _nobody(self, why: str) -> str:
        return f"no engine in an actor of Ray has version {self.version}{': ' if why else ''}{why}"

    def _gather(self, asked: dict[RayActor, Any]) -> tuple[dict[RayActor, Any], str]:
        """Return the answers of those that gave one, and why the last of the others did not."""
        found, why = {}, ""
        for actor, ref in asked.items():
            try:
                found[actor] = self._get(actor, ref)
            except EngineDead as error:
                why = str(error)
        return found, why

    def _get(self, actor: RayActor, ref: Any) -> Any:
        """Return an actor's answer. Raises its error, or EngineDead once it was given up."""
        errors = self.actors.ray.exceptions
        try:
            return self.actors.ray.get(ref, timeout=self.timeout_s)
        except errors.RayTaskError as error:
            if not isinstance(error.cause, Exception):
                raise
            if not isinstance(error.cause, EngineDead):
                raise error.cause from None
            why = str(error.cause)
        except errors.GetTimeoutError:
            why = f"it took more than {self.timeout_s:g} s"
        except errors.RayError as error:
            why = f"it is gone: {type(error).__name__}"
        self.actors.lose(actor)
        raise EngineDead(f"an engine in an actor of Ray was given up: {why}")
