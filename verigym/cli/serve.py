"""`verigym serve`: the verifier service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console
from verigym.cli.serve_config import read_config


def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML file of these options (max_sessions = 100); options given here win.",
            callback=read_config,
            is_eager=True,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to bind. Addresses other than loopback need --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 chooses a free one.")] = 8080,
    workers: Annotated[
        int | None, typer.Option(help="Number of verifier processes. Default: one per core.")
    ] = None,
    verifiers: Annotated[
        list[str] | None,
        typer.Option(
            help="Verifiers to serve: ids, families or globs, comma-separated; 'none' for none. Default: all."
        ),
    ] = None,
    envs: Annotated[
        list[str] | None,
        typer.Option(help="Environments to serve; same syntax as --verifiers."),
    ] = None,
    openenv: Annotated[
        str | None,
        typer.Option(
            metavar="ENV", help="Environment to serve to OpenEnv clients at the root path."
        ),
    ] = None,
    env_workers: Annotated[
        int | None, typer.Option(help="Number of environment processes. Default: one per core.")
    ] = None,
    session_lease_s: Annotated[
        float, typer.Option(help="Idle timeout of a session, in seconds.")
    ] = 300.0,
    max_sessions: Annotated[int, typer.Option(help="Maximum number of open sessions.")] = 4096,
    max_sessions_per_key: Annotated[
        int, typer.Option(help="Maximum number of open sessions per API key.")
    ] = 1024,
    timeout_s: Annotated[
        float, typer.Option(help="Default time limit for judging one submission, in seconds.")
    ] = 30.0,
    key_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable that holds an API key with every scope but admin.",
        ),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File of API keys with scopes; see `verigym keys`."),
    ] = None,
    tls_cert: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="TLS certificate in PEM format; enables HTTPS."),
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(metavar="FILE", help="Private key of the TLS certificate.")
    ] = None,
    judge_url: Annotated[
        list[str] | None,
        typer.Option(
            help="Model server that judge/rubric may use for callers with keys; repeatable."
        ),
    ] = None,
    sql_engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=URL",
            help="PostgreSQL database that sql/query may use, by NAME; URL or env:VARIABLE. "
            "Repeatable; callers cannot give URLs themselves.",
        ),
    ] = None,
    worker_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Secret environment variable to pass on to workers; repeatable.",
        ),
    ] = None,
    rate_per_s: Annotated[
        float, typer.Option(help="Maximum number of requests per second and key; 0 for no limit.")
    ] = 0.0,
    max_concurrent: Annotated[
        int, typer.Option(help="Maximum number of concurrent requests per key.")
    ] = 1024,
    max_inflight_mib: Annotated[
        int,
        typer.Option(
            help="Maximum total size of request bodies in progress, in MiB; shared by all keys."
        ),
    ] = 512,
    drain_s: Annotated[
        float, typer.Option(help="Seconds to let running requests finish after SIGTERM.")
    ] = 10.0,
    log_format: Annotated[
        str,
        typer.Option(
            metavar="json|text", help="Log format. Default: text on a terminal, else JSON."
        ),
    ] = "auto",
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="Log level: debug, info, warning or error.")
    ] = "info",
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Send OpenTelemetry traces, configured by OTEL_* variables."),
    ] = False,
    cache_mib: Annotated[
        float, typer.Option(help="Memory of the verdict cache in MiB; 0 for no cache.")
    ] = 0.0,
    cache_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="SQLite file that keeps the verdict cache on disk."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Database for jobs: sqlite:///FILE, postgresql://... or env:VARIABLE.",
        ),
    ] = None,
    max_jobs: Annotated[
        int,
        typer.Option(help="Maximum number of unfinished jobs; further ones are refused with 429."),
    ] = 10_000,
    job_retention_s: Annotated[
        float, typer.Option(help="Seconds to keep the verdicts of a finished job.")
    ] = 86_400.0,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Also run programs for callers, at /v1/sandbox.")
    ] = False,
    sandbox_jobs: Annotated[
        int | None,
        typer.Option(help="Maximum number of concurrent programs. Default: one per core."),
    ] = None,
    sandbox_sessions: Annotated[
        int, typer.Option(help="Maximum number of open interpreter sessions.")
    ] = 16,
    sandbox_lease_s: Annotated[
        float, typer.Option(help="Idle timeout of an interpreter session, in seconds.")
    ] = 300.0,
    sandbox_max_wall_s: Annotated[
        float, typer.Option(help="Maximum wall time of a program or session, in seconds.")
    ] = 600.0,
    sandbox_max_cpu_s: Annotated[
        float, typer.Option(help="Maximum processor time of a program, in seconds.")
    ] = 600.0,
    sandbox_max_memory_mib: Annotated[
        int, typer.Option(help="Maximum memory of a program, in MiB.")
    ] = 4096,
    sandbox_max_processes: Annotated[
        int, typer.Option(help="Maximum number of processes of a program.")
    ] = 256,
    sandbox_max_open_files: Annotated[
        int, typer.Option(help="Maximum number of open files of a program.")
    ] = 1024,
    sandbox_max_disk_mib: Annotated[
        int, typer.Option(help="Maximum disk space of a program, in MiB.")
    ] = 1024,
    sandbox_max_inodes: Annotated[
        int, typer.Option(help="Maximum number of files of a program.")
    ] = 65536,
    sandbox_max_output_bytes: Annotated[
        int, typer.Option(help="Maximum output of a program, in bytes per stream.")
    ] = 16 << 20,
    as_json: Annotated[
        bool, typer.Option("--json", help='Print {"url": ...} on stdout once the service listens.')
    ] = False,
    until_stdin_closes: Annotated[
        bool, typer.Option(help="Stop when standard input ends or the parent dies.", hidden=True)
    ] = False,
) -> None:
    """Serve verifiers, environments and jobs over HTTP until Ctrl-C or SIGTERM; API docs at /docs."""
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
    """Return the URLs of SQL engines by name."""
    from verigym.errors import ConfigError

    found: dict[str, str] = {}
    for option in options:
        name, is_pair, url = option.partition("=")
        if not is_pair or name in found:
            raise ConfigError("--sql-engine takes NAME=URL, each name once")
        found[name] = _address("--sql-engine", url)
    return found


def _address(option: str, value: str) -> str:
    """Return `value`, or the variable's value for env:VARIABLE: other users can read command lines."""
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
    """Return a variable's value and remove it, so that no process started here inherits it."""
    import os

    from verigym.errors import ConfigError

    value = os.environ.pop(variable, None)
    if value is None:
        raise ConfigError(f"the environment variable {variable} named by {option} is not set")
    return value


def _globs(texts: list[str] | None) -> tuple[str, ...]:
    """Split an option's globs: everything if the option is missing, nothing for `none`."""
    globs = [glob.strip() for text in texts or ["*"] for glob in text.split(",")]
    return tuple(glob for glob in globs if glob not in ("", "none"))
