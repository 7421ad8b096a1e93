"""`verigym leaderboard`: rank finished evaluations of the same tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console


def leaderboard(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of `verigym eval`, or folders of them."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="PATH", help="Write PATH.md, PATH.json and PATH.html."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Rank evaluations; print Markdown, or write Markdown, JSON and HTML."""
    from verigym.agents.leaderboard import html, make_leaderboard, markdown
    from verigym.canonical import to_json

    made = make_leaderboard(folders)
    if as_json:
        console.write_json(made)
    elif out is None:
        console.out().print(markdown(made), markup=False, emoji=False, soft_wrap=True, end="")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        for suffix, text in (
            (".md", markdown(made)),
            (".json", to_json(made).decode() + "\n"),
            (".html", html(made)),
        ):
            written = out.with_name(out.name + suffix)
            written.write_text(text, encoding="utf-8")
            console.note(f"wrote {written}")
