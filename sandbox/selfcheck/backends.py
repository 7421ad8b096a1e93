"""`open_sandbox`: the backends that the self-check knows, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verigym.errors import RequestError, suggestion
from verigym.sandbox.base import Sandbox

BACKENDS = ("local", "docker", "remote")


def open_sandbox(backend: str, options: Mapping[str, Any]) -> Sandbox:
    """Open a sandbox for the caller, who must close it.

    `options` go to the backend's constructor as they are; `remote` needs `url`. Raises RequestError
    for an unknown backend, SandboxError where this one does not work here, ImportError where its
    library is missing.
    """
    sandbox: Sandbox
    if backend == "local":
        from verigym.sandbox.local import LocalSandbox

        sandbox = LocalSandbox(**options)
    elif backend == "docker":
        from verigym.sandbox.docker import DockerSandbox

        sandbox = DockerSandbox(**options)
    elif backend == "remote":
        from verigym.sandbox.remote import RemoteSandbox

        sandbox = RemoteSandbox(**options)
    else:
        raise RequestError(f"unknown backend {backend!r}; {suggestion(backend, BACKENDS)}")
    return sandbox
