"""Plays traces of actions in the real skyrl-gym and gem; prints what they returned, and more about each.

python with_gyms.py < [{"row": {...}, "actions": [...]}, ...]
"""

import contextlib
import json
import sys

import gem
import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from verigym.trainers.exports.gem import register
from verigym.trainers.exports.skyrl_gym import dataset_rows
from verigym.verdict import Status, VerifierFault, fault

SKYRL = "verigym.trainers.exports.skyrl_gym:VerigymTextEnv"


class Away:
    """A judge that gives no score."""

    def verify(self, task, submission):
        return fault(Status.INFRA, "gone", "the machine is away")


def digest(info):
    return info["verdict"].digest if info["verdict"] else None


def play_skyrl(row, actions):
    env = skyrl_gym.make("verigym", env_config={}, extras={**row, "max_turns": 1})
    (first,), _ = env.init([{"role": "user", "content": "from the data set"}])
    steps = []
    for action in actions:
        one = env.step(action)
        (shown,) = one["observations"]
        assert shown["role"] == first["role"] == "user"
        steps.append([shown["content"], one["reward"], one["done"], digest(one["metadata"])])
    metrics = env.get_metrics()
    assert metrics == {"turns": len(actions), "reward": sum(reward for _, reward, _, _ in steps)}
    env.close()
    return {"first": first["content"], "steps": steps}


def play_gem(row, actions):
    name = "verigym:" + row["env"].removeprefix("verigym/")
    env = gem.make(name, split=row["split"], difficulty=row["difficulty"])
    first, _ = env.reset(seed=row["seed"])
    steps = []
    for action in actions:
        shown, reward, terminated, truncated, info = env.step(action)
        steps.append([shown, reward, terminated or truncated, digest(info)])
    env.close()
    return {"first": first, "steps": steps}


def raises_fault(play, step):
    play.env.verifier = Away()
    try:
        step()
    except VerifierFault as error:
        return error.verdict.reason
    return None


def more_of_skyrl():
    rows = dataset_rows("math/counting", n=2, difficulty="easy")
    env_class = rows[0]["env_class"]
    extras = {name: rows[0][name] for name in rows[0] if name not in ("prompt", "env_class")}
    env = skyrl_gym.make(env_class, env_config={}, extras=extras)
    system = {"role": "system", "content": "Be brief."}
    chat, _ = env.init([system, *rows[0]["prompt"]])
    return {
        "row": sorted(rows[0]),
        "keeps_system": chat == [system, *rows[0]["prompt"]],
        "fault": raises_fault(env._play, lambda: env.step(env._play.env.oracle())),
        "metrics": env.get_metrics(),
        "means": aggregate_for_environment(
            env_class, [{"turns": 1, "reward": 1.0}, {"turns": 3, "reward": 0.0}]
        ),
    }


def more_of_gem():
    vector = gem.make_vec(["verigym:games/blackjack-v0"] * 2, seed=5, difficulty="tiny")
    shown, _ = vector.reset()
    again, _ = vector.reset(seed=[3, 3])
    observations, rewards, *_ = vector.step(["stand", "stand"])
    env = gem.make("verigym:games/keydoor-v0", difficulty="tiny")
    env.reset(seed=1)
    action = env.sample_random_action()
    copy = env.spawn(same_state=True)
    stepped = [env.step(action)[:4], copy.step(action)[:4]]
    other = env.spawn(seed=9)
    question = gem.make("verigym:math/counting-v0")
    question.reset(seed=1)
    return {
        "differ": shown[0] != shown[1],
        "same": again[0] == again[1] and observations[0] == observations[1],
        "rewards": rewards.tolist(),
        "stepped": stepped,
        "seeds": [env.reset()[0] == other.reset()[0]],
        "fault": raises_fault(question._play, lambda: question.step("7")),
    }


def main():
    given = json.load(sys.stdin)
    skyrl_gym.register(id="verigym", entry_point=SKYRL)
    with contextlib.redirect_stdout(sys.stderr):
        names = {one["row"]["env"] for one in given} | {"math/counting"}
        register(*sorted(names), "games/blackjack", "games/keydoor")
        found = {
            "skyrl": [play_skyrl(**one) for one in given],
            "gem": [play_gem(**one) for one in given],
            "more": {"skyrl": more_of_skyrl(), "gem": more_of_gem()},
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
