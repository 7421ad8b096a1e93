"""`math/retry`: what each attempt earns, what reflection is, and that nothing else is paid."""

import pytest

import verigym
from verigym import make_verifier


def made(seed=3, **kwargs):
    env = verigym.make("math/retry-v0", **kwargs)
    env.reset(seed=seed)
    return env


def wrong(number):
    return f"<answer>{1_000_003 + number}</answer>"


@pytest.mark.parametrize("misses", range(5))
def test_the_reward_falls_with_each_wrong_attempt(misses):
    env = made()
    for number in range(min(misses, 4)):
        observation, reward, over, cut, info = env.step(wrong(number))
        assert reward == 0.0
        assert info["valid_action"]
        assert (over or cut) == (number == 3)
    if misses < 4:
        observation, reward, over, _, info = env.step(env.oracle())
        assert over
        assert reward == pytest.approx(0.7**misses)
        assert info["verdict"].parts["attempts"] == misses + 1
    assert env.task.reference["answer"] not in observation


def test_the_feedback_says_no_more_than_right_or_not():
    env, other = made(), made()
    for one, two in ((wrong(1), "I do not know."), (wrong(2), wrong(2)), ("", wrong(9))):
        assert env.step(one)[0] == other.step(two)[0]
        # What was tried does not matter for what follows; how often it was does.
        assert env.state_key() == other.state_key()
    assert env.state_key() != made().state_key()


def test_reflection_is_neither_judged_nor_counted():
    env = made(reflect=True)
    env.step(wrong(1))
    assert "not judged" in env.view()
    right = env.task.reference["answer"]
    _, reward, over, cut, info = env.step(f"<answer>{right}</answer>")
    assert (reward, over, cut, info["verdict"]) == (0.0, False, False, None)
    assert env.step(env.oracle())[1] == pytest.approx(0.7)


def test_reflection_leaves_room_for_every_attempt():
    env = made(reflect=True)
    for number in range(3):
        env.step(wrong(number))
        env.step("I forgot a sign.")
    _, reward, over, _, _ = env.step(env.oracle())
    assert (reward, over) == (pytest.approx(0.7**3), True)
    assert made(reflect=True).state_key() != made().state_key()


def test_many_candidates_in_one_reply_are_not_paid():
    for seed in range(6):
        env = made(seed)
        right = env.task.reference["answer"]
        tags = " ".join(f"<answer>{n}</answer>" for n in (7, 8, right, 9, 10))
        for reply in (tags, f"<answer>{right}</answer> or <answer>77777</answer>"):
            assert env.step(reply)[1] == 0.0, (reply, env.task.prompt)


def test_an_unreadable_reply_costs_an_attempt_too():
    env = made()
    assert not env.step(" ")[4]["valid_action"]
    assert env.step(env.oracle())[1] == pytest.approx(0.7)


def test_attempts_can_be_judged_again_from_their_list():
    env = made()
    right = env.oracle()
    verifier = make_verifier("math/attempts")
    for attempts, score in (
        ([right], 1.0),
        ([wrong(1), right, wrong(2)], 0.7),
        ([wrong(1)] * 4, 0.0),
        ([wrong(1)] * 4 + [right], 0.0),
        ([], 0.0),
    ):
        assert verifier.verify(env.task, attempts).score == pytest.approx(score)
    steep = make_verifier("math/attempts", decay=0.1, most=2)
    assert steep.verify(env.task, [wrong(1), right]).score == pytest.approx(0.1)
    assert steep.verify(env.task, [wrong(1), wrong(2), right]).score == 0.0
