"""API keys and their scopes, kept as hashes in a file that is reloaded when it changes.

    text = add("keys.json", name="trainer", scopes={"verify"})   # shown once, never stored
    caller = KeyFile("keys.json").caller(text)                   # Caller("trainer", {"verify"})

A key is 256 random bits, so a plain SHA-256 hides it: a slow hash protects what people choose and
could be guessed, and would cost every request milliseconds. Comparison is in constant time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import logging
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from verigym.errors import ConfigError, RequestError

_log = logging.getLogger(__name__)

SCOPES: Final = frozenset({"verify", "step", "admin"})
"""`verify`: verdicts, jobs, programs. `step`: environments. `admin`: all that, and metrics."""

_CHECK_S = 1.0
_NOBODY = b"\0" * 32  # no SHA-256 that anybody knows an input of


@dataclass(frozen=True)
class Caller:
    """The holder of a key. Keys of one name are one caller, so a key can be replaced during operation."""

    name: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Return True if `scope` is granted; `admin` grants all scopes."""
        return scope in self.scopes or "admin" in self.scopes


LOCAL: Final = Caller("local", SCOPES)
"""Caller of every request to a loopback service without keys."""


class Key(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A key as the file keeps it; `sha256` is the hash of its whole text, in hex."""

    id: str
    name: str
    scopes: list[str]
    sha256: str
    created: datetime
    expires: datetime | None = None

    def __post_init__(self) -> None:
        unknown = set(self.scopes) - SCOPES
        if unknown or not self.scopes:
            raise ValueError(f"key {self.id}: scopes must be some of {', '.join(sorted(SCOPES))}")
        if len(self.sha256) != 64 or set(self.sha256) - set("0123456789abcdef"):
            raise ValueError(f"key {self.id}: sha256 is 64 hexadecimal digits")
        if not self.id.isalnum() or not self.name.strip():
            raise ValueError("a key has an id of letters and digits, and a name")
        for time_ in (self.created, self.expires):
            if time_ is not None and time_.tzinfo is None:
                raise ValueError(f"key {self.id}: times need a zone, such as 2030-01-31T00:00:00Z")

    @property
    def expired(self) -> bool:
        return self.expires is not None and self.expires <= datetime.now(UTC)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    keys: list[Key]


class KeyFile:
    """The keys of a file, reloaded within a second of a change; an invalid change is ignored.

    Raises ConfigError if the file cannot be read at first, holds no key, or a key has a name in
    `reserved`: keys of one name are one caller. For one thread.
    """

    def __init__(self, path: str | Path, reserved: Collection[str] = ()) -> None:
        self._path = Path(path)
        self._reserved = frozenset(reserved)
        self._stamp = _stamp(self._path)
        self._take(read(self._path))
        if not self._keys:
            raise ConfigError(f"{self._path} holds no key; make one: verigym keys add {self._path}")
        self._checked = time.monotonic()

    def caller(self, text: bytes) -> Caller | None:
        """Return the caller that holds the key `text`; None if it is unknown."""
        self._refresh()
        id = _id_of(text)
        key = self._keys.get(id)
        wanted = bytes.fromhex(key.sha256) if key is not None else _NOBODY
        same = hmac.compare_digest(hashlib.sha256(text).digest(), wanted)
        if not same or key is None or key.expired:
            return None
        return Caller(key.name, frozenset(key.scopes))

    def names(self) -> set[str]:
        """Return the names of all valid keys."""
        return self._names

    def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._checked < _CHECK_S:
            return
        self._checked = now
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp  # also of a broken file: it is complained of once
        try:
            self._take(read(self._path))
        except ConfigError as error:
            _log.error("the former keys stay in force: %s", error)
        else:
            _log.warning("read %d keys from %s", len(self._keys), self._path)

    def _take(self, keys: list[Key]) -> None:
        clash = sorted({key.name for key in keys} & self._reserved)
        if clash:
            raise ConfigError(
                f"{self._path} has a key named {clash[0]!r}, as the one of --key-env is; rename it"
            )
        self._keys = {key.id: key for key in keys}
        self._names = {key.name for key in keys}


class OneKey:
    """The one key of `--key-env`, in any form; it grants all but `admin`."""

    NAME: ClassVar[str] = "key"

    def __init__(self, text: str) -> None:
        self._wanted = hashlib.sha256(text.encode()).digest()
        self._caller = Caller(self.NAME, SCOPES - {"admin"})

    def names(self) -> set[str]:
        """Return the key's name."""
        return {self.NAME}

    def caller(self, text: bytes) -> Caller | None:
        """Return the caller that holds the key `text`; None if it is unknown."""
        same = hmac.compare_digest(hashlib.sha256(text).digest(), self._wanted)
        return self._caller if same else None


def read(path: str | Path) -> list[Key]:
    """Read the keys of a file. Raises ConfigError if it is invalid or writable by others."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the keys in {path}: {error.strerror}") from error
    # A group may read: Kubernetes mounts secrets so. What is read is of no use to ask with.
    if not stat.S_ISREG(mode) or mode & 0o027:
        raise ConfigError(
            f"{path} must be a file that only its owner writes and others cannot read; run chmod 600 on it"
        )
    try:
        keys = msgspec.json.decode(data, type=_File).keys
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a file of keys: {error}") from error
    if len({key.id for key in keys}) < len(keys):
        raise ConfigError(f"{path} has two keys of one id")
    return keys


def add(
    path: str | Path, *, name: str, scopes: Iterable[str], expires: datetime | None = None
) -> str:
    """Create a key and add its hash to the file, which is created if missing; return the key."""
    if not name.strip() or not name.isprintable():
        raise RequestError("a key needs a name, of printable characters")
    wanted = sorted(set(scopes))
    if not wanted or set(wanted) - SCOPES:
        known = ", ".join(sorted(SCOPES))
        raise RequestError(f"scopes are {known}; got {', '.join(wanted) or 'none'}")
    now = datetime.now(UTC)
    if expires is not None and expires <= now:
        raise RequestError(f"expires must be in the future, got {expires.isoformat()}")
    path = Path(path)
    with _locked(path):
        keys = read(path) if path.exists() else []
        id = secrets.token_hex(4)
        while id in {key.id for key in keys}:
            id = secrets.token_hex(4)
        text = f"vg_{id}_{secrets.token_urlsafe(32)}"
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        key = Key(
            id=id,
            name=name,
            scopes=wanted,
            sha256=sha256,
            created=now.replace(microsecond=0),
            expires=expires,
        )
        _write(path, [*keys, key])
    return text


def revoke(path: str | Path, id: str) -> Key:
    """Remove the key of this id from the file and return it. Raises RequestError if there is none."""
    path = Path(path)
    with _locked(path):
        keys = read(path)
        for key in keys:
            if key.id == id:
                _write(path, [other for other in keys if other is not key])
                return key
    known = ", ".join(key.id for key in keys) or "none"
    raise RequestError(f"no key {id!r} in {path}; ids: {known}")


def _id_of(text: bytes) -> str:
    parts = text.split(b"_", 2)
    return parts[1].decode("latin-1") if len(parts) == 3 and parts[0] == b"vg" else ""


def _stamp(path: Path) -> tuple[int, ...]:
    """Return a fingerprint that changes with the file; empty if the file is missing."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock for one writer. The folder is locked, since the file is replaced."""
    try:
        folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ConfigError(f"cannot open the folder of {path}: {error.strerror}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _write(path: Path, keys: list[Key]) -> None:
    """Replace the file atomically, so that neither a reader nor a crash ever sees half of it."""
    data = msgspec.json.format(msgspec.json.encode(_File(keys)), indent=2)
    target = path.resolve()
    fd, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # mode 0600
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise
