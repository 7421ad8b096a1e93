"""Law 2: the same seed, the same world, in any process, and after restore."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys

import verigym
from verigym.envs.check.subject import Broken, Subject, plan, transcript, wander
from verigym.verdict import VerifierFault


def another_process_plays_the_same(subject: Subject) -> None:
    """Check that a process with another hash seed gives the same tasks, verdicts and keys.

    Observations and rewards are compared, too.
    """
    seeds = subject.few(6)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "verigym.envs.check.replay", subject.id, str(seeds)],
        env={**os.environ, "PYTHONHASHSEED": "4321"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Broken(f"a process of its own failed: {done.stderr.strip()[-500:]}")
    # Its last line: before it stands what the environment may have printed, which is no matter here.
    if done.stdout.split()[-1:] != [transcript(subject, seeds)]:
        raise Broken(
            "another process with another PYTHONHASHSEED plays otherwise; look for the order of a set, "
            "hash(), or state that outlives a reset"
        )


def a_seed_decides_the_task(subject: Subject) -> None:
    """Check that earlier play has no influence, and that global generators are left alone."""
    state = random.getstate()
    try:
        for seed in range(12):
            random.seed(seed)
            one = subject.make()
            first = one.reset(seed=seed)
            random.seed(-seed)
            two = subject.make()
            two.reset(seed=seed + 1)
            if two.reset(seed=seed) != first or not two.task == one.task == one.sample_task(seed):
                raise Broken(f"seed {seed} gives different tasks; draw from the given rng alone")
    finally:
        random.setstate(state)


def snapshots_continue_identically(subject: Subject) -> None:
    """Check that snapshots restore here, in another instance, and after pickling."""
    for seed in range(6):
        env = subject.quick()
        env.reset(seed=seed)
        rng = random.Random(seed)
        for _ in range(3):
            point = env.snapshot()
            if any(step[2] or step[3] for _, step in wander(env, rng, 1)):
                env.restore(point)
        point = env.snapshot()
        state = rng.getstate()
        expected = [*wander(env, rng, 8), env.reset(), env.task]
        for other in (env, subject.quick()):
            for start in (point, pickle.loads(pickle.dumps(point))):  # noqa: S301 - our own bytes
                other.restore(start)
                if other.snapshot() != point:
                    raise Broken("restore() and snapshot() do not give the snapshot back")
                rng.setstate(state)
                if [*wander(other, rng, 8), other.reset(), other.task] != expected:
                    raise Broken(f"seed {seed}: play goes on otherwise after restore()")


def a_failed_step_can_be_repeated(subject: Subject) -> None:
    """Check that a verifier's fault raises VerifierFault and changes nothing (law 1)."""
    env = subject.make(max_turns=1)
    if env.oracle_absent:
        return
    env.reset(seed=3)
    action, verifier = env.oracle(), env.verifier
    before = env.snapshot()

    class Down(verigym.Verifier):
        id = verifier.id
        version = verifier.version

        def judge(self, task: verigym.Task, submission: object) -> verigym.Verdict:
            return verigym.fault(verigym.Status.INFRA, "down")

    env.verifier = Down()
    try:
        env.step(action)
    except VerifierFault:
        pass
    else:
        if env.snapshot().done:
            raise Broken("a verifier that is down ended the episode, in place of VerifierFault")
    if env.snapshot() != before:
        env.restore(before)
        return  # nothing was judged in this step
    env.verifier = verifier
    other = subject.make(max_turns=1)
    other.reset(seed=3)
    if env.step(action) != other.step(action):
        raise Broken("a step repeated after a fault gives another result")


def the_oracle_finds_back(subject: Subject) -> None:
    """Check that the oracle still earns full marks after detours, if turns allow."""
    env = subject.quick(max_turns=1000)
    if env.oracle_absent or not env.recoverable:
        return
    for seed in range(subject.few(6)):
        env.reset(seed=seed)
        rng = random.Random(seed)
        for _ in range(6):
            point = env.snapshot()
            for _, (_, _, terminated, truncated, _) in wander(env, rng, 1):
                if terminated or truncated:
                    env.restore(point)
        if (total := plan(env)[1]) != 1.0:
            raise Broken(f"{env.task.id}: after detours the oracle earns {total:g}")
