"""The group verifier of a training run, from its configuration."""

from __future__ import annotations

from typing import Any

from verigym.client import RemoteVerifier
from verigym.group import GroupVerifier
from verigym.making import make
from verigym.registry import make_group_verifier, make_verifier
from verigym.trainers.config import EnvSection, VerifierSection
from verigym.trainers.sections import GroupSection


def make_group(group: GroupSection, env: EnvSection) -> GroupVerifier | None:
    """Return the group verifier; None if none is configured. Raises RequestError for a wrong id or parameter.

    What it asks is judged where the environment's submissions are: in process, or at the service.
    """
    if group.verifier is None:
        return None
    if group.of is None:
        own = env.verifier
        chosen = make_verifier(own.id, **own.params) if isinstance(own, VerifierSection) else own
        made = make(env.id, verifier=chosen)
        made.close()
        return make_group_verifier(group.verifier, made.verifier, **group.params)
    if not isinstance(env.verifier, str):
        return make_group_verifier(group.verifier, group.of, **group.params)
    of: dict[str, Any] = {"verifier": group.of} if isinstance(group.of, str) else group.of
    remote = RemoteVerifier(env.verifier, str(of.get("verifier")), params=of.get("params"))
    return make_group_verifier(group.verifier, remote, **group.params)
