"""The environment contract on every registered environment: each law of `verigym check`.

`make check-envs` takes more seeds.
"""

import pytest

import verigym
from verigym.envs.check.run import LAWS, apply
from verigym.envs.check.subject import Subject

SEEDS = 12


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("env_id", sorted(verigym.list_envs()))
def test_the_law_holds(env_id, law):
    outcome = apply(law, Subject(env_id, SEEDS))
    assert outcome.broken is None, f"{env_id}: {outcome.broken}"
