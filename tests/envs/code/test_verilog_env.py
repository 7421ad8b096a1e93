"""`code/verilog`: the source and the model of each kind of module agree, and small slips are found."""

import itertools

import numpy as np
import pytest

import verigym
from verigym import Task, make_verifier
from verigym.envs.code import verilog

KINDS = [
    pytest.param(level, kind, id=kind.__name__)
    for level, kinds in verilog.LEVELS.items()
    for kind in kinds
]


def asked(monkeypatch, level, kind, seed):
    monkeypatch.setitem(verilog.SLOTS, level, ((kind,),))
    return verigym.make("code/verilog").ask(np.random.default_rng(seed), level)


def judge(reference, source):
    task = Task(id="t", env_id="", seed=0, prompt="p", difficulty="", reference=reference)
    return make_verifier("code/verilog").verify(task, source)


@pytest.mark.parametrize(("level", "kind"), KINDS)
def test_source_and_model_agree(monkeypatch, level, kind):
    ask = asked(monkeypatch, level, kind, 7)
    assert judge(ask.reference, ask.reference["solution"]).score == 1.0
    assert ask.prompt.isascii()


@pytest.mark.slow
@pytest.mark.parametrize(("level", "kind"), KINDS)
def test_source_and_model_agree_on_many(monkeypatch, level, kind):
    for seed in range(5):
        ask = asked(monkeypatch, level, kind, seed)
        verdict = judge(ask.reference, ask.reference["solution"])
        assert verdict.score == 1.0, (ask.prompt, verdict)


SLIPS = {
    "mux": ("case (sel)", "case (~sel)"),
    "adder": ("cin;", "0;"),
    "priority": ("assign v = |a", "assign v = 1"),
    "compare": ("gt ? b", "gt ? a"),
    "counter": ("else if (en)", "else"),
    "shifter": ("q <= d", "q <= ~d"),
    "edges": ("last <= a", "last <= last"),
    "alu": ("zero = y == 0", "zero = a == b"),
    "detector": (" && count >= ", " && 7 >= "),
    "lfsr": ("if (en)", ""),
    "accumulator": ("$signed(d)", "d"),
    "fifo": ("push && !full", "push"),
    "arbiter": ("held <= 1;", "held <= 0;"),
    "serial": ("else error <= 1", "else error <= 0"),
    "bus": ("count != 0", "count > 1"),
    "pipeline": ("waits && !flush", "waits"),
    "watermarks": ("else if (clear)", "if (clear)"),
}


@pytest.mark.parametrize(("level", "kind"), [one for one in KINDS if one.id in SLIPS])
def test_small_slips_are_found(monkeypatch, level, kind):
    ask = asked(monkeypatch, level, kind, 3)
    old, new = SLIPS[kind.__name__]
    source = ask.reference["solution"]
    assert old in source
    verdict = judge(ask.reference, source.replace(old, new, 1))
    assert (verdict.score, verdict.reason) == (0.0, "wrong_output"), source


@pytest.mark.parametrize(("level", "units"), [(7, 2), (8, 3), (10, 8)])
def test_units_side_by_side_are_simulated_as_their_models_say(level, units):
    env = verigym.make("code/verilog")
    for seed in range(2):
        reference = env.sample_task(seed, level).reference
        solution = reference["solution"]
        assert solution.count("endmodule") == units + 1
        assert judge(reference, solution).score == 1.0
        old = "else if (en) q"
        if old in solution:
            assert judge(reference, solution.replace(old, "else q")).reason == "wrong_output"


def test_gray_code_changes_one_bit_at_a_time(monkeypatch):
    for seed in range(6):
        drawn = verilog.hardware.gray(np.random.default_rng(seed))
        codes = [drawn.model([n])[0] for n in range(16)]
        if "y is the binary number a" in drawn.says:
            steps = [(a ^ b).bit_count() for a, b in itertools.pairwise(codes)]
            assert set(steps) == {1}
        else:
            assert sorted(codes) == list(range(16))
