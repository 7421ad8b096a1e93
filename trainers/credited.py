"""Rows to train on, with the credit of each token: reward, critic, estimator, loss, in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verigym.episode import Episode
from verigym.trainers.batch import Row, TurnCredit, assign_credit, give_credit, make_rows
from verigym.trainers.credit.options import Sdpo
from verigym.trainers.policy_rewards import PlayedBatch, last_replies
from verigym.trainers.rewards import shape_rewards
from verigym.trainers.rollouts import play_oracle
from verigym.trainers.run_parts import Run
from verigym.trainers.source import Rollouts
from verigym.trainers.staleness import mark_staleness
from verigym.trainers.teacher import MessageReader, show_teachers


def credit_step(run: Run, played: Rollouts) -> tuple[list[Row], list[list[TurnCredit]]]:
    """Return the rows to train on, demonstrations last, and the credit of all turns of the policy's episodes."""
    algorithm, engine, episodes = run.config.algorithm, run.engine, played.episodes
    everything = [*episodes, *played.demonstrations]
    rows = [
        replace(row, demonstration=row.trajectory >= len(episodes)) for row in make_rows(everything)
    ]

    def reading(episodes: Sequence[Episode]) -> PlayedBatch:
        return PlayedBatch(
            episodes=episodes,
            engine=engine,
            encode=run.policy.encode,
            references=lambda: last_replies(
                played.plans, episodes, lambda plans: play_oracle(run, plans)
            ),
        )

    # The oracle's lengths and successes say nothing of the policy's.
    paid = shape_rewards(episodes, run.config.reward, reading)
    paid += [[turn.reward for turn in episode.turns] for episode in played.demonstrations]
    if run.critic is not None:
        rows = run.critic.evaluate(rows)
    statistics = engine.statistics(rows) if algorithm.estimator.reads_tokens else None
    tax = engine.tax(rows) if algorithm.taxes_rewards else ()
    credit = assign_credit(
        everything, algorithm, rows, statistics, run.policy.decode, paid, played.continued, tax
    )
    rows = give_credit(rows, credit)
    if algorithm.old_logprobs == "loglinear":
        rows = mark_staleness(rows, everything, run.policy.version)
    rows = engine.prepare(rows)
    if isinstance(algorithm.estimator_options, Sdpo):
        reader = MessageReader(message=run.policy.message_ids, context=run.policy.max_context)
        rows = show_teachers(rows, everything, algorithm.estimator_options, reader)
    return rows, credit[: len(episodes)]
