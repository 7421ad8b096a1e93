"""Settings of a verifier service: options of `verigym serve`, keys of its TOML file, and arguments in Python.

    Settings(port=0, verifiers=("math/*",))
    # ConfigError: port must be at least 0 and at most 65535, got 70000

Types, ranges, defaults and help texts stand in `ServerSettings` and nowhere else; options.py reads them.
"""

from __future__ import annotations

import functools
import ipaddress
import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from verigym.errors import ConfigError, RequestError, suggestion
from verigym.params import describe_bounds, describe_rule
from verigym.registry import list_envs, list_verifiers
from verigym.sandbox.job import Limits
from verigym.verifiers.sql.engines import BUILT_IN, URL_SCHEMES

GENERAL = "Options"
ENVIRONMENTS = "Environments"
KEYS = "Keys and TLS"
LIMITS = "Limits"
CACHE = "Cache and jobs"
LOGS = "Logs and traces"
SANDBOX = "Sandbox"


@dataclass(frozen=True)
class OptionText:
    """Description of one setting on the command line and in files."""

    help: str
    group: str = GENERAL
    """Heading that `verigym serve --help` lists it under."""
    name: str = ""
    """Its name there with underscores, if that of the field is another."""
    metavar: str | None = None
    default: str | None = None
    """Text of the default, if its value does not say enough."""


Count = Annotated[int, Meta(gt=0)]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]

_PER_CORE = "one per core"
_MANY = "2,048 per core, at least 4,096"


def _cores() -> int:
    return os.cpu_count() or 1


def _many() -> int:
    """Default number of sessions: an idle one costs memory alone. And of sockets and requests, since each session
    may have a socket, and all of them may be stepped at once."""
    return max(4096, 2048 * _cores())


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Raise ConfigError if a value has the wrong type or is out of range, or values contradict each other."""

    host: Annotated[
        str, OptionText("Address to bind. Addresses other than loopback need --keys.")
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535), OptionText("Port to listen on; 0 chooses a free one.")
    ] = 8080
    workers: Annotated[Count, OptionText("Number of verifier processes.", default=_PER_CORE)] = (
        field(default_factory=_cores)
    )
    verifiers: Annotated[
        tuple[str, ...],
        OptionText(
            "Verifiers to serve: ids, families or globs, comma-separated; 'none' for none.",
            default="all",
        ),
    ] = ("*",)
    judge_urls: Annotated[
        tuple[str, ...],
        OptionText(
            "Model server that judge/rubric may use for callers with keys; repeatable.",
            name="judge_url",
        ),
    ] = ()
    sql_engines: Annotated[
        Mapping[str, str],
        OptionText(
            "PostgreSQL database that sql/query may use, by NAME; URL or env:VARIABLE. "
            "Repeatable; callers cannot give URLs themselves.",
            name="sql_engine",
            metavar="NAME=URL",
        ),
    ] = field(default_factory=dict, repr=False)
    worker_env: Annotated[
        tuple[str, ...],
        OptionText(
            "Secret environment variable to pass on to workers; repeatable.",
            metavar="NAME",
        ),
    ] = ()
    drain_s: Annotated[
        Positive, OptionText("Seconds to let running requests finish after SIGTERM.")
    ] = 10.0

    envs: Annotated[
        tuple[str, ...],
        OptionText(
            "Environments to serve; same syntax as --verifiers.", ENVIRONMENTS, default="all"
        ),
    ] = ()
    openenv: Annotated[
        str | None,
        OptionText(
            "Environment to serve to OpenEnv clients at the root path.",
            ENVIRONMENTS,
            metavar="ENV",
        ),
    ] = None
    ors: Annotated[
        bool,
        OptionText("Serve the environments to clients of the Open Reward Standard.", ENVIRONMENTS),
    ] = False
    env_workers: Annotated[
        Count, OptionText("Number of environment processes.", ENVIRONMENTS, default=_PER_CORE)
    ] = field(default_factory=_cores)
    session_lease_s: Annotated[
        Positive, OptionText("Idle timeout of a session, in seconds.", ENVIRONMENTS)
    ] = 300.0
    max_sessions: Annotated[
        Count,
        OptionText(
            "Maximum number of open sessions; shared by all keys.", ENVIRONMENTS, default=_MANY
        ),
    ] = field(default_factory=_many)
    max_sessions_per_key: Annotated[
        Count,
        OptionText("Maximum number of open sessions per API key.", ENVIRONMENTS, default=_MANY),
    ] = field(default_factory=_many)

    key: Annotated[
        str | None,
        OptionText(
            "Environment variable that holds an API key with every scope but admin.",
            KEYS,
            name="key_env",
            metavar="NAME",
        ),
    ] = field(default=None, repr=False)
    keys: Annotated[
        str | None,
        OptionText("File of API keys with scopes; see `verigym keys`.", KEYS, metavar="FILE"),
    ] = None
    tls_cert: Annotated[
        str | None,
        OptionText("TLS certificate in PEM format; enables HTTPS.", KEYS, metavar="FILE"),
    ] = None
    tls_key: Annotated[
        str | None, OptionText("Private key of the TLS certificate.", KEYS, metavar="FILE")
    ] = None

    timeout_s: Annotated[
        Positive, OptionText("Default time limit for judging one submission, in seconds.", LIMITS)
    ] = 30.0
    max_timeout_s: Annotated[
        Positive,
        OptionText("Maximum time limit that a request may ask for, in seconds.", LIMITS),
    ] = 300.0
    rate_per_s: Annotated[
        NotNegative,
        OptionText("Maximum number of requests per second and key; 0 for no limit.", LIMITS),
    ] = 0.0
    max_concurrent: Annotated[
        Count, OptionText("Maximum number of concurrent requests per key.", LIMITS, default=_MANY)
    ] = field(default_factory=_many)
    max_queue: Annotated[
        Count, OptionText("Maximum number of submissions that wait for a worker.", LIMITS)
    ] = 1024
    max_batch: Annotated[
        Count, OptionText("Maximum number of submissions per request.", LIMITS)
    ] = 256
    max_body_bytes: Annotated[
        Count, OptionText("Maximum size of a request body, in bytes.", LIMITS)
    ] = 8 << 20
    max_inflight_mib: Annotated[
        Count,
        OptionText(
            "Maximum total size of request bodies in progress, in MiB; shared by all keys.", LIMITS
        ),
    ] = 512
    max_depth: Annotated[
        Count, OptionText("Maximum nesting of arrays and objects in a request body.", LIMITS)
    ] = 64
    max_sockets: Annotated[
        Count,
        OptionText("Maximum number of open WebSockets; shared by all keys.", LIMITS, default=_MANY),
    ] = field(default_factory=_many)
    body_timeout_s: Annotated[
        Positive, OptionText("Seconds to wait for a request body.", LIMITS)
    ] = 10.0

    cache_mib: Annotated[
        NotNegative, OptionText("Memory of the verdict cache in MiB; 0 for no cache.", CACHE)
    ] = 0.0
    cache_file: Annotated[
        str | None,
        OptionText("SQLite file that keeps the verdict cache on disk.", CACHE, metavar="FILE"),
    ] = None
    store: Annotated[
        str | None,
        OptionText(
            "Database for jobs: sqlite:///FILE, postgresql://... or env:VARIABLE.",
            CACHE,
            metavar="URL",
        ),
    ] = field(default=None, repr=False)
    max_jobs: Annotated[
        Count,
        OptionText("Maximum number of unfinished jobs; further ones are refused with 429.", CACHE),
    ] = 10_000
    job_retention_s: Annotated[
        Positive, OptionText("Seconds to keep the verdicts of a finished job.", CACHE)
    ] = 86_400.0

    log_format: Annotated[
        Literal["auto", "json", "text"],
        OptionText("Log format; auto is text on a terminal, else JSON.", LOGS),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], OptionText("Minimum level to log.", LOGS)
    ] = "info"
    trace: Annotated[
        bool, OptionText("Send OpenTelemetry traces, configured by OTEL_* variables.", LOGS)
    ] = False

    sandbox: Annotated[
        bool, OptionText("Also run programs for callers, at /v1/sandbox.", SANDBOX)
    ] = False
    sandbox_jobs: Annotated[
        Count, OptionText("Maximum number of concurrent programs.", SANDBOX, default=_PER_CORE)
    ] = field(default_factory=lambda: max(2, _cores()))
    sandbox_sessions: Annotated[
        Count, OptionText("Maximum number of open interpreter sessions.", SANDBOX)
    ] = 16
    sandbox_lease_s: Annotated[
        Positive, OptionText("Idle timeout of an interpreter session, in seconds.", SANDBOX)
    ] = 300.0
    sandbox_body_bytes: Annotated[
        Count,
        OptionText("Maximum size of a request body with a program and files, in bytes.", SANDBOX),
    ] = 32 << 20
    sandbox_max_wall_s: Annotated[
        Positive, OptionText("Maximum wall time of a program or session, in seconds.", SANDBOX)
    ] = 600.0
    sandbox_max_cpu_s: Annotated[
        Positive, OptionText("Maximum processor time of a program, in seconds.", SANDBOX)
    ] = 600.0
    sandbox_max_memory_mib: Annotated[
        Count, OptionText("Maximum memory of a program, in MiB.", SANDBOX)
    ] = 4096
    sandbox_max_processes: Annotated[
        Count, OptionText("Maximum number of processes of a program.", SANDBOX)
    ] = 256
    sandbox_max_open_files: Annotated[
        Count, OptionText("Maximum number of open files of a program.", SANDBOX)
    ] = 1024
    sandbox_max_disk_mib: Annotated[
        Count, OptionText("Maximum disk space of a program, in MiB.", SANDBOX)
    ] = 1024
    sandbox_max_inodes: Annotated[
        Count, OptionText("Maximum number of files of a program.", SANDBOX)
    ] = 65536
    sandbox_max_output_bytes: Annotated[
        Count, OptionText("Maximum output of a program, in bytes per stream.", SANDBOX)
    ] = 16 << 20

    def __post_init__(self) -> None:
        for name, kind in types().items():
            check_value(name, getattr(self, name), kind)
        try:
            self.sandbox_caps  # noqa: B018
        except RequestError as error:
            raise ConfigError(f"sandbox_max_{error}") from error
        if self.timeout_s > self.max_timeout_s:
            raise ConfigError(
                f"timeout_s {self.timeout_s:g} is above max_timeout_s {self.max_timeout_s:g}"
            )
        if self.max_batch > self.max_queue:
            raise ConfigError(f"max_batch {self.max_batch} is above max_queue {self.max_queue}")
        if self.key is not None and (not self.key.isascii() or len(self.key.split()) != 1):
            raise ConfigError("the key must be ASCII text without spaces, and not empty")
        for name, url in self.sql_engines.items():
            if name in BUILT_IN or not name.isidentifier():
                taken = ", ".join(BUILT_IN)
                raise ConfigError(
                    f"the name of an SQL engine is letters, digits and _, and none of {taken}; got {name!r}"
                )
            if not url.startswith(URL_SCHEMES):
                raise ConfigError(f"the URL of SQL engine {name!r} must begin with postgresql://")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ConfigError("TLS needs both a certificate and its key: --tls-cert and --tls-key")
        if self.key is None and self.keys is None and not is_loopback(self.host):
            raise ConfigError(
                f"{self.host} can be reached by other machines, so a key is needed: make a file of "
                "keys with `verigym keys add` and name it with --keys, or bind to 127.0.0.1"
            )

    @functools.cached_property
    def sandbox_caps(self) -> Limits:
        """The highest limits that a program or session may ask for."""
        return Limits(
            wall_s=self.sandbox_max_wall_s,
            cpu_s=self.sandbox_max_cpu_s,
            memory_mib=self.sandbox_max_memory_mib,
            processes=self.sandbox_max_processes,
            open_files=self.sandbox_max_open_files,
            disk_mib=self.sandbox_max_disk_mib,
            inodes=self.sandbox_max_inodes,
            output_bytes=self.sandbox_max_output_bytes,
        )

    def verifier_ids(self) -> list[str]:
        """Return the registered verifiers that `verifiers` chooses, sorted. ConfigError if a glob has none."""
        return _chosen("verifier", self.verifiers, list_verifiers())

    def env_ids(self) -> list[str]:
        """Return the full ids of the environments that `envs` chooses. ConfigError if a glob has none."""
        known = [id.removeprefix("verigym/") for id in list_envs()]
        return [f"verigym/{name}" for name in _chosen("environment", self.envs, known)]


@functools.cache
def types() -> dict[str, Any]:
    """Return the type of each setting by the name of its field, with range and `OptionText`."""
    return get_type_hints(ServerSettings, include_extras=True)


def check_value(name: str, value: Any, kind: Any) -> None:
    """Raise ConfigError if `value` does not fit `kind`, the type of a setting that is called `name`."""
    try:
        msgspec.convert(value, kind)
        if not isinstance(value, float) or math.isfinite(value):
            return
        wanted = "finite"
    except msgspec.ValidationError:
        rule = msgspec.json.schema(kind)
        wanted = describe_bounds(rule) if _has_type(value, kind) else describe_rule(rule)
    raise ConfigError(f"{name} must be {wanted}, got {value!r}")


def _has_type(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, get_args(kind)[0])
    except msgspec.ValidationError:
        return False
    return True


def _chosen(what: str, globs: Sequence[str], known: Collection[str]) -> list[str]:
    chosen: set[str] = set()
    for glob in globs:
        # `math` alone means the family.
        found = {name for name in known if fnmatchcase(name, glob) or name.startswith(f"{glob}/")}
        if not found:
            raise ConfigError(f"no {what} matches {glob!r}; {suggestion(glob, known)}")
        chosen |= found
    return sorted(chosen)


@functools.lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach `host`. Names other than localhost count as public."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
