"""A sound environment, and others that break one law each; test_laws.py installs them."""

import random
import time
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from verigym import Ask, Draft, Env, Question, Transition, Verifier, scored
from verigym.reply import last_answer

DIGITS = "0123456789"


class CodeVerifier(Verifier):
    id = "broken/code"
    version = 1

    def judge(self, task, submission):
        right = submission == task.reference
        return scored(float(right), "correct" if right else "wrong")


@dataclass(frozen=True)
class Lock:
    code: str
    typed: str = ""


class Sound(Env[Lock]):
    """Type a code that is told as sums of neighbours, digit by digit."""

    id = "verigym/broken/sound-v0"
    verifier_id = "broken/code"
    difficulties = ("easy", "medium", "hard")
    recoverable = False

    def generate(self, rng, level):
        code = "".join(str(d) for d in rng.integers(0, 10, level + 2))
        sums = [int(a) + int(b) for a, b in pairwise(code)]
        prompt = f"A code of {len(code)} digits begins with {code[0]}; sums of neighbours: {sums}."
        return Draft(prompt=f"{prompt} Type a digit each turn.", reference=code)

    def turns_allowed(self, task):
        return len(task.reference)

    def initial(self, task):
        return Lock(code=task.reference)

    def observe(self, state):
        return f"typed: {state.typed}"

    def transition(self, state, action):
        if action not in DIGITS or len(action) != 1:
            return Transition(state=state, valid=False)
        moved = replace(state, typed=state.typed + action)
        if len(moved.typed) == len(state.code):
            return Transition(state=moved, terminated=True, submission=moved.typed)
        return Transition(state=moved)

    def submission(self, state):
        return state.typed

    def key(self, state):
        return state.typed

    def legal_actions(self, state):
        return list(DIGITS)

    def solve(self, state):
        from verigym import RequestError

        if not state.code.startswith(state.typed) or state.typed == state.code:
            raise RequestError("a dead end")
        return state.code[len(state.typed)]


class PaysEmpty(Sound):
    id = "verigym/broken/pays-empty-v0"

    def submission(self, state):
        return state.typed or state.code


class IgnoresSeed(Sound):
    id = "verigym/broken/ignores-seed-v0"

    def generate(self, rng, level):
        return super().generate(np.random.default_rng(), level)


class FewTasks(Sound):
    id = "verigym/broken/few-tasks-v0"

    def generate(self, rng, level):
        return super().generate(np.random.default_rng(int(rng.integers(5))), level)


class OverlappingSplits(Sound):
    id = "verigym/broken/overlapping-splits-v0"

    def generate(self, rng, level):
        return super().generate(np.random.default_rng(int(rng.integers(40))), level)

    def split_of(self, draft):
        # By a part of the prompt that the content does not decide.
        return ("train", "validation", "test")[next(_TURN) % 3]


def _count():
    number = 0
    while True:
        yield number
        number += 1


_TURN = _count()


class TellsAnswer(Sound):
    id = "verigym/broken/tells-answer-v0"

    def generate(self, rng, level):
        draft = super().generate(rng, 6 if level == 2 else level)
        return replace(draft, tags=(f"code={draft.reference}",))

    def _info(self, valid, verdict):
        return {**super()._info(valid, verdict), "tags": self.task.tags}


class WeakOracle(Sound):
    id = "verigym/broken/weak-oracle-v0"

    def solve(self, state):
        return "0"


class SameDifficulty(Sound):
    id = "verigym/broken/same-difficulty-v0"

    def generate(self, rng, level):
        return super().generate(rng, {2: 6, 6: 2}.get(level, level))


class LuckyGuess(Sound):
    id = "verigym/broken/lucky-guess-v0"

    def transition(self, state, action):
        moved = super().transition(state, action)
        return replace(moved, submission=state.code) if action == "7" else moved


class ForgetfulKey(Sound):
    id = "verigym/broken/forgetful-key-v0"

    def key(self, state):
        return state.typed[-1:]


class GlobalRandom(Sound):
    id = "verigym/broken/global-random-v0"

    def initial(self, task):
        random.random()
        return super().initial(task)


class Clock(Sound):
    id = "verigym/broken/clock-v0"

    def observe(self, state):
        time.time()
        return super().observe(state)


class Prints(Sound):
    id = "verigym/broken/prints-v0"

    def transition(self, state, action):
        print("a move")
        return super().transition(state, action)


class HashOrder(Sound):
    id = "verigym/broken/hash-order-v0"

    def observe(self, state):
        return (
            super().observe(state) + " " + "".join({"alpha", "beta", "gamma", "delta", "epsilon"})
        )


class LongObservation(Sound):
    id = "verigym/broken/long-observation-v0"
    max_observation_chars = 20


class Mutable(Sound):
    id = "verigym/broken/mutable-v0"

    def initial(self, task):
        self.typed = []
        return super().initial(task)

    def transition(self, state, action):
        self.typed.append(action)
        moved = super().transition(state, action)
        return replace(moved, state=replace(moved.state, typed="".join(self.typed)))


class InvalidLegal(Sound):
    id = "verigym/broken/invalid-legal-v0"

    def legal_actions(self, state):
        return [*DIGITS, "x"]


class TwoDifficulties(Sound):
    id = "verigym/broken/two-difficulties-v0"
    difficulties = ("easy", "hard")


class Crashes(Sound):
    id = "verigym/broken/crashes-v0"

    def transition(self, state, action):
        return super().transition(state, str(int(action)))


class Endless(Sound):
    id = "verigym/broken/endless-v0"

    def turns_allowed(self, task):
        return 0


class Sums(Question):
    """A sum of three numbers, of which the verifier wants the value."""

    id = "verigym/broken/sums-v0"
    verifier_id = "broken/code"
    difficulties = ("easy", "medium", "hard")

    def __init__(self, **kwargs):
        super().__init__(**{**kwargs, "verifier": self.Judge()})

    def ask(self, rng, level):
        numbers = rng.integers(1, 10**level, 3).tolist()
        asked = " + ".join(map(str, numbers))
        return Ask(
            prompt=f"What is {asked}?", answer=str(sum(numbers)), steps=level, essence=numbers
        )

    class Judge(CodeVerifier):
        def judge(self, task, submission):
            said = (last_answer(submission) or submission).strip()
            return scored(float(self.accepts(said, task)), "read")

        def accepts(self, said, task):
            return said == task.reference["answer"]


class SplitsByWords(Sums):
    """Names no essence, so that the prompt decides the split."""

    id = "verigym/broken/splits-by-words-v0"

    def ask(self, rng, level):
        return replace(super().ask(rng, level), essence=None)


class SplitsByPrompt(Sums):
    """The length of the prompt decides the split."""

    id = "verigym/broken/splits-by-prompt-v0"

    def split_of(self, draft):
        return ("train", "validation", "test")[len(draft.prompt) % 3]


class PaysRestating(Sums):
    """Whatever has the value is right, worked out or not."""

    id = "verigym/broken/pays-restating-v0"

    class Judge(Sums.Judge):
        def accepts(self, said, task):
            parts = said.split("+")
            return all(part.strip().isdecimal() for part in parts) and (
                sum(map(int, parts)) == int(task.reference["answer"])
            )


class PaysEcho(Sums):
    """A sentence that shares its words with the question is taken for an answer."""

    id = "verigym/broken/pays-echo-v0"

    class Judge(Sums.Judge):
        def accepts(self, said, task):
            return super().accepts(said, task) or (said.endswith("?") and said in task.prompt)


class PaysConstant(Sums):
    """No answer is read as 0, and 0 as no answer to complain of."""

    id = "verigym/broken/pays-constant-v0"

    class Judge(Sums.Judge):
        def accepts(self, said, task):
            return super().accepts(said, task) or said == "none"


class PaysWrapped(Sums):
    """Accepts any reply in parentheses, whatever number it holds."""

    id = "verigym/broken/pays-wrapped-v0"

    class Judge(Sums.Judge):
        def accepts(self, said, task):
            return super().accepts(said, task) or (said.startswith("(") and said.endswith(")"))


class MostlyYes(Sums):
    """A question of yes or no, nearly always of yes."""

    id = "verigym/broken/mostly-yes-v0"
    yes_in_ten = 9

    def ask(self, rng, level):
        number = int(rng.integers(10**level))
        yes = rng.integers(10) < self.yes_in_ten
        asked = f"{number} {number % 10 if yes else (number + 1) % 10}"
        answer = "yes" if yes else "no"
        return Ask(
            prompt=f"Is the last digit of the first the second? {asked}",
            answer=answer,
            steps=level,
            essence=asked,
        )


class YesOrNo(MostlyYes):
    """A question of yes or no as often, which may be guessed."""

    id = "verigym/broken/yes-or-no-v0"
    yes_in_ten = 5
