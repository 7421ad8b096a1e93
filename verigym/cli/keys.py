"""`verigym keys`: manage who may use a verifier service, and with which scopes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console

app = typer.Typer(
    name="keys",
    help="Create, list and revoke the API keys of a verifier service.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

_FILE = Annotated[
    Path, typer.Argument(metavar="FILE", help="Key file, as for `verigym serve --keys FILE`.")
]


@app.callback()
def _group() -> None:
    pass


@app.command("add", epilog="[dim]verigym keys add keys.json --name trainer --scope verify[/dim]")
def add(
    file: _FILE,
    name: Annotated[
        str, typer.Option(help="Holder of the key; keys of one name count as one caller.")
    ],
    scope: Annotated[
        str,
        typer.Option(
            help="Scopes, comma-separated: verify, step, admin; admin includes the others."
        ),
    ],
    expires: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Expiry date in UTC."),
    ] = None,
) -> None:
    """Create a key and print it once; the file keeps only its hash."""
    from verigym.server import keys

    scopes = {one.strip() for one in scope.split(",") if one.strip()}
    end = expires.replace(tzinfo=UTC) if expires is not None else None
    console.out().print(keys.add(file, name=name, scopes=scopes, expires=end), soft_wrap=True)
    console.note(f"The key is shown only this once; {file} keeps its hash.")


@app.command("list", epilog="[dim]verigym keys list keys.json --json[/dim]")
def list_(
    file: _FILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the keys with their scopes, creation and expiry times."""
    from rich.table import Table
    from rich.text import Text

    from verigym.server import keys

    found = keys.read(file)
    if as_json:
        shown = [
            {
                "id": key.id,
                "name": key.name,
                "scopes": list(key.scopes),
                "created": key.created.isoformat(),
                "expires": key.expires.isoformat() if key.expires is not None else None,
                "expired": key.expired,
            }
            for key in found
        ]
        console.write_json({"keys": list(shown)})
        return
    table = Table("id", "name", "scopes", "created", "expires", box=None)
    for key in found:
        end = key.expires.isoformat() if key.expires is not None else "never"
        row = (
            *(key.id, key.name, ", ".join(key.scopes), key.created.isoformat()),
            f"{end} (expired)" if key.expired else end,
        )
        table.add_row(*map(Text, row))  # a name is never read as markup
    console.out().print(table)


@app.command("revoke", epilog="[dim]verigym keys revoke keys.json 1f2e3d4c[/dim]")
def revoke(
    file: _FILE, id: Annotated[str, typer.Argument(help="Key id, as `keys list` shows it.")]
) -> None:
    """Revoke a key; a running service notices within about a second."""
    from verigym.server import keys

    key = keys.revoke(file, id)
    console.note(f"Revoked {key.id} of {key.name}.")
