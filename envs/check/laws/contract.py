"""Gymnasium's contract, the contents of `info`, difficulties, vectors, rendering."""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import gymnasium
from gymnasium.utils.env_checker import check_env

import verigym
from verigym.env import Env
from verigym.envs.check.subject import (
    JUNK,
    MOST_TURNS,
    Broken,
    Subject,
    bounded,
    rungs,
    strangers,
    wander,
)

_KEYS = ("task_id", "state_key", "valid_action", "verdict", "legal_actions")
_WANDERED = 60
"""Turns of a play at random in which the length of observations is looked at."""


def gymnasium_s_checker_finds_nothing(subject: Subject) -> None:
    """Check that `gymnasium.utils.env_checker.check_env` passes without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            check_env(gymnasium.make(subject.known, disable_env_checker=True).unwrapped)
        except (AssertionError, Warning, gymnasium.error.Error) as error:
            raise Broken(f"check_env: {error}") from error


def it_plays_through_gymnasium_s_wrappers(subject: Subject) -> None:
    """Check `gymnasium.make` with its default wrappers; observations lie in the space."""
    env = gymnasium.make(subject.known)
    bare = env.unwrapped
    assert isinstance(bare, verigym.Env)
    env.reset(seed=1)
    turns, over = 0, False
    while not over:
        bounded(bare, turns)
        turns += 1
        action = "help" if bare.oracle_absent else bare.oracle()
        observation, _, terminated, truncated, _ = env.step(action)
        if not env.observation_space.contains(observation):
            raise Broken(
                f"an observation of {len(observation)} characters is not in the observation space; "
                "raise max_observation_chars, or keep to printable ASCII"
            )
        over = terminated or truncated
    env.close()


def info_always_has_its_keys(subject: Subject) -> None:
    """Check `info`: task id, state key, valid action, verdict and legal actions, after each step."""
    env = subject.quick()
    for seed in range(6):
        _, info = env.reset(seed=seed)
        for one in [info, *(step[4] for _, step in wander(env, random.Random(seed), 5))]:
            if missing := set(_KEYS) - set(one):
                raise Broken(f"info lacks {sorted(missing)}")
            if one["task_id"] != env.task.id or not re.fullmatch("[0-9a-f]{32}", one["state_key"]):
                raise Broken(f"info has a wrong task_id or state_key: {one}")


def legal_actions_are_valid(subject: Subject) -> None:
    """Check that every action in `legal_actions` is valid and lies in the action space."""
    env = subject.quick()
    for seed in range(subject.few(12)):
        env.reset(seed=seed)
        rng = random.Random(seed)
        for _ in range(8):
            here = env.snapshot()
            if here.done:
                break
            for action in (env.legal_actions(env.state) or [])[:20]:
                if not env.action_space.contains(action):
                    raise Broken(f"legal action {action!r} is not in the action space")
                if not env.step(action)[4]["valid_action"]:
                    raise Broken(f"{env.task.id}: legal action {action!r} is called invalid")
                env.restore(here)
            list(wander(env, rng, 1))


def episodes_are_bounded(subject: Subject) -> None:
    """Check that junk ends within the turn limit, and that observations are not too long.

    The same is checked in the oracle's play, in random play, and with actions that are right in
    other tasks.
    """
    env = subject.quick()
    for difficulty in rungs(env):
        pool = strangers(env, difficulty, 3)
        _fits(env, env.reset(seed=1, options={"difficulty": difficulty})[0])
        allowed, start = env.turns_allowed(env.task), env.snapshot()
        if not 1 <= allowed <= MOST_TURNS:
            raise Broken(f"{env.task.id} allows {allowed} turns, must be 1 to {MOST_TURNS}")
        for _ in range(allowed):
            observation, _, terminated, truncated, _ = env.step("no such action")
            _fits(env, observation)
            if terminated or truncated:
                break
        else:
            raise Broken(f"{env.task.id} goes on after its {allowed} turns")
        for played in (JUNK, *([pool] if pool else [])):
            env.restore(start)
            for _, step in wander(env, random.Random(1), _WANDERED, played):
                _fits(env, step[0])
        env.restore(start)
        while not (env.oracle_absent or env.snapshot().done):
            bounded(env, env.snapshot().turn)
            _fits(env, env.step(env.oracle())[0])


def _fits(env: Env[Any], observation: str) -> None:
    if len(observation) > env.max_observation_chars:
        raise Broken(
            f"{env.task.id}, turn {env.snapshot().turn + 1}: an observation of {len(observation)} "
            f"characters, max_observation_chars is {env.max_observation_chars}"
        )


def at_least_three_difficulties(subject: Subject) -> None:
    """Check that there are at least three difficulties, all different; the first is the default."""
    env = subject.make()
    if len(env.difficulties) < 3 or len(set(env.difficulties)) != len(env.difficulties):
        raise Broken(
            f"difficulties are {env.difficulties}; at least three different ones are needed"
        )
    if env.difficulty != env.difficulties[0]:
        raise Broken(f"the default is {env.difficulty!r}, not the easiest, {env.difficulties[0]!r}")


def vectors_play_the_same(subject: Subject) -> None:
    """Check that `make_vec`, in one process or several, gives the same as the bare environment."""
    for mode in ("sync", "async"):
        # Through shared memory Gymnasium reads text once, when it is made (its issue 1164).
        extra = {"shared_memory": False} if mode == "async" else {}
        envs: Any = gymnasium.make_vec(
            subject.known, num_envs=2, vectorization_mode=mode, vector_kwargs=extra
        )
        try:
            observations, infos = envs.reset(seed=[1, 2])
            alone = [subject.make() for _ in range(2)]
            for env, seed, observation, key in zip(
                alone, (1, 2), observations, infos["state_key"], strict=True
            ):
                if env.reset(seed=seed)[0] != observation or env.state_key() != key:
                    raise Broken(f"make_vec {mode}: seed {seed} starts otherwise than alone")
            actions = ["help" if e.costly or e.oracle_absent else e.oracle() for e in alone]
            observations, rewards, _, _, _ = envs.step(actions)
            for i, env in enumerate(alone):
                observation, reward, _, _, _ = env.step(actions[i])
                if observations[i] != observation or rewards[i] != reward:
                    raise Broken(f"make_vec {mode}: a step gives another result than alone")
        finally:
            envs.close()


def it_renders_as_text(subject: Subject) -> None:
    """Check that `render_mode="ansi"` returns text that a person can read."""
    env = gymnasium.make(subject.known, render_mode="ansi")
    env.reset(seed=1)
    shown = env.render()
    env.close()
    if not isinstance(shown, str) or not shown.strip():
        raise Broken(f"render() gives {shown!r}")
