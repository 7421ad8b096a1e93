"""`tools/call` read from its words, `tools/multi` computed by brute force from its pages."""

import itertools
import json
import re
from fractions import Fraction

import numpy as np
import pytest

import verigym
from verigym.envs.tools.abilities import ABILITIES
from verigym.envs.tools.almanac import Almanac, find
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.read_almanac import DIGITS, MULTIPLES, PRIMES, AlmanacReader
from verigym.envs.tools.struck_journal import wild_journal
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


class JournalKeeper:
    """Does a journal entry by entry, with figures from the pages; a habit leaves out what corrects them."""

    def __init__(self, pages, habit=None):
        self.pages, self.habit, self.crates = dict(pages), habit, {}
        self.known = {}

    def text(self, title):
        """The page that holds: corrected, unless that was withdrawn."""
        corrected = f"Correction: {title}" in self.pages and self.habit != "no_corrections"
        withdrawn = f"Withdrawal: {title}" in self.pages and self.habit != "no_withdrawals"
        return self.pages[f"Correction: {title}" if corrected and not withdrawn else title]

    def figure(self, title, pattern):
        if (title, pattern) not in self.known:
            self.known[title, pattern] = self.found(title, pattern)
        return self.known[title, pattern]

    def found(self, title, pattern):
        for text in (self.text(title), self.pages[title]):
            if found := re.search(pattern, text):
                return int(found[1])
        raise AssertionError(title)

    def named(self, words):
        if found := re.search(r"market of (\w+)", words):
            return re.search(r"buys from (.*)\.", self.pages[f"Market of {found[1]}"])[1]
        if found := re.search(r"carrier that serves (\w+)", words):
            return re.search(r"served by (.*)\.", self.pages[f"Freight to {found[1]}"])[1]
        return words

    def answer(self, prompt):
        lines = re.findall(r"^\d+\. (.*)$", prompt, re.MULTILINE)
        if not (struck := re.search(r"Exactly (\w+) of its (\d+) entries", prompt)):
            return self.follow(prompt, lines, 3)
        assert len(lines) == int(struck[2])
        k = {"one": 1, "three": 3, "four": 4, "five": 5}[struck[1]]
        each = int(re.search(r"plus (\d+) for each crate", prompt)[1])
        self.follow(prompt, [], each)
        return self.best(lines, k, each)

    def best(self, lines, k, each):
        """The most from here on without `k` of the lines; purse and crates are left as they are."""
        if k == len(lines):
            return self.purse + each * sum(self.crates.values())
        held, found = (self.purse, dict(self.crates)), []
        if k:
            found.append(self.best(lines[1:], k - 1, each))
        self.enter(lines[0])
        found.append(self.best(lines[1:], k, each))
        self.purse, self.crates = held
        return max(found)

    def follow(self, prompt, lines, each):
        self.purse = int(re.search(r"and (\d+) euros in the purse", prompt)[1])
        self.crates = {}
        for line in lines:
            self.enter(line)
        return self.purse + each * sum(self.crates.values())

    def buy(self, firm, n):
        self.purse -= n * self.figure(firm, r"costs (\d+) euros")
        self.crates[firm] = self.crates.get(firm, 0) + n

    def enter(self, line):
        if m := re.match(
            r"Buy .* crates from (.*) as the purse pays for, but at most (\d+)\.", line
        ):
            firm = self.named(m[1])
            for _ in range(int(m[2])):
                if self.purse >= self.figure(firm, r"costs (\d+) euros"):
                    self.buy(firm, 1)
        elif m := re.match(r"Buy .* crates from (.*) as weigh at most (\d+) kilograms", line):
            firm = self.named(m[1])
            n = int(m[2]) // self.figure(firm, r"weighs (\d+) kilograms")
            if self.purse >= n * self.figure(firm, r"costs (\d+) euros"):
                self.buy(firm, n)
        elif m := re.match(r"Buy .* crates from (.*) as the remainder .* by (\d+)\.", line):
            firm, rest = self.named(m[1]), self.purse % int(m[2])
            self.buy(firm, rest // self.figure(firm, r"costs (\d+) euros"))
        elif m := re.match(r"Divide .* euros .* bridge at (\w+), which", line):
            length = self.figure(f"{m[1]} bridge", r"is (\d+) metres")
            quotient = self.purse // length
            rest = self.purse - quotient * length
            self.purse += rest if quotient in range(0, quotient + 1, 2) else -rest
        elif m := re.match(r"Sell half of the crates from (.*) that .* for (\d+) percent", line):
            n = self.crates.get(m[1], 0) // 2
            self.crates[m[1]] = self.crates.get(m[1], 0) - n
            self.purse += n * self.figure(m[1], r"costs (\d+) euros") * int(m[2]) // 100
        elif m := re.match(r"Let (.*) carry all", line):
            carrier, n = self.named(m[1]), sum(self.crates.values())
            cost = Fraction(n * self.figure(carrier, r"takes (\d+) euros"))
            if n >= self.figure(carrier, r"From (\d+) crates"):
                cost *= 1 - Fraction(self.figure(carrier, r"takes (\d+) percent"), 100)
            assert cost.denominator == 1
            self.purse -= int(cost) if cost <= self.purse else 0
        else:
            m = re.search(r"inhabitants of (\w+) by .* bridge at (\w+) is", line)
            length = self.figure(f"{m[2]} bridge", r"is (\d+) metres")
            self.purse += (
                -length if self.purse > self.figure(m[1], r"has (\d+) inhab") / 10 else length
            )


def by_brute_force(prompt, pages):
    if prompt.startswith("A trader"):
        return JournalKeeper(pages).answer(prompt)
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
    for seed in range({9: 4, 10: 1}.get(difficulty, 20)):
        task = env.sample_task(seed)
        answer, pages = task.reference["answer"], task.reference["pages"]
        assert str(by_brute_force(task.prompt, pages)) == answer
        assert (
            str(AlmanacReader([(title, text) for title, text in pages]).answer(task.prompt))
            == answer
        )


@pytest.mark.parametrize("habit", ["no_corrections", "no_withdrawals"])
def test_who_overlooks_corrections_is_not_paid(habit):
    env = verigym.make("tools/multi-v0")
    for level, seed in itertools.product(range(7, 10), range(2)):
        task = env.sample_task(seed, level)
        keeper = JournalKeeper(task.reference["pages"], habit)
        assert str(keeper.answer(task.prompt)) != task.reference["answer"]


@pytest.mark.parametrize("level", [9, 10])
def test_no_simple_plan_strikes_the_best_entries_out(level):
    """Neither what brings most if struck out alone, nor the best one after the other, by the keeper's own count."""
    for seed in range(3):
        task = verigym.make("tools/multi-v0").sample_task(seed, level)
        keeper = JournalKeeper(task.reference["pages"])
        lines = re.findall(r"^\d+\. (.*)$", task.prompt, re.MULTILINE)

        def left(*struck, keeper=keeper, prompt=task.prompt, lines=lines):
            kept = [line for place, line in enumerate(lines) if place not in struck]
            return keeper.follow(prompt, kept, 40)

        places = range(len(lines))
        k = level - 5
        alone = sorted(places, key=lambda place: -left(place))[:k]
        greedy = []
        while len(greedy) < k:
            greedy.append(
                max(
                    (place for place in places if place not in greedy),
                    key=lambda place: left(*greedy, place),
                )
            )
        assert max(left(*alone), left(*greedy)) < int(task.reference["answer"])


def test_the_best_of_a_small_journal_is_the_best_of_all_choices_and_the_only_one():
    """Counted by the keeper, choice by choice, with the pages alone; remainders decide in some entries."""
    for seed in range(4):
        almanac = Almanac(Draws(np.random.default_rng(seed)), 12, True)
        question = wild_journal(almanac, 10, 3)
        keeper = JournalKeeper(almanac.pages)
        lines = re.findall(r"^\d+\. (.*)$", question.words, re.MULTILINE)
        left = [
            keeper.follow(question.words, kept, 40) for kept in itertools.combinations(lines, 7)
        ]
        assert max(left) == question.answer
        assert left.count(max(left)) == 1
        assert any(line.startswith("Divide") or "remainder pays" in line for line in lines)


@pytest.mark.parametrize("level", range(7, 11))
def test_a_journal_says_that_exact_titles_are_found(level):
    prompt = verigym.make("tools/multi-v0").sample_task(2, level).prompt
    assert "exact title of a page always finds it" in prompt


@pytest.mark.parametrize("level", range(8, 11))
def test_each_entry_changes_purse_or_store_if_none_is_struck_out(level):
    task = verigym.make("tools/multi-v0").sample_task(4, level)
    keeper = JournalKeeper(task.reference["pages"])
    lines = re.findall(r"^\d+\. (.*)$", task.prompt, re.MULTILINE)
    held = [
        (keeper.follow(task.prompt, lines[:n], 0), sum(keeper.crates.values()))
        for n in range(len(lines) + 1)
    ]
    assert all(before != after for before, after in itertools.pairwise(held))


@pytest.mark.parametrize("level", [7, 8])
def test_python_is_offered_up_to_level_7(level):
    env = verigym.make("tools/multi-v0")
    _, info = env.reset(seed=1, options={"difficulty": level})
    offered = [tool["function"]["name"] for tool in info["tools"]]
    assert ("python" in offered) == ('"name": "python"' in env.task.prompt) == (level == 7)
    seen, _, _, _, info = env.step(call("python", code="print(6 * 7)"))
    assert ("42" in seen) == info["valid_action"] == (level == 7)


@pytest.mark.parametrize("level", range(7, 11))
def test_every_page_of_a_journal_is_found_by_its_title(level):
    pages = [
        tuple(page)
        for page in verigym.make("tools/multi-v0").sample_task(3, level).reference["pages"]
    ]
    assert all((title, text) in find(pages, title) for title, text in pages)
    assert len({title for title, _ in pages}) == len(pages)


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
