"""Evaluation of a run on held-out tasks, and the facts that it notes of each stage."""

from __future__ import annotations

from typing import Any

from verigym.agents.record import summarise
from verigym.trainers.identity import versions
from verigym.trainers.keep import publish
from verigym.trainers.measures import by_difficulty
from verigym.trainers.progress import Progress
from verigym.trainers.run_parts import Run
from verigym.trainers.tasks import EVAL


def validate(run: Run) -> None:
    """Play the validation split, and publish the policy as `best` if it is better than any before."""
    run.success = evaluate(run, "validation")["success_rate"]
    run.validated.append(run.success)
    if run.success is not None and (run.best is None or run.success > run.best):
        run.best = run.success
        publish(run, "best")


def evaluate(run: Run, split: str) -> dict[str, Any]:
    """Play `eval.episodes` tasks of `split`; the same tasks and draws each time."""
    config = run.config.eval
    run.say("evaluation", f"{config.episodes} episodes of the {split} split")
    plans = run.tasks.plans(EVAL, 0, config.episodes, 1, split)
    run.source.settle()
    episodes = run.play(plans, run.players.judge)
    found = summarise(episodes)
    line = {
        "step": run.step,
        "env_steps": run.env_steps,
        "split": split,
        "episodes": len(episodes),
        "success_rate": found["success_rate"],
        "interval": found["success_interval"],
        "faults": found["faults_by_cause"],
        "by_difficulty": by_difficulty(found),
    }
    run.folder.evaluation(line)
    run.listen(
        Progress(
            stage="evaluation",
            done=run.step,
            total=run.config.train.steps,
            text=f"{split} success {found['success_rate'] or 0:.1%}",
            line=line,
        )
    )
    return line


def finish_stage(run: Run, name: str) -> None:
    """Play the test split, which decides nothing, and note the result as the stage's."""
    line = evaluate(run, "test")
    run.stages = [stage for stage in run.stages if stage["name"] != name]
    kept = ("split", "episodes", "success_rate", "interval")
    run.stages.append({"name": name, "step": run.step, **{key: line[key] for key in kept}})
    write_facts(run)


def finish(run: Run) -> None:
    """Publish the policy as `last`, and note that the run is finished."""
    publish(run, "last")
    run.finished = True
    finish_stage(run, "reinforcement")


def write_facts(run: Run) -> None:
    """Write run.json."""
    run.folder.write_run(
        {
            "name": run.config.name,
            "algorithm": run.config.algorithm.name,
            "env_id": ", ".join(run.tasks.env_ids),
            "started": run.started,
            "seed": run.config.seed,
            "config": run.config.model_dump(mode="json"),
            "versions": versions(),
            "n_parameters": sum(p.numel() for p in run.policy.model.parameters()),
            "stages": run.stages,
            "finished": run.finished,
        }
    )
