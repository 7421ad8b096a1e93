"""text/schema: golden documents, laws over random ones, and hostile input."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.verifiers.text.strict_json import NotJson, read_json

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
    return verigym.make_verifier("text/schema", **params).verify(task, reply)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
ANY = {"kind": "json", "schema": True}
XML = {
    "kind": "xml",
    "rules": {
        "root": "r",
        "elements": {"r": {"children": "(a, b*, (c | d)?)"}, "a": {}, "b": {}, "c": {}, "d": {}},
    },
}


@given(VALUES, st.sampled_from([None, 2]))
def test_strict_json_reads_what_the_standard_reader_reads(value, indent):
    text = json.dumps(value, indent=indent)
    assert read_json(text) == json.loads(text)
    assert judge(ANY, text).score == 1.0


@pytest.mark.parametrize("mark", ["<answer>", "</think>", "<answer>1</answer>"])
def test_marks_inside_the_strings_of_a_document_are_values(mark):
    schema = {"kind": "json", "schema": {"properties": {"a": {"const": mark}}, "required": ["a"]}}
    assert judge(schema, json.dumps({"a": mark})).score == 1.0
    assert judge(schema, json.dumps({"a": mark}) + " ").score == 1.0
    assert judge(ANY, f"[[[ so {mark} <answer>[]</answer>").score == 1.0


@given(st.text('{}[]",:12\\ntrue ', max_size=30))
def test_strict_json_accepts_nothing_that_the_standard_reader_refuses(text):
    try:
        value = read_json(text)
    except NotJson:
        return
    assert value == json.loads(text)


@given(st.lists(st.sampled_from("abcd"), max_size=6))
def test_a_content_model_is_a_regular_expression(children):
    text = "<r>" + "".join(f"<{name}/>" for name in children) + "</r>"
    wanted = re.fullmatch("ab*[cd]?", "".join(children)) is not None
    assert judge(XML, text).score == float(wanted)


@given(st.text("ab", max_size=12))
def test_a_pattern_means_what_it_means_elsewhere(text):
    pattern = "(ab|a)*b?"
    verdict = judge({"kind": "grammar", "grammar": pattern}, text)
    assert verdict.score == float(bool(text) and re.fullmatch(pattern, text) is not None)


REFERENCES = st.sampled_from(
    [ANY, {"kind": "json", "schema": {"type": "object"}}, XML, {"kind": "xml"}]
)


@given(REFERENCES, st.one_of(st.text(), st.text('<>/ab&;![]{}":'), VALUES))
def test_garbage_never_raises_and_is_always_scored(reference, reply):
    assert judge(reference, reply).score in (0.0, 1.0)


def test_evidence_does_not_tell_a_hidden_constant():
    reference = {"kind": "json", "schema": {"properties": {"a": {"const": "SECRET"}}}}
    verdict = judge(reference, '{"a": "x"}')
    assert verdict.evidence == "at /a: fails 'const'"


BOMB = (
    "<!DOCTYPE a [<!ENTITY a0 'x'>"
    + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 10))
    + "]><a>&a9;</a>"
)
HOSTILE = {
    "megabyte": ("x" * (MEGABYTE + 1), {"too_long"}),
    "brackets": ("[" * MEGABYTE, {"too_deep", "not_well_formed"}),
    "tags": ("<a>" * (MEGABYTE // 3), {"bad_json", "too_deep"}),
    "siblings": ("<a>" + "<b/>" * (MEGABYTE // 5) + "</a>", {"bad_json", "too_long"}),
    "attributes": (
        "<a " + " ".join(f"a{i}=''" for i in range(90_000)) + "/>",
        {"bad_json", "valid"},
    ),
    "billion laughs": (BOMB, {"bad_json", "refused_xml"}),
    "comment": ("<a><!--" + "-" * (MEGABYTE - 20), {"bad_json", "not_well_formed"}),
    "cdata": ("<a>" + "<![CDATA[" * 100_000, {"too_deep", "not_well_formed"}),
    "pairs": ("[" + "[]," * (MEGABYTE // 3 - 2) + "[]]", {"valid", "not_well_formed"}),
    "keys": ("{" + ",".join(f'"{i}":1' for i in range(90_000)) + "}", {"valid", "not_well_formed"}),
    "quotes": ('"' * MEGABYTE, {"bad_json", "not_well_formed"}),
    "surrogate": ("\ud800", {"not_text"}),
    "NUL": ("\0", {"bad_json", "not_well_formed"}),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n == "pairs" else ()) for n in HOSTILE]
)
@pytest.mark.parametrize("kind", ["json", "xml"])
def test_hostile_input_ends_at_once_with_a_verdict(name, kind):
    reply, reasons = HOSTILE[name]
    reference = ANY if kind == "json" else {"kind": "xml"}
    assert judge(reference, reply).reason in reasons


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*", "(.*)*x", "(a?){50}a{50}"])
def test_no_pattern_backtracks(pattern):
    reply = "a" * 200_000 + "!"
    assert judge({"kind": "grammar", "grammar": pattern}, reply).score == 0.0
    schema = {"type": "string", "pattern": f"^({pattern})$"}
    assert judge({"kind": "json", "schema": schema}, json.dumps(reply)).score == 0.0


def rules(**rule):
    return {"kind": "xml", "rules": {"root": "r", "elements": {"r": rule}}}


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {},
        {"kind": "yaml"},
        {"kind": "json"},
        {"kind": "json", "schema": {"type": "strin"}},
        {"kind": "json", "schema": 1},
        {"kind": "json", "schema": {"$ref": "file:///etc/passwd"}},
        {"kind": "json", "schema": {"pattern": "(?=a)"}},
        {"kind": "grammar"},
        {"kind": "grammar", "grammar": "("},
        {"kind": "grammar", "grammar": "a)|(b"},
        {"kind": "grammar", "grammar": r"(a)\1"},
        {"kind": "grammar", "grammar": {"start": "a", "rules": {}}},
        {"kind": "grammar", "grammar": {"start": "a", "rules": {"a": "<b>"}}},
        {"kind": "grammar", "grammar": {"start": "a", "rules": {"a": "x<b>", "b": "<a>?"}}},
        {"kind": "xml", "rules": {}},
        {"kind": "xml", "rules": {"root": "q", "elements": {"r": {}}}},
        rules(child="a"),
        rules(children="(a"),
        rules(children="a &"),
        rules(children=["a"]),
        rules(text={"type": "float"}),
        rules(attributes={"x": {"pattern": "("}}),
        rules(attributes={"x": {"enum": "ab"}}),
        rules(attributes={"x": {"min_length": "1"}}),
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault_without_a_score(reference):
    verdict = judge(reference, "<r/>")
    assert verdict.score is None
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")
