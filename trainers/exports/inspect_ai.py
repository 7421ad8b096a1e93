"""Environments as tasks of Inspect: data set, solver and scorer. Tested with inspect-ai 0.3.285.

    inspect eval trainers/exports/inspect_ai.py@verigym_task -T envs=math/arithmetic --model openai/MODEL

The solver plays turn by turn, one user message for each observation. A fault gives an unscored sample, which
Inspect leaves out of its metrics.
"""

from __future__ import annotations

from typing import Any

from verigym.levels import Difficulty
from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import (
    COLUMNS,
    TaskRow,
    grade,
    open_env,
    row_of,
    start,
    task_rows,
)
from verigym.verdict import Verdict

try:
    from anyio.to_thread import run_sync
    from inspect_ai import Task as InspectTask
    from inspect_ai import task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
except ImportError as error:
    raise_missing(error)

_OUTCOME = "verigym_outcome"


@task
def verigym_task(
    envs: str | list[str],
    n: int = 100,
    split: str = "test",
    difficulty: Difficulty | None = None,
    seed: int = 0,
    options: dict[str, Any] | None = None,
) -> InspectTask:
    """Return a task of `n` samples; the arguments are those of `task_rows`."""
    names = [envs] if isinstance(envs, str) else envs
    rows = task_rows(*names, n=n, split=split, difficulty=difficulty, seed=seed, options=options)
    return InspectTask(
        dataset=MemoryDataset([_sample(row) for row in rows]), solver=play(), scorer=outcome()
    )


def _sample(row: TaskRow) -> Sample:
    with open_env(row) as env:
        observation, info = start(env, row)
    return Sample(input=observation, id=info["task_id"], metadata=dict(row))


@solver
def play() -> Solver:
    """Play a sample's episode: generate, step, show the observation, until it ends."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = EpisodePlayer()
        try:
            await run_sync(episode.start, _row(state))
            while not episode.over:
                state = await generate(state)
                # In a thread: a step may run programs.
                moved = await run_sync(episode.step, state.output.completion)
                if not episode.over:
                    state.messages.append(ChatMessageUser(content=moved.observation))
            state.store.set(_OUTCOME, _plain(episode.reward, episode.verdict))
        finally:
            episode.close()
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def outcome() -> Scorer:
    """Score what `play` earned; after another solver, the last output as the one reply to a task of one turn."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.store.get(_OUTCOME)
        if found is None:
            (verdict,) = await run_sync(grade, [_row(state)], [state.output.completion])
            found = _plain(verdict.score, verdict)
        text = state.output.completion
        if found["reward"] is None:
            return Score.unscored(
                reason="verifier_fault", answer=text, explanation=found["why"], metadata=found
            )
        return Score(value=found["reward"], answer=text, explanation=found["why"], metadata=found)

    return score


def _row(state: TaskState) -> TaskRow:
    return row_of({name: state.metadata[name] for name in COLUMNS if name in state.metadata})


def _plain(reward: float | None, verdict: Verdict | None) -> dict[str, Any]:
    """Return the outcome as the log keeps it; the evidence may quote the reference, but logs are the evaluator's."""
    if verdict is None:
        return {"reward": reward, "why": "nothing was judged", "digest": ""}
    why = f"{verdict.status.value}, {verdict.reason}: {verdict.evidence}"
    return {
        "reward": reward,
        "why": why,
        "status": verdict.status.value,
        "reason": verdict.reason,
        "parts": dict(verdict.parts),
        "verifier": verdict.verifier,
        "digest": verdict.digest,
    }
