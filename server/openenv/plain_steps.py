"""Plain steps: the message that OpenEnv's clients send for each action, and its answer, without detours.

Pure functions, for the service and for the hosts that answer on sockets they were lent.
"""

from __future__ import annotations

import msgspec

from verigym.server.envs.messages import PlainStep


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    message: str


class _PlainStep(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", tag="step"):
    data: _Message


class _Answer(msgspec.Struct):
    """Answer of the sessions' own wire to a step or a reset."""

    observation: msgspec.Raw
    info: msgspec.Raw
    reward: msgspec.Raw = msgspec.Raw(b"null")
    terminated: bool = False
    truncated: bool = False


_plain_steps = msgspec.json.Decoder(_PlainStep)
_answers = msgspec.json.Decoder(_Answer)
_encode = msgspec.json.Encoder().encode


class PlainSteps:
    """Reads and answers the plain steps of one client."""

    def read(self, data: bytes) -> PlainStep | None:
        """Return the step of a message; None for anything else."""
        action = read_plain_step(data)
        return None if action is None else PlainStep(action)

    def answer(self, body: bytes) -> bytes:
        """Return the message that answers the step that was read last."""
        return b'{"type":"observation","data":%s}' % observe(body)


def read_plain_step(data: bytes) -> str | None:
    """Return the action of the message that clients send for each step; None for any other.

    The general way takes ten times longer.
    """
    try:
        step = _plain_steps.decode(data)
    except ValueError:  # also if it is not valid UTF-8
        return None
    # A key that stands twice has a colon more, however the keys are written.
    if data.count(b":") != _encode(step).count(b":") or rb"\u003" in data:
        return None
    return step.data.message


def observe(answer: bytes) -> bytes:
    """Return what OpenEnv's clients get for an answer of the sessions' own wire that is no fault, as JSON."""
    found = _answers.decode(answer)
    ends = b'{"terminated":%s,"truncated":%s' % (
        _encode(found.terminated),
        _encode(found.truncated),
    )
    info = bytes(found.info)
    metadata = ends + (b"}" if info == b"{}" else b"," + info[1:])
    # Older clients read the one inside, newer ones the one outside.
    return b'{"observation":{"metadata":%s,"message":%s},"reward":%s,"done":%s,"metadata":%s}' % (
        metadata,
        found.observation,
        found.reward,
        _encode(found.terminated or found.truncated),
        metadata,
    )
