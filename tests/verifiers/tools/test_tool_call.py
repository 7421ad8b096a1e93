"""tools/call: golden replies, the score of ToolRL against brute force, and hostile input."""

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym

MEGABYTE = 1 << 20


def judge(reference, reply, prompt="p", **params):
    task = verigym.Task(
        id="t",
        env_id="verigym/tests/t-v0",
        seed=0,
        prompt=prompt,
        difficulty="easy",
        reference=reference,
    )
    return verigym.make_verifier("tools/call", **params).verify(task, reply)


SCALARS = st.one_of(st.integers(-5, 5), st.booleans(), st.none(), st.text("abcäß .-", max_size=5))
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)
CALLS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["f", "g", "h"]),
        "arguments": st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3),
    }
)
SMALL_CALLS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["f", "g"]),
        "arguments": st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1), max_size=3),
    }
)


def openai(calls):
    return {
        "role": "assistant",
        "tool_calls": [
            {"id": str(i), "function": {**call, "arguments": json.dumps(call["arguments"])}}
            for i, call in enumerate(calls)
        ],
    }


SHAPES = [
    list,
    openai,
    json.dumps,
    lambda calls: f"```json\n{json.dumps(calls)}\n```",
    lambda calls: "So:" + "".join(f"<tool_call>{json.dumps(c)}</tool_call>" for c in calls),
]


@given(st.lists(CALLS, min_size=1, max_size=5), st.sampled_from(SHAPES))
def test_the_calls_wanted_are_right_in_every_shape(calls, shape):
    verdict = judge({"expected": calls}, shape(calls))
    assert (verdict.score, verdict.reason) == (1.0, "correct")
    assert set(verdict.parts.values()) == {1.0}


@given(
    st.lists(CALLS, min_size=1, max_size=5).flatmap(
        lambda c: st.tuples(st.just(c), st.permutations(c))
    )
)
def test_a_bag_has_no_order(drawn):
    calls, other = drawn
    assert judge({"expected": calls, "order": "bag"}, other).score == 1.0
    in_order = json.dumps(calls, sort_keys=True) == json.dumps(other, sort_keys=True)
    if in_order:
        assert judge({"expected": calls}, other).score == 1.0


@given(st.lists(CALLS, min_size=1, max_size=4), st.data())
def test_one_change_is_never_paid(calls, data):
    at = data.draw(st.integers(0, len(calls) - 1))
    changed = [dict(call, arguments=dict(call["arguments"])) for call in calls]
    how = data.draw(st.sampled_from(["value", "key", "name", "drop", "repeat"]))
    if how == "value":
        changed[at]["arguments"]["x"] = "another"
    elif how == "key":
        changed[at]["arguments"]["invented"] = None
    elif how == "name":
        changed[at]["name"] = "other"
    elif how == "drop":
        del changed[at]
    else:
        changed.insert(at, changed[at])
    for order in ("sequence", "bag"):
        verdict = judge({"expected": calls, "order": order}, changed, credit="parts")
        assert verdict.score < 1.0
        assert judge({"expected": calls, "order": order}, changed).score == 0.0


def toolrl(wanted, made):
    """R_max / S_max as the paper defines it, by trying every matching."""
    asked, given_ = Counter(c["name"] for c in wanted), Counter(c["name"] for c in made)
    names = (asked & given_).total() / (asked | given_).total()
    best = 0.0
    slots = [*range(len(made)), *[None] * len(wanted)]
    for chosen in set(itertools.permutations(slots, len(wanted))):
        total = 0.0
        for one, at in zip(wanted, chosen, strict=True):
            if at is None or made[at]["name"] != one["name"]:
                continue
            left, right = one["arguments"], made[at]["arguments"]
            union = left.keys() | right.keys()
            total += len(left.keys() & right.keys()) / len(union) if union else 1.0
            total += sum(key in right and right[key] == value for key, value in left.items())
        best = max(best, total)
    return (names + best) / (1 + len(wanted) + sum(len(c["arguments"]) for c in wanted))


@given(st.lists(SMALL_CALLS, min_size=1, max_size=3), st.lists(SMALL_CALLS, min_size=1, max_size=3))
def test_the_part_match_is_that_of_toolrl(wanted, made):
    verdict = judge({"expected": wanted, "order": "bag"}, made, credit="parts")
    assert verdict.parts["match"] == pytest.approx(toolrl(wanted, made))
    assert verdict.score == verdict.parts["match"]
    # Keeping the order can only cost.
    ordered = judge({"expected": wanted}, made)
    assert ordered.parts["match"] <= verdict.parts["match"] + 1e-12


PIECES = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<think>", "</think>", "```", "```json", "\n", "{", "}"),
        *("[", "]", '"name"', '"f"', ":", ",", '"arguments"', "{}", "1", "\\", '"'),
        '{"name": "f", "arguments": {}}',
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=25).map("".join), VALUES))
def test_garbage_never_raises_and_is_always_scored(reply):
    verdict = judge({"expected": [{"name": "f", "arguments": {"q": 1}}]}, reply)
    assert verdict.score == 0.0
    assert not verdict.fault


@given(st.text(), st.text())
def test_evidence_does_not_tell_what_was_wanted(wanted, made):
    secret = f"SECRET{wanted}"
    for reply in ([{"name": "f", "arguments": {"x": made}}], [{"name": "g"}], []):
        verdict = judge(
            {"expected": [{"name": "f", "arguments": {"x": secret, "HIDDEN": 1}}]}, reply
        )
        assert "SECRET" not in verdict.evidence
        assert "HIDDEN" not in verdict.evidence


DEEP = {"name": "f", "arguments": {"x": json.loads("[" * 100 + "]" * 100)}}
HOSTILE = {
    "megabyte of text": ("x" * (MEGABYTE + 1), "too_long"),
    "megabyte of tags": ("<tool_call>" * (MEGABYTE // 11), "bad_json"),
    "megabyte of closed tags": ("<tool_call></tool_call>" * (MEGABYTE // 23), "bad_json"),
    "megabyte of brackets": ("[" * MEGABYTE, "too_deep"),
    "megabyte of pairs": ("[" + "[]," * (MEGABYTE // 3 - 2) + "[]]", "too_many_calls"),
    "megabyte of quotes": ("[" * 60 + '"' * (MEGABYTE - 100), "bad_json"),
    "megabyte of fences": ("```\n" * (MEGABYTE // 4), "no_call"),
    "megabyte of backticks": ("`" * MEGABYTE, "no_call"),
    "megabyte of backslashes": ('["' + "\\" * (MEGABYTE - 10), "bad_json"),
    "megabyte of digits": (
        '{"name":"f","arguments":{"x":' + "9" * (MEGABYTE - 99) + "}}",
        "bad_json",
    ),
    "many calls": ([{"name": "f", "arguments": {}}] * 10_000, "too_many_calls"),
    "large data": ([{"name": "f", "arguments": {"x": "y" * MEGABYTE}}], "too_long"),
    "deep data": ([DEEP], "too_deep"),
    "lone surrogate": ('{"name":"f","arguments":{"x":"\ud800"}}', "not_text"),
    "escaped surrogate": ('{"name":"f","arguments":{"x":"\\ud800"}}', "bad_json"),
    "surrogate in data": ([{"name": "f\ud800"}], "not_json"),
    "NUL": ('{"name":"f\\u0000","arguments":{}}', "wrong_tool"),
    "64 alike": ([{"name": "f", "arguments": {"y": i}} for i in range(64)], "wrong_arguments"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if "megabyte" in n else ()) for n in HOSTILE],
)
def test_hostile_input_ends_at_once_with_a_verdict(name):
    # Quadratic work on a megabyte would run into the test's own time limit.
    reply, reason = HOSTILE[name]
    wanted = [{"name": "f", "arguments": {"x": 1}}]
    if name == "64 alike":
        wanted = [{"name": "f", "arguments": {"x": i, "y": -1}} for i in range(64)]
    verdict = judge({"expected": wanted, "order": "bag"}, reply)
    assert (verdict.score, verdict.reason) == (0.0, reason)


TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {},
        {"expected": {}},
        {"expected": [1]},
        {"expected": [{"arguments": {}}]},
        {"expected": [{"name": "f", "arguments": []}]},
        {"expected": [{"name": "f", "argument": {}}]},
        {"expected": [{"name": "f"}], "order": "any"},
        {"expected": [{"name": "f", "accept": {"x": 1}}]},
        {"expected": [{"name": "f", "optional": ["x"]}]},
        {"expected": [{"name": "f"}], "tools": {}},
        {"expected": [{"name": "f"}], "tools": [{}]},
        {"expected": [{"name": "f"}], "tools": [TOOL, TOOL]},
        {"expected": [{"name": "g"}], "tools": [TOOL]},
        {"expected": [{"name": "f", "optional": ["y"]}], "tools": [TOOL]},
        {"expected": [{"name": "f"}], "tools": [{"name": "f", "parameters": {"type": "whole"}}]},
        {
            "expected": [{"name": "f"}],
            "tools": [{"name": "f", "parameters": {"$ref": "http://127.0.0.1:9/x.json"}}],
        },
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault_without_a_score(reference):
    verdict = judge(reference, [{"name": "f", "arguments": {}}])
    assert verdict.score is None
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")


@pytest.mark.parametrize(
    "params",
    [{"order": "any"}, {"strings": "fuzzy"}, {"tolerance": 1}, {"tolerance": True}, {"credit": 1}],
)
def test_parameters_are_checked(params):
    with pytest.raises(verigym.RequestError):
        verigym.make_verifier("tools/call", **params)


# References as data sets of function calls have them: the types of other languages, and ground truth
# that the tool's own schema refuses.
def tool(required=(), **properties):
    parameters = {"type": "dict", "properties": properties, "required": list(required)}
    return [{"name": "f", "description": "", "parameters": parameters}]


ODD_TRUTH = {
    "null": (tool(x={"type": "string"}), {"x": None}, {}),
    "null for what must be there": (tool(["x"], x={"type": "string"}), {"x": None}, {}),
    "N/A": (tool(x={"type": "integer"}), {"x": "N/A"}, {}),
    "an empty text": (tool(x={"type": "integer"}), {"x": ""}, {}),
    "a text for a number": (tool(x={"type": "integer"}), {"x": "5"}, {}),
    "a number for a text": (tool(x={"type": "string"}), {"x": 5}, {}),
    "a float for a whole number": (tool(x={"type": "integer"}), {"x": 5.0}, {}),
    "a whole number for a float": (tool(x={"type": "float"}), {"x": 5}, {}),
    "a fraction for a whole number": (tool(x={"type": "integer"}), {"x": 0.5}, {}),
    "outside of an enum": (tool(x={"type": "string", "enum": ["a", "b"]}), {"x": "c"}, {}),
    "a value for a list": (tool(x={"type": "array", "items": {"type": "string"}}), {"x": "a"}, {}),
    "a list of other items": (tool(x={"type": "array", "items": {"type": "string"}}), {"x": [1]}, {}),
    "alternatives inside": (
        tool(x={"type": "dict", "properties": {"y": {"type": "string"}}}), {"x": {"y": ["a", "b"]}}, {}),
    "a tuple": (tool(x={"type": "tuple", "items": {"type": "float"}}), {"x": [1, 2.5]}, {}),
    "nested lists": (
        tool(x={"type": "array", "items": {"type": "array", "items": {"type": "any"}}}), {"x": [[1, "a"], []]}, {}),
    "any": (tool(x={"type": "any"}), {"x": {"y": [None, 1]}}, {}),
    "a required argument left out": (tool(["x", "y"], x={"type": "any"}), {"x": 1}, {}),
    "an argument that is not listed": (
        [{"name": "f", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}],
        {"x": 1}, {}),
    "draft 3": (tool(x={"type": "string", "required": True}), {"x": "a"}, {}),
    "Java": (tool(x={"type": "ArrayList", "items": {"type": "String"}}, y={"type": "long"}),
             {"x": "[\"a\"]", "y": "5"}, {}),
    "JavaScript": (tool(x={"type": "Boolean"}, y={"type": "float"}), {"x": "true", "y": "0.5"}, {}),
    "optional alone": (tool(x={"type": "string"}), {}, {"optional": ["x"]}),
    "any value of another": (tool(x={"type": "string"}, y={"type": "string"}), {"x": None}, {"any": ["y"]}),
    "accepted beside": (tool(x={"type": "string"}), {"x": None}, {"accept": {"x": [7, "a"]}}),
    "a name with a space": ([{"name": "f ", "parameters": {"type": "dict", "properties": {}}}], {}, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD_TRUTH.values(), ids=ODD_TRUTH)
def test_the_reference_goes_before_the_schema(case):
    tools, arguments, more = case
    name = tools[0]["name"]
    expected = {"name": name, "arguments": arguments, **more}
    given = {**arguments, **dict.fromkeys(more.get("any", ()), "z")}
    for order in ("sequence", "bag", "set"):
        reference = {"tools": tools, "expected": [expected], "order": order}
        verdict = judge(reference, [{"name": name, "arguments": given}])
        assert (verdict.score, verdict.reason) == (1.0, "correct"), verdict
        for wrong in ("another value", {"no": 1}, [[]]):
            for key in arguments:
                verdict = judge(reference, [{"name": name, "arguments": {**given, key: wrong}}])
                assert verdict.score == 0.0, (key, wrong)


@pytest.mark.parametrize(
    ("tools", "arguments", "given", "score"),
    [
        (tool(x={"type": "integer"}), {"x": "5"}, {"x": 5}, 1.0),
        (tool(x={"type": "string"}), {"x": 5}, {"x": "5"}, 1.0),
        (tool(x={"type": "Boolean"}), {"x": "True"}, {"x": True}, 1.0),
        (tool(x={"type": "array"}), {"x": "[1, 2]"}, {"x": [1, 2]}, 1.0),
        (tool(x={"type": "string"}), {"x": None}, {}, 1.0),
        (tool(["x"], x={"type": "string"}), {"x": None}, {}, 0.0),
        (tool(x={"type": ["string", "null"]}), {"x": None}, {}, 0.0),
        # What fits the schema is read as it stands.
        (tool(x={"type": "string"}), {"x": "5"}, {"x": 5}, 0.0),
        (tool(x={"type": "integer"}), {"x": 5}, {"x": "5"}, 0.0),
        (tool(x={"type": "any"}), {"x": 5}, {"x": "5"}, 0.0),
        (tool(x={"type": "integer"}), {"x": "5"}, {"x": 6}, 0.0),
        (tool(x={"type": "integer"}), {"x": "N/A"}, {"x": 0}, 0.0),
        (tool(x={"type": "integer"}), {"x": "N/A"}, {}, 0.0),
    ],
)
def test_a_value_that_the_schema_refuses_is_also_right_in_its_type(tools, arguments, given, score):
    reference = {"tools": tools, "expected": [{"name": "f", "arguments": arguments}]}
    assert judge(reference, [{"name": "f", "arguments": given}]).score == score


def test_an_optional_argument_may_be_left_out_whatever_its_default():
    tools = tool(x={"type": "string", "default": "m"})
    one = {"name": "f", "arguments": {"x": "c"}, "optional": ["x"]}
    reference = {"tools": tools, "expected": [one]}
    scores = {
        json.dumps(given): judge(reference, [{"name": "f", "arguments": given}]).score
        for given in ({}, {"x": "c"}, {"x": "m"})
    }
    assert scores == {"{}": 1.0, '{"x": "c"}': 1.0, '{"x": "m"}': 0.0}


def test_any_value_must_fit_the_schema():
    tools = tool(x={"type": "string"}, y={"type": "integer", "minimum": 3})
    one = {"name": "f", "arguments": {"x": None}, "any": ["y"]}
    for y, score in ((3, 1.0), (2, 0.0), ("3", 0.0), (None, 0.0)):
        made = [{"name": "f", "arguments": {"x": None, "y": y}}]
        assert judge({"tools": tools, "expected": [one]}, made).score == score


@pytest.mark.parametrize("key", ["name", "arguments", "parameters", "input"])
@pytest.mark.parametrize("value", ["f", "g", {}])
def test_two_calls_in_one_are_refused(key, value):
    call = {key: value, "type": "function", "function": {"name": "f", "arguments": {}}}
    for reply in ([call], {"role": "assistant", "tool_calls": [call]}, json.dumps(call)):
        verdict = judge({"expected": [{"name": "f"}]}, reply)
        assert (verdict.score, verdict.reason) == (0.0, "bad_call")


QWEN = "<tool_call><function=f><parameter=a>{}</parameter></function></tool_call>"


@pytest.mark.parametrize(
    ("rule", "text", "value"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, "\n5\n", 5),
        ({"type": "string"}, "5", "5"),
        ({"type": "str"}, "\na b\n", "a b"),
        ({"type": "string"}, '"a"', '"a"'),
        ({"type": "boolean"}, "True", True),
        ({"type": ["string", "null"]}, "null", None),
        ({"type": ["string", "integer"]}, "5", 5),
        ({"type": ["string", "null"]}, "5", "5"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "None", None),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"type": "array"}, '["a"]', ["a"]),
        ({}, "5", 5),
        ({}, "Paris", "Paris"),
    ],
)
def test_values_written_as_text_have_the_type_of_the_schema(rule, text, value):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": rule}}}]
    wanted = [{"name": "f", "arguments": {"a": value}}]
    verdict = judge({"tools": tools, "expected": wanted}, QWEN.format(text))
    assert (verdict.score, verdict.reason) == (1.0, "correct")
