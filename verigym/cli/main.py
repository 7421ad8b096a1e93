"""`verigym`: the entry of the command line. One command a file; exit codes in console.py."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from verigym.cli.audit import audit
from verigym.cli.check import check
from verigym.cli.compare import compare
from verigym.cli.dataset import dataset
from verigym.cli.eval import eval_
from verigym.cli.gateway import gateway
from verigym.cli.group import Group
from verigym.cli.harbor import app as harbor
from verigym.cli.keys import app as keys
from verigym.cli.leaderboard import leaderboard
from verigym.cli.levels import levels
from verigym.cli.list import list_
from verigym.cli.new import new
from verigym.cli.play import play
from verigym.cli.regrade import regrade
from verigym.cli.replay import replay
from verigym.cli.report import report
from verigym.cli.run import run as run_
from verigym.cli.sandbox import app as sandbox
from verigym.cli.serve import serve
from verigym.cli.tests import app as tests
from verigym.cli.train import train
from verigym.cli.verify_run import verify_run
from verigym.signals import restore_signals

# \b keeps the line breaks of the paragraph that it opens.
_EPILOG = """\
\b
[bold]Examples[/bold]
  [cyan]verigym list[/cyan]                                      [dim]list the environments[/dim]
  [cyan]verigym play keydoor[/cyan]                              [dim]play one yourself[/dim]
  [cyan]verigym check keydoor[/cyan]                             [dim]check an environment[/dim]
  [cyan]verigym run keydoor --policy oracle -n 5 --json[/cyan]   [dim]measure a policy[/dim]
  [cyan]verigym eval 'math/*' -p oracle -n 50[/cyan]             [dim]measure it on several[/dim]
  [cyan]verigym train config.toml[/cyan]                         [dim]train one[/dim]
  [cyan]verigym report runs/keydoor --open[/cyan]                [dim]see the results[/dim]
  [cyan]verigym sandbox doctor[/cyan]                            [dim]show the sandbox's layers[/dim]

\b
[bold]Exit codes[/bold]
  0 success, 1 internal error (or a replay that differs), 2 invalid request, 3 machine or service failure,
  4 failed check (--fail-below, --fail-above, sandbox escape, failed program),
  130 interrupted
"""

app = typer.Typer(
    name="verigym",
    help="Verifiable text environments for training and evaluating language-model agents.",
    epilog=_EPILOG,
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from verigym import __version__

        typer.echo(f"verigym {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _show: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


app.command("list", epilog="[dim]verigym list --json | jq -r '.[].id'[/dim]")(list_)
app.command("play", epilog="[dim]verigym play countdown --seed 7 --difficulty hard[/dim]")(play)
app.command(
    "run",
    epilog="[dim]verigym run keydoor --policy oracle -n 5 --json | jq .success_rate[/dim]",
)(run_)
app.command("eval", epilog="[dim]verigym eval 'math/*' --policy hf:./my-model -n 200 -k 8[/dim]")(
    eval_
)
app.command("compare", epilog="[dim]verigym compare runs/eval/before runs/eval/after[/dim]")(
    compare
)
app.command("leaderboard", epilog="[dim]verigym leaderboard runs/eval --out leaderboard[/dim]")(
    leaderboard
)
app.command("replay", epilog="[dim]verigym replay runs/eval/one && echo reproduced[/dim]")(replay)
app.command(
    "dataset", epilog="[dim]verigym dataset questions.toml && verigym play questions.toml[/dim]"
)(dataset)
app.command("serve", epilog="[dim]verigym serve --port 8123 --verifiers games,math[/dim]")(serve)
app.command(
    "gateway",
    epilog="[dim]verigym gateway --policy hf:./my-model --env keydoor -n 20 -- python agent.py[/dim]",
)(gateway)
app.command("train", epilog="[dim]verigym train config.toml --set seed=3 --out runs/three[/dim]")(
    train
)
app.command("report", epilog="[dim]verigym report runs/one runs/two --out both.html --open[/dim]")(
    report
)
app.command("verify-run", epilog="[dim]verigym verify-run runs/one[/dim]")(verify_run)
app.command(
    "new",
    epilog="[dim]verigym new word-ladder --family games[/dim]\n\n"
    "[dim]verigym new vg-doors --for prime --env games/keydoor[/dim]",
)(new)
app.command("check", epilog="[dim]verigym check keydoor --json | jq '.[0].figures'[/dim]")(check)
app.command("levels", epilog="[dim]verigym levels sudoku --json | jq '.levels[9]'[/dim]")(levels)
app.command(
    "audit", epilog="[dim]verigym audit math --cases cases.jsonl --json | jq .accuracy[/dim]"
)(audit)
app.command(
    "regrade", epilog="[dim]verigym regrade episodes.jsonl --param use_all=false --json[/dim]"
)(regrade)
app.add_typer(sandbox)
app.add_typer(keys)
app.add_typer(tests)
app.add_typer(harbor)


def run() -> None:
    """Run the command line; the entry point of the `verigym` script."""
    # In the background of a script they are ignored: Ctrl-C would do nothing, and the exit codes of
    # child processes would be lost. SIGHUP stays as it is, for nohup.
    restore_signals((signal.SIGINT, signal.SIGTERM, signal.SIGCHLD))
    app(prog_name="verigym")
