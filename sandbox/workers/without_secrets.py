"""Keeps the keys and passwords of whoever runs a service out of the processes that judge.

    env = without_secrets(os.environ, keep=["MY_MODEL_KEY"])

Covers: everything that libpq reads (`PG*`), variables whose name says that they hold a key, a token,
a password or a store, and values that are a URL with a password. Kept: `VERIGYM_JUDGE_KEY`, which
`judge/rubric` sends to addresses that the operator allowed, proxies, and what `keep` names.
Does not cover: files that the account can read, such as `~/.pgpass`; and the process that was started
with the variables, whose `/proc/PID/environ` the same account can read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

JUDGE_KEY = "VERIGYM_JUDGE_KEY"

_LIBPQ = re.compile(r"PG[A-Z]+")
_SECRET = re.compile(
    r"KEY|KEYS|\w*APIKEY|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PWD|PASS|PASSPHRASE|PASSFILE"
    r"|CREDENTIALS?|AUTH|AUTHORIZATION|DSN|STORE|COOKIE",
    re.IGNORECASE,
)
_HARMLESS = frozenset({"PWD", "OLDPWD"})
_URL_WITH_PASSWORD = re.compile(r"\w://[^/\s@]*:[^/\s@]+@")


def without_secrets(environ: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that a worker process may have."""
    return {
        name: value
        for name, value in environ.items()
        if name == JUDGE_KEY or name in keep or not _is_secret(name, value)
    }


def _is_secret(name: str, value: str) -> bool:
    if name in _HARMLESS:
        return False
    if name.lower().endswith("_proxy"):
        return False
    if _LIBPQ.fullmatch(name) or _URL_WITH_PASSWORD.search(value):
        return True
    return any(_SECRET.fullmatch(word) for word in re.split(r"[_\W]+", name))
