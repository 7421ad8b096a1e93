"""`verigym run`: play a policy on an environment and report its success rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from verigym.cli import console
from verigym.errors import RequestError
from verigym.missing import REASON

if TYPE_CHECKING:
    from verigym.episode import Episode

_FAULT_LIMIT = 0.5


def run(
    env_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Environment id; short ids work: keydoor, countdown."),
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            "-p",
            help="Policy: oracle, random, scripted:FILE, hf:FOLDER or openai:MODEL@URL.",
        ),
    ] = "oracle",
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", min=1, help="Number of episodes.")
    ] = 10,
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty", "-d", help="Level (1 to 10) or name. Default: the first name."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="Split to draw tasks from: train, validation or test.")
    ] = "test",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", "-s", min=0, help="Seed of the first episode; each further one adds 1."
        ),
    ] = 0,
    max_turns: Annotated[
        int | None,
        typer.Option("--max-turns", help="Maximum number of turns. Default: the task's own limit."),
    ] = None,
    verifier: Annotated[
        str | None,
        typer.Option(
            "--verifier", metavar="URL", help="Judge with the verifier service at this URL."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="JSON Lines file to write the episodes to."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the transcript of each episode.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    fail_below: Annotated[
        float | None,
        typer.Option(
            "--fail-below", min=0, max=1, help="Exit with code 4 if the success rate is lower."
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature", min=0, help="Sampling temperature of hf and openai policies."
        ),
    ] = None,
    max_new_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-new-tokens", min=1, help="Maximum number of tokens per turn, for hf and openai."
        ),
    ] = None,
    tools: Annotated[
        bool,
        typer.Option(
            "--tools", help="Offer the environment's tools through the chat API, for openai."
        ),
    ] = False,
    history: Annotated[
        int,
        typer.Option("--history", min=0, help="Number of earlier turns to repeat in each prompt."),
    ] = 2,
    patience_s: Annotated[
        float,
        typer.Option(
            "--patience", min=0, help="Seconds to wait for a service that does not answer."
        ),
    ] = 60.0,
) -> None:
    """Play a policy on an environment; print its success rate, or one JSON object."""
    from verigym.agents.loop import Ledger, Settings, plan_groups, play
    from verigym.agents.make_policy import make_policy
    from verigym.agents.record import append_episodes, summarise
    from verigym.making import make

    if out is not None and out.exists() and out.stat().st_size:
        raise RequestError(f"{out} exists and is not empty; choose another name for --out")
    kwargs: dict[str, Any] = {"max_turns": max_turns, "verifier": verifier}
    # Made once here, so that a wrong difficulty or split is told before a model is loaded.
    env = make(env_id, difficulty=difficulty, split=split, **kwargs)
    full_id, level, judge = env.id, env.difficulty, env.verifier_id
    env.close()
    player = make_policy(
        policy, temperature=temperature, max_new_tokens=max_new_tokens, tools=tools or None
    )
    plans = plan_groups(
        full_id,
        range(seed, seed + episodes),
        run_key=(seed,),
        env_kwargs=kwargs,
        difficulty=level,
        split=split,
    )
    ledger = Ledger()
    with _Bar(f"{full_id} by {player.name}", episodes) as bar:

        def on_episode(episode: Episode) -> None:
            if out is not None:
                try:
                    append_episodes(out, [episode])
                except OSError as error:
                    # Writing to an open file does not name it.
                    raise OSError(error.errno, error.strerror, str(out)) from error
            bar.count(episode)

        played = play(
            plans,
            player,
            encoding=_encoding(history),
            settings=Settings(patience_s=patience_s, fault_limit=1.0),
            on_episode=on_episode,
            on_wait=bar.wait,
            ledger=ledger,
        )
    if show:
        # stdout belongs to the object when there is one.
        _show(played, console.err() if as_json else console.out())
    summary = {
        "env_id": full_id,
        "policy": player.name,
        "difficulty": level,
        "split": split,
        "seed": seed,
        "verifier": judge,
        "verifier_url": verifier,
        "wall_s": round(ledger.wall_s, 3),
        "turns": ledger.turns,
        **summarise(played),
    }
    if as_json:
        console.write_json(summary)
    else:
        _print_summary(summary)
    _leave(summary, fail_below, played)


def _encoding(history: int) -> Any:
    from verigym.agents.chat import StepRows

    return StepRows(history=history)


class _Bar:
    """Progress on stderr: a bar on a terminal, otherwise one line per wait."""

    def __init__(self, title: str, total: int) -> None:
        self.screen = console.err()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[tally]}"),
            TimeElapsedColumn(),
            console=self.screen,
            transient=True,
            disable=not self.screen.is_terminal,
        )
        self.task = self.progress.add_task(title, total=total, tally="")
        self.title = title
        self.solved = 0
        self.faulted = 0

    def __enter__(self) -> _Bar:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def count(self, episode: Episode) -> None:
        """Advance the bar after an episode has ended."""
        self.solved += episode.success
        self.faulted += episode.status == "fault"
        tally = f"{self.solved} solved" + (f", {self.faulted} faulted" if self.faulted else "")
        self.progress.update(self.task, advance=1, tally=tally, description=self.title)

    def wait(self, why: str) -> None:
        """Report that a service is being waited for."""
        if self.screen.is_terminal:
            self.progress.update(self.task, description=why)
        else:
            console.note(why)


def _show(played: list[Episode], screen: Console) -> None:
    """Print every turn of every episode. A model's text is never read as markup."""
    for episode in played:
        screen.print(Text(f"== {episode.task_id}", style="bold"))
        for number, turn in enumerate(episode.turns, start=1):
            screen.print(Text(f"turn {number}", style="bold"))
            screen.print(Text(turn.observation, style="dim"))
            if turn.response != turn.action:
                screen.print(Text.assemble(("response ", "cyan"), turn.response))
            invalid = "" if turn.valid_action else "  (not a valid action)"
            screen.print(Text.assemble(("action ", "cyan"), turn.action, (invalid, "yellow")))
        if episode.fault is not None:
            end = Text(f"faulted: {episode.fault.cause}: {episode.fault.detail}", style="red")
        else:
            style = "green" if episode.success else "yellow"
            reason = episode.verdict.reason if episode.verdict is not None else "never judged"
            turns = f"{len(episode.turns)} turns"
            end = Text(f"return {episode.return_:g} in {turns}, {reason}", style=style)
        screen.print(end)
        screen.print()


def _print_summary(summary: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row(
        "environment", f"{summary['env_id']}, {summary['difficulty']}, {summary['split']}"
    )
    table.add_row("policy", Text(summary["policy"]))
    rate = summary["success_rate"]
    if rate is None:
        table.add_row("success", "[red]no episode could be scored[/red]")
    else:
        low, high = summary["success_interval"]
        table.add_row(
            "success", f"[bold]{rate:.1%}[/bold] [dim](95 % interval {low:.1%} to {high:.1%})[/dim]"
        )
        table.add_row("mean return", f"{summary['mean_return']:.3f}")
        table.add_row("turns", f"{summary['turns_mean']:.1f} an episode")
    table.add_row("episodes", f"{summary['episodes']} in {summary['wall_s']:.1f} s")
    if summary["faults"]:
        causes = ", ".join(f"{cause} {n}" for cause, n in summary["faults_by_cause"].items())
        table.add_row("faults", Text(f"{summary['faults']} ({causes}), not scored", style="red"))
    console.out().print(table)


def _leave(summary: dict[str, Any], fail_below: float | None, played: list[Episode]) -> None:
    """Exit with the code that the results call for, if any; see console.py."""
    rate = summary["success_rate"]
    if rate is None or summary["faults"] > _FAULT_LIMIT * summary["episodes"]:
        causes = ", ".join(f"{cause} ({n})" for cause, n in summary["faults_by_cause"].items())
        console.complain(f"{summary['faults']} of {summary['episodes']} episodes faulted: {causes}")
        faults = [one.fault.detail for one in played if one.fault is not None]
        if told := next((detail for detail in faults if f", {REASON}: " in detail), ""):
            console.complain(told.partition(f", {REASON}: ")[2])
        raise typer.Exit(console.MACHINE)
    if fail_below is not None and rate < fail_below:
        console.complain(f"success rate {rate:.3f} is below {fail_below:g}")
        raise typer.Exit(console.BELOW)
