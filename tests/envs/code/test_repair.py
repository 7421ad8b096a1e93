"""`code/repair`, and the interpreter that finds out what a changed program does."""

import ast
import builtins
import contextlib
import io

import numpy as np
import pytest

import verigym
from verigym.envs.code.follow import Program
from verigym.envs.code.known_python import FAILURES
from verigym.envs.code.repair import SLOTS, _answers
from verigym.envs.code.stdio import FAMILIES, MACHINES, SYSTEMS
from verigym.verifiers.code.counted.state import OutOfSteps, RefusedProgram
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.code.strength.mutate import mutants

REPAIRED = sorted(
    {one.name for slots in SLOTS.values() for slot in slots for one in slot}
    - {one.name for one in (*SYSTEMS, *MACHINES)}
)


def interpreted(program, stdin):
    followed = Program(ast.parse(program))
    try:
        followed.run(stdin)
    except OutOfSteps:
        raise
    except FAILURES as error:
        return type(error).__mro__[-4 if isinstance(error, LookupError) else -3]
    return followed.printed


def executed(program, stdin, monkeypatch):
    """Run a built-in program with Python itself and return its result."""
    lines = iter(stdin.removesuffix("\n").split("\n"))

    def read():
        line = next(lines, None)
        if line is None:
            raise EOFError
        return line

    monkeypatch.setattr(builtins, "input", read)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(program, "program", "exec"), {"__name__": "__main__"})
    except FAILURES as error:
        return type(error).__mro__[-4 if isinstance(error, LookupError) else -3]
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", REPAIRED)
def test_the_interpreter_agrees_with_python_on_programs_and_their_mutants(name, monkeypatch):
    family, rng = FAMILIES[name], np.random.default_rng(7)
    compared = 0
    for _ in range(3):
        params = family.draw(rng)
        source = family.source(params)
        inputs = [family.write(rng, params, size) for size in (1, 4)]
        for program in [source, *(text for text, _ in mutants(source, 16, 1))]:
            for stdin in inputs:
                try:
                    ours = interpreted(program, stdin)
                except (RefusedProgram, OutOfSteps):
                    assert program != source
                    continue
                assert ours == executed(program, stdin, monkeypatch), (program, stdin)
                compared += 1
    assert compared > 50


@pytest.mark.parametrize(
    "program",
    [
        "import os",
        "from os import path",
        "x = ().__class__",
        "print('{0.__class__}'.format(1))",
        "[].__init__()",
        "class A: pass",
        "with x: pass",
        "'%s' % 1",
        "x = 2 ** 10 ** 9",
        "global x",
        "try:\n    x = 1\nexcept ValueError:\n    pass",
    ],
)
def test_what_the_interpreter_does_not_know_it_does_not_run(program):
    with pytest.raises((RefusedProgram, AttributeError, OutOfSteps)):
        Program(ast.parse(program)).run()


@pytest.mark.parametrize("name", ["open", "eval", "exec", "getattr", "__import__", "type", "vars"])
def test_other_builtins_are_no_names(name):
    with pytest.raises(NameError):
        Program(ast.parse(f"{name}('x')")).run()


@pytest.mark.parametrize(
    "program",
    [
        "while True:\n    pass",
        "x = [0] * 10 ** 9",
        "x = 7\nwhile x:\n    x = x * x",
        "x = list(range(10 ** 9))",
        "def f(n):\n    return f(n + 1)\nf(0)",
        "x = 'a'\nwhile x:\n    x = x * 2",
        "x = 'a'\nwhile x:\n    x += x",
        "x = [1]\nwhile x:\n    x.extend(x)",
        "x = 'a'\nwhile x:\n    x = x.replace('a', 'aa')",
        "x = max(range(10 ** 9))",
        "x = list(enumerate(range(10 ** 9)))",
        "print(*range(10 ** 9))",
        "a, *b = range(10 ** 9)",
        "x = [1]\nfor y in x:\n    x.append(y)",
    ],
)
def test_the_interpreter_is_bounded(program):
    with pytest.raises(OutOfSteps):
        Program(ast.parse(program)).run()


def broken_program(prompt):
    return extract_program(prompt, "python")


def test_the_broken_program_fails_a_test_and_the_right_one_passes():
    env = verigym.make("code/repair", max_turns=2)
    for seed, difficulty in enumerate(env.difficulties * 4):
        env.reset(seed=seed, options={"difficulty": difficulty})
        program = broken_program(env.task.prompt)
        assert env.step(program)[1:3] == (0.0, False), program
        assert env.step(env.oracle())[1:3] == (1.0, True)


def test_the_number_of_changes_is_that_of_the_difficulty():
    env = verigym.make("code/repair")
    for difficulty, most in (("easy", 1), ("medium", 2), ("hard", 3)):
        for seed in range(4):
            task = env.sample_task(seed, difficulty)
            env.reset(options={"task": task})
            right = ast.unparse(ast.parse(extract_program(env.oracle(), "python")))
            wrong = ast.unparse(ast.parse(broken_program(task.prompt)))
            lines = set(wrong.split("\n")) ^ set(right.split("\n"))
            assert lines
            # A change may take a whole loop away, but most are one line for another.
            places = "one place in it was" if most == 1 else f"{most} places in it were"
            assert f"until {places} changed" in task.prompt
            constants = right.split("\n")[: len(task.reference["params"])]
            assert wrong.split("\n")[: len(constants)] == constants


def test_a_problem_is_in_the_split_in_which_code_stdio_has_it():
    repair, stdio = verigym.make("code/repair"), verigym.make("code/stdio")
    for split in verigym.SPLITS:
        for seed in range(5):
            task = repair.sample_task(seed, "easy", split)
            essence = [task.reference["family"], task.reference["params"]]
            draft = verigym.Draft(prompt="", reference=None, essence=essence)
            assert stdio.split_of(draft) == repair.split_of(draft) == split
            found = stdio.sample_task(seed, "easy", split).reference
            draft = verigym.Draft(
                prompt="", reference=None, essence=[found["family"], found["params"]]
            )
            assert repair.split_of(draft) == split


@pytest.mark.parametrize(
    "system", [pytest.param(one, id=one.name) for one in (*SYSTEMS, *MACHINES)]
)
def test_each_fault_of_a_system_is_made_and_can_fail_a_hidden_test(system):
    rng = np.random.default_rng(1)
    left = dict.fromkeys(system.faults)
    for _ in range(80):
        p = system.draw(rng)
        right = system.text(p)
        cases = [system.lines(rng, p, size) for size in system.hidden_sizes]
        for old, new in list(left):
            assert right.count(old) < 2
            wrong = right.replace(old, new)
            if wrong != right and any(
                _answers(system, p, lines, wrong) != system.answers(p, lines) for lines in cases
            ):
                del left[old, new]
        if not left:
            break
    assert not left


def test_the_examples_do_not_show_the_faults_of_systems():
    env = verigym.make("code/repair", max_turns=2)
    for seed, level in enumerate((8, 9, 10)):
        env.reset(seed=seed, options={"difficulty": level})
        wrong = broken_program(env.task.prompt)
        if level == 8:
            observation, reward, *_ = env.step(wrong)
            assert reward == 0.0
            assert "hidden test" in observation
        right = extract_program(env.oracle(), "python")
        lines = set(wrong.split("\n")) ^ set(right.split("\n"))
        assert len(lines) >= 3 * level // 2
        assert ("several places" in env.task.prompt) is (level == 10)
        # The cells of machines are to be found from examples alone.
        assert wrong.count("TABLE = ''") == max(level - 8, 0)
        assert env.step(env.oracle())[1:3] == (1.0, True)
