"""`verigym gateway`: chat APIs in front of a model, for agent programs; every session is recorded."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console, options
from verigym.cli.faults import stop_if_faulted
from verigym.errors import RequestError

if TYPE_CHECKING:
    from verigym.agents.policy import Policy

KEY_VARIABLE = "VERIGYM_GATEWAY_KEY"
_LOOK_S = 30.0


def gateway(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- PROGRAM ARGUMENTS...]",
            help="Agent program that plays the episodes of --env; without one, the gateway serves until Ctrl-C.",
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option("--policy", "-p", help="Model: hf:FOLDER.", show_default=False)
    ] = "",
    host: Annotated[
        str,
        typer.Option(help=f"Address to listen on; one that others reach needs {KEY_VARIABLE}."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8124,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="JSON Lines file to write the episodes to.")
    ] = Path("gateway.jsonl"),
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env", help="Environment that sessions may be opened with, or to play; repeatable."
        ),
    ] = None,
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", min=1, help="Number of episodes to play.")
    ] = 10,
    seed: Annotated[
        int, typer.Option("--seed", "-s", min=0, help="Seed of the first episode.")
    ] = 0,
    difficulty: Annotated[
        str | None, typer.Option("--difficulty", "-d", help="Level (1 to 10) or name.")
    ] = None,
    split: options.Split = "test",
    deadline_s: Annotated[
        float, typer.Option("--deadline", min=0.1, help="Seconds that the program may take itself.")
    ] = 300.0,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Number of programs that run at once.")
    ] = 8,
    answer: Annotated[
        str,
        typer.Option(
            help="Answer of a program that took no action: its standard output (stdout) or the model's last reply (reply)."
        ),
    ] = "stdout",
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Run the program in the sandbox.")
    ] = False,
    file: Annotated[
        list[str] | None,
        typer.Option("--file", help="File that the program sees in the sandbox; repeatable."),
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(
            "--variable", help="Environment variable that the program inherits; repeatable."
        ),
    ] = None,
    idle_s: Annotated[
        float, typer.Option("--idle", min=1, help="Idle timeout of a session, in seconds.")
    ] = 3600.0,
    temperature: options.Temperature = None,
    max_new_tokens: options.MaxNewTokens = None,
    think: options.Think = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help='Print {"url": ...} on stdout once it listens, or the summary.'
        ),
    ] = False,
) -> None:
    """Serve a model to agent programs over the APIs of OpenAI and Anthropic, and record what it samples."""
    from verigym.agents.make_policy import make_policy

    if not policy.startswith("hf:"):
        raise RequestError("the gateway needs a model with token ids: add --policy hf:FOLDER")
    if answer not in ("stdout", "reply"):
        raise RequestError(f"--answer must be stdout or reply, got {answer!r}")
    if out.exists() and out.stat().st_size:
        raise RequestError(f"{out} exists and is not empty; choose another name for --out")
    if command and (env is None or len(env) != 1):
        raise RequestError("a program plays the episodes of one environment: add --env ID")
    model = make_policy(policy, temperature=temperature, max_new_tokens=max_new_tokens, think=think)
    where = {"host": host, "port": port, "key": os.environ.get(KEY_VARIABLE) or None}
    if not command:
        _serve(model, where, out, tuple(env or ()), idle_s, as_json)
        return
    program = {
        "command": tuple(command),
        "deadline_s": deadline_s,
        "concurrency": concurrency,
        "answer": answer,
        "sandbox": sandbox,
        "files": tuple(file or ()),
        "variables": tuple(variable or ()),
    }
    tasks = {"seed": seed, "episodes": episodes, "difficulty": difficulty, "split": split}
    _play(model, env[0] if env else "", tasks, program, out, as_json)


def _serve(
    model: Policy,
    where: dict[str, Any],
    out: Path,
    environments: tuple[str, ...],
    idle_s: float,
    as_json: bool,
) -> None:
    """Serve until SIGINT or SIGTERM; then record the sessions that are open."""
    from verigym.agents.gateway.gateway import gateway_for
    from verigym.agents.gateway.recorder import Recorder

    recorder = Recorder(model, out, environments, idle_s)
    stop = threading.Event()
    with gateway_for(model, manage=recorder.manage, opens=True, **where) as served:
        recorder.gateway = served
        with _stopping(stop):
            if as_json:
                console.write_json({"url": served.url, "pid": os.getpid()})
            else:
                console.out().print(f"Serving {served.model} on {served.url}/v1", soft_wrap=True)
            sys.stdout.flush()  # the reader at the other end of a pipe waits for this line
            while not stop.wait(_LOOK_S):
                served.run(recorder.end_idle())
        recorder.close()
    console.note(f"{recorder.n_recorded} episodes in {out}")


@contextlib.contextmanager
def _stopping(stop: threading.Event) -> Iterator[None]:
    """Set `stop` on SIGINT and SIGTERM."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _play(
    model: Policy,
    env_id: str,
    tasks: dict[str, Any],
    program: dict[str, Any],
    out: Path,
    as_json: bool,
) -> None:
    """Play episodes by the program, and print the success rate."""
    from verigym.agents.envpool import EnvPool
    from verigym.agents.gateway.gateway import gateway_for
    from verigym.agents.gateway.harness import Harness
    from verigym.agents.gateway.play import HarnessPlayer
    from verigym.agents.plan import Settings, plan_groups
    from verigym.agents.record import append_episodes, summarise
    from verigym.cli.progress import EpisodeBar
    from verigym.making import make

    first, count = tasks["seed"], tasks["episodes"]
    made = make(env_id, difficulty=tasks["difficulty"], split=tasks["split"])
    full_id, level = made.id, made.difficulty
    made.close()
    harness = Harness(**program)
    plans = plan_groups(
        full_id,
        range(first, first + count),
        run_key=(first,),
        difficulty=level,
        split=tasks["split"],
    )
    settings = Settings(fault_limit=1.0)
    title = f"{full_id} by {' '.join(harness.command)}"
    with (
        EnvPool() as envs,
        gateway_for(model, settings=settings) as served,
        EpisodeBar(title, count) as bar,
    ):
        player = HarnessPlayer(gateway=served, harness=harness, policy=model, envs=envs)

        def on_episode(episode: Any) -> None:
            append_episodes(out, [episode])
            bar.count(episode)

        try:
            played = player.play(plans, on_episode=on_episode)
        finally:
            player.close()
    found = summarise(played)
    if as_json:
        summary = {"env_id": full_id, "policy": model.name, "difficulty": level, **found}
        console.write_json({**summary, "program": list(harness.command), "out": str(out)})
    elif found["success_rate"] is not None:
        low, high = found["success_interval"]
        console.out().print(
            f"success {found['success_rate']:.1%} (95 % interval {low:.1%} to {high:.1%}), "
            f"{count} episodes in {out}",
            soft_wrap=True,
        )
    details = [one.fault.detail for one in played if one.fault is not None]
    stop_if_faulted(found["faults"], found["episodes"], found["faults_by_cause"], details)
