"""Main loop of one worker process: make verifiers by id and judge one item after the other."""

from __future__ import annotations

import contextlib
import socket
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from verigym.canonical import to_json
from verigym.errors import MissingError, RequestError
from verigym.missing import REASON, explain
from verigym.registry import make_verifier
from verigym.verifier import Verifier
from verigym.verifiers.deadline import deadline_in
from verigym.verifiers.sql import engines
from verigym.verifiers.wire import Ask, Broken, Channel, Judged, Ready, Refused

_MAX_KEPT = 64
"""Verifiers with their parameters that a worker keeps; the least recently used goes first."""


def load(names: Sequence[str], grants: Mapping[str, Any] | None) -> None:
    """Import the verifiers `names`, before workers are forked.

    `grants` is None in a pool whose callers are its owner, else what callers of a service may use.
    """
    if grants is not None:
        engines.restrict(grants["sql_engines"])
    for name in names:
        # One that cannot be loaded is reported by the worker that is asked for it.
        with contextlib.suppress(Exception):
            make_verifier(name)


def work(sock: socket.socket) -> None:
    """Answer on `sock` until the pool closes it."""
    channel = Channel(sock)
    kept: OrderedDict[bytes, Verifier] = OrderedDict()
    while True:
        try:
            ask = channel.receive_ask()
        except EOFError:
            return
        except (msgspec.DecodeError, RecursionError) as error:
            # The pool wrote it, so it is JSON; but writing and reading differ in how deep they go.
            channel.send(Refused(f"task or submission cannot be read: {error}"))
            continue
        _answer(channel, ask, kept)


def _answer(channel: Channel, ask: Ask, kept: OrderedDict[bytes, Verifier]) -> None:
    key = to_json([ask.verifier, ask.params])
    verifier = kept.get(key)
    fresh = verifier is None
    if verifier is None:
        try:
            verifier = make_verifier(ask.verifier, **ask.params)
        except MissingError as error:
            channel.send(Broken(str(error), REASON))
            return
        except RequestError as error:
            channel.send(Refused(str(error)))
            return
        except Exception as error:  # noqa: BLE001
            # A verifier that cannot be imported or made is its author's fault, and becomes the
            # status verifier_error in the pool; the worker goes on serving the others.
            known = explain(error, ask.verifier) if isinstance(error, ImportError) else None
            if known is not None:
                channel.send(Broken(str(known), REASON))
            else:
                channel.send(Broken(f"{type(error).__name__}: {error}"))
            return
        kept[key] = verifier
        if len(kept) > _MAX_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    if fresh or not ask.items:
        channel.send(Ready(verifier.describe()))
    for item in ask.items:
        with deadline_in(ask.timeout_s):
            verdict = verifier.verify(item.task, item.submission)
        channel.send(Judged(verdict))
