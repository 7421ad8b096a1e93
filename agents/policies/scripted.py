"""A policy with a fixed script of actions, for tests, demonstrations and replays."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from verigym.agents.policy import Completion, Request
from verigym.errors import RequestError


class ScriptedPolicy:
    """Plays `script`: a list of actions by turn (the last part of the key), or a function.

    Raises RequestError if an episode is longer than the list.
    """

    max_batch = 1024

    def __init__(self, script: Sequence[str] | Callable[[Request], str], name: str = "scripted"):
        self.script = script
        self.name = name

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the scripted action for each request."""
        return [Completion(text=self._act(request)) for request in requests]

    def _act(self, request: Request) -> str:
        if callable(self.script):
            return self.script(request)
        turn = request.key[-1] if request.key else 0
        if turn >= len(self.script):
            raise RequestError(
                f"the script has {len(self.script)} actions and the episode asks for number "
                f"{turn + 1}; give as many as the episode has turns"
            )
        return self.script[turn]

    @staticmethod
    def load(path: str | Path) -> ScriptedPolicy:
        """Load a `.json` file with a list of strings, or any other file with one action per line."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
            actions = json.loads(text) if path.suffix == ".json" else text.splitlines()
        except (OSError, ValueError) as error:
            raise RequestError(f"script {path} cannot be read: {error}") from error
        if not isinstance(actions, list) or not all(isinstance(a, str) for a in actions):
            raise RequestError(f"script {path} must hold a JSON list of texts")
        return ScriptedPolicy(actions, name=f"scripted:{path.name}")
