"""Packages that the adapters were tested with, and the error that names a missing one."""

from __future__ import annotations

from typing import Final, NoReturn

from verigym.errors import MissingError

TESTED: Final = {
    "datasets": "trl==1.16",
    "gem": "gem-llm==0.1.0",
    "inspect_ai": "inspect-ai==0.3.285",
    "nemo_gym": "nemo-gym==0.4.0",
    "skyrl_gym": "skyrl-gym==0.4.0",
    "transfer_queue": "TransferQueue==0.1.11",
    "verifiers": "verifiers==0.4.0",
    "verl": "verl==0.9.1",
}
"""Requirement that installs an imported module, in the version that was tested."""


def raise_missing(error: ImportError) -> NoReturn:
    """Raise MissingError with the command that installs the module; `error` itself if it is none of `TESTED`."""
    module = (error.name or "").partition(".")[0]
    if module not in TESTED:
        raise error
    raise MissingError(
        f"this adapter needs {module}, which is not installed; pip install {TESTED[module]!r}"
    ) from error
