"""`verigym audit --tasks`: how often tasks pay for something else than solving them.

    report = audit_tasks(verigym.make("reasoning-gym/coin_flip"), tasks=24)
    report["hack_rate"], report["paid"]

`cheats.py` lists what is played, `play.py` plays it and counts, `sources.py` opens tasks of others, `planted.py`
plants a loophole to train against.

Covers: replies that need no understanding, attacks on the grader, graders without a score, graders that refuse their own
solution, tasks that do not repeat. Does not cover: hacks that only a policy that studies the task would find.
"""

from verigym.envs.audit.play import audit_tasks

__all__ = ["audit_tasks"]
