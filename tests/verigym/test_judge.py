"""`Judge`: one way to ask for a verdict, and a short list of classes that answer."""

import verigym
from verigym.client import RemoteVerifier
from verigym.envs.audit.planted import Planted
from verigym.envs.audit.raw_reasoning import Scorer
from verigym.envs.check.subject import Subject
from verigym.envs.harbor.runner import FolderJudge
from verigym.envs.ors.env import Reported
from verigym.judge import Judge
from verigym.verdict import scored
from verigym.verifier import Verifier
from verigym.verifiers.cache import Cached
from verigym.verifiers.pooled import Pooled


class Constant(Judge):
    """The least that a judge is."""

    id = "tests/constant"
    version = 2
    params = {"at": 1}  # noqa: RUF012

    def verify_batch(self, items):
        return [
            scored(1.0, "constant").stamped(self.name, self.digest(task, submission))
            for task, submission in items
        ]


def test_only_verifiers_and_three_wrappers_give_verdicts():
    """And the stand-in by which `verigym check` plays environments whose verdicts run programs.

    Tasks of others are judged by those others: the tests of a Harbor folder, the server of the Open Reward
    Standard, the scorers of reasoning-gym as they are. A planted loophole wraps a judge.
    """
    stand_in = type(Subject("code/stdio").quick().verifier)
    of_others = {FolderJudge, Reported, Scorer}
    known = {Verifier, Pooled, Cached, RemoteVerifier, stand_in, Planted} | of_others
    ours = {kind for kind in Judge.__subclasses__() if kind.__module__.startswith("verigym.")}
    assert ours == known


def test_a_judge_of_three_attributes_and_one_method_is_enough():
    class Env(verigym.Question):
        id = "verigym/tests/constant-v0"
        verifier_id = "tests/constant"
        difficulties = ("easy", "medium", "hard")

        def ask(self, rng, level):
            number = int(rng.integers(1000))
            return verigym.Ask(prompt=f"Say {number}", answer=str(number), steps=1)

    env = Env(verifier=Constant())
    env.reset(seed=1)
    _, reward, _, _, info = env.step("<answer>0</answer>")
    assert reward == 1.0
    assert info["verdict"].verifier == "tests/constant@2"
    assert len(info["verdict"].digest) == 64
