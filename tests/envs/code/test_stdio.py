"""`code/stdio`: the families are right, the feedback helps and leaks nothing."""

import builtins
import contextlib
import dataclasses
import io
import sys

import numpy as np
import pytest

import verigym
from verigym import TaskError
from verigym.canonical import digest
from verigym.envs.code.attempts import Attempt
from verigym.envs.code.stdio import FAMILIES, Stdio
from verigym.sandbox.local import default_sandbox

# Input, parameters and output, worked out by hand from the statement.
GOLDEN = [
    ("sum-picked", {"rule": "divisible", "k": 3}, "4\n3 4 -6 9\n", "6"),
    ("sum-picked", {"rule": "not divisible", "k": 3}, "4\n3 4 -6 9\n", "4"),
    ("sum-picked", {"rule": "greater", "k": 3}, "4\n3 4 -6 9\n", "13"),
    ("sum-picked", {"rule": "less", "k": 3}, "4\n3 4 -6 9\n", "-6"),
    ("map-each", {"a": 3, "b": 1, "m": 7}, "3\n0 2 5\n", "1 0 2"),
    ("count-words", {"rule": "contain", "letter": "a", "length": 3}, "ba ab cc aaa\n", "3"),
    ("count-words", {"rule": "start", "letter": "a", "length": 3}, "ba ab cc aaa\n", "2"),
    ("count-words", {"rule": "end", "letter": "a", "length": 3}, "ba ab cc aaa\n", "2"),
    ("count-words", {"rule": "long without", "letter": "a", "length": 3}, "bbb ab ccc aaa\n", "2"),
    ("shift-letters", {"k": 2, "keep": "a"}, "abz a\n", "adb a"),
    ("ranked-pick", {"end": "largest", "repeats": "once", "k": 2}, "3\n5 5 4\n", "4"),
    ("ranked-pick", {"end": "largest", "repeats": "each time", "k": 2}, "3\n5 5 4\n", "5"),
    ("ranked-pick", {"end": "smallest", "repeats": "once", "k": 3}, "3\n5 5 4\n", "none"),
    ("windows", {"w": 2, "what": "spread"}, "3\n1 4 2\n", "3 2"),
    ("windows", {"w": 2, "what": "sum"}, "3\n1 4 2\n", "5 6"),
    ("windows", {"w": 4, "what": "largest"}, "3\n1 4 2\n", "none"),
    ("run-lengths", {"order": "letter", "most": 3}, "aaaaab\n", "a3a2b1"),
    ("run-lengths", {"order": "number", "most": 9}, "aaaaab\n", "5a1b"),
    ("bases", {"from": 10, "to": 2}, "0 5 10\n", "0 101 1010"),
    ("bases", {"from": 16, "to": 10}, "ff 1a\n", "255 26"),
    ("brackets", {"pairs": "()[]", "want": "depth"}, "([])()\n", "2"),
    ("brackets", {"pairs": "()[]", "want": "depth"}, "([)]\n", "-1"),
    ("brackets", {"pairs": "()[]", "want": "depth"}, "((\n", "-1"),
    ("brackets", {"pairs": "()[]", "want": "place"}, "([)]\n", "3"),
    ("brackets", {"pairs": "()[]", "want": "place"}, "((\n", "0"),
    ("orbit", {"a": 2, "c": 1, "m": 4}, "0 3\n", "2 1\n0 1"),
    ("spans", {"gap": 2, "want": "list"}, "3\n5 6\n0 3\n9 9\n", "0 6\n9 9"),
    ("spans", {"gap": 3, "want": "count"}, "3\n5 6\n0 3\n9 9\n", "1"),
    ("spans", {"gap": 0, "want": "longest"}, "3\n5 6\n0 3\n3 4\n", "4"),
    (
        "grid-walk",
        {"moves": "rook", "edge": "ends", "breaks": 0},
        "3 3 3 3\n..#\n#.#\n#..\n",
        "4",
    ),
    ("grid-walk", {"moves": "rook", "edge": "ends", "breaks": 0}, "2 2 2 2\n.#\n#.\n", "-1"),
    ("grid-walk", {"moves": "rook", "edge": "ends", "breaks": 1}, "2 2 2 2\n.#\n#.\n", "2"),
    ("grid-walk", {"moves": "king", "edge": "ends", "breaks": 0}, "2 2 2 2\n.#\n#.\n", "1"),
    ("grid-walk", {"moves": "rook", "edge": "wraps", "breaks": 0}, "1 4 1 4\n....\n", "1"),
    ("grid-walk", {"moves": "knight", "edge": "ends", "breaks": 0}, "3 2 3 2\n..\n..\n..\n", "1"),
    ("coin-ways", {"coins": "1 2", "order": "matters", "modulus": 97}, "0 3\n", "1 3"),
    ("coin-ways", {"coins": "1 2", "order": "does not matter", "modulus": 97}, "4 3\n", "3 2"),
    ("spaced-choice", {"gap": 1, "cost": 1}, "4\n5 6 5 -9\n", "8"),
    ("spaced-choice", {"gap": 2, "cost": 7}, "3\n5 6 5\n", "0"),
    ("stack-machine", {"m": 7, "sub": "below minus top"}, "3\npush 9\npush 4\nsub\n", "5"),
    ("stack-machine", {"m": 7, "sub": "top minus below"}, "3\npush 9\npush 4\nsub\n", "2"),
    ("stack-machine", {"m": 7, "sub": "top minus below"}, "2\npush 9\nadd\n", "error 2"),
    ("stack-machine", {"m": 7, "sub": "top minus below"}, "2\npush 9\npop\n", "empty"),
    (
        "stack-machine",
        {"m": 9, "sub": "top minus below"},
        "5\npush 1\npush 2\nswap\ndup\nmul\n",
        "2 1",
    ),
    ("edit-cost", {"insert": 1, "delete": 1, "change": 1}, "abc\nadc\n", "1"),
    ("edit-cost", {"insert": 1, "delete": 1, "change": 5}, "abc\nadc\n", "2"),
    ("edit-cost", {"insert": 3, "delete": 2, "change": 9}, "a\nab\n", "3"),
    (
        "scrolls",
        {"asked": "count runs longest find", "letters": "abc", "mark": "b", "pattern": "aa"},
        # The texts: ab, ababab, aaa, abababaaa, abababa, ba, cb.
        "14\nword ab\ntimes 1 3\nspell 2 b ()\njoin 2 3\nsqueeze 4\nmirror 1\nturn 6 1\nlength 4\n"
        "same 2 5\nsame 7 1\ncount 4 2 5\nruns 4 5 9\nlongest 4 5 9\nfind 4 1 9\n",
        "9\n6\n0\n2\n3\n3\n2",
    ),
    (
        "scrolls",
        {
            "asked": "meter peak code picks",
            "letters": "abc",
            "gains": "3 -2 1",
            "low": -3,
            "high": 3,
            "start": 1,
            "factors": "2 3 1",
            "terms": "1 0 5",
            "modulus": 50,
            "pick": "ab",
        },
        "5\nword abba\nmeter 1 1 4\npeak 1 1 4\ncode 1 1 4\npicks 1 1 9\n",
        "2\n3\n5\n2",
    ),
    (
        "works",
        {"asked": "made worth last both", "day": 10, "open": 7, "fault": 2, "order": "high"},
        # Good items: of machine 1 at 0, 6 and 12, of machine 2 at 2 and 10.
        "8\nmachine 0 3 0 2\nmachine 2 4 3 5\nmade 12\nworth 12\nlast 1 11\nboth 1 2 12\nstop 1 5 7\nlast 1 11\n",
        "5\n16\n6\n0\n0",
    ),
    (
        "boughs",
        {"asked": "count within nth way clear", "width": 2, "wins": "nearest", "first": "white"},
        "10\npaint 2 red\npaint 5 blue\npaint 2 gold\ncount 1 2 gold\nclose 3\nwithin 1 2 any\n"
        "way 4 6\nway 4 5\nclear 5 white\nnth 1 2 any 2\n",
        "1\n4\nclosed\n2\n2\n5",
    ),
    (
        "ribbons",
        {
            "asked": "cancel sums twist each swap cap runs longest best least kinds free nth left arms order same",
            "letters": "ab",
            "table": "b1 a0 a0 b1",
            "samples": "",
            "gains": "2 -3",
            "span": 2,
        },
        # The ribbons: abba, abbaabba, (none), bbbabbba, abaa, abbaabba, aaa, abaaabaa, aa.
        "26\nword abba\ntimes 1 2\ncancel 2\nfilter 2\nsums 1\nmirror 2\nswap 1 (bb) (a)\ntwist 2 b 1\neach 2 4 1\n"
        "length 3\nlength 4\nruns 2 1 8\nlongest 2 1 8\nbest 2 1 8\nleast 2 1 8\nkinds 2 2 4\nfree 2 1 8 a\nnth 2 b 3\n"
        "nth 2 b 5\nleft 2 2 4\narms 2 4\norder 1 2\nsame 2 5\nruns 7 1 9\nruns 9 1 9\nlongest 8 1 8\n",
        "0\n8\n5\n2\n4\n-6 1\n2\n2\n6\nnone\n1\n4\nfirst\n2\n1\n1\n3",
    ),
    (
        "grafts",
        {
            "asked": "spot mirror stripe raise deep count within nth runs patches chain far",
            "width": 2,
            "first": "white",
            "deepest": 40,
            "colours": "white red blue gold",
            "table": "r1 w0 b0 g0 w0 w0 b0 g0",
            "samples": "",
        },
        "16\npaint 2 red\nspot 4 blue\nmirror 1\ncount 1 2 red\nnth 1 2 blue 1\nruns 1 2\npatches 1 2\nsift 1\n"
        "count 1 1 white\nstripe 1 2 1 gold\nwithin 1 1 gold\nraise 3 red\nchain 1 3 red\ndeep 1 2 3\nfar 1 blue\ncount 1 3 gold\n",
        "1\n7\n3\n3\n2\n2\n2\n4\n8",
    ),
]


def output_of(program, stdin, monkeypatch):
    """Return the output of a built-in program, run in this process: one process each would take
    minutes."""
    lines = iter(stdin.split("\n"))
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    monkeypatch.setattr(builtins, "input", lambda: next(lines))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, "solution", "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.parametrize(("name", "params", "stdin", "stdout"), GOLDEN)
def test_golden_answers(name, params, stdin, stdout, monkeypatch):
    family = FAMILIES[name]
    assert family.answer(params, stdin) == stdout
    assert output_of(family.source(params), stdin, monkeypatch) == stdout + "\n"


def test_every_family_has_a_golden_answer():
    assert {name for name, *_ in GOLDEN} == set(FAMILIES)
    assert len(FAMILIES) >= 12


@pytest.mark.parametrize("name", FAMILIES)
def test_the_solution_and_the_answer_agree(name, monkeypatch):
    family, rng = FAMILIES[name], np.random.default_rng(4)
    for _ in range(40):
        params = family.draw(rng)
        program = family.source(params)
        for size in (1, 2, 3, 7, 20, 100):
            stdin = family.write(rng, params, size)
            assert output_of(program, stdin, monkeypatch) == family.answer(params, stdin) + "\n", (
                params,
                stdin,
            )


@pytest.mark.parametrize("name", FAMILIES)
def test_statements_are_plain_text_that_names_every_parameter_s_value(name):
    family, rng = FAMILIES[name], np.random.default_rng(5)
    statements = {}
    for _ in range(60):
        params = family.draw(rng)
        text = family.statement(params)
        assert text.isascii()
        assert text.isprintable()
        statements.setdefault(text, []).append(family.source(params))
    if name != "count-words":  # which draws a length and shows it under one of its rules alone
        assert all(len(set(sources)) == 1 for sources in statements.values())
    assert len(statements) >= 10


def test_examples_are_short_and_in_the_prompt_and_hidden_tests_are_not():
    env = verigym.make("code/stdio")
    for difficulty in env.difficulties:
        for seed in range(40):
            task = env.sample_task(seed, difficulty)
            assert len(task.prompt) < 2000
            tests = task.reference["tests"]
            assert [t["visible"] for t in tests] == [True] * 2 + [False] * 6
            for test in tests[:2]:
                assert test["stdin"] in task.prompt
                assert test["stdout"] in task.prompt
            for test in tests[4:]:
                assert test["stdin"] not in task.prompt


def test_splits_differ_in_what_has_to_be_written():
    env = verigym.make("code/stdio")
    seen = {}
    for difficulty in env.difficulties:
        for split in verigym.SPLITS:
            families = set()
            for seed in range(80):
                reference = env.sample_task(seed, difficulty, split).reference
                families.add(reference["family"])
                problem = digest(reference["family"], reference["params"])
                assert seen.setdefault(problem, split) == split
            assert len(families) >= 4


def test_constant_programs_earn_nothing():
    env = verigym.make("code/stdio", max_turns=1)
    for difficulty in env.difficulties:
        for seed in range(2):
            task = env.sample_task(seed, difficulty)
            for test in task.reference["tests"][:2]:
                env.reset(options={"task": task})
                assert env.step(f"print({test['stdout']!r})")[1] == 0.0


# Play.


WRONG = "print('wrong')"


def test_feedback_names_the_example_and_the_next_attempt_may_succeed():
    env = verigym.make("code/stdio")
    env.reset(seed=2)
    observation, reward, terminated, truncated, info = env.step(WRONG)
    assert (reward, terminated, truncated, info["valid_action"]) == (0.0, False, False, True)
    assert "visible test 1: wrong output" in observation
    assert r"got 'wrong\n'" in observation
    observation, reward, terminated, truncated, _ = env.step(env.oracle())
    assert (observation, reward, terminated, truncated) == ("All tests passed.", 1.0, True, False)


def test_full_marks_at_the_last_turn_terminate_and_do_not_truncate():
    env = verigym.make("code/stdio", max_turns=1)
    env.reset(seed=2)
    assert env.step(env.oracle())[1:4] == (1.0, True, False)


def test_three_attempts():
    env = verigym.make("code/stdio")
    env.reset(seed=2)
    ends = [env.step(WRONG)[1:4] for _ in range(3)]
    assert ends == [(0.0, False, False), (0.0, False, False), (0.0, False, True)]


@pytest.mark.parametrize(("level", "attempts"), [(7, 3), (8, 3), (9, 2), (10, 1)])
@pytest.mark.parametrize("env_id", ["code/stdio", "code/functions", "code/repair", "code/problems"])
def test_high_levels_allow_fewer_attempts_and_say_so(env_id, level, attempts):
    env = verigym.make(env_id, difficulty=level)
    env.reset(seed=1)
    told = {3: "several attempts", 2: "two attempts", 1: "one attempt"}
    assert f"You have {told[attempts]}." in env.task.prompt
    ends = [env.step(WRONG)[3] for _ in range(attempts)]
    assert ends == [False] * (attempts - 1) + [True]


@pytest.mark.parametrize("attempts", [0, 7, -1, "2", None, True, 1.5])
def test_attempts_of_a_task_from_elsewhere_out_of_bounds_are_refused(attempts):
    env = verigym.make("code/stdio")
    task = env.sample_task(2, "easy")
    reference = {**task.reference, "attempts": attempts}
    with pytest.raises(TaskError, match="attempts must be a whole number from 1 to 3"):
        env.reset(options={"task": dataclasses.replace(task, reference=reference)})


def test_of_a_hidden_test_only_that_it_failed():
    env = verigym.make("code/stdio")
    env.reset(seed=3)
    shown = {t["stdin"]: t["stdout"] for t in env.task.reference["tests"] if t["visible"]}
    program = (
        "import sys\n"
        "s = sys.stdin.read()\n"
        f"shown = {shown!r}\n"
        "if s not in shown: raise ValueError(s)\n"
        "print(shown[s])\n"
    )
    observation, reward, *_ = env.step(program)
    assert reward == 0.0
    assert observation == (
        "Your last program did not pass: a hidden test: the program ended with an error\n"
        "Write a corrected program if an attempt is left."
    )


@pytest.mark.parametrize("action", ["", "  ", "```python\n```", "x" * 70_000])
def test_a_reply_without_a_program_is_an_invalid_action(action):
    env = verigym.make("code/stdio")
    env.reset(seed=2)
    step = env.step(action)
    assert step[1:3] == (0.0, False)
    assert not step[4]["valid_action"]


def test_observations_keep_to_their_space_whatever_is_printed():
    env = verigym.make("code/stdio", max_turns=100)
    observation, _ = env.reset(seed=2)
    assert env.observation_space.contains(observation)
    for program in (
        "print('\\u00e9\\x1b[2J' * 10_000)",
        "import os; os.write(1, bytes(range(256)) * 99)",
        "raise ValueError('\\u00e9' * 10_000)",
        "\x00",
        "print('\N{SNOWMAN}')",
    ):
        assert env.observation_space.contains(env.step(program)[0])


def test_the_state_key_is_the_task_and_what_was_said_last():
    env = verigym.make("code/stdio", max_turns=9)
    env.reset(seed=2)
    keys = [env.state_key()]
    for action in (WRONG, "print('other')", WRONG):
        env.step(action)
        keys.append(env.state_key())
    assert keys[1] == keys[3]
    assert len(set(keys)) == 3


def test_a_task_from_elsewhere_is_played_without_an_oracle():
    task = verigym.Task(
        id="mine",
        env_id=Stdio.id,
        seed=0,
        prompt="Print 5.",
        difficulty="easy",
        reference={"tests": [{"stdin": "", "stdout": "5", "visible": False}]},
    )
    env = verigym.make("code/stdio")
    assert env.reset(options={"task": task})[0] == "Print 5."
    with pytest.raises(verigym.RequestError, match="no solution is known"):
        env.oracle()
    assert env.step("print(5)")[1] == 1.0


def test_the_default_of_judged_changes_nothing():
    moved = verigym.Transition(state=Attempt("python", ""))
    verdict = verigym.scored(0.5, "half")
    assert verigym.Env.judged(verigym.make("code/stdio"), moved, verdict) is moved


# Other languages: solutions to count-words, written by hand.


CPP = """
#include <iostream>
#include <string>
int main() {
  std::string word;
  int count = 0;
  while (std::cin >> word) count += word.find('%s') != std::string::npos;
  std::cout << count << "\\n";
}
"""
JAVASCRIPT = """
const words = require("fs").readFileSync(0, "utf8").trim().split(/\\s+/);
console.log(words.filter((word) => word.includes("%s")).length);
"""
RUST = """
use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    println!("{}", text.split_whitespace().filter(|word| word.contains('%s')).count());
}
"""


@pytest.mark.parametrize(
    ("language", "title", "program"),
    [
        pytest.param("c++", "C++", CPP, marks=pytest.mark.slow),
        ("js", "JavaScript", JAVASCRIPT),
        pytest.param("rust", "Rust", RUST, marks=pytest.mark.slow),
    ],
)
def test_a_program_may_be_asked_for_in_another_language(language, title, program):
    env = verigym.make("code/stdio", language=language, max_turns=9)
    if env.language not in default_sandbox().languages:
        pytest.skip(f"this machine has no {title}")
    for seed in range(100):
        env.reset(seed=seed)
        params = env.task.reference["params"]
        if env.task.reference["family"] == "count-words" and params["rule"] == "contain":
            break
    assert f"a program in {title} that reads" in env.task.prompt
    right = program % params["letter"]
    other = program % ("g" if params["letter"] != "g" else "f")
    assert env.step(f"```{language}\n{other}```")[1] == 0.0
    assert env.step("count = 1")[1] == 0.0  # no program of that language
    assert env.step(f"```{language}\n{right}```")[1:3] == (1.0, True)
    env.reset(seed=1)
    with pytest.raises(verigym.RequestError, match="Python alone"):
        env.oracle()


def test_the_problem_does_not_depend_on_the_language():
    one, two = verigym.make("code/stdio"), verigym.make("code/stdio", language="rust")
    for seed in range(5):
        ours, theirs = one.sample_task(seed), two.sample_task(seed)
        assert ours.reference["tests"] == theirs.reference["tests"]
        assert ours.prompt == theirs.prompt.replace("a program in Rust", "a Python 3 program")


def test_an_unknown_language_is_refused_with_a_suggestion():
    with pytest.raises(verigym.RequestError, match="javascript"):
        verigym.make("code/stdio", language="javascrpt")
