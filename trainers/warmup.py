"""Warm-up: supervised learning on demonstrations, so that reinforcement has something to find.

The demonstrator is a policy like any other: its episodes are played by the same loop, in the same
prompts, and give training rows in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from typing_extensions import override

from verigym.agents.chat import Encoding
from verigym.agents.loop import play
from verigym.agents.native_tools import ToolSchemas
from verigym.agents.plan import Plan, Settings
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Completion, Message, Request
from verigym.agents.sampling import generator
from verigym.errors import RequestError
from verigym.trainers.batch import Row, make_rows
from verigym.trainers.engine import Engine
from verigym.trainers.learner import Imitation
from verigym.trainers.sections import WarmUpSection


class RowWriter:
    """A policy that says given texts in `reader`'s tokens; a subclass gives `name` and `say`."""

    name: str
    max_batch = 1024

    def __init__(self, reader: HFPolicy) -> None:
        self.reader = reader
        self.end_id = reader.tokenizer.eos_token_id
        if self.end_id is None:
            raise RequestError("the tokenizer has no end token (eos_token), so answers cannot end")

    @property
    def role_of_results(self) -> str:
        """As for the model."""
        return self.reader.role_of_results

    def tokenize(self, messages: Sequence[Message], tools: ToolSchemas | None = None) -> list[int]:
        """Return the ids as the model will read them."""
        return self.reader.tokenize(messages, tools)

    def render(self, messages: Sequence[Message], tools: ToolSchemas | None = None) -> str:
        """Return the text as the model's chat template does."""
        return self.reader.render(messages, tools)

    def encode(self, text: str) -> list[int]:
        """Return the ids as the model's tokenizer does."""
        return self.reader.encode(text)

    def say(self, request: Request) -> str:
        """Return the reply to one request."""
        raise NotImplementedError

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one reply per request, as if the model had said it with certainty."""
        return [self._written(request) for request in requests]

    def _written(self, request: Request) -> Completion:
        text = self.say(request)
        ids = [*self.encode(text), self.end_id]
        prompt = request.prompt_ids
        return Completion(
            text=text,
            prompt_ids=self.tokenize(request.messages) if prompt is None else prompt,
            response_ids=ids,
            logprobs=[0.0] * len(ids),
            mask=[1] * len(ids),
        )


class Demonstrator(RowWriter):
    """Plays the oracle's move, or with probability `noise` a random legal one, in `reader`'s tokens."""

    name = "demonstrator"

    def __init__(self, reader: HFPolicy, noise: float) -> None:
        super().__init__(reader)
        self.noise = noise

    @override
    def say(self, request: Request) -> str:
        env = request.env
        if env is None:
            raise RequestError("a demonstration needs the live environment")
        rng = generator(request.key)
        legal = env.legal_actions(env.state)
        text = env.oracle()
        if legal and rng.random() < self.noise:
            text = legal[int(rng.integers(len(legal)))]
        return text


def oracle_plans(plans: Sequence[Plan], n: int = 1) -> list[Plan]:
    """Return `n` plans of each group's task, for the demonstrator to play."""
    first = list({plan.group_id: plan for plan in reversed(plans)}.values())[::-1]
    return [
        replace(plan, id=f"{plan.id}.oracle{i}", key=(*plan.key, i), hint="")
        for plan in first
        for i in range(n)
    ]


def demonstrate(
    plans: Sequence[Plan],
    demonstrator: Demonstrator,
    encoding: Encoding,
    settings: Settings,
) -> list[Row]:
    """Return the training rows of the demonstrator's play; episodes that fault give none."""
    return make_rows(list(play(plans, demonstrator, encoding, settings)))


def warm_up(
    engine: Engine,
    rows: Sequence[Row],
    config: WarmUpSection,
    seed: int,
    on_batch: Callable[[int, int, float], None],
) -> None:
    """Imitate `rows` for `config.epochs`; `on_batch` hears batch, batches and loss in nats."""
    used = sorted({t for row in rows for t, on in zip(row.ids, row.mask, strict=True) if on})
    imitation = Imitation(smoothing=config.smoothing, used_ids=used)
    rng = np.random.default_rng((seed, 1))
    total = -(-len(rows) // config.batch_rows) * config.epochs
    done = 0
    for _ in range(config.epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows), config.batch_rows):
            done += 1
            engine.set_lr(learning_rate(config.lr, done, total))
            part = [rows[i] for i in order[start : start + config.batch_rows]]
            on_batch(done, total, engine.train_step(part, imitation).loss)


def learning_rate(peak: float, done: int, total: int) -> float:
    """Return the rate of batch `done` of `total`: up to `peak` in ten batches, then linearly to a tenth."""
    return peak * min(1.0, done / 10) * (1 - 0.9 * done / total)
