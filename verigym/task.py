"""`Task`: one problem instance, as plain data that survives JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from verigym.canonical import JSON, digest, to_json
from verigym.errors import RequestError

SPLITS = ("train", "validation", "test")


class _Digested:
    __slots__ = ("_content",)
    _content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Task(_Digested):
    """One problem instance.

    `prompt` is what the policy may read. `reference` is hidden: it goes to the verifier and never
    into an observation, an `info` or a response to an agent. Both together are the content: two
    tasks with equal content are the same problem, whatever their seeds.
    """

    id: str
    env_id: str
    seed: int
    prompt: str
    difficulty: str
    split: str = "train"
    tags: tuple[str, ...] = ()
    reference: JSON = None

    @property
    def content(self) -> str:
        """Digest of prompt and reference, in hex; equal for equal tasks. Computed once."""
        try:
            return self._content
        except AttributeError:
            object.__setattr__(self, "_content", digest(self.prompt, self.reference))
            return self._content

    def public(self) -> dict[str, Any]:
        """Return all fields but the hidden reference."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        del fields["reference"]
        return fields

    def to_json(self) -> bytes:
        """Return canonical JSON, including the hidden reference."""
        return to_json(self)

    @staticmethod
    def from_json(data: bytes | str) -> Task:
        """Read what `to_json` returned. Raises RequestError on malformed input."""
        try:
            # Made once more: what msgspec leaves at its default would be missing where it is written.
            return replace(msgspec.json.decode(data, type=Task))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RequestError(f"not a task: {error}") from error
