"""The environment that `trainer_vs_trl.py` trains on: fixed prompts, observations that follow from what was said,
a reward out of a hat.

It costs nothing to play, so that the trainers are compared and not the environment. TRL gets the same texts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from vs_trl_texts import letters, reward, shown

from verigym import Draft, Env, Transition, Verifier, scored


class Hat(Verifier):
    """Scores a submission by its checksum."""

    id = "bench/hat"
    version = 1

    def judge(self, task, submission):
        return scored(reward(submission), "drawn")


@dataclass(frozen=True)
class Said:
    """Answers so far, and the number of turns in all."""

    number: int
    turns: int
    said: tuple[str, ...] = ()


class Monologue(Env[Said]):
    """Answers nothing but letters, for a fixed number of turns."""

    id = "verigym/bench/monologue-v0"
    verifier_id = "bench/hat"
    difficulties = ("tiny", "easy", "hard")
    judges_reply = True

    def __init__(self, *, prompt_letters: int, shown_letters: int, turns: int, **options) -> None:
        self.sizes = prompt_letters, shown_letters
        self.turns = turns
        super().__init__(**options)

    def generate(self, rng, level):
        number = int(rng.integers(1 << 30))
        return Draft(prompt=letters(number, self.sizes[0]), reference=number)

    def turns_allowed(self, task):
        return self.turns

    def initial(self, task):
        return Said(task.reference, self.turns)

    def observe(self, state):
        if not state.said:
            return ""
        return shown(state.said, self.sizes[1])

    def transition(self, state, action):
        moved = replace(state, said=(*state.said, action))
        if len(moved.said) < state.turns:
            return Transition(state=moved)
        return Transition(state=moved, terminated=True, submission=list(moved.said))

    def submission(self, state):
        return list(state.said)

    def solve(self, state):
        return "a"

    def work(self, state):
        return 1

    def key(self, state):
        return list(state.said)
