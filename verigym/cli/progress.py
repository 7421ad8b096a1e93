"""Progress of episodes on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from verigym.cli import console

if TYPE_CHECKING:
    from verigym.episode import Episode


class EpisodeBar:
    """Progress on stderr: a bar on a terminal, otherwise one line per wait.

    `done` episodes of `total` were played before; `solved` and `faulted` count the others.
    """

    def __init__(self, title: str, total: int, done: int = 0) -> None:
        self.screen = console.err()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[tally]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.screen,
            transient=True,
            disable=not self.screen.is_terminal,
        )
        self.task = self.progress.add_task(title, total=total, completed=done, tally="")
        self.title = title
        self.counted = done
        self.solved = 0
        self.faulted = 0

    def __enter__(self) -> EpisodeBar:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def count(self, episode: Episode) -> None:
        """Advance the bar after an episode has ended."""
        self.counted += 1
        self.solved += episode.success
        self.faulted += episode.status == "fault"
        self.progress.update(self.task, advance=1, tally=self.tally, description=self.title)

    @property
    def tally(self) -> str:
        """Solved and faulted episodes in words."""
        return f"{self.solved} solved" + (f", {self.faulted} faulted" if self.faulted else "")

    def wait(self, why: str) -> None:
        """Report that a service is being waited for."""
        if self.screen.is_terminal:
            self.progress.update(self.task, description=why)
        else:
            console.note(why)


class Bar:
    """A progress bar on stderr, on a terminal only."""

    def __init__(self, title: str, total: int | None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Left

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Left())
        terminal = console.err()
        self._progress = Progress(
            *columns, console=terminal, transient=True, disable=not terminal.is_terminal
        )
        self._task = self._progress.add_task(title, total=total)

    def count(self, outcome: object = None) -> None:
        """Advance the bar by one."""
        self._progress.advance(self._task)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
