"""Casework, from level 7 on: decided a second way, with bad habits, and what stands between a call and its effect."""

import json
import re
from dataclasses import replace

import pytest

import verigym
from tests.envs.tools.readers.desk import ACTS, HABITS, TIMEOUT, clerk
from tests.envs.tools.readers.player import played, solved
from verigym.envs.tools.cases.desk_tools import BURST, PAGE
from verigym.envs.tools.cases.rulebook import (
    Amendment,
    Article,
    RuleCondition,
    Tariff,
    decide,
    in_force,
)

OLD = RuleCondition("years", "the person's membership in years", "is above", 10)
STAFF = RuleCondition("group", "the person's group", "is", "staff")
SOUTH = RuleCondition("branch", "the person's branch", "is not", "south")
LARGE = RuleCondition("amount", "the amount", "is above", 100)
FACTS = {"years": 11, "group": "staff", "branch": "north", "amount": 150}
RULE = Article("H1", False, (LARGE, OLD), unless=STAFF, but=SOUTH)


def call(tool, /, **arguments):
    return json.dumps({"name": tool, "arguments": arguments})


def made(name, level, seed=0):
    env = verigym.make(f"tools/{name}-v0", difficulty=level)
    env.reset(seed=seed)
    return env


@pytest.mark.parametrize("level", [7, 8, 9])
@pytest.mark.parametrize("name", ACTS)
def test_a_reader_decides_every_case(name, level):
    for seed in range({7: 3, 8: 2, 9: 1}[level]):
        solved(name, clerk(name), level, seed)


@pytest.mark.slow
@pytest.mark.parametrize("level", [7, 8, 9, 10])
@pytest.mark.parametrize("name", ACTS)
def test_a_reader_decides_many(name, level):
    for seed in range(100, {7: 130, 8: 130, 9: 106, 10: 101}[level]):
        solved(name, clerk(name), level, seed, "train")


@pytest.mark.slow
@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("name", ACTS)
def test_bad_habits_are_not_paid(name, habit):
    paid = [played(name, clerk(name, habit), 9, seed).reward for seed in range(4)]
    # The order of the cases decides in some tasks only.
    assert sum(paid) <= (3 if habit == "order_of_numbers" else 0)


@pytest.mark.parametrize(
    "habit",
    [
        *("repeat_blindly", "ignore_amendments", "obey_notes", "refuse_all", "do_all"),
        "ignore_timeouts",
    ],
)
def test_the_bad_habits_of_the_lowest_level_are_not_paid(habit):
    assert sum(played("bank", clerk("bank", habit), 7, seed).reward for seed in range(4)) == 0


@pytest.mark.parametrize("level", [8, 10])
@pytest.mark.parametrize("habit", ["spend_in_order", "ignore_budgets"])
@pytest.mark.parametrize("name", ACTS)
def test_a_budget_that_is_spent_simply_is_not_paid(name, habit, level):
    assert sum(played(name, clerk(name, habit), level, seed).reward for seed in range(3)) == 0


def test_a_denied_approval_changes_the_choice_for_the_rest_of_the_day():
    found = []
    for seed in range(30):
        env = made("bank", 8, seed)
        denied = [
            arguments["case"]
            for name, arguments, _ in env.task.reference["env"]["plan"]
            if name == "record_decision" and arguments["outcome"] == "denied"
        ]
        if denied:
            found.append(played("bank", clerk("bank", "spend_by_morning"), 8, seed, "train"))
        if len(found) == 8:
            break
    assert 0.0 in [one.reward for one in found]


@pytest.mark.parametrize("name", ACTS)
def test_doing_nothing_earns_nothing_and_most_earns_nothing(name):
    env = made(name, 7)
    start = env.snapshot()
    assert env.step(call("finish"))[1] == 0.0
    env.restore(start)
    while "finish" not in (action := env.oracle()):
        if (before := env.snapshot()).turn and "record_decision" in action:
            almost = before
        env.step(action)
    env.restore(almost)
    assert env.step(call("finish"))[1] == 0.0


@pytest.mark.parametrize("name", ACTS)
def test_changes_want_a_wait_and_some_bring_no_answer(name):
    env = made(name, 10)
    cases = json.loads(env.step(call("list_cases"))[0])["result"]["rows"]
    answers = []
    for n in range(BURST):
        arguments = {"case": cases[n % len(cases)]["case"], "outcome": "done", "article": "none"}
        told = env.step(call("record_decision", **arguments, fee=n, code="none"))[0]
        answers.append(json.loads(told)["result"])
    assert TIMEOUT in answers
    told, *_, info = env.step(call("record_decision", **arguments, fee=1, code="none"))
    assert "call wait first" in told
    assert not info["valid_action"]
    recorded = env.world_of(env.task).as_rows(env.state.tables)["decisions"]
    faults = env.task.reference["initial"]["gate"][0]["faults"][:BURST]
    assert len(recorded) == BURST - faults.count("x")
    assert (answers.count(TIMEOUT)) == BURST - faults.count(".")
    env.step(call("wait"))
    assert env.step(call("record_decision", **arguments, fee=1, code="none"))[4]["valid_action"]


def test_a_wrong_call_is_refused_before_it_can_be_lost():
    env = made("bank", 10)
    for _ in range(BURST + 2):
        told = env.step(call("pay", account="none", payee="none", amount=1, note=""))[0]
        assert "there is no payee" in told


def test_lists_come_in_pages():
    env = made("bank", 10)
    first = json.loads(env.step(call("list_archive"))[0])["result"]
    assert len(first["rows"]) == PAGE
    last = json.loads(env.step(call("list_archive", page=first["of"]))[0])["result"]
    assert PAGE * (first["of"] - 1) + len(last["rows"]) == 180
    assert "there are" in env.step(call("list_archive", page=first["of"] + 1))[0]


def test_a_day_that_is_over_does_not_come_back():
    env = made("bank", 8)
    case = json.loads(env.step(call("list_cases"))[0])["result"]["rows"][0]["case"]
    assert json.loads(env.step(call("next_day"))[0])["result"] == {"today": "2026-03-03"}
    assert "is past" in env.step(call("read_case", case=case))[0]
    cases = json.loads(env.step(call("list_cases"))[0])["result"]["rows"]
    assert len(cases) == 8
    assert case not in [row["case"] for row in cases]
    assert "last day" in env.step(call("next_day"))[0]


def test_an_approval_takes_its_time_and_is_asked_for_once():
    env = next(env for env in (made("bank", 10, seed) for seed in range(20)) if _asked(env))
    plan = env.task.reference["env"]["plan"]
    asked = next(arguments for name, arguments, _ in plan if name == "ask_approval")
    while "ask_approval" not in env.oracle():
        env.step(env.oracle())
    env.step(env.oracle())
    while "ask_approval" in env.oracle():
        env.step(env.oracle())
    assert '"waiting"' in env.step(call("read_approval", case=asked["case"]))[0]
    assert (
        "asked for already" in env.step(call("ask_approval", **asked))[0] or "wait" in env.oracle()
    )
    for _ in range(3):
        env.step(call("wait"))
    assert re.search('"granted"|"denied"', env.step(call("read_approval", case=asked["case"]))[0])


def _asked(env):
    return any(name == "ask_approval" for name, *_ in env.task.reference["env"]["plan"])


def test_an_exception_has_an_exception():
    assert RULE.applies(FACTS) == (True, 4)
    assert RULE.applies({**FACTS, "branch": "south"}) == (False, 4)
    assert RULE.applies({**FACTS, "group": "guest"}) == (True, 3)
    assert RULE.applies({**FACTS, "years": 10}) == (False, 2)
    assert RULE.body == (
        "Refuse if the amount is above 100 and the person's membership in years is above 10, unless the person's "
        "group is staff; this exception does not hold if the person's branch is not south."
    )


def test_amendments_hold_from_their_day_on():
    other = Article("H2", True, (STAFF, OLD))
    new, more = Article("H1", True, (LARGE,), most=90), Article("H2a", False, (STAFF,))
    changes = [
        Amendment("2026-03-03", "H1", new),
        Amendment("2026-03-04", "H2", more),
        Amendment("2026-03-05", "H2", None),
    ]
    numbers = [
        [one.number for one in in_force([RULE, other], changes, f"2026-03-0{day}")]
        for day in range(2, 6)
    ]
    assert numbers == [["H1", "H2"], ["H1", "H2"], ["H1", "H2", "H2a"], ["H1", "H2a"]]
    assert decide(in_force([RULE, other], changes, "2026-03-03"), FACTS)[0] == new
    assert decide([RULE, other], {**FACTS, "branch": "south"}) == (other, 6)
    assert decide([RULE], {**FACTS, "amount": 1}) == (None, 1)


@pytest.mark.parametrize(
    ("amount", "facts", "fee"),
    [
        (100, {}, 8),  # 3 + 5
        (101, {}, 9),  # 3 + 5.1 rounded up
        (150, {}, 13),  # 3 + 5 + 5
        (151, {}, 14),  # 3 + 5 + 5.1 rounded up once
        (199, {}, 15),  # at most 15
        (150, {"group": "staff"}, 7),  # half of 13, rounded up
        (150, {"group": "staff", "years": 11}, 0),
    ],
)
def test_fees_are_rounded_up_once_then_halved_then_limited(amount, facts, fee):
    tariff = Tariff(3, 5, 100, 10, 15, half=STAFF, free=OLD)
    assert tariff.fee(amount, {"group": "guest", "years": 0, **facts}) == fee
    follows = {"a": {"a": 1, "b": 8}, "b": {"a": 2, "b": 3}}
    more = replace(tariff, follows=follows, last="the kind before")
    last = {"group": "guest", "years": 0, "before": "a", "kind": "b", **facts}
    assert more.fee(amount, last) == fee + 8
    assert more.fee(amount, {**last, "before": ""}) == fee
    assert more.most_of(amount) + more.more("b", "b") >= more.fee(amount, {**last, "before": "b"})
    assert "after a, 1 for a, 8 for b; after b, 2 for a, 3 for b." in more.words
    assert tariff.at(50).fee(10, {"group": "guest", "years": 0}) == 8


def test_what_is_sent_or_written_on_a_later_day_bears_that_day():
    env = verigym.make("tools/office-v0", difficulty=8)
    env.reset(seed=1)

    def ask(tool, /, **arguments):
        return json.loads(env.step(json.dumps({"name": tool, "arguments": arguments}))[0])["result"]

    ask("next_day")
    day = ask("today")
    assert day == "2026-03-03"
    # A call may get lost.
    for _ in range(3):
        ask("send_mail", to="new@east.example", subject="later", body="sent later")
        ask("write_file", path="/later.txt", content="written later")
    (mail, *_) = ask("list_mails", folder="sent", words="sent later")["rows"]
    (file,) = ask("list_files", folder="/later")["rows"]
    assert (mail["day"], file["changed"]) == (day, day)
