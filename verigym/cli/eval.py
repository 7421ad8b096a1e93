"""`verigym eval`: measure a policy on several environments, with several answers to each task."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.choosing import choose_envs
from verigym.cli import console, options
from verigym.cli.faults import stop_if_faulted
from verigym.cli.progress import EpisodeBar
from verigym.errors import RequestError

if TYPE_CHECKING:
    from rich.table import Table

    from verigym.agents.evaluate import EvaluatedEnv, EvaluationFolder

_SHOWN_TAGS = 12


def eval_(
    envs: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...", help="Environment ids, short ids, TOML files or patterns: 'math/*'."
        ),
    ],
    policy: options.Policy = "oracle",
    tasks: Annotated[
        int,
        typer.Option(
            "--tasks", "-n", min=1, help="Number of tasks per environment and difficulty."
        ),
    ] = 100,
    samples: Annotated[
        int, typer.Option("--samples", "-k", min=1, help="Number of answers to each task.")
    ] = 1,
    difficulties: Annotated[
        list[str] | None,
        typer.Option(
            "--difficulty",
            "--level",
            "-d",
            help="Level (1 to 10) or name; repeatable. Default: each environment's first name.",
        ),
    ] = None,
    split: options.Split = "test",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", "-s", min=0, help="Seed of the first task; each further one adds 1."
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
        typer.Option(
            "--out",
            "-o",
            help="Folder of the results, resumed if it exists. Default: runs/eval/POLICY-DIGEST, where "
            "the digest is that of the settings.",
        ),
    ] = None,
    price_in: Annotated[
        float | None,
        typer.Option("--price-in", min=0, help="Price of a million prompt tokens."),
    ] = None,
    price_out: Annotated[
        float | None,
        typer.Option("--price-out", min=0, help="Price of a million answer tokens."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
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
    """Measure a policy: pass@k and mean score with intervals, by environment, difficulty, tag and length.

    Stopped in any way, the same command resumes.
    """
    from verigym.agents.evaluate import Evaluation, EvaluationFolder, digest_policy
    from verigym.agents.loop import Settings

    chosen = options.chosen_tools(with_tools, attempts, reflect, corpus)
    env_kwargs = {"verifier": verifier, **chosen}
    choices = options.chosen_prompts(
        encoding, history, thoughts, parse, system_prompt, show_turns, show_tokens, tools
    )
    evaluation = Evaluation(
        worlds=_worlds(envs, difficulties or [], policy, split, env_kwargs),
        policy=policy,
        policy_digest=digest_policy(policy),
        tasks=tasks,
        samples=samples,
        seed=seed,
        split=split,
        prompts=choices,
        env_options=chosen,
        think=think,
        max_turns=max_turns,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        tools=tools,
        token_ids=token_ids or None,
    )
    player = (policy, temperature, max_new_tokens, tools, think, token_ids, concurrency)
    settings = Settings(
        patience_s=patience_s, fault_limit=1.0, max_live=options.max_live(concurrency)
    )
    path = out if out is not None else evaluation.default_folder()
    with ExitStack() as stack:
        opened = None
        if not (path / "evaluation.json").exists():
            # Made before the folder, so that a policy that cannot be made leaves none behind.
            opened = stack.enter_context(options.open_policy(*player))
        folder = stack.enter_context(EvaluationFolder(path, evaluation))
        left = evaluation.episodes - folder.n_recorded
        if folder.n_recorded:
            console.note(f"{folder.n_recorded} of {evaluation.episodes} episodes are in {path}")
        details: list[str] = []
        if left:
            opened = opened or stack.enter_context(options.open_policy(*player))
            _play(folder, opened, env_kwargs, settings, details)
        result = folder.finish(price_in, price_out)
    if as_json:
        console.write_json({**result, "folder": str(path)})
    else:
        _show(result)
        console.out().print(f"results in {path}", style="dim", soft_wrap=True, markup=False)
    overall = result["overall"]
    stop_if_faulted(overall["faults"], overall["samples"], result["faults_by_cause"], details)


def _worlds(
    envs: list[str],
    difficulties: list[str],
    policy: str,
    split: str,
    env_kwargs: dict[str, Any],
) -> tuple[EvaluatedEnv, ...]:
    """Return the worlds to play. One that only a pattern named is left out if it cannot be played."""
    from verigym.agents.evaluate import find_worlds

    worlds: list[EvaluatedEnv] = []
    for env, is_named in choose_envs(envs).items():
        try:
            worlds += find_worlds(
                env, difficulties, policy=policy, split=split, env_kwargs=env_kwargs
            )
        except RequestError as error:
            if is_named:
                raise
            console.note(f"left out: {error}")
    if not worlds:
        raise RequestError(f"no environment of {', '.join(envs)} can be played with these options")
    return tuple(worlds)


def _play(
    folder: EvaluationFolder,
    player: Any,
    env_kwargs: dict[str, Any],
    settings: Any,
    details: list[str],
) -> None:
    """Play the episodes that are left, with progress on stderr; `details` collects those of faults."""
    total = folder.evaluation.episodes
    with EpisodeBar(f"{player.name}", total, done=folder.n_recorded) as bar:

        def on_episode(episode: Any) -> None:
            if episode.fault is not None:
                details.append(episode.fault.detail)
            bar.count(episode)

        def on_world(world: EvaluatedEnv) -> None:
            if not bar.screen.is_terminal:
                console.note(
                    f"{world.env} {world.difficulty} done, {bar.counted} of {total} episodes, "
                    f"{bar.tally}"
                )

        try:
            folder.play(
                player,
                env_kwargs=env_kwargs,
                settings=settings,
                on_world=on_world,
                on_episode=on_episode,
                on_wait=bar.wait,
            )
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted after {bar.counted} of {total} episodes; run the same command to resume"
            ) from None


def _show(result: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    settings, out = result["settings"], console.out()
    k = settings["samples"]
    last = settings["seed"] + settings["tasks"] - 1
    out.print(
        Text.assemble(
            (settings["policy"], "bold"),
            f", split {settings['split']}, seeds {settings['seed']} to {last}, "
            f"{k} answer{'s' * (k > 1)} per task",
        ),
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    heads = ["tasks", "pass@1, %", *([f"pass@{k}, %"] if k > 1 else []), "score", "faults"]
    for title in heads if result["overall"]["faults"] else heads[:-1]:
        table.add_column(title, justify="right", no_wrap=True)
    _add_row(table, "all", result["overall"], k, "bold")
    common = sorted(result["by_tag"], key=lambda tag: -result["by_tag"][tag]["tasks"])[:_SHOWN_TAGS]
    tags = {tag: group for tag, group in result["by_tag"].items() if tag in common}
    for title, groups in (
        ("environment", result["by_environment"]),
        ("difficulty", result["by_difficulty"]),
        ("tag", tags if len(result["by_tag"]) > 1 else {}),
        (f"answer length in {result['length_unit']}", result["by_length"]),
    ):
        if len(groups) > 1:
            table.add_row(Text(title, style="dim italic"))
            for name, group in groups.items():
                _add_row(table, f"  {name.removeprefix('verigym/')}", group, k)
    out.print(table)
    if len(result["by_tag"]) > _SHOWN_TAGS:
        out.print(f"[dim]all {len(result['by_tag'])} tags are in result.json[/dim]")
    overall = result["overall"]
    if k > 2 and overall["pass_at"]["1"] is not None:
        rates = ", ".join(
            f"pass@{size} {100 * found['value']:.1f} %{_of(found, overall)}"
            for size, found in overall["pass_at"].items()
            if found is not None
        )
        out.print(rates, soft_wrap=True)
    first = overall["pass_at"]["1"]
    if first is not None:
        line = "in brackets: 95 % intervals over tasks"
        if first["distinct_tasks"] < first["tasks"]:
            line += f", of which {first['distinct_tasks']} are distinct and equal ones count as one"
        out.print(line, style="dim", soft_wrap=True)
    _show_counts(result)


def _of(found: dict[str, Any], overall: dict[str, Any]) -> str:
    """Return the number of tasks with enough scored answers, if faults left some without."""
    tasks = found["tasks"]
    return f" ({tasks} tasks)" if tasks < overall["tasks"] else ""


def _add_row(table: Table, name: str, group: dict[str, Any], k: int, style: str = "") -> None:
    from rich.text import Text

    passed = group["pass_at"]
    cells = [str(group["tasks"]), _percent(passed["1"])]
    if k > 1:
        cells.append(_percent(passed.get(str(k))))
    score = group["score"]
    cells.append("" if score is None else f"{score['value']:.3f}")
    row = [Text(cell, style=style) for cell in cells]
    faults = Text(str(group["faults"]), style="red" if group["faults"] else "dim")
    table.add_row(Text(name, style=style), *[*row, faults][: len(table.columns) - 1])


def _percent(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    low, high = found["interval"]
    return f"{100 * found['value']:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def _show_counts(result: dict[str, Any]) -> None:
    from rich.text import Text

    out, tokens = console.out(), result["tokens"]
    if tokens["prompt"] or tokens["response"]:
        line = f"{tokens['prompt']:,} prompt tokens, {tokens['response']:,} answer tokens"
        if tokens["cost"] is not None:
            line += f", cost {tokens['cost']:.4f}"
        out.print(line, soft_wrap=True)
    if tokens["uncounted_samples"] and tokens["cost"] is None and _is_priced(tokens):
        out.print(
            f"no cost: the tokens of {tokens['uncounted_samples']} episodes are not known",
            soft_wrap=True,
        )
    if result["overall"]["faults"]:
        causes = ", ".join(f"{cause} {n}" for cause, n in result["faults_by_cause"].items())
        line = (
            f"{result['overall']['faults']} episodes faulted and are in no rate ({causes}); "
            "run the same command to play them again"
        )
        out.print(Text(line, style="red"), soft_wrap=True)


def _is_priced(tokens: dict[str, Any]) -> bool:
    return tokens["price_in"] is not None or tokens["price_out"] is not None
