"""Restricts the addresses that callers may give to a verifier that asks a language model.

`judge/rubric` takes the address of its judge as a parameter, and sends the operator's judge key
there. Without a restriction, callers with keys of the service could name any address, and get that key.
"""

from __future__ import annotations

from typing import Any

from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings


def check(params: Any, settings: ServerSettings, where: str) -> None:
    """Raise Refusal if the parameters hold, at any depth, a `base_url` that the operator has not allowed."""
    if settings.key is None and settings.keys is None:
        return  # the callers are the operator
    if _urls_in(params) - {"", *settings.judge_urls}:
        allowed = ", ".join(settings.judge_urls) or "none; the operator names them by --judge-url"
        message = f"base_url must be one that this service may ask: {allowed}"
        raise Refusal(422, "bad_params", message, f"{where}.base_url")


def _urls_in(value: Any) -> set[str]:
    """Return all values of `base_url` in plain data; bodies are bounded in depth."""
    if isinstance(value, list):
        return {url for one in value for url in _urls_in(one)}
    if not isinstance(value, dict):
        return set()
    here = value.get("base_url", "")
    own = {here if isinstance(here, str) else repr(here)}
    return own | {url for one in value.values() for url in _urls_in(one)}
