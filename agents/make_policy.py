"""Makes policies from their names on the command line and in configurations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from verigym.agents.policies.openai import OpenAIPolicy
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.agents.policy import Policy
from verigym.errors import RequestError, suggestion

KINDS = {
    "oracle": "oracle",
    "random": "random",
    "scripted": "scripted:FILE",
    "hf": "hf:FOLDER",
    "vllm": "vllm:FOLDER",
    "openai": "openai:MODEL@URL",
}


def make_policy(spec: str, **options: Any) -> Policy:
    """Make the policy that `spec` names: one of the values of `KINDS`.

    `options` are passed to its constructor (`hf`: max_new_tokens, temperature, ...); None is the default.
    Raises RequestError for an unknown kind, option, file or folder.
    """
    kind, _, rest = spec.partition(":")
    options = {name: value for name, value in options.items() if value is not None}
    if kind not in KINDS:
        known = ", ".join(KINDS.values())
        raise RequestError(
            f"unknown policy {spec!r}; {suggestion(kind, KINDS)} (policies: {known})"
        )
    if bool(rest) != (":" in KINDS[kind]):
        raise RequestError(f"policy {spec!r} must be written {KINDS[kind]}")
    if kind == "hf":
        return _hf(rest, options)
    if kind == "vllm":
        return _vllm(rest, options)
    if kind == "openai":
        return _openai(rest, options)
    if options:
        raise RequestError(f"policy {kind} takes no options, got {', '.join(sorted(options))}")
    if kind == "scripted":
        return ScriptedPolicy.load(rest)
    return OraclePolicy() if kind == "oracle" else RandomPolicy()


def _hf(folder: str, options: dict[str, Any]) -> Policy:
    try:
        from verigym.agents.policies.hf import HFPolicy
    except ImportError as error:
        raise RequestError(_missing("hf", "train", error)) from error
    _check_options("hf", HFPolicy.__init__, options, also=("dtype",))
    return HFPolicy.load(folder, **{"max_new_tokens": 512, **options})


def _vllm(folder: str, options: dict[str, Any]) -> Policy:
    try:
        from verigym.agents.policies.vllm import VllmPolicy
    except ImportError as error:
        raise RequestError(_missing("vllm", "train,vllm", error)) from error
    _check_options("vllm", VllmPolicy.__init__, options)
    return VllmPolicy(folder, **options)


def _openai(rest: str, options: dict[str, Any]) -> Policy:
    model, at, url = rest.rpartition("@")
    if not (model and at and url):
        raise RequestError(
            f"policy 'openai:{rest}' must be written {KINDS['openai']}, such as "
            "openai:Qwen/Qwen3-4B@http://127.0.0.1:8000/v1"
        )
    _check_options("openai", OpenAIPolicy.__init__, options)
    return OpenAIPolicy(model, url, **options)


def _missing(kind: str, extra: str, error: ImportError) -> str:
    return f"policy {kind} needs more packages ({error}): pip install 'verigym[{extra}]'"


def _check_options(
    kind: str, made_by: Callable[..., Any], options: dict[str, Any], also: tuple[str, ...] = ()
) -> None:
    parameters = inspect.signature(made_by).parameters.values()
    known = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY} | set(also)
    for name in options:
        if name not in known:
            raise RequestError(f"policy {kind} has no option {name!r}; {suggestion(name, known)}")
