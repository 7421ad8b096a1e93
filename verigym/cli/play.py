"""`verigym play`: play an environment in the terminal, or from a script through a pipe."""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from verigym.cli import console
from verigym.errors import RequestError
from verigym.verdict import VerifierFault

if TYPE_CHECKING:
    from verigym.env import Env

_HELP = (
    "/hint shows an action that leads to full marks, /undo takes the last action back, /again starts "
    'over, /quit or Ctrl-D leaves; a line of """ begins and ends an action of several lines'
)
_LEGAL_SHOWN = 24


def play(
    env_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Environment id; short ids work: keydoor, countdown."),
    ],
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty", "-d", help="Level (1 to 10) or name. Default: the first name."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="Split to draw tasks from: train, validation or test.")
    ] = "train",
    seed: Annotated[
        int | None, typer.Option("--seed", "-s", min=0, help="Seed of the task. Default: random.")
    ] = None,
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
) -> None:
    """Play an environment yourself: type an action and press Enter; Ctrl-D quits, /help shows help."""
    from verigym.making import make

    env = make(env_id, difficulty=difficulty, split=split, max_turns=max_turns, verifier=verifier)
    if seed is None:
        seed = secrets.randbelow(10_000)
    screen = console.out()
    screen.print(
        f"[bold]{env.id}[/bold] [dim]difficulty {env.difficulty}, split {env.split}, seed {seed}; "
        "/help for help, Ctrl-D to quit[/dim]"
    )
    _Game(env, seed, screen).run()


class _Game:
    """One interactive game: the environment, the history for /undo, and the screen."""

    def __init__(self, env: Env[Any], seed: int, screen: Console) -> None:
        self.env = env
        self.seed = seed
        self.screen = screen
        self.trail: list[tuple[Any, dict[str, Any]]] = []
        self.info: dict[str, Any] = {}

    def run(self) -> None:
        """Play until the episode ends, the player quits or the input ends."""
        self.start()
        while True:
            line = self.ask()
            if line is None or line == "/quit":
                self.screen.print("[dim]left[/dim]")
                return
            if line.startswith("/"):
                self.command(line)
            elif line and self.act(line):
                return

    def start(self) -> None:
        observation, self.info = self.env.reset(seed=self.seed)
        self.trail.clear()
        self.show(observation)

    def ask(self) -> str | None:
        """Read the next action or command; None at the end of the input."""
        first = self.read("> ")
        if first is None or first.strip() != '"""':
            return None if first is None else first.strip()
        lines: list[str] = []
        while (line := self.read(". ")) is not None and line.strip() != '"""':
            lines.append(line)
        return "\n".join(lines)

    def read(self, prompt: str) -> str | None:
        if sys.stdin.isatty():
            try:
                return input(prompt)  # with line editing
            except EOFError:
                self.screen.print()
                return None
        line = sys.stdin.readline()
        if not line:
            return None
        # Echoed, so that what a pipe played can be read afterwards.
        self.screen.print(Text(prompt + line.rstrip("\n"), style="bold"))
        return line.rstrip("\n")

    def command(self, line: str) -> None:
        """Run /help, /hint, /undo or /again; report any other command as unknown."""
        if line == "/hint":
            try:
                self.screen.print(Text.assemble(("hint: ", "green"), self.env.oracle()))
            except RequestError as error:
                self.screen.print(Text(str(error), style="yellow"))
        elif line == "/undo" and self.trail:
            snapshot, self.info = self.trail.pop()
            self.env.restore(snapshot)
            self.show(self.env.view() or self.env.task.prompt)
        elif line == "/undo":
            self.screen.print("[yellow]nothing to take back[/yellow]")
        elif line == "/again":
            self.start()
        elif line == "/help":
            self.screen.print(Text(_HELP, style="dim"))
        else:
            self.screen.print(Text(f"no command {line}; {_HELP}", style="yellow"))

    def act(self, action: str) -> bool:
        """Play `action`; return True if the episode is over."""
        before = (self.env.snapshot(), self.info)
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except VerifierFault as error:
            # The state is unchanged, so the player may simply try again.
            console.complain(f"{error}; the state is unchanged, so repeat the action to try again")
            return False
        self.trail.append(before)
        self.info = info
        if not info["valid_action"]:
            self.screen.print("[yellow]that is not a valid action here[/yellow]")
        if not (terminated or truncated):
            self.show(observation)
            return False
        if observation:
            self.show(observation, "the end")
        self.finish(reward, truncated)
        return True

    def show(self, observation: str, title: str = "") -> None:
        title = title or f"turn {len(self.trail) + 1}"
        body = Text(observation)
        if self.screen.is_terminal:
            self.screen.print(Panel(body, title=title, title_align="left", border_style="dim"))
        else:
            self.screen.print(Text(f"-- {title}"))
            self.screen.print(body)
        legal = self.info.get("legal_actions")
        if legal:
            shown = ", ".join(legal[:_LEGAL_SHOWN])
            more = f" and {len(legal) - _LEGAL_SHOWN} more" if len(legal) > _LEGAL_SHOWN else ""
            self.screen.print(Text(f"actions: {shown}{more}", style="dim"))

    def finish(self, reward: float, truncated: bool) -> None:
        verdict = self.info.get("verdict")
        score = verdict.score if verdict is not None else reward
        won = score == 1.0
        ended = "out of turns" if truncated and not won else ("solved" if won else "over")
        self.screen.print(
            Text.assemble(
                (ended, "bold green" if won else "bold yellow"),
                f", reward {reward:g} in {len(self.trail)} turn{'s' * (len(self.trail) != 1)}",
                (f" ({verdict.reason}: {verdict.evidence})" if verdict is not None else "", "dim"),
            )
        )
