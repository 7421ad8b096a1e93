"""`verigym sandbox`: run programs in the sandbox, inspect it, and attack it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console
from verigym.cli.selfcheck import selfcheck

if TYPE_CHECKING:
    from verigym.sandbox.base import Sandbox
    from verigym.sandbox.job import Job, Limits, Result

app = typer.Typer(
    name="sandbox",
    help="Run untrusted programs, inspect the sandbox, and attack it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

app.command(
    "selfcheck", epilog="[dim]verigym sandbox selfcheck --json | jq '.escaped, .left'[/dim]"
)(selfcheck)

Backend = Annotated[
    str, typer.Option("--backend", "-b", help="Sandbox backend: local, docker or remote.")
]
Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Service URL; only with --backend remote."),
]

Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept", metavar="LAYER", help="Run even if this layer is missing; see `sandbox doctor`."
    ),
]


@app.command("run", epilog="[dim]verigym sandbox run -c 'print(6 * 7)'[/dim]")
def run(
    program: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="File with the program; - reads standard input."),
    ] = None,
    args: Annotated[list[str] | None, typer.Argument(help="Arguments for the program.")] = None,
    code: Annotated[
        str | None, typer.Option("--code", "-c", help="Program text, instead of FILE.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language", "-l", help="Language. Default: by the suffix of FILE, else Python."
        ),
    ] = None,
    stdin: Annotated[
        Path | None,
        typer.Option(
            "--stdin", help="File to pass as standard input; - passes this command's own."
        ),
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", "-f", help="File to copy into the program's folder; repeatable."),
    ] = None,
    fetch: Annotated[
        list[str] | None,
        typer.Option("--fetch", help="Name or pattern of files to fetch afterwards; repeatable."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="New folder for the fetched files.")
    ] = Path("fetched"),
    wall_s: Annotated[float | None, typer.Option("--wall", help="Time limit in seconds.")] = None,
    cpu_s: Annotated[
        float | None, typer.Option("--cpu", help="Processor time limit in seconds.")
    ] = None,
    memory_mib: Annotated[int | None, typer.Option("--memory", help="Memory limit in MiB.")] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", help="Maximum number of processes and threads.")
    ] = None,
    disk_mib: Annotated[int | None, typer.Option("--disk", help="Disk limit in MiB.")] = None,
    output_bytes: Annotated[
        int | None, typer.Option("--output", help="Maximum number of bytes kept per output stream.")
    ] = None,
    backend: Backend = "local",
    url: Url = None,
    accept: Accept = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run one program and print its output; exit code 0 if it succeeded, 4 if it failed."""
    from verigym.errors import RequestError
    from verigym.sandbox.job import Job
    from verigym.sandbox.save import check_folder

    if (program is None) == (code is None):
        raise RequestError("give either a FILE or -c CODE")
    if program is not None and str(program) == "-" and stdin is not None and str(stdin) == "-":
        raise RequestError("standard input cannot be both the program and its input")
    if fetch:
        check_folder(out)
    limits = _limits(
        wall_s=wall_s,
        cpu_s=cpu_s,
        memory_mib=memory_mib,
        processes=processes,
        disk_mib=disk_mib,
        output_bytes=output_bytes,
    )
    language = language or _language(program)
    job = Job(
        source=code if code is not None else _text(_read(program)),
        language=language,
        stdin=_read(stdin) if stdin is not None else b"",
        args=tuple(args or ()),
        files={path.name: _read(path) for path in file or ()},
        fetch=tuple(fetch or ()),
        limits=limits,
    )
    with _open(backend, url, accept) as sandbox:
        result = sandbox.run(job)
    _keep(result, out)
    if as_json:
        console.write_json(_as_json(result))
    else:
        console.write_output(sys.stdout, result.stdout)
        console.write_output(sys.stderr, result.stderr)
        console.note(_ending(job, result))
    _leave(result)


@app.command("languages", epilog="[dim]verigym sandbox languages --json[/dim]")
def languages(
    versions: Annotated[
        bool, typer.Option("--versions/--no-versions", help="Show the version of each toolchain.")
    ] = True,
    backend: Backend = "local",
    url: Url = None,
    accept: Accept = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the languages that run here, their versions, and how to install the others."""
    from verigym.sandbox.languages.load import load_languages
    from verigym.sandbox.languages.load import versions as ask

    known = load_languages()
    with _open(backend, url, accept) as sandbox:
        here = {name: known[name] for name in sorted(sandbox.languages) if name in known}
        said: dict[str, str] = {}
        if versions and backend != "remote":
            from verigym.sandbox.base import Cancellation

            said = ask(here, lambda step: sandbox._execute(step, Cancellation()))
    entries = [
        {
            "name": name,
            "title": language.title,
            "available": name in here,
            "version": said.get(name, ""),
            "compiled": bool(language.compile),
            "package": language.package,
        }
        for name, language in sorted(known.items())
    ]
    if as_json:
        console.write_json(entries)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "language", "here", "version or Debian package"):
        table.add_column(title, no_wrap=True)
    for entry in entries:
        there = entry["available"]
        table.add_row(
            Text(str(entry["name"]), style="cyan" if there else "dim"),
            str(entry["title"]),
            "[green]yes[/green]" if there else "[yellow]absent[/yellow]",
            Text(str(entry["version"] if there else f"apt-get install {entry['package']}"), "dim"),
        )
    console.out().print(table)


@app.command("session", epilog="[dim]verigym sandbox session --language bash[/dim]")
def session(
    language: Annotated[
        str, typer.Option("--language", "-l", help="Interpreter: python or bash.")
    ] = "python",
    wall_s: Annotated[
        float, typer.Option("--wall", help="Lifetime of the session in seconds.")
    ] = 600.0,
    backend: Backend = "local",
    url: Url = None,
    accept: Accept = None,
) -> None:
    """Open an interactive interpreter. An empty line runs the cell; Ctrl-D ends the session."""
    prompt = f"{language}> " if sys.stdin.isatty() else ""
    with (
        _open(backend, url, accept) as sandbox,
        sandbox.session(language, limits=_limits(wall_s=wall_s)) as live,
    ):
        for cell in _cells(prompt):
            result = live.run(cell)
            console.write_output(sys.stdout, result.stdout)
            console.write_output(sys.stderr, result.stderr)
            if not live.alive:
                console.note(f"the session has ended: {result.status} {result.detail}")
                return


@app.command("doctor", epilog="[dim]verigym sandbox doctor --json[/dim]")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which layers confine programs on this machine, which do not, and the consequences."""
    from verigym.sandbox.doctor import diagnose, render

    report = diagnose()
    if as_json:
        console.write_json(report)
    else:
        console.out().print(render(report))


def _open(backend: str, url: str | None, accept: list[str] | None) -> Sandbox:
    from verigym.errors import RequestError
    from verigym.sandbox.selfcheck.backends import open_sandbox

    if (backend == "remote") != (url is not None):
        raise RequestError("--url URL goes with --backend remote: give both or neither")
    if accept and backend != "local":
        raise RequestError(f"--accept works with --backend local only, got --backend {backend}")
    options = {"url": url, "accept": accept}
    return open_sandbox(backend, {name: value for name, value in options.items() if value})


def _limits(**wanted: float | None) -> Limits:
    from verigym.sandbox.job import Limits

    given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    return Limits(**given)


def _read(path: Path | None) -> bytes:
    if path is None or str(path) == "-":
        return sys.stdin.buffer.read()
    return path.read_bytes()


def _text(data: bytes) -> str:
    from verigym.errors import RequestError

    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RequestError(f"the program is not UTF-8 text: {error}") from error


def _language(program: Path | None) -> str:
    """Return the language whose files have the suffix of `program`."""
    if program is None or not program.suffix:
        return "python"
    from verigym.errors import RequestError, suggestion
    from verigym.sandbox.languages.load import load_languages

    endings = {Path(found.source).suffix: name for name, found in load_languages().items()}
    if program.suffix not in endings:
        raise RequestError(
            f"no language for {program.name!r}; {suggestion(program.suffix, endings)} "
            "Choose one with --language."
        )
    return endings[program.suffix]


def _keep(result: Result, out: Path) -> None:
    """Write the fetched files into the new folder `out`, and report the files left out."""
    from verigym.sandbox.save import save_files

    refused = {**result.refused, **(save_files(result.files, out) if result.files else {})}
    for name, why in refused.items():
        console.note(f"{name!r} was not fetched: {why}")


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "status": result.status.value,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "stdout": result.stdout.decode("utf-8", "replace"),
        "stderr": result.stderr.decode("utf-8", "replace"),
        "stdout_truncated": result.stdout_truncated,
        "stderr_truncated": result.stderr_truncated,
        "files": {name: len(data) for name, data in result.files.items()},
        "refused": dict(result.refused),
        "wall_s": round(result.wall_s, 6),
        "cpu_s": round(result.cpu_s, 6),
        "memory_mib": round(result.memory_mib, 3),
        "detail": result.detail,
    }


def _ending(job: Job, result: Result) -> str:
    """Summarise in one line for a person how the job ended."""
    parts = [
        result.status.value,
        f"exit code {result.exit_code}" if result.exit_code else "",
        f"signal {result.signal}" if result.signal else "",
        f"{result.wall_s * 1000:.0f} ms",
        f"{result.memory_mib:.0f} MiB",
        "output cut" if result.stdout_truncated or result.stderr_truncated else "",
        result.detail,
    ]
    return f"[{job.language}: {', '.join(part for part in parts if part)}]"


def _leave(result: Result) -> None:
    if result.status.value == "ok":
        return
    code = console.MACHINE if result.status.value == "sandbox_error" else console.BELOW
    raise typer.Exit(code)


def _cells(prompt: str) -> Iterator[str]:
    """Yield the typed cells one by one. An empty line ends a cell; at a prompt, so does a line that
    opens no block."""
    lines: list[str] = []
    while True:
        if prompt:
            sys.stderr.write(prompt if not lines else "... ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if line.strip():
            lines.append(line)
        alone = prompt and len(lines) == 1 and not line.rstrip().endswith((":", "\\"))
        if lines and (alone or not line.strip()):
            yield "".join(lines)
            lines = []
        if not line:
            return
