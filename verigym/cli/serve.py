"""`verigym serve`: the verifier service."""

from __future__ import annotations

from typing import Annotated

import typer

from verigym.cli import console


def serve(
    host: Annotated[
        str, typer.Option(help="Address to bind; any but loopback needs --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes any free port.")] = 8080,
    workers: Annotated[
        int | None, typer.Option(help="Processes that judge; by default one a core.")
    ] = None,
    verifiers: Annotated[
        list[str] | None,
        typer.Option(
            help="Globs over verifier ids, or families, with commas; by default all. 'none': none."
        ),
    ] = None,
    envs: Annotated[
        list[str] | None,
        typer.Option(help="The same of environments, which are served as sessions."),
    ] = None,
    openenv: Annotated[
        str | None,
        typer.Option(metavar="ENV", help="The one that OpenEnv clients find at the root."),
    ] = None,
    env_workers: Annotated[
        int | None, typer.Option(help="Processes environments run in; by default one a core.")
    ] = None,
    session_lease_s: Annotated[
        float, typer.Option(help="A session that is not used for so many seconds ends.")
    ] = 300.0,
    max_sessions: Annotated[int, typer.Option(help="Sessions that may be open at once.")] = 4096,
    max_sessions_per_key: Annotated[
        int, typer.Option(help="Those of one key; without keys, of everybody.")
    ] = 1024,
    timeout_s: Annotated[
        float, typer.Option(help="Seconds to judge one submission where a request does not say.")
    ] = 30.0,
    key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Environment variable with a key, for all but admin."),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keys with scopes; see `verigym keys`."),
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificate in PEM, for HTTPS.")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(metavar="FILE", help="The certificate's private key.")
    ] = None,
    judge_url: Annotated[
        list[str] | None,
        typer.Option(help="Where callers with keys may send judge/rubric; may be repeated."),
    ] = None,
    sql_engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=URL",
            help="PostgreSQL database that callers may name as sql/query's engine; URL may be "
            "env:VARIABLE. May be repeated; by default none, and callers never give URLs.",
        ),
    ] = None,
    worker_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable that workers get although it holds a secret. May be repeated.",
        ),
    ] = None,
    rate_per_s: Annotated[
        float, typer.Option(help="Requests of one key in a second; 0 for no limit.")
    ] = 0.0,
    max_concurrent: Annotated[
        int, typer.Option(help="Requests of one key that may be under way.")
    ] = 1024,
    max_inflight_mib: Annotated[
        int, typer.Option(help="Bodies of all requests under way, which keys share.")
    ] = 512,
    drain_s: Annotated[
        float, typer.Option(help="Seconds that requests under way may take after SIGTERM.")
    ] = 10.0,
    log_format: Annotated[
        str, typer.Option(metavar="json|text", help="By default text on a terminal, else JSON.")
    ] = "auto",
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")
    ] = "info",
    trace: Annotated[
        bool, typer.Option("--trace", help="Send traces by OpenTelemetry, as OTEL_* say.")
    ] = False,
    cache_mib: Annotated[
        float, typer.Option(help="Memory for verdicts that were given before; 0 for none.")
    ] = 0.0,
    cache_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="An SQLite file that keeps them, too.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where jobs are kept: sqlite:///FILE, postgresql://... or env:VARIABLE that holds it.",
        ),
    ] = None,
    max_jobs: Annotated[
        int, typer.Option(help="Jobs that may be unfinished; more are refused with 429.")
    ] = 10_000,
    job_retention_s: Annotated[
        float, typer.Option(help="How long the verdicts of a finished job are kept.")
    ] = 86_400.0,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Run programs for callers, too: /v1/sandbox.")
    ] = False,
    sandbox_jobs: Annotated[
        int | None, typer.Option(help="Programs that run at once; by default one a core.")
    ] = None,
    sandbox_sessions: Annotated[
        int, typer.Option(help="Interpreters that may be open at once, beside the programs.")
    ] = 16,
    sandbox_lease_s: Annotated[
        float, typer.Option(help="A session that is not used for so many seconds is closed.")
    ] = 300.0,
    sandbox_max_wall_s: Annotated[
        float, typer.Option(help="Most that a program may ask for, or a session live.")
    ] = 600.0,
    sandbox_max_cpu_s: Annotated[float, typer.Option(help="As above.")] = 600.0,
    sandbox_max_memory_mib: Annotated[int, typer.Option(help="As above.")] = 4096,
    sandbox_max_processes: Annotated[int, typer.Option(help="As above.")] = 256,
    sandbox_max_open_files: Annotated[int, typer.Option(help="As above.")] = 1024,
    sandbox_max_disk_mib: Annotated[int, typer.Option(help="As above.")] = 1024,
    sandbox_max_inodes: Annotated[int, typer.Option(help="As above.")] = 65536,
    sandbox_max_output_bytes: Annotated[int, typer.Option(help="As above.")] = 16 << 20,
    as_json: Annotated[
        bool, typer.Option("--json", help='Say {"url": ...} on stdout when it listens.')
    ] = False,
    until_stdin_closes: Annotated[
        bool, typer.Option(help="Stop when standard input ends or the parent dies.", hidden=True)
    ] = False,
) -> None:
    """Serve verifiers, environments and jobs over HTTP until Ctrl-C or SIGTERM; see /docs there."""
    import os

    from verigym.sandbox.job import Limits
    from verigym.server import logs
    from verigym.server.run import run
    from verigym.server.settings import Settings

    key = None
    if key_env is not None:
        key = _taken_from_env("--key-env", key_env)
    settings = Settings(
        host=host,
        port=port,
        key=key,
        keys=keys,
        tls_cert=tls_cert,
        tls_key=tls_key,
        judge_urls=tuple(judge_url or ()),
        sql_engines=_engines(sql_engine or []),
        worker_env=tuple(worker_env or ()),
        rate_per_s=rate_per_s,
        max_concurrent=max_concurrent,
        max_inflight_bytes=max_inflight_mib << 20,
        drain_s=drain_s,
        workers=workers if workers is not None else os.cpu_count() or 1,
        verifiers=_globs(verifiers),
        envs=_globs(envs),
        openenv=openenv,
        env_workers=env_workers if env_workers is not None else os.cpu_count() or 1,
        session_lease_s=session_lease_s,
        max_sessions=max_sessions,
        max_sessions_per_key=max_sessions_per_key,
        timeout_s=timeout_s,
        max_timeout_s=max(timeout_s, Settings.max_timeout_s),
        trace=trace,
        cache_mib=cache_mib,
        cache_file=cache_file,
        store=None if store is None else _address("--store", store),
        max_jobs=max_jobs,
        job_retention_s=job_retention_s,
        sandbox=sandbox,
        sandbox_jobs=sandbox_jobs if sandbox_jobs is not None else max(2, os.cpu_count() or 1),
        sandbox_sessions=sandbox_sessions,
        sandbox_lease_s=sandbox_lease_s,
        sandbox_caps=Limits(
            wall_s=sandbox_max_wall_s,
            cpu_s=sandbox_max_cpu_s,
            memory_mib=sandbox_max_memory_mib,
            processes=sandbox_max_processes,
            open_files=sandbox_max_open_files,
            disk_mib=sandbox_max_disk_mib,
            inodes=sandbox_max_inodes,
            output_bytes=sandbox_max_output_bytes,
        ),
    )

    logs.configure(log_format, log_level)

    def say(url: str) -> None:
        if as_json:
            console.write_json({"url": url, "pid": os.getpid()})
        else:
            console.out().print(f"Serving verifiers on {url} (docs at {url}/docs)", soft_wrap=True)
        # The reader at the other end of a pipe waits for this line.
        import sys

        sys.stdout.flush()

    run(settings, say, until_stdin_closes=until_stdin_closes)


def _engines(options: list[str]) -> dict[str, str]:
    """URLs of SQL engines by name."""
    from verigym.errors import ConfigError

    found: dict[str, str] = {}
    for option in options:
        name, is_pair, url = option.partition("=")
        if not is_pair or name in found:
            raise ConfigError("--sql-engine takes NAME=URL, each name once")
        found[name] = _address("--sql-engine", url)
    return found


def _address(option: str, value: str) -> str:
    """`value`, or for env:VARIABLE what that variable holds: other users can read command lines."""
    variable = value.removeprefix("env:")
    if variable != value:
        return _taken_from_env(option, variable)
    user = value.partition("://")[2].partition("@")
    if user[1] and ":" in user[0]:
        console.complain(
            f"every user of this machine can read the password in {option}; give env:VARIABLE instead"
        )
    return value


def _taken_from_env(option: str, variable: str) -> str:
    """The value of a variable, which is removed so that no process started here inherits it."""
    import os

    from verigym.errors import ConfigError

    value = os.environ.pop(variable, None)
    if value is None:
        raise ConfigError(f"the environment variable {variable} named by {option} is not set")
    return value


def _globs(texts: list[str] | None) -> tuple[str, ...]:
    """What an option names: everything where it was not given, nothing for `none`."""
    globs = [glob.strip() for text in texts or ["*"] for glob in text.split(",")]
    return tuple(glob for glob in globs if glob not in ("", "none"))
