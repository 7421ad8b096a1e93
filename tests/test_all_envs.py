"""The environment contract, on every registered environment.

Run as a program (`python -P tests/test_all_envs.py ID SEEDS`) it prints the digest of some plays, which is how
the tests compare processes.
"""

import itertools
import json
import os
import pickle
import random
import re
import subprocess
import sys
import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import verigym
from verigym.canonical import digest

IDS = sorted(verigym.list_envs())
JUNK = ("", "help", "up", "down", "print(1)", "<answer>1</answer>", "\U0001f600 ×", "{}", "0")


def slow(env_id):
    """Whether every verdict means running programs."""
    return env_id.startswith("verigym/code/")


def few(env_id, many):
    """How many seeds a test takes."""
    return 1 if slow(env_id) else many


class Instant:
    """Stands in for a verifier that runs programs, where a test is about the environment."""

    def __init__(self, env):
        self.env = env

    def verify(self, task, submission):
        right = float(submission == self.env.oracle())
        return verigym.scored(right, "instant", evidence=digest(submission)[:8])


def quick(env_id, **kwargs):
    """The environment, with an instant verifier where its own is slow."""
    env = verigym.make(env_id, **kwargs)
    if slow(env_id):
        env.verifier = Instant(env)
    return env


def plan(env):
    """The oracle's actions from here to the end, and the return."""
    actions, total, over = [], 0.0, False
    while not over:
        actions.append(env.oracle())
        _, reward, terminated, truncated, _ = env.step(actions[-1])
        total += reward
        over = terminated or truncated
    return actions, total


def wander(env, rng, steps):
    """Play random actions, legal ones where they can be listed; yields what each step gave."""
    for _ in range(steps):
        legal = env.legal_actions(env.state)
        action = rng.choice(legal) if legal and rng.random() < 0.9 else rng.choice(JUNK)
        step = env.step(action)
        yield action, step
        if step[2] or step[3]:
            return


def transcript(env_id, seeds):
    """A digest of tasks, observations, rewards, verdicts and state keys of some plays."""
    record = []
    env = verigym.make(env_id)
    for seed in range(seeds):
        for difficulty in env.difficulties[: few(env_id, 3)]:
            record.append(env.reset(seed=seed, options={"difficulty": difficulty}))
            record.append(env.task)
            record.extend(wander(env, random.Random(seed), 30))
            env.reset(seed=seed)
            record.append(plan(env))
    return digest(record)


each_env = pytest.mark.parametrize("env_id", IDS)


@each_env
def test_gymnasium_s_checker_finds_nothing(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(env_id, disable_env_checker=True).unwrapped)


@each_env
def test_it_plays_through_gymnasium_s_wrappers(env_id):
    env = gymnasium.make(env_id)
    env.reset(seed=1)
    over = False
    while not over:
        observation, reward, terminated, truncated, info = env.step(env.unwrapped.oracle())
        assert env.observation_space.contains(observation)
        over = terminated or truncated
    assert reward == 1.0
    assert info["verdict"].score == 1.0
    env.close()


@each_env
def test_info_always_has_its_keys(env_id):
    env = quick(env_id)
    for seed in range(6):
        _, info = env.reset(seed=seed)
        infos = [info, *(step[4] for _, step in wander(env, random.Random(seed), 5))]
        for info in infos:
            assert {"task_id", "state_key", "valid_action", "verdict", "legal_actions"} <= set(info)
            assert info["task_id"] == env.task.id
            assert re.fullmatch("[0-9a-f]{32}", info["state_key"])


@each_env
def test_another_process_with_another_hash_seed_plays_the_same(env_id):
    seeds = few(env_id, 6)
    expected = transcript(env_id, seeds)
    done = subprocess.run(
        # -P: tests/verigym beside this file must not be taken for the package.
        [sys.executable, "-P", __file__, env_id, str(seeds)],
        env={**os.environ, "PYTHONHASHSEED": "4321"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == expected, done.stderr


@each_env
def test_the_same_seed_gives_the_same_task_and_global_generators_do_not_matter(env_id):
    for seed in range(12):
        random.seed(seed)
        one = verigym.make(env_id)
        first = one.reset(seed=seed)
        random.seed(-seed)
        two = verigym.make(env_id)
        two.reset(seed=seed + 1)
        assert two.reset(seed=seed) == first
        assert two.task == one.task == one.sample_task(seed)


@each_env
def test_seeds_give_different_tasks(env_id):
    env = verigym.make(env_id)
    contents = {env.sample_task(seed).content for seed in range(60)}
    assert len(contents) >= 8, f"60 seeds give {len(contents)} different tasks"


@each_env
def test_splits_are_disjoint_by_content(env_id):
    env = verigym.make(env_id)
    seen = {}
    for difficulty in env.difficulties:
        for split in verigym.SPLITS:
            for seed in range(60):
                task = env.sample_task(seed, difficulty, split)
                assert (task.split, task.difficulty) == (split, difficulty)
                assert seen.setdefault(task.content, split) == split


@each_env
def test_at_least_three_difficulties(env_id):
    env = verigym.make(env_id)
    assert len(env.difficulties) >= 3
    assert len(set(env.difficulties)) == len(env.difficulties)
    assert env.difficulty == env.difficulties[0]


@each_env
def test_the_oracle_earns_full_marks_within_the_turns_allowed(env_id):
    env = verigym.make(env_id)
    if env.oracle_absent:
        assert len(env.oracle_absent) > 20, "say why there is no oracle"
        return
    kinds = [*itertools.product(env.difficulties, verigym.SPLITS)]
    if slow(env_id):
        kinds = [*zip(env.difficulties, verigym.SPLITS, strict=False)]
    for difficulty, split in kinds:
        for seed in range(few(env_id, 12)):
            env.reset(seed=seed, options={"difficulty": difficulty, "split": split})
            actions, total = plan(env)
            assert total == 1.0, f"{env.task.id}: {actions}"
            assert len(actions) <= env.turns_allowed(env.task)
            assert all(env.action_space.contains(action) for action in actions)


@each_env
def test_the_oracle_finds_back_after_detours(env_id):
    env = verigym.make(env_id, max_turns=1000)
    for seed in range(few(env_id, 6)):
        env.reset(seed=seed)
        rng = random.Random(seed)
        for _ in range(6):
            point = env.snapshot()
            for _, (_, _, terminated, truncated, _) in wander(env, rng, 1):
                if terminated or truncated:
                    env.restore(point)
        assert plan(env)[1] == 1.0


def earned(env, action):
    """The return of playing one action until the episode ends."""
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(action)
        total += reward
        over = terminated or truncated
    return total


@each_env
def test_answers_that_solve_nothing_earn_nothing(env_id):
    env = verigym.make(env_id)
    for difficulty in env.difficulties:
        for seed in range(few(env_id, 8)):
            options = {"difficulty": difficulty}
            observation, info = env.reset(seed=seed, options=options)
            legal = info["legal_actions"] or []
            answers = {
                "the empty answer": "",
                "white space": " \n",
                "the prompt": env.task.prompt,
                "the first observation": observation,
                "an empty tag": "<answer></answer>",
                "all legal actions": "\n".join(legal),
                "all legal actions, in a row": ", ".join(legal),
                "refusal": "I do not know.",
            }
            for name, answer in answers.items():
                env.reset(seed=seed, options=options)
                assert earned(env, answer) == 0.0, f"{env.task.id}: {name} is paid"


def leaves(value):
    """Every piece of text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)


def squeezed(text):
    return re.sub(r"\s+", "", re.sub(r"</?\w+>", "", text))


@each_env
def test_neither_prompt_nor_info_holds_the_reference_or_the_answer(env_id):
    env = quick(env_id)
    for difficulty in env.difficulties:
        for seed in range(8):
            observation, info = env.reset(seed=seed, options={"difficulty": difficulty})
            reference = json.dumps(env.task.reference, sort_keys=True)
            shown = [observation, repr(info), repr(env.task.public())]
            # What is long enough to be an answer: hidden tests, programs, solutions. Short pieces,
            # such as the rows of a grid that the policy sees, may well stand in the prompt.
            hidden = [text for text in leaves(env.task.reference) if len(squeezed(text)) > 40]
            answers = [squeezed("".join(plan(env)[0]))]
            for text in shown:
                assert reference not in text
                assert "reference" not in text
                for secret in hidden:
                    assert squeezed(secret) not in squeezed(text), f"{env.task.id}: {secret!r}"
                for answer in answers:
                    assert answer not in squeezed(text), f"{env.task.id}: {answer!r}"


@each_env
def test_snapshots_continue_identically_here_in_a_clone_and_in_a_pickle(env_id):
    for seed in range(6):
        env = quick(env_id)
        env.reset(seed=seed)
        rng = random.Random(seed)
        for _ in range(3):
            point = env.snapshot()
            if any(step[2] or step[3] for _, step in wander(env, rng, 1)):
                env.restore(point)
        point = env.snapshot()
        state = rng.getstate()
        expected = [*wander(env, rng, 8), env.reset(), env.task]
        for other in (env, quick(env_id)):
            for start in (point, pickle.loads(pickle.dumps(point))):
                other.restore(start)
                assert other.snapshot() == point
                rng.setstate(state)
                assert [*wander(other, rng, 8), other.reset(), other.task] == expected


@each_env
def test_a_failed_step_can_be_repeated(env_id):
    env = verigym.make(env_id, max_turns=1)
    env.reset(seed=3)
    action, verifier = env.oracle(), env.verifier
    before = env.snapshot()

    class Down:
        def verify(self, task, submission):
            return verigym.fault(verigym.Status.INFRA, "down")

    env.verifier = Down()
    with pytest.raises(verigym.VerifierFault):
        env.step(action)
    assert env.snapshot() == before
    env.verifier = verifier
    other = verigym.make(env_id, max_turns=1)
    other.reset(seed=3)
    assert env.step(action) == other.step(action)


@each_env
def test_state_keys_have_no_history(env_id):
    env = quick(env_id, max_turns=10_000)
    rng = random.Random(5)
    env.reset(seed=5)
    start = env.snapshot()
    futures, lengths = {}, {}
    for _ in range(12):
        env.restore(start)
        moves, before = 0, env.state_key()
        for _ in wander(env, rng, 25):
            if env.snapshot().done:
                break
            key, here = env.state_key(), env.snapshot()
            # Only moves that change the key count: a key with the moves so far in it would be met
            # after one number of them only.
            moves += key != before
            before = key
            lengths.setdefault(key, set()).add(moves)
            legal = env.legal_actions(env.state)
            future = [env.view(), legal]
            for action in legal or ["help"]:
                step = env.step(action)
                future.append((step[:4], step[4]["state_key"]))
                env.restore(here)
            assert futures.setdefault(key, future) == future, "one key, two futures"
    env.reset(seed=6)
    assert env.state_key() not in futures, "the key must cover the task"
    if env.reset(seed=5)[1]["legal_actions"]:
        assert any(len(met) > 1 for met in lengths.values()), "no state was met by two paths"


@each_env
def test_a_vector_of_environments(env_id):
    envs = gymnasium.make_vec(env_id, num_envs=3, vectorization_mode="sync")
    observations, infos = envs.reset(seed=[1, 2, 3])
    alone = [verigym.make(env_id) for _ in range(3)]
    for env, seed, observation, key in zip(
        alone, (1, 2, 3), observations, infos["state_key"], strict=True
    ):
        assert env.reset(seed=seed)[0] == observation
        assert env.state_key() == key
    actions = [env.oracle() if not slow(env_id) else "help" for env in alone]
    observations, rewards, _, _, infos = envs.step(actions)
    for i, env in enumerate(alone):
        observation, reward, _, _, info = env.step(actions[i])
        assert observations[i] == observation
        assert rewards[i] == reward
        assert infos["state_key"][i] == info["state_key"]
    envs.close()


@each_env
def test_a_vector_of_processes(env_id):
    # Through shared memory Gymnasium reads text once, when it is made (its issue 1164).
    envs = gymnasium.make_vec(
        env_id,
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"shared_memory": False},
    )
    try:
        observations, _ = envs.reset(seed=[1, 2])
        alone = [verigym.make(env_id) for _ in range(2)]
        for env, seed, observation in zip(alone, (1, 2), observations, strict=True):
            assert env.reset(seed=seed)[0] == observation
        actions = [env.oracle() if not slow(env_id) else "help" for env in alone]
        rewards = envs.step(actions)[1]
        assert list(rewards) == [e.step(a)[1] for e, a in zip(alone, actions, strict=True)]
    finally:
        envs.close()


@each_env
def test_it_renders_as_text(env_id):
    env = gymnasium.make(env_id, render_mode="ansi")
    env.reset(seed=1)
    shown = env.render()
    assert isinstance(shown, str)
    assert shown.strip()
    env.close()


@each_env
def test_it_prints_nothing(env_id, capfd):
    env = quick(env_id)
    env.reset(seed=1)
    list(wander(env, random.Random(1), 5))
    assert capfd.readouterr() == ("", "")


if __name__ == "__main__":
    print(transcript(sys.argv[1], int(sys.argv[2])))
