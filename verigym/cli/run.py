"""`verigym run`: play a policy on an environment and report its success rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from verigym.cli import console, options
from verigym.cli.faults import stop_if_faulted
from verigym.cli.progress import EpisodeBar
from verigym.errors import RequestError

if TYPE_CHECKING:
    from verigym.episode import Episode


def run(
    env_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Environment id; short ids work: keydoor, countdown."),
    ],
    policy: options.Policy = "oracle",
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", min=1, help="Number of episodes.")
    ] = 10,
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty", "-d", help="Level (1 to 10) or name. Default: the first name."
        ),
    ] = None,
    split: options.Split = "test",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", "-s", min=0, help="Seed of the first episode; each further one adds 1."
        ),
    ] = 0,
    max_turns: options.MaxTurns = None,
    verifier: options.VerifierUrl = None,
    with_tools: options.WithTools = None,
    attempts: options.Attempts = None,
    reflect: options.Reflect = False,
    corpus: options.Corpus = None,
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
    temperature: options.Temperature = None,
    max_new_tokens: options.MaxNewTokens = None,
    tools: options.Tools = False,
    encoding: options.Encoding = None,
    history: options.History = None,
    thoughts: options.Thoughts = None,
    parse: options.Parse = None,
    system_prompt: options.SystemPrompt = None,
    show_turns: options.ShowTurns = None,
    show_tokens: options.ShowTokens = None,
    think: options.Think = None,
    token_ids: options.TokenIds = False,
    concurrency: options.Concurrency = None,
    patience_s: options.Patience = 60.0,
) -> None:
    """Play a policy on an environment; print its success rate, or one JSON object."""
    from verigym.agents.loop import Ledger, Settings, plan_groups, play
    from verigym.agents.prompts import encoding_for
    from verigym.agents.record import append_episodes, summarise
    from verigym.making import make

    if out is not None and out.exists() and out.stat().st_size:
        raise RequestError(f"{out} exists and is not empty; choose another name for --out")
    kwargs: dict[str, Any] = {
        "max_turns": max_turns,
        "verifier": verifier,
        **options.chosen_tools(with_tools, attempts, reflect, corpus),
    }
    # Made once here, so that a wrong difficulty or split is told before a model is loaded.
    env = make(env_id, difficulty=difficulty, split=split, **kwargs)
    full_id, level, judge = env.id, env.difficulty, env.verifier_id
    env.close()
    choices = options.chosen_prompts(
        encoding, history, thoughts, parse, system_prompt, show_turns, show_tokens, tools
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
    chosen = (policy, temperature, max_new_tokens, tools, think, token_ids, concurrency)
    with (
        options.open_policy(*chosen) as player,
        EpisodeBar(f"{full_id} by {player.name}", episodes) as bar,
    ):

        def on_episode(episode: Episode) -> None:
            if out is not None:
                append_episodes(out, [episode])
            bar.count(episode)

        played = play(
            plans,
            player,
            encoding=encoding_for(player, choices),
            settings=Settings(
                patience_s=patience_s, fault_limit=1.0, max_live=options.max_live(concurrency)
            ),
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
    details = [one.fault.detail for one in played if one.fault is not None]
    stop_if_faulted(summary["faults"], summary["episodes"], summary["faults_by_cause"], details)
    rate = summary["success_rate"]
    if fail_below is not None and rate < fail_below:
        console.complain(f"success rate {rate:.3f} is below {fail_below:g}")
        raise typer.Exit(console.BELOW)
