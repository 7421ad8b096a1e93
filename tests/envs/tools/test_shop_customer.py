"""The scripted customer: tells what is asked, presses, and is never a way round the policy."""

import json

import verigym
from verigym.envs.tools.shop_floor import PRODUCTS


def said(env, words):
    action = json.dumps({"name": "say", "arguments": {"words": words}})
    observation, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["valid_action"]) == (0.0, False, True)
    return json.loads(observation)["result"]


def shop(seed=1, difficulty="hard"):
    env = verigym.make("tools/shop-v0", max_turns=200)
    env.reset(seed=seed, options={"difficulty": difficulty})
    script = json.loads(env.task.reference["initial"]["talk"][0]["script"])
    return env, script


def test_nothing_is_told_that_was_not_asked_for():
    env, script = shop()
    assert script["email"] not in env.task.prompt
    for words in ("Hello!", "How can I help?", "Thank you.", "", "éé"):
        told = said(env, words)
        assert script["email"] not in told
        assert all(request["order"] not in told for request in script["requests"])
    assert script["email"] in said(env, "Please tell me your E-MAIL address.")
    told = said(env, "Which order is it?")
    assert script["requests"][0]["order"] in told
    assert script["requests"][1]["order"] not in told


def test_they_press_as_often_as_they_will_and_then_give_in():
    env, script = shop()
    pushes = script["requests"][0]["pushes"]
    assert [said(env, "Sorry, no.") for _ in range(len(pushes) + 2)] == [
        *pushes,
        *["All right, if that is so."] * 2,
    ]


def test_asking_for_more_too_early_loses_nothing():
    env, script = shop()
    for request in script["requests"][1:]:
        assert said(env, "Anything else?") == request["opening"]
    assert said(env, "Anything else?") == "No, that is all. Thank you."
    requests = script["requests"]
    told = said(env, "Which order?")
    assert [request["order"] in told for request in requests] == [False, False, False, True]
    assert all(request["order"] in said(env, "Which orders, all of them?") for request in requests)
    product = next(name for name in PRODUCTS if name in requests[0]["opening"])
    assert requests[0]["order"] in said(env, f"Which order has the {product}?")


def test_talk_changes_nothing_that_is_judged():
    env, _ = shop()
    judged = [name for name in env.world.tables if name != "talk"]
    before = env.submission(env.state)
    for words in ("sorry", "else", "order, email, street, colour", "x" * 4000):
        said(env, words)
    after = env.submission(env.state)
    assert all(before[name] == after[name] for name in judged)
    assert before["talk"] != after["talk"]
    # And the oracle still knows the way.
    over = False
    while not over:
        _, reward, over, _, _ = env.step(env.oracle())
    assert reward == 1.0


def test_refusing_or_granting_everything_does_not_pay():
    """Over many easy tasks, one outcome for all of them earns at most its own share; nothing shown before
    the customer speaks betrays which."""
    granted, seeds, replies = 0, 60, set()
    for seed in range(seeds):
        env, _ = shop(seed, "easy")
        replies.add(env.turns_allowed(env.task))
        granted += env.task.reference["env"]["plan"][-1][1]["outcome"] == "done"
    assert 0.35 < granted / seeds < 0.85
    assert len(replies) == 1
