"""Stateful tool environments: calls, faults, states, and what must not be paid."""

import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import verigym
from verigym.envs.tools.api_tools import API
from verigym.envs.tools.bank_tools import BANK
from verigym.envs.tools.home_tools import HOME
from verigym.envs.tools.look_up import choose_tool, find_rows, values_of
from verigym.envs.tools.office_tools import OFFICE
from verigym.envs.tools.shop_tools import SHOP
from verigym.envs.tools.tool import Refused

STATEFUL = ["office", "shop", "bank", "home", "api-docs"]
WORLDS = (OFFICE, SHOP, BANK, HOME, API)


def call(tool, /, **arguments):
    return json.dumps({"name": tool, "arguments": arguments})


def made(name, seed=1, difficulty="medium", **kwargs):
    env = verigym.make(f"tools/{name}-v0", **kwargs)
    env.reset(seed=seed, options={"difficulty": difficulty})
    return env


def plan_of(env):
    return [(name, arguments) for name, arguments, _ in env.task.reference["env"]["plan"]]


def play(env, actions):
    """The reward of the last action, and its verdict's reason."""
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return reward, info["verdict"].reason
    raise AssertionError("the episode did not end")


def random_call(env, rng):
    """A call that fits its schema, with ids and texts that occur in the world."""
    tables = env.world.as_rows(env.state.tables)
    texts = [
        v for rows in tables.values() for row in rows for v in row.values() if isinstance(v, str)
    ]
    tool = rng.choice(env.tools()[:-1])["function"]
    arguments = {}
    for name, rule in tool["parameters"]["properties"].items():
        if name not in tool["parameters"]["required"] and rng.random() < 0.5:
            continue
        if "enum" in rule:
            arguments[name] = rng.choice(rule["enum"])
        elif rule["type"] == "integer":
            arguments[name] = max(rule.get("minimum", 0), rng.choice([rng.randint(1, 20), 5, 101]))
        elif rule["type"] == "boolean":
            arguments[name] = rng.random() < 0.5
        elif rule["type"] == "array":
            arguments[name] = rng.sample(texts, 2)
        elif rule["type"] == "object":
            arguments[name] = {}
        else:
            arguments[name] = rng.choice([*texts, "2026-03-05", "09:00", "10:00"])
    return call(tool["name"], **arguments)


@pytest.mark.parametrize("name", STATEFUL)
def test_a_bad_call_says_why_costs_a_turn_and_loses_nothing(name):
    env = made(name)
    some = env.tools()[0]["function"]["name"]
    before = env.state.tables
    for turn, (action, told) in enumerate(
        [
            ("I shall do it.", "no call was found"),
            ("{", "not JSON"),
            ('<tool_call>{"name": 3}</tool_call>', "must have a name"),
            (call("no_such_tool"), "there is no tool 'no_such_tool'"),
            (call(some, no_such_argument=1), "no argument 'no_such_argument'"),
            (json.dumps([json.loads(call("finish"))] * 9), "at most 8"),
            ('{"name": "finish", "name": "x"}', "twice"),
        ],
        1,
    ):
        observation, reward, terminated, _, info = env.step(action)
        assert told in observation
        assert "error" in observation
        assert (reward, terminated, info["valid_action"]) == (0.0, False, False)
        assert env.state.tables == before
        assert env.snapshot().turn == turn
    assert play(env, [call(n, **a) for n, a in plan_of(env)] + [call("finish")])[0] == 1.0


@pytest.mark.parametrize("name", STATEFUL)
@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_shortcuts_are_not_paid(name, difficulty):
    for seed in range(4):
        env = made(name, seed, difficulty)
        start, plan = env.snapshot(), plan_of(env)
        assert play(env, [call("finish")]) == (0.0, "goal_not_met")
        # Stopping one step early.
        env.restore(start)
        steps = [call(n, **a) for n, a in plan]
        assert play(env, [*steps[:-1], call("finish")])[0] == 0.0
        # All of it, and something more.
        extra = {
            "office": call("write_file", path="/x.txt", content="x"),
            "shop": call("log_outcome", customer=1, request="street", outcome="done"),
            "bank": call("set_card_limit", card=1, limit=77),
            "home": call("add_to_shopping", thing="milk"),
            "api-docs": None,
        }[name]
        if extra:
            env.restore(start)
            reward, reason = play(env, [*steps, extra, call("finish")])
            assert reward == 0.0
            assert reason in ("collateral", "goal_not_met")
        # And exactly that, in as few messages as may be.
        env.restore(start)
        calls = [{"name": n, "arguments": a} for n, a in plan] + [{"name": "finish"}]
        batches = [json.dumps(calls[i : i + 8]) for i in range(0, len(calls), 8)]
        assert play(env, batches) == (1.0, "correct")


@pytest.mark.parametrize("name", STATEFUL)
def test_what_is_done_before_the_limit_counts_and_time_ends(name):
    env = made(name, max_turns=3)
    assert play(env, [call("no_such_tool")] * 3) == (0.0, "goal_not_met")
    env = made(name, difficulty="easy", max_turns=1)
    steps = [{"name": n, "arguments": a} for n, a in plan_of(env)]
    assert play(env, [json.dumps(steps)])[0] == 1.0


@pytest.mark.parametrize("name", STATEFUL)
def test_random_calls_earn_nothing_and_keep_the_laws_of_states(name):
    """Equal keys are equal states; snapshots go on alike, here, elsewhere and pickled."""
    env, other = made(name), made(name, 2)
    seen = {}
    for seed in range(6):
        env.reset(seed=1, options={"difficulty": "medium"})
        rng, over, total = random.Random(seed), False, 0.0
        while not over:
            here, state = env.snapshot(), env.state
            assert seen.setdefault(env.state_key(), state) == state
            action = random_call(env, rng)
            step = env.step(action)
            after = env.snapshot()
            for start in (here, pickle.loads(pickle.dumps(here))):
                other.restore(start)
                assert other.step(action) == step
                assert other.snapshot() == after
            if not step[4]["valid_action"]:
                assert env.state.tables == state.tables
            total += step[1]
            over = step[2] or step[3]
        assert total == 0.0


@pytest.mark.parametrize("name", STATEFUL)
def test_no_tool_shows_the_goals_or_hidden_tables(name):
    env = made(name, difficulty="hard")
    start = env.snapshot()
    rng = random.Random(3)
    for _ in range(60):
        env.restore(start)
        observation = env.step(random_call(env, rng))[0]
        for secret in ("goals", '"plan"', "pushes", '"labels"', '"codes"'):
            assert secret not in observation


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_tools_name_tables_that_exist_and_describe_themselves(world):
    for tool in world.tools.values():
        assert set(tool.writes) <= set(tool.tables) <= set(world.tables)
        assert tool.about.endswith(".")
        assert tool.optional <= set(tool.parameters)
        assert json.loads(tool.line)["parameters"]["additionalProperties"] is False


def test_a_call_that_fails_half_way_leaves_nothing():
    rows = {name: [] for name in SHOP.tables}
    rows["orders"] = [
        {"id": 101, "customer": 1, "bought": "", "state": "sent", "delivered": "", "street": ""}
    ]
    rows["items"] = [
        {"id": 1, "order_id": 101, "product": 1, "price": 5, "state": "bought"},
        {"id": 2, "order_id": 101, "product": 1, "price": 5, "state": "returned"},
    ]
    tables = SHOP.as_tables(rows)
    with pytest.raises(Refused, match="item 2 is returned already"):
        SHOP.call(tables, SHOP.tools["return_order"], {"order": 101})
    after, _ = SHOP.call(tables, SHOP.tools["return_item"], {"item": 1})
    assert [row["state"] for row in SHOP.as_rows(after)["items"]] == ["returned", "returned"]
    assert SHOP.as_rows(tables) == rows


def test_rows_that_are_new_never_take_the_number_of_one_that_was_there():
    env = made("office")
    last = env.world.as_rows(env.state.tables)["mails"][-1]["id"]
    env.step(call("delete_mail", mail=last))
    env.step(call("send_mail", to="a@b.example", subject="s", body="b"))
    assert env.world.as_rows(env.state.tables)["mails"][-1]["id"] > 1000


def test_texts_that_cannot_be_stored_or_shown_are_refused_or_escaped():
    env = made("office")
    for bad in ("\\ud800", "a\\u0000b"):
        action = '{"name": "write_file", "arguments": {"path": "/x", "content": "' + bad + '"}}'
        assert not env.step(action)[4]["valid_action"]
    assert env.step(call("write_file", path="/é.txt", content="ü 漢"))[4]["valid_action"]
    observation = env.step(call("list_files"))[0]
    assert observation.isascii()
    assert env.observation_space.contains(observation)
    assert not env.step(call("read_mail", mail=10**30))[4]["valid_action"]
    assert not env.step(call("read_mail", mail=True))[4]["valid_action"]
    assert not env.step(call("write_file", path="/x", content="y" * 4001))[4]["valid_action"]


def test_threads_do_not_see_each_other():
    """Databases are shared between calls; what one call sees must be its own tables."""
    envs = [made("bank", seed) for seed in range(8)]

    def balances(env):
        told = [env.step(call("list_accounts"))[0] for _ in range(4)]
        return told, env.world.as_rows(env.state.tables)["accounts"]

    with ThreadPoolExecutor(8) as threads:
        for told, accounts in threads.map(balances, envs):
            assert all(json.loads(line)["result"] == accounts for line in told)


def test_tools_are_published_where_policies_can_read_them():
    for name in [*STATEFUL, "call", "multi"]:
        env = verigym.make(f"tools/{name}-v0")
        _, info = env.reset(seed=3)
        assert info["tools"] == env.tools() == env.tools(env.task)
        assert all(tool["type"] == "function" for tool in info["tools"])
        for tool in info["tools"]:
            assert json.dumps(tool["function"]) in env.task.prompt


def test_distractors_grow_with_difficulty():
    for name in ("office", "shop", "bank", "home"):
        counts = [len(made(name, 1, d).tools()) for d in ("easy", "medium", "hard")]
        assert counts == sorted(set(counts))


def test_a_list_of_all_numbers_is_no_answer():
    """A mail that lists all phone numbers is not paid if one of them is asked for."""
    tried = 0
    for seed in range(40):
        env = made("office", seed, "easy")
        ((name, arguments), *rest) = plan_of(env)
        if name == "send_mail" and not rest:
            phones = [row["phone"] for row in env.world.as_rows(env.state.tables)["contacts"]]
            told = {**arguments, "body": " ".join(phones)}
            assert play(env, [call(name, **told), call("finish")])[0] == 0.0
            tried += 1
    assert tried


def test_keys_forget_the_way():
    """The same changes in another order, and changes undone, lead to the same key."""
    env = made("bank")
    limits = {c["id"]: c["day_limit"] for c in env.world.as_rows(env.state.tables)["cards"]}
    one, two = (call("set_card_limit", card=card, limit=77) for card in (1, 2))
    back = call("set_card_limit", card=1, limit=limits[1])
    look = call("list_cards")
    start = env.snapshot()

    def key_after(*actions):
        env.restore(start)
        for action in (*actions, look):
            key = env.step(action)[4]["state_key"]
        return key

    assert key_after(one, two) == key_after(two, one) == key_after(look, two, one, one)
    assert key_after(one, back) == key_after() == key_after("junk")
    assert len({key_after(), key_after(one), key_after(two), key_after(one, two)}) == 4


def test_arguments_are_found_in_rows_that_are_counted():
    rows = ((1, "checking", 900), (2, "savings", 1), (3, "a plan for savings", 2))
    assert find_rows(rows, "savings") == ([rows[1], rows[2]], 3)
    assert find_rows(rows, 1) == ([rows[0], rows[1]], 3)
    assert list(values_of({"path": "/a", "params": {"key": 4, "all": [5, 6]}})) == ["/a", 4, 5, 6]
    assert choose_tool(["pay", "transfer", "finish"], "transfer") == 2
