"""`tools/call` read from its words, `tools/multi` computed by brute force from its pages."""

import json
import re

import pytest

import verigym
from verigym.envs.tools.abilities import ABILITIES
from verigym.envs.tools.almanac import find
from verigym.envs.tools.read_almanac import DIGITS, MULTIPLES, PRIMES, AlmanacReader
from verigym.errors import SandboxError
from verigym.verdict import VerifierFault
from verigym.verifiers.text.schema_json import compile_schema, first_error

DIFFICULTIES = ("easy", "medium", "hard")


def call(tool, /, **arguments):
    return json.dumps({"name": tool, "arguments": arguments})


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_wanted_calls_fit_their_tools_and_their_words(difficulty):
    """Every value stands in the words, or is the worded form of one; one request a call."""
    env = verigym.make("tools/call-v0", difficulty=difficulty)
    asked_back = 0
    for seed in range(60):
        env.reset(seed=seed)
        reference = env.task.reference
        schemas = {t["function"]["name"]: t["function"]["parameters"] for t in reference["tools"]}
        requests = re.findall(r"^- (.*)$", env.task.prompt, re.MULTILINE)
        assert len(requests) == len(reference["expected"]) == len(set(requests))
        assert "||" not in env.task.prompt
        for words, one in zip(requests, reference["expected"], strict=True):
            assert first_error(compile_schema(schemas[one["name"]], "t"), one["arguments"]) is None
            asked_back += one["name"] == "ask_user"
            for value in one["arguments"].values():
                if one["name"] != "ask_user" and isinstance(value, str) and value[0].isupper():
                    assert value in words
                if isinstance(value, int) and not isinstance(value, bool):
                    assert str(value) in words
    assert (asked_back > 0) == (difficulty == "hard")


def test_what_is_nearly_right_is_not_paid():
    env = verigym.make("tools/call-v0")
    for seed in range(40):
        env.reset(seed=seed)
        (one,) = env.task.reference["expected"]
        tools = [tool["function"]["name"] for tool in env.tools()]
        others = [name for name in tools if name != one["name"]]
        wrong = [
            [],
            [one, one],
            [{"name": others[0], "arguments": one["arguments"]}],
            [{"name": one["name"], "arguments": {}}],
            [{"name": one["name"], "arguments": {**one["arguments"], "extra": 1}}],
            [{"name": name, "arguments": one["arguments"]} for name in tools],
        ]
        for calls in wrong:
            env.reset(seed=seed)
            text = "".join(f"<tool_call>{json.dumps(c)}</tool_call>" for c in calls)
            assert env.step(text)[1] == 0.0
        for right in (
            {"role": "assistant", "tool_calls": [{"type": "function", "function": one}]},
            [one],
            one,
        ):
            env.reset(seed=seed)
            assert env.step(json.dumps(right))[1] == 1.0


def test_a_sibling_sounds_alike_and_is_another_tool():
    names = {ability.name for ability in ABILITIES}
    siblings = {ability.sibling[0] for ability in ABILITIES}
    assert len(siblings) == len(names) == len(ABILITIES)
    assert not names & siblings
    for ability in ABILITIES:
        assert ability.may_lack in ability.required


def number(pattern, pages):
    (found,) = {m[1] for _, text in pages if (m := re.search(pattern, text))}
    return int(found)


def people_of(town, pages):
    return number(rf"^{town} has (\d+) inhabitants by the count of 2026", pages)


def crate(good, firm, pages):
    pattern = rf"crate of {good} from {firm} weighs (\d+) kilograms and costs (\d+) euros"
    (found,) = {m.groups() for _, text in pages if (m := re.search(pattern, text))}
    return tuple(map(int, found))


def order_cost(line, pages):
    if m := re.search(r"(\d+) crates of (\w+) from (.*), carried by (.*)", line):
        words = f"{m[4]} carries {m[1]} crates of {m[2]} from {m[3]}. What"
    else:
        m = re.search(r"crates of (\w+) from (.*) as weigh at most (\d+) kilograms", line)
        words = f"A lorry can carry {m[3]} kilograms. Load crates of {m[1]} from {m[2]} as it can"
    return by_brute_force(words, pages)


def by_brute_force(prompt, pages):
    if lines := re.findall(r"^\d+\. .* crates .*$", prompt, re.MULTILINE):
        return sum(order_cost(line, pages) for line in lines)
    if found := re.findall(r"one crate of (\w+) from ([\w ]+?)(?= and one crate| weigh)", prompt):
        return sum(crate(good, firm, pages)[0] for good, firm in found)
    if m := re.search(r"^How many inhabitants do (\w+), (\w+) and (\w+) have", prompt):
        then = [number(rf"2011, {town} had (\d+) inhabitants", pages) for town in m.groups()]
        return sum(people_of(town, pages) for town in m.groups()) - sum(then)
    if m := re.search(r"How many kilograms do (\d+) crates of (\w+) from (.*) weigh", prompt):
        return int(m[1]) * crate(m[2], m[3], pages)[0]
    if m := re.search(r"how many more inhabitants does (\w+) have than (\w+)\?", prompt):
        return people_of(m[1], pages) - people_of(m[2], pages)
    if m := re.search(r"^(.*) carries (\d+) crates of (\w+) from (.*?)\. What", prompt):
        n, price = int(m[2]), crate(m[3], m[4], pages)[1]
        each = number(rf"{m[1]} takes (\d+) euros", pages)
        least = number(rf"{m[1]} takes .* From (\d+) crates", pages)
        percent = number(rf"{m[1]} takes .* takes (\d+) percent", pages)
        carriage = n * each * (1 - percent / 100 * (n >= least))
        assert carriage == int(carriage)
        return n * price + int(carriage)
    if m := re.search(
        r"A lorry can carry (\d+) kilograms.* crates of (\w+) from (.*) as it can", prompt
    ):
        weight, price = crate(m[2], m[3], pages)
        n = 0
        while (n + 1) * weight <= int(m[1]):
            n += 1
        return n * price
    if m := re.search(r"numbers of inhabitants of (\w+) and (\w+) by the count of 2026", prompt):
        few, many = people_of(m[1], pages), people_of(m[2], pages)
        assert few < many
        small = [p for p in range(2, 250) if all(p % q for q in range(2, p))]
        return sum(all(n % p for p in small if p < n) for n in range(few + 1, many))
    if m := re.search(
        r"inhabitants of (\w+) by the count of 2026.*n to the power of (\d+)", prompt
    ):
        return sum(int(digit) for digit in str(people_of(m[1], pages) ** int(m[2])))
    m = re.search(
        r"inhabitants of (\w+) by .*crate of (\w+) from (.*), and q .* bridge at (\w+)\.",
        prompt,
    )
    p = crate(m[2], m[3], pages)[0]
    q = number(rf"bridge at {m[4]} is (\d+) metres", pages)
    return sum((i % p == 0) != (i % q == 0) for i in range(1, people_of(m[1], pages) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", range(1, 11))
def test_answers_follow_from_the_pages(difficulty):
    env = verigym.make("tools/multi-v0", difficulty=difficulty)
    for seed in range(20):
        task = env.sample_task(seed)
        answer, pages = task.reference["answer"], task.reference["pages"]
        assert str(by_brute_force(task.prompt, pages)) == answer
        assert (
            str(AlmanacReader([(title, text) for title, text in pages]).answer(task.prompt))
            == answer
        )


@pytest.mark.parametrize(
    ("program", "value"),
    [
        (PRIMES.format(few=10, many=23), 4),
        (DIGITS.format(number=12, power=5), 27),
        (MULTIPLES.format(p=4, q=6, most=24), 6),
    ],
)
def test_the_programs_that_are_counted_are_right(program, value):
    env = verigym.make("tools/multi-v0")
    env.reset(seed=1)
    assert f'"{value}\\n"' in env.step(call("python", code=program))[0]


def test_search_finds_what_a_question_needs():
    """A search by its names returns the page among the first three."""
    env = verigym.make("tools/multi-v0")
    for seed, level in enumerate([6] * 10 + [8, 10]):
        pages = [tuple(page) for page in env.sample_task(seed, level).reference["pages"]]
        for title, text in pages:
            assert (title, text) in find(pages, title)
    assert find(pages, "zzz") == []
    assert find(pages, "") == []


def test_several_tools_work_together():
    env = verigym.make("tools/multi-v0")
    env.reset(seed=1, options={"difficulty": "hard"})
    for action, told, valid in [
        (call("python", code="print(sum(range(10)))"), "45", True),
        (call("python", code="1/0"), "ZeroDivisionError", False),
        (
            call("python", code="import socket; socket.create_connection(('1.1.1.1', 80), 1)"),
            "rror",
            False,
        ),
        (call("calculator", expression="(1 + 2) / 4"), "0.75", True),
        (call("calculator", expression="open('x')"), "cannot be read", False),
        (call("search", query="inhabitants"), "inhabitants", True),
        (call("answer"), "needs the argument", False),
        ("42", "no call was found", False),
    ]:
        observation, reward, terminated, _, info = env.step(action)
        assert told in observation
        assert (reward, terminated, info["valid_action"]) == (0.0, False, valid)
    assert env.step(env.oracle())[1] == 1.0


@pytest.mark.parametrize("value", ["", "1, 2, 3", "<answer>1</answer>", "{} + 0", 1.5, True, None])
def test_what_is_no_whole_number_is_refused(value):
    """A sum that is the answer, too: else nothing would have to be computed."""
    env = verigym.make("tools/multi-v0")
    env.reset(seed=2)
    if isinstance(value, str):
        value = value.format(env.task.reference["answer"])
    observation, reward, terminated, _, info = env.step(call("answer", value=value))
    assert (reward, terminated, info["valid_action"]) == (0.0, False, False)
    assert "value must be a whole number" in observation
    assert env.step(call("answer", value=0))[1:3] == (0.0, True)


def test_only_the_first_answer_counts():
    env = verigym.make("tools/multi-v0")
    env.reset(seed=2)
    right = int(env.task.reference["answer"])
    both = [{"name": "answer", "arguments": {"value": v}} for v in (1, right)]
    assert env.step(json.dumps(both))[1] == 0.0


def test_a_machine_that_fails_is_no_answer(monkeypatch):
    """No reward, nothing lost, and the same step can be played again (law 1)."""

    class Broken:
        languages = ("python",)

        def run(self, job):
            raise SandboxError("the machine failed")

    env = verigym.make("tools/multi-v0")
    env.reset(seed=2)
    before = env.snapshot()
    with monkeypatch.context() as patch:
        patch.setattr("verigym.envs.tools.multi.default_sandbox", Broken)
        with pytest.raises(VerifierFault):
            env.step(call("python", code="print(1)"))
    assert env.snapshot() == before
    assert '"1\\n"' in env.step(call("python", code="print(1)"))[0]
