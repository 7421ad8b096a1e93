"""`verigym harbor`: write environments as Harbor task folders, and run or import any folder without Docker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console
from verigym.errors import RequestError

app = typer.Typer(
    name="harbor",
    help="Write environments as Harbor task folders; run and import folders without Docker.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Folders = Annotated[
    list[Path], typer.Argument(metavar="FOLDER...", help="Task folders, or folders that hold some.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("export", epilog="[dim]verigym harbor export math/arithmetic tasks -n 10[/dim]")
def export(
    env: Annotated[
        str,
        typer.Argument(
            metavar="ENV", help="Environment whose tasks take one reply, as in math/arithmetic."
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder to write the task folders to.")
    ],
    tasks: Annotated[int, typer.Option("--tasks", "-n", min=1, help="Number of tasks.")] = 10,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Seed of the first task.")] = 0,
    split: Annotated[str, typer.Option("--split", help="Split to draw tasks from.")] = "train",
) -> None:
    """Write tasks of an environment as folders that Harbor runs."""
    import verigym
    from verigym.envs.harbor.export import export as write

    with verigym.make(env, split=split) as made:
        for folder in write(made, out, tasks=tasks, seed=seed):
            console.out().print(str(folder), soft_wrap=True, markup=False)


@app.command("run", epilog="[dim]verigym harbor run tasks/hello --agent oracle --json[/dim]")
def run(
    folders: Folders,
    agent: Annotated[
        str,
        typer.Option("--agent", "-a", help="Agent: oracle, nop, or a file with a bash script."),
    ] = "oracle",
    as_json: AsJson = False,
) -> None:
    """Run folders in the sandbox; exit code 4 if one earns less than 1, 3 if one has no score."""
    from verigym.envs.harbor.folder import find_folders, read_folder
    from verigym.envs.harbor.runner import oracle_script, run_folder

    if agent not in ("oracle", "nop") and not Path(agent).is_file():
        raise RequestError(f"no agent {agent!r}; give oracle, nop, or the path of a bash script")
    found = []
    for path in (one for folder in folders for one in find_folders(folder)):
        folder = read_folder(path)
        script = oracle_script(folder) if agent == "oracle" else None
        if agent not in ("oracle", "nop"):
            script = Path(agent).read_text(encoding="utf-8")
        ran = run_folder(folder, script)
        found.append({"folder": str(path), **ran.verdict.to_builtins()})
        if not as_json:
            said = ran.verdict
            score = "no score" if said.score is None else f"{said.score:g}"
            line = f"{path}  {score}  {said.status.value} {said.reason} {said.evidence}"
            console.out().print(" ".join(line.split())[:400], soft_wrap=True, markup=False)
    if as_json:
        console.write_json(found)
    if any(one["score"] is None for one in found):
        raise typer.Exit(console.MACHINE)
    if any(one["score"] < 1 for one in found):
        raise typer.Exit(console.BELOW)


@app.command(
    "import",
    epilog="[dim]verigym harbor import tasks --out tasks.toml && verigym play tasks.toml[/dim]",
)
def import_(
    folders: Folders,
    out: Annotated[Path, typer.Option("--out", "-o", help="TOML file to write.")],
    name: Annotated[
        str | None,
        typer.Option("--name", help="Name of the environment. Default: that of the file."),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Put every folder in all splits, instead of each in one."),
    ] = False,
) -> None:
    """Describe folders as an environment for every other command; each is read and must run here."""
    from verigym.envs.harbor.env import slug
    from verigym.envs.harbor.folder import find_folders, read_folder

    if out.suffix != ".toml":
        raise RequestError(f"--out must end in .toml, got {out}")
    if out.exists():
        raise RequestError(f"{out} exists; give another file")
    found = [one for folder in folders for one in find_folders(folder)]
    for one in found:
        read_folder(one)
    listed = ",\n".join(f"  {json.dumps(str(one.resolve()))}" for one in found)
    env_id = f"verigym/harbor/{slug(name or out.stem)}-v0"
    out.write_text(
        f"id = {json.dumps(env_id)}\n\n[harbor]\nwhole = {str(whole).lower()}\nfolders = [\n{listed},\n]\n",
        encoding="utf-8",
    )
    console.out().print(f"{env_id}: {len(found)} tasks in {out}", soft_wrap=True, markup=False)


@app.command("judge")
def judge(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="task.json of an exported folder.")],
    answer: Annotated[
        Path, typer.Argument(metavar="ANSWER", help="File with the answer; may be missing.")
    ],
    reward: Annotated[Path, typer.Argument(metavar="REWARD", help="reward.json to write.")],
) -> None:
    """Judge the answer to an exported task, for its test.sh; exit code 3 without a reward on a fault."""
    from verigym.envs.harbor.runner import judge_answer

    try:
        verdict = judge_answer(task.read_bytes(), answer.read_bytes() if answer.is_file() else b"")
    except OSError as error:
        raise RequestError(f"{error.filename}: {error.strerror}") from error
    console.note(f"{verdict.status.value}, {verdict.reason}: {verdict.evidence}")
    if verdict.score is None:
        raise typer.Exit(console.MACHINE)
    reward.parent.mkdir(parents=True, exist_ok=True)
    reward.write_text(json.dumps({"reward": verdict.score}), encoding="utf-8")
