"""Plays episodes by calls of tools, and parts the wishes of a prompt."""

import json
import re

import verigym


class Player:
    """Plays one episode by calls; `ask` gives a call's result."""

    def __init__(self, env):
        self.env = env
        self.reward = None

    def ask(self, tool, /, **arguments):
        assert self.reward is None, "the episode is over"
        action = json.dumps({"name": tool, "arguments": arguments})
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            self.reward = reward
            self.reason = info["verdict"].evidence
        told = json.loads(observation)
        assert "result" in told, (self.env.task.prompt, action, observation)
        return told["result"]


def played(name, reader, difficulty, seed, split="test"):
    env = verigym.make(f"tools/{name}-v0")
    env.reset(seed=seed, options={"difficulty": difficulty, "split": split})
    player = Player(env)
    reader(player, env.task.prompt)
    if player.reward is None:
        player.ask("finish")
    return player


def solved(*args):
    player = played(*args)
    assert player.reward == 1.0, (player.reason, player.env.task.prompt[:3000])


def wishes(prompt):
    return re.findall(r"^\d+\. (.*)$", prompt, re.MULTILINE)


def dispatch(patterns, player, words):
    for pattern, act in patterns:
        if match := re.fullmatch(pattern, words):
            act(player, *match.groups())
            return
    raise AssertionError(f"nobody reads: {words}")
