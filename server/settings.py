"""Settings of a verifier service."""

from __future__ import annotations

import functools
import ipaddress
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from verigym.errors import ConfigError, suggestion
from verigym.registry import list_envs, list_verifiers
from verigym.sandbox.job import Limits
from verigym.verifiers.sql.engines import BUILT_IN, URL_SCHEMES

CAPS = Limits(
    wall_s=600.0,
    cpu_s=600.0,
    memory_mib=4096,
    processes=256,
    open_files=1024,
    disk_mib=1024,
    inodes=65536,
    output_bytes=16 << 20,
)
"""The highest limits that a program may ask for, where the operator says nothing else."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Raise ConfigError if the values contradict each other."""

    host: str = "127.0.0.1"
    """Address to bind. Any but a loopback address needs `key` or `keys`."""
    port: int = 8080
    """0 takes any free port."""
    key: str | None = field(default=None, repr=False)
    """Bearer key that requests may carry, for all but `admin`; None for none."""
    keys: str | None = None
    """File of keys with their scopes (see keys.py), read again when it changes; None for none."""
    tls_cert: str | None = None
    """File of the certificate, and what signed it, in PEM; None for plain HTTP."""
    tls_key: str | None = None
    """File of its private key."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Worker processes."""
    verifiers: tuple[str, ...] = ("*",)
    """Globs over verifier ids; only those that match are served."""
    envs: tuple[str, ...] = ()
    """Globs over environment ids, without `verigym/`; only those that match are served."""
    openenv: str | None = None
    """The environment that OpenEnv clients find at the root; all are below `/openenv` anyway."""
    env_workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Processes that environments run in."""
    session_lease_s: float = 300.0
    """A session of an environment that is not used for so long ends."""
    max_sessions: int = 4096
    max_sessions_per_key: int = 1024
    judge_urls: tuple[str, ...] = ()
    """Model servers that callers with keys may give to `judge/rubric`; see judges.py."""
    sql_engines: Mapping[str, str] = field(default_factory=dict, repr=False)
    """URLs of the PostgreSQL databases that `sql/query` may use, by the name that callers give.
    Nobody may give a URL."""
    worker_env: tuple[str, ...] = ()
    """Variables that worker processes get although their names or values look like secrets."""
    timeout_s: float = 30.0
    """Judging time of one submission where the request does not say."""
    max_timeout_s: float = 300.0
    max_queue: int = 1024
    """Submissions that may wait for a worker; beyond it requests are refused with 429."""
    max_batch: int = 256
    max_body_bytes: int = 8 << 20
    max_inflight_bytes: int = 512 << 20
    """Bodies and frames that were received and are not answered; callers share it."""
    max_sockets: int = 2048
    """WebSockets that may be open; callers share them."""
    max_depth: int = 64
    """Nesting of arrays and objects in a request body."""
    max_concurrent: int = 1024
    """Requests of one key that may be under way."""
    rate_per_s: float = 0.0
    """Requests of one key in a second, with as many at once; 0 for no limit."""
    body_timeout_s: float = 10.0
    """Longest wait for a request's body."""
    drain_s: float = 10.0
    """Seconds to let running requests finish after a stop was requested."""
    trace: bool = False
    """If True, send traces even if the environment variables name no endpoint; see tracing.py."""
    cache_mib: float = 0.0
    """Memory for verdicts that were given before; 0 for none."""
    cache_file: str | None = None
    """An SQLite file that keeps them, too, which other services on this machine may share."""
    store: str | None = field(default=None, repr=False)
    """Database for jobs: `sqlite:///file` or `postgresql://...`; None for a file in the user's folder."""
    max_jobs: int = 10_000
    """Jobs that are not finished, over all services at the store; beyond it they are refused."""
    job_retention_s: float = 86_400.0
    """Seconds to keep a finished job."""
    sandbox: bool = False
    """If True, also run programs for callers."""
    sandbox_jobs: int = field(default_factory=lambda: max(2, os.cpu_count() or 1))
    """Programs that run at once; `max_queue` bounds those that wait."""
    sandbox_sessions: int = 16
    """Interpreters that may be open at once, beside the programs."""
    sandbox_lease_s: float = 300.0
    """A session that is not used for so long is closed."""
    sandbox_caps: Limits = CAPS
    """Programs and sessions that ask for higher limits are refused."""
    sandbox_body_bytes: int = 32 << 20
    """As `max_body_bytes`, where files and input come with the request."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"port must be from 0 to 65535, got {self.port}")
        for name in (
            *("workers", "timeout_s", "max_timeout_s", "max_queue", "max_batch"),
            *("max_body_bytes", "max_depth", "body_timeout_s", "drain_s", "max_concurrent"),
            *("env_workers", "session_lease_s", "max_sessions", "max_sessions_per_key"),
            *("sandbox_jobs", "sandbox_sessions", "sandbox_lease_s", "sandbox_body_bytes"),
            *("max_jobs", "job_retention_s", "max_inflight_bytes", "max_sockets"),
        ):
            value = getattr(self, name)
            if not value > 0:
                raise ConfigError(f"{name} must be above 0, got {value}")
        for name in ("cache_mib", "rate_per_s"):
            value = getattr(self, name)
            if not value >= 0:
                raise ConfigError(f"{name} must be at least 0, got {value}")
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

    def verifier_ids(self) -> list[str]:
        """Registered verifiers that `verifiers` chooses, sorted. ConfigError if a glob has none."""
        return _chosen("verifier", self.verifiers, list_verifiers())

    def env_ids(self) -> list[str]:
        """Full ids of the environments that `envs` chooses. ConfigError if a glob has none."""
        known = [id.removeprefix("verigym/") for id in list_envs()]
        return [f"verigym/{name}" for name in _chosen("environment", self.envs, known)]


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
