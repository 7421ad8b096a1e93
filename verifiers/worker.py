"""Main loop of one worker process: make verifiers by id and judge one item after the other."""

from __future__ import annotations

import contextlib
import socket
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from verigym.canonical import to_json
from verigym.errors import MissingError, RequestError
from verigym.missing import REASON, explain
from verigym.registry import make_verifier
from verigym.sandbox.workers.frames import FrameChannel
from verigym.verifier import Verifier
from verigym.verifiers.deadline import deadline_in
from verigym.verifiers.pool_messages import (
    ItemJudged,
    Loaded,
    LoadFailed,
    Rejected,
    Reply,
    Work,
    decode_work,
    encode,
)
from verigym.verifiers.sql import engines

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
    channel = FrameChannel(sock)
    kept: OrderedDict[bytes, Verifier] = OrderedDict()

    def reply(message: Reply) -> None:
        channel.send(encode(message))

    while (body := channel.receive()) is not None:
        try:
            work = decode_work(body)
        except (msgspec.DecodeError, RecursionError) as error:
            # The pool wrote it, so it is JSON; but writing and reading differ in how deep they go.
            reply(Rejected(f"task or submission cannot be read: {error}"))
        else:
            _judge(work, kept, reply)


def _judge(work: Work, kept: OrderedDict[bytes, Verifier], reply: Callable[[Reply], None]) -> None:
    key = to_json([work.verifier, work.params])
    verifier = kept.get(key)
    fresh = verifier is None
    if verifier is None:
        try:
            verifier = make_verifier(work.verifier, **work.params)
        except MissingError as error:
            reply(LoadFailed(str(error), REASON))
            return
        except RequestError as error:
            reply(Rejected(str(error)))
            return
        except Exception as error:  # noqa: BLE001
            # A verifier that cannot be imported or made is its author's fault, and becomes the
            # status verifier_error in the pool; the worker goes on serving the others.
            known = explain(error, work.verifier) if isinstance(error, ImportError) else None
            if known is not None:
                reply(LoadFailed(str(known), REASON))
            else:
                reply(LoadFailed(f"{type(error).__name__}: {error}"))
            return
        kept[key] = verifier
        if len(kept) > _MAX_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    if fresh or not work.items:
        reply(Loaded(verifier.describe()))
    for item in work.items:
        with deadline_in(work.timeout_s):
            verdict = verifier.verify(item.task, item.submission)
        reply(ItemJudged(verdict))
