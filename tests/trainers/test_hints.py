"""Hints from the oracle's play: what is shown, who gets them, and what is trained on."""

from __future__ import annotations

import pytest

from verigym import ConfigError, RequestError
from verigym.agents.chat import Conversation, StepRows, Transcript
from verigym.agents.plan import Plan
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.envs.games.keydoor import KeyDoor
from verigym.episode import Episode, Fault, Turn
from verigym.trainers.config import parse_config
from verigym.trainers.hints import hint, hint_counts, unhinted
from verigym.trainers.sampling import play_enough
from verigym.trainers.sections import SamplingSection
from verigym.trainers.tasks import Tasks
from verigym.verdict import Status, Verdict


@pytest.mark.parametrize(
    ("actions", "rounds", "shown"),
    [
        (["up", "up", "left", "down"], 1, ": up"),
        (["up", "up", "left", "down"], 3, ": up; up; left"),
        (["up", "left"], 3, ": up"),  # never all
        (["abcdefgh"], 2, "abcd"),
    ],
)
def test_a_hint_is_a_beginning(actions, rounds, shown):
    said = hint(actions, rounds)
    assert said.endswith(shown)
    assert said.startswith("Hint: a solution begins with")


def _episode(plan: Plan, score: float | None, actions: int = 4) -> Episode:
    verdict = Verdict(status=Status.OK, score=score or 0.0, parts={}, reason="x", digest="x")
    turns = [
        Turn(observation="", response=f"a{t}", action=f"a{t}", reward=0.0, state_key=str(t))
        for t in range(actions)
    ]
    turns[-1].reward, turns[-1].verdict = score or 0.0, verdict
    episode = Episode(
        id=plan.id,
        env_id="e",
        task_id="t",
        seed=plan.seed,
        group_id=plan.group_id,
        difficulty="",
        split="train",
        turns=turns,
    )
    if score is None:
        episode.status, episode.fault = "fault", Fault(cause="x", detail="x")
    return episode


def _run(solves: dict[str, int | None], rounds: int = 3, oracle: float | None = 1.0):
    """Play groups of two; `solves` says how many hints each group needs, None for more than there are."""
    plans = [
        Plan(id=f"{g}.{m}", env="e", seed=0, group_id=g, key=(int(g[-1]), m))
        for g in solves
        for m in range(2)
    ]

    def play(chosen):
        out = []
        for plan in chosen:
            name, _, number = plan.group_id.partition("h")
            needed = solves[name]
            if needed == -1:
                out.append(_episode(plan, None))
            else:
                out.append(_episode(plan, float(needed is not None and int(number or 0) >= needed)))
        return out

    asked = []

    def play_oracle(chosen):
        asked.extend(plan.group_id for plan in chosen)
        return [_episode(plan, oracle) for plan in chosen]

    section = SamplingSection(hints=rounds)
    kept, every = play_enough(lambda batch: plans, play, section, play_oracle)
    return kept, every, asked


def test_failed_groups_alone_are_played_again_until_someone_succeeds():
    kept, every, asked = _run({"g0": 0, "g1": 1, "g2": 3, "g3": None, "g4": -1})
    assert asked == ["g1", "g2", "g3"]  # neither solved ones nor faulted ones
    assert [plan.group_id for plan in kept[0]][::2] == ["g0", "g4", "g1h1", "g2h3", "g3h3"]
    assert [e.group_id for e in kept[1]] == [p.group_id for p in kept[0]]
    assert len(every[0]) == len({plan.id for plan in every[0]}) == 2 * (5 + 3 + 2 + 2)
    keys = {plan.key for plan in every[0]}
    assert len(keys) == len(every[0])
    hints = {plan.group_id: plan.hint for plan in every[0]}
    assert hints["g2"] == ""
    assert hints["g2h2"].endswith("one a turn: a0; a1")
    assert {e.group_id for e in unhinted(*every)} == {"g0", "g1", "g2", "g3", "g4"}
    assert hint_counts(*every) == {
        "hints": {
            "1": {"groups": 3, "solved": 1},
            "2": {"groups": 2, "solved": 0},
            "3": {"groups": 2, "solved": 1},
        }
    }


@pytest.mark.parametrize("oracle", [0.0, None])
def test_a_task_that_the_oracle_did_not_solve_gets_no_hint(oracle):
    kept, every, _ = _run({"g0": 1}, oracle=oracle)
    assert [p.hint for p in every[0]] == ["", ""]
    assert kept == every
    assert hint_counts(*every) == {}


@pytest.mark.parametrize("show_task", [True, False])
def test_prompts_hold_the_hint_in_every_turn_of_step_rows(show_task):
    talk = Conversation(task_prompt="Task.", observations=["a", "b"], actions=["x"], hint="Hint: y")
    said = StepRows(history=0, show_task=show_task).messages(talk)
    assert said[-1]["content"].startswith("Hint: y\n")


def test_a_transcript_holds_the_hint_once():
    talk = Conversation(task_prompt="Task.", observations=["a"], hint="Hint: y")
    encoding, policy = Transcript(), ScriptedPolicy(["x"])
    prompt = encoding.prompt(talk, policy)
    assert prompt.messages[0]["content"] == "Task.\n\nHint: y\na"
    talk.prompts.append(prompt)
    talk.completions += policy.complete([])
    assert "Hint" in str(encoding.prompt(talk, policy).messages)


def test_impossible_hints_are_refused(monkeypatch):
    monkeypatch.setattr(KeyDoor, "oracle_absent", "it has no solver")
    with pytest.raises(ConfigError, match="less than or equal to 3"):
        parse_config({"env": {"id": "keydoor"}, "sampling": {"hints": 4}})
    with pytest.raises(RequestError, match=r"hints come from the oracle, and .* it has no solver"):
        Tasks(parse_config({"env": {"id": "keydoor"}, "sampling": {"hints": 1}}))
