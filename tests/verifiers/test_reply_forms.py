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
    "code/function": 37,
    "code/stdio": 37,
    "code/cost": 61,
    "code/repo": 17,
    "code/mutants": 37,
}
NEEDS = {"code/verilog": ("iverilog", 61)}


@pytest.mark.parametrize("subject", forms.SUBJECTS, ids=lambda subject: subject.verifier)
def test_right_answers_are_paid_in_every_form_and_drafts_are_not(subject):
    tool, step = NEEDS.get(subject.verifier, ("python3", STEPS.get(subject.verifier, 5)))
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    found = forms.judge(subject, step)
    assert found["replies"] > 20
    assert not found["failures"]
