"""Effects of an action, its reward, and the contents of the state key."""

import hashlib
import itertools
import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym.envs.search.library import WorldLibrary, world_library
from verigym.envs.search.toolbox import WINDOW, Act, as_call, read_act
from verigym.envs.search.world import build_world
from verigym.errors import RequestError, TaskError

PAGES = 2000


def make(name="hops", **kwargs):
    return verigym.make(f"search/{name}-v0", world=2, pages=PAGES, **kwargs)


def actions_of(env):
    """Some that help, some that do not."""
    route = env.task.reference["route"]
    return [
        *(as_call("open", page=page) for _, page in route),
        as_call("search", query=route[0][0]),
        as_call("search", query=route[0][0], skip=10),
        as_call("search", query="nosuchword"),
        as_call("find", text="its"),
        as_call("open", page="p99999"),
        "I had better search.",
    ]


def test_the_world_is_the_same_everywhere():
    # If this fails, every task has changed: raise the versions of all search environments.
    world = build_world(0, 0, 1000)
    library = WorldLibrary(world)
    pages = [library.open(world.page_id(page)) for page in range(world.pages)]
    told = "\n".join(f"{page.id} {page.title}\n{page.text}" for page in pages)
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == "39ffbae91e772ff9"
    hits = [[hit.id for hit in library.search(page.title, 0)] for page in pages[::50]]
    assert hashlib.sha256(json.dumps(hits).encode()).hexdigest()[:16] == "b99d226f06c4f3bf"


def test_worlds_differ_by_seed_and_split():
    titles = [build_world(seed, part, 1000).titles[:700] for seed in (0, 1) for part in (0, 1)]
    for one, other in itertools.combinations(titles, 2):
        assert not set(one) & set(other)


def test_titles_and_ids_are_unique_and_plain():
    world = build_world(3, 0, 20_000)
    assert world.pages == len(world.titles) == len({t.lower() for t in world.titles}) == 20_000
    assert len(world.by_id) == 20_000
    assert all(title.isascii() for title in world.titles)


def test_a_split_has_a_world_of_its_own():
    worlds = {
        split: make(split=split).sample_task(1).reference["world"] for split in verigym.SPLITS
    }
    assert worlds == {"train": [2, 0, PAGES], "validation": [2, 1, PAGES], "test": [2, 2, PAGES]}
    # A task can be played by an instance with another world.
    env = verigym.make("search/hops-v0")
    task = make(split="test").sample_task(1)
    env.reset(options={"task": task})
    while not (step := env.step(env.oracle()))[2]:
        pass
    assert step[1] == 1.0


def test_equal_scores_go_by_page_and_results_can_be_paged():
    library = world_library(2, 0, PAGES)
    first, second = library.search("firm", 0), library.search("firm", 10)
    assert len({hit.id for hit in first + second}) == 20
    assert library.search("firm", 0) == first
    assert library.search("zzzz", 0) == []


@pytest.mark.slow
def test_results_show_whom_a_page_is_about_and_no_link_or_date():
    # Else one search for ten names would stand for opening ten pages.
    library = world_library(0, 0, 20000)
    for page in range(0, 20000, 97):
        title = library.world.titles[page]
        for hit in library.search(title, 0)[:1]:
            assert not re.search(r"\[p\d|\d \w+ \d{4}|Status", hit.start), hit


def test_bm25_ranks_as_the_formula_does():
    from math import log

    from verigym.envs.search.index import Index

    texts = ["red fox red", "red hen", "the fox and the hen and the dog", "a cow", "red"]
    split = [text.split() for text in texts]
    mean = sum(map(len, split)) / len(split)

    def score(query, words):
        total = 0.0
        for term in query:
            df = sum(term in other for other in split)
            tf = words.count(term)
            idf = log(1 + (len(split) - df + 0.5) / (df + 0.5))
            total += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / mean))
        return total

    index = Index(texts)
    for query in (["red"], ["fox", "red"], ["hen", "dog"], ["cow", "red", "hen"]):
        scores = {n: score(query, words) for n, words in enumerate(split)}
        right = sorted((n for n in scores if scores[n]), key=lambda n: (-scores[n], n))
        assert index.search(" ".join(query), 10) == right


def test_long_pages_are_read_in_windows_and_searched():
    env = make()
    env.reset(seed=1)
    library = env.library(env.task)
    world = library.world
    page = library.open(
        world.page_id(
            max(range(world.pages), key=lambda p: len(library.open(world.page_id(p)).text))
        )
    )
    assert len(page.text) > WINDOW
    first = env.step(as_call("open", page=page.id))[0]
    rest = env.step(as_call("open", **{"page": page.title, "from": WINDOW}))[0]
    assert f'"from": {WINDOW}' in first
    assert page.text[WINDOW:][:50] in rest
    found = env.step(as_call("find", text="its CURRENCY"))[0]
    assert "Its currency is the" in found


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (as_call("search", query="a  b"), Act("search", "a b", 0)),
        ('{"name": "open", "arguments": {"page": "p1", "from": 3}}', Act("open", "p1", 3)),
        (as_call("answer", answer=3, citations=["p1"]), Act("answer", "3", 0, ("p1",))),
        (as_call("answer", answer="x", citations=["[p1]", " p2 "]), Act("answer", "x", 0, ("p1", "p2"))),
        (as_call("open", page="[p1]"), Act("open", "p1")),
        (as_call("find", text="[p1]"), Act("find", "[p1]")),
        (json.dumps({"role": "assistant", "tool_calls": [{"function": {"name": "find", "arguments": '{"text": "x"}'}}]}), Act("find", "x")),
        ('[TOOL_CALLS][{"name": "open", "arguments": {"page": "p1", "from": 3}}]', Act("open", "p1", 3)),
        ('[TOOL_CALLS]open[ARGS]{"page": "p1", "from": 3}', Act("open", "p1", 3)),
        ('[TOOL_CALLS]open[CALL_ID]a1[ARGS]{"page": "p1"}', Act("open", "p1")),
        ('<|python_tag|>{"name": "find", "parameters": {"text": "x"}}', Act("find", "x")),
        ('<|tool_call_begin|>functions.open:0<|tool_call_argument_begin|>{"page": "p1"}<|tool_call_end|>', Act("open", "p1")),
        ("<function=open>\n<parameter=page>\np1\n</parameter>\n<parameter=from>\n3\n</parameter>\n</function>", Act("open", "p1", 3)),
        ("<tool_call>open\n<arg_key>page</arg_key>\n<arg_value>7</arg_value></tool_call>", Act("open", "7")),
        ('I look it up.\n```json\n{"name": "find", "arguments": {"text": "x"}}\n```', Act("find", "x")),
    ],
)  # fmt: skip
def test_calls_are_read(action, expected):
    assert read_act(action) == expected


@pytest.mark.parametrize(
    "action",
    [
        "",
        "search Kelvara",
        as_call("search"),
        as_call("search", query=""),
        as_call("search", query=["x"]),
        as_call("search", query="x", skip=-1),
        as_call("search", query="x", skip=True),
        as_call("search", query="x", more=1),
        as_call("open", page="x" * 301),
        as_call("delete", page="p1"),
        as_call("answer", citations=["p1"]),
        as_call("answer", answer="x", citations="p1"),
        as_call("search", query="x") * 2,
        "<tool_call>{",
    ],
)
def test_what_is_no_call_changes_nothing_but_the_view(action):
    env = make()
    env.reset(seed=1)
    env.step(as_call("open", page=env.task.reference["route"][0][1]))
    page = env.state.page
    observation, reward, over, _, info = env.step(action)
    assert (reward, over, info["valid_action"], env.state.page) == (0.0, False, False, page)
    assert observation.startswith("Invalid call")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["search", "open", "find", "answer"]))
def test_any_text_is_survived_and_views_are_bounded(text, name):
    env = make(max_turns=1000)
    env.reset(seed=1)
    env.step(as_call("open", page=env.task.reference["route"][0][1]))
    argument = {"search": "query", "open": "page", "find": "text", "answer": "answer"}[name]
    for action in (text, as_call(name, **{argument: text})):
        if not env.snapshot().done:
            observation, reward, *_ = env.step(action)
            assert env.observation_space.contains(observation)
            assert reward == 0.0


@pytest.mark.parametrize("name", ["hops", "long", "noise"])
@pytest.mark.parametrize("gain", [0.1, 0.5])
def test_information_gain_is_paid_back(name, gain):
    # Whatever is done, the return is the score: nothing can be earned by reading alone.
    env = make(name, gain=gain, difficulty="medium")
    for seed in range(12):
        env.reset(seed=seed)
        rng = random.Random(seed)
        total = best = 0.0
        over = False
        while not over:
            action = env.oracle() if rng.random() < seed / 12 else rng.choice(actions_of(env))
            _, reward, terminated, truncated, info = env.step(action)
            total += reward
            best = max(best, total)
            over = terminated or truncated
        assert total == pytest.approx(info["verdict"].score)
        assert best <= max(gain, info["verdict"].score) + 1e-9


def test_gain_is_paid_once_for_each_page_that_supports():
    env = make(gain=0.4, difficulty="easy")
    env.reset(seed=3)
    (_, one), (_, two) = env.task.reference["route"]
    paid = [env.step(as_call("open", page=page))[1] for page in (one, one, "p00007", two, one)]
    assert sum(paid) == pytest.approx(0.4)
    assert paid[1] == paid[2] == paid[4] == 0


def test_repeating_costs_and_no_more_than_ten_times():
    env = make(redundancy=0.05, max_turns=100)
    env.reset(seed=3)
    query = as_call("search", query="firm")
    rewards = [env.step(query)[1] for _ in range(15)]
    assert rewards[0] == 0
    assert rewards[1:11] == pytest.approx([-0.05] * 10)
    assert rewards[11:] == [0] * 4
    assert env.step(as_call("search", query="FIRM", skip=10))[1] == 0
    assert env.step("nonsense")[1] == 0


@pytest.mark.parametrize("name", ["gain", "redundancy"])
@pytest.mark.parametrize("value", [-0.1, 0.6, float("nan")])
def test_options_are_bounded(name, value):
    with pytest.raises(RequestError, match=name):
        make(**{name: value})


@pytest.mark.parametrize("kwargs", [{}, {"gain": 0.2}, {"redundancy": 0.02}, {"gain": 0.2, "redundancy": 0.02}])  # fmt: skip
def test_equal_keys_have_equal_futures(kwargs):
    env = make(max_turns=1000, difficulty="easy", **kwargs)
    env.reset(seed=3)
    actions = [*actions_of(env), as_call("answer", answer="x", citations=[])]
    futures, paths, queue = {}, 0, [env.snapshot()]
    for depth in range(3 if kwargs else 4):
        following = []
        for here in queue:
            env.restore(here)
            key, future, view = env.state_key(), [], env.view()
            for action in actions:
                env.restore(here)
                step = env.step(action)
                future.append((step[:4], step[4]["state_key"]))
                if not step[2] and key not in futures:
                    following.append(env.snapshot())
            paths += key in futures
            assert futures.setdefault(key, (view, future)) == (view, future), depth
        queue = following
    assert paths >= 8


def test_without_options_the_key_has_no_history():
    env = make()
    env.reset(seed=3)
    (_, one), (_, two) = env.task.reference["route"]
    keys = []
    for pages in ((one,), (two, one), ("p00007", two, two, one)):
        env.reset(seed=3)
        for page in pages:
            env.step(as_call("open", page=page))
        keys.append(env.state_key())
    assert len(set(keys)) == 1


@pytest.mark.parametrize("where", [None, [0, 0], [0, 3, 1000], [0, 0, 10**9], ["0", 0, 1000]])
def test_a_task_of_no_world_is_the_authors_fault(where):
    env = make()
    task = make().sample_task(1)
    bad = verigym.Task(**{**{f: getattr(task, f) for f in task.__dataclass_fields__}, "reference": {**task.reference, "world": where}})  # fmt: skip
    env.reset(options={"task": bad})
    with pytest.raises(TaskError, match="world"):
        env.step(as_call("search", query="x"))
