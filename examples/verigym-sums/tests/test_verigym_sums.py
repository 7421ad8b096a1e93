"""verigym-sums keeps every law of the environment contract."""

import pytest

from verigym.envs.check import LAWS, check


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_law_holds(law):
    report = check("verigym/examples/verigym-sums-v0", seeds=50, laws=[law])
    assert report.passed, report.text()
