"""Every verifier with every form of a reply; `benchmarks/reply_forms.py` has the forms."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "reply_forms.py"
spec = importlib.util.spec_from_file_location("bench_reply_forms", PROGRAM)
forms = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = forms  # dataclasses look there
spec.loader.exec_module(forms)

STEPS = {
    "sql/query": 11,
    "code/function": 23,
    "code/stdio": 23,
    "code/cost": 61,
    "code/repo": 17,
    "code/mutants": 37,
}
NEEDS = {"code/verilog": ("iverilog", 61)}


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("subject", forms.SUBJECTS, ids=lambda subject: subject.verifier)
def test_right_answers_are_paid_in_every_form_and_drafts_are_not(subject, every):
    tool, step = NEEDS.get(subject.verifier, ("python3", STEPS.get(subject.verifier, 3)))
    step *= every
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    found = forms.judge(subject, step)
    assert found["replies"] > 10
    assert not found["failures"]
