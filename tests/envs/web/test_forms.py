"""Chores on web pages: right goals (found a second way), no shortcuts, and the same in a real browser."""

import itertools
import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym.envs.web.browsing import BrowserAction, read_action
from verigym.envs.web.forms import SITES
from verigym.envs.web.pages import Control, WebPage, as_html, as_text
from verigym.envs.web.words import DAYS, MONTHS
from verigym.errors import RequestError, TaskError

ODD = ('type 1 <b>"q"&amp;', "click 1", "click 99", "select 1 nothing", "click 3", "type 1  a  b")


def tasks(site, seeds=40):
    env = verigym.make("web/forms-v0")
    for difficulty in env.difficulties:
        for seed in range(seeds):
            task = env.sample_task(seed, difficulty)
            if task.tags == (site,):
                yield task


def start(site, difficulty="easy", **kwargs):
    env = verigym.make("web/forms-v0", difficulty=difficulty, **kwargs)
    seed = next(s for s in range(100) if env.sample_task(s).tags == (site,))
    env.reset(seed=seed)
    return env


def finish(env, *actions):
    """The reward after these actions, and then the way of the oracle or `done`."""
    for action in actions:
        step = env.step(action)
        assert not step[2]
    return env.step("done")[1]


def number(env, label):
    """The control of this label on the page that is shown."""
    return next(int(m[1]) for m in re.finditer(r'^\[(\d+)\] \w+ "([^"]*)', env.view(), re.M) if m[2] == label)  # fmt: skip


def test_the_slot_is_the_first_that_fits():
    met = 0
    for task in tasks("rooms"):
        words = task.prompt.split("\n")[0]
        least, title = int(re.search(r"at least (\d+)", words)[1]), re.search(r'"(.*)"', words)[1]
        day = re.search(r"slot (?:on|from) (\w+)", words)[1]
        until = DAYS[-1] if "to Friday" in words else day
        tables = task.reference["initial"]
        taken = {(b["day"], b["hour"], b["room"]) for b in tables["bookings"]}
        fitting = [
            (DAYS.index(d), hour, room["seats"], room["name"])
            for d in DAYS[DAYS.index(day) : DAYS.index(until) + 1]
            for hour in (9, 11, 13, 15)
            for room in tables["rooms"]
            if room["seats"] >= least and (room["screen"] or "a screen" not in words)
            if (d, hour, room["name"]) not in taken
        ]
        first = min(fitting)
        assert [hit[:3] for hit in fitting].count(first[:3]) == 1
        wanted = {"day": DAYS[first[0]], "hour": first[1], "room": first[3], "title": title}
        assert task.reference["goals"][0]["where"] == wanted, words
        met += 1
    assert met > 20


def test_the_invoices_are_those_that_the_words_name():
    met = 0
    for task in tasks("invoices"):
        vendor, bound = re.search(r"invoice of (.*) that is below (\d+) EUR", task.prompt).groups()
        goal = task.reference["goals"][0]
        assert goal["where"] == {"vendor": vendor, "status": "open", "amount": {"lt": int(bound)}}
        rows = task.reference["initial"]["invoices"]
        mine = [r for r in rows if r["vendor"] == vendor]
        # Something to do, and something that a hasty reader would approve too.
        assert any(r["status"] == "open" and r["amount"] < int(bound) for r in mine)
        assert any(r["status"] == "open" and r["amount"] >= int(bound) for r in mine)
        met += 1
    assert met > 20


@pytest.mark.parametrize(
    ("site", "table"), [("registration", "registrations"), ("order", "orders")]
)
def test_the_words_say_every_value(site, table):
    for task in tasks(site):
        words = task.prompt.split("\n")[0]
        (goal,) = task.reference["goals"]
        assert goal["table"] == table
        for name, value in goal["where"].items():
            if name == "arrival":
                day, month, year = value.split("/")
                value = f"{int(day)} {MONTHS[int(month) - 1]} {year}"
            if name == "newsletter":
                assert ("does not want" in words) == (not value)
            elif name == "gift":
                assert ("without wrapping" in words) == (not value)
            else:
                assert value.lower() in words.lower(), (name, words)


def test_labels_of_controls_of_a_page_differ():
    # Else a reader could not tell which is meant.
    env = verigym.make("web/forms-v0")
    for difficulty, seed in itertools.product(env.difficulties, range(20)):
        env.reset(seed=seed, options={"difficulty": difficulty})
        over = False
        while not over:
            labels = re.findall(r'^\[\d+\] \w+ "([^"]*)"', env.view(), re.MULTILINE)
            assert len(labels) == len(set(labels))
            over = env.step(env.oracle())[2]


@pytest.mark.parametrize("site", list(SITES))
def test_nothing_done_earns_nothing(site):
    env = start(site, "8" if site == "claims" else "hard")
    assert finish(env) == 0.0


def test_a_second_registration_is_damage():
    env = start("registration")
    while (action := env.oracle()) != "done":
        env.step(action)
    again = [f"click {number(env, 'Register another')}"]
    env.step(again[0])
    name = number(env, "Full name")
    assert finish(env, f"type {name} Somebody Else", f"click {number(env, 'Send')}") == 0.0


def test_a_wrong_approval_cannot_be_mended():
    env = start("invoices")
    bound = env.task.reference["env"]["facts"]["bound"]
    wrong = next(
        int(m[1])
        for m in re.finditer(r'^\[(\d+)\] checkbox .*, (\d+) EUR, open"', env.view(), re.M)
        if int(m[2]) >= bound
    )
    env.step(f"click {wrong}")
    env.step(f"click {number(env, 'Approve ticked')}")
    with pytest.raises(RequestError, match="taken back"):
        env.oracle()
    assert finish(env) == 0.0


def test_approving_everything_earns_nothing():
    env = start("invoices")
    count = len(re.findall(r"^\[\d+\] checkbox", env.view(), re.M))
    first = int(re.search(r"^\[(\d+)\] checkbox", env.view(), re.M)[1])
    clicks = [f"click {n}" for n in range(first, first + count)]
    assert finish(env, *clicks, f"click {first + count}") == 0.0


def test_a_wizard_can_be_walked_back_and_mended():
    env = start("order", "hard")
    wrong = ["type 2 7", "click 7", "type 1 Nobody"]
    for action in wrong:
        env.step(action)
    over = False
    while not over:
        _, reward, over, truncated, _ = env.step(env.oracle())
        assert not truncated
    assert reward == 1.0


def test_servers_check_what_they_are_sent():
    env = start("registration", "hard")
    assert "Full name must be given." in env.step(f"click {number(env, 'Send')}")[0]
    assert "E-mail must be an address" in env.view()
    env = start("order", "hard")
    for value in ("0", "100", "x", "-1", "1" * 100):
        env.step(f"type 2 {value}")
        assert "Quantity must be from 1 to 99." in env.step(f"click {number(env, 'Next')}")[0]


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("click 3", BrowserAction("click", 3)),
        ("I press it.\nCLICK [3]", BrowserAction("click", 3)),
        ("type 2  a b ", BrowserAction("type", 2, "a b")),
        ("type 2", BrowserAction("type", 2)),
        ("select 4 With fish", BrowserAction("select", 4, "With fish")),
        ("done", BrowserAction("done")),
        ("done.", None),
        ("click", None),
        ("click 3 now", None),
        ("select 4", None),
        ("type 2 x\nthat is all", None),
        ("", None),
    ],
)
def test_the_last_line_is_the_action(reply, action):
    assert read_action(reply) == action


@pytest.mark.parametrize("action", ["click 99", "click 0", "type 3 x", "click 1", "select 2 Gold", "type 1 é", "type 1 " + "x" * 201, "hm"])  # fmt: skip
def test_what_cannot_be_done_is_told_and_changes_nothing(action):
    env = start("registration")
    before = env.view()
    observation, reward, over, _, info = env.step(action)
    assert observation.startswith(before)
    assert "Nothing was done" in observation
    assert (reward, over, info["valid_action"]) == (0.0, False, False)


def test_entering_and_taking_back_is_the_same_state():
    env = start("registration")
    key = env.state_key()
    for action in ("type 1 Ann", "type 1", "click 3", "click 3", "select 2 Week", "select 2 Day"):
        env.step(action)
    assert env.state_key() == key


@pytest.mark.slow
@pytest.mark.parametrize("site", ["registration", "rooms", "invoices"])
def test_equal_keys_have_equal_futures(site):
    env = start(site, max_turns=1000)
    kinds = re.findall(r"^\[(\d+)\] (\w+)", env.view(), re.MULTILINE)
    options = {"registration": "Week", "rooms": "Friday", "invoices": "open"}
    actions = [f"click {n}" for n, _ in kinds]
    actions += [f"type {n} 7" for n, role in kinds if role == "textbox"]
    actions += [f"select {n} {options[site]}" for n, role in kinds if role == "combobox"]
    futures, joined, queue = {}, 0, [env.snapshot()]
    while queue and len(futures) < 120:
        here = queue.pop(0)
        env.restore(here)
        key, future = env.state_key(), [env.view()]
        fresh = key not in futures
        for action in actions:
            env.restore(here)
            step = env.step(action)
            future.append((step[:4], step[4]["state_key"]))
            if fresh:
                queue.append(env.snapshot())
        joined += not fresh
        assert futures.setdefault(key, future) == future
    assert joined > 50


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["", "type 1 ", "click ", "select 2 "]))
def test_any_text_is_survived(text, before):
    env = start("registration", max_turns=5)
    observation, *_ = env.step(before + text)
    assert env.observation_space.contains(observation)


def test_pages_are_escaped():
    page = WebPage("<b>", ("<script>x()</script>", Control("textbox", "n", "a<b", '"><script>')))
    html = as_html(page)
    assert "<script>" not in html
    assert '"&gt;&lt;script' in html or "&quot;&gt;&lt;script" in html
    assert as_text(page, {"n": "y"}).endswith('[1] textbox "a<b" value "y"')


def test_a_task_of_no_site_is_the_authors_fault():
    env = start("rooms")
    task = env.sample_task(1)
    fields = {f: getattr(task, f) for f in task.__dataclass_fields__}
    with pytest.raises(TaskError, match="site"):
        env.reset(options={"task": verigym.Task(**{**fields, "reference": {"env": {"site": "x"}}})})


def test_another_browser_is_refused():
    with pytest.raises(RequestError, match="chromium"):
        verigym.make("web/forms-v0", browser="netscape")


def test_without_chromium_one_is_told_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "")
    env = verigym.make("web/forms-v0", browser="chromium")
    with pytest.raises(RequestError, match="on PATH"):
        env.reset(seed=1)


@pytest.mark.slow
def test_a_real_browser_shows_and_does_the_same():
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not on PATH, and CI needs it: apt-get install chromium")
        pytest.skip("chromium is not on PATH: apt-get install chromium")
    plain, real = (verigym.make("web/forms-v0", browser=b) for b in ("python", "chromium"))
    try:
        played = set()
        for difficulty, seed in itertools.product(("easy", "hard", "8"), range(12)):
            options = {"difficulty": difficulty}
            (site,) = plain.sample_task(seed, difficulty).tags
            if site in played:
                continue
            played.add(site)
            with ThreadPoolExecutor(1) as other:  # as the workers of a training run
                shown_there = other.submit(real.reset, seed=seed, options=options).result()
            assert shown_there == plain.reset(seed=seed, options=options)
            # Mistakes first, then the way of the oracle.
            for action in ODD if site == "registration" else ():
                assert real.step(action) == plain.step(action), action
            here, shown, over = real.snapshot(), real.view(), False
            while not over:
                action = plain.oracle()
                theirs, ours = real.step(action), plain.step(action)
                assert theirs == ours, (site, action)
                assert real.state == plain.state
                over = ours[2]
            assert ours[1] == 1.0
            # A session is a value: the browser goes back to where it was.
            real.restore(here)
            assert real.view() == shown
        assert played == set(SITES)
    finally:
        real.close()


def test_references_are_plain_data():
    for site in SITES:
        for task in tasks(site, 3):
            assert json.loads(json.dumps(task.reference)) == task.reference
    for level in range(7, 11):
        task = verigym.make("web/forms-v0").sample_task(1, level)
        assert json.loads(json.dumps(task.reference)) == task.reference


def test_several_chores_of_a_kind_are_all_to_be_done():
    env = verigym.make("web/forms-v0", difficulty=7)
    for site in ("registration", "order"):
        seed = next(s for s in range(100) if env.sample_task(s).tags == (site,))
        env.reset(seed=seed)
        assert env.task.prompt.startswith("Do all of these:\n1. ")
        rewards, over, acts = 0.0, False, []
        while not over:
            acts.append(env.oracle())
            _, reward, over, _, _ = env.step(acts[-1])
            rewards += reward
        assert rewards == 1
        env.reset(seed=seed)
        assert finish(env, *acts[: len(acts) // 2 + 1]) == 0
