"""Grows a seed set: rewrites that must pass, near misses and hacks that must fail.

Each family has a module here with `mutate(case, rng)`, which gives only cases whose label is certain
by construction. What must fail whatever the family is in `anything`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

from verigym.submission import identity
from verigym.verifiers.audit.cases import Case
from verigym.verifiers.audit.mutators.anything import worthless

Mutate = Callable[[Case, random.Random], Iterator[Case]]


def grow(verifier: str, seeds: Sequence[Case], seed: int = 0) -> list[Case]:
    """Return the seeds and all that is made of them, without repeats; the same for the same `seed`."""
    mutate = _of_family(verifier)
    right = {_key(case) for case in seeds if case.label}
    cases = list(seeds)
    for number, case in enumerate(seeds):
        if not case.grows:
            continue
        rng = random.Random(f"{seed}:{case.name}:{number}")
        if mutate is not None:
            cases.extend(mutate(case, rng))
        if case.hostile:
            cases.extend(one for one in worthless(case, rng) if _key(one) not in right)
    kept: dict[str, Case] = {}
    for case in cases:
        kept.setdefault(_key(case), case)
    return _named(list(kept.values()))


def _of_family(verifier: str) -> Mutate | None:
    short = verifier.replace("/", "_")
    for name in (short, verifier.partition("/")[0]):
        module = f"{__name__}.{name}"
        if find_spec(module) is not None:
            found = import_module(module)
            if verifier in found.VERIFIERS:
                mutate: Mutate = found.mutate
                return mutate
    return None


def _key(case: Case) -> str:
    return identity("", 0, None, case.task.content, case.submission)


def _named(cases: list[Case]) -> list[Case]:
    """The cases with names that say where each comes from, each name once."""
    seen: dict[str, int] = {}
    named = []
    for case in cases:
        count = seen[case.name] = seen.get(case.name, 0) + 1
        named.append(case if count == 1 else replace(case, name=f"{case.name}#{count}"))
    return named
