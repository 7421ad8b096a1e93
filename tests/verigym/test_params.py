"""Parameters: their schema is derived, declared and checked, and it tells no lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, TaskError, Verifier, scored
from verigym.params import check, schema_of


class Sized(Verifier):
    """Has a parameter of every kind."""

    id = "tests/sized"
    version = 1
    defaults = {  # noqa: RUF012
        "mode": "bag",
        "rate": 0.5,
        "size": 3,
        "names": ["a"],
        "limit": None,
        "strict": True,
        "extra": {},
    }
    param_schemas = {  # noqa: RUF012
        "mode": {"enum": ["bag", "set"], "description": "What counts."},
        "rate": {"minimum": 0, "exclusiveMaximum": 1},
        "size": {"minimum": 1, "maximum": 9},
        "names": {"items": {"type": "string", "minLength": 1}, "maxItems": 2},
        "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0},
    }

    def judge(self, task, submission):
        return scored(1.0, "fine")


def test_types_come_from_the_defaults():
    properties = Sized().schema()["properties"]
    assert properties["rate"] == {
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.5,
    }
    assert properties["strict"] == {"type": "boolean", "default": True}
    assert properties["extra"] == {"type": "object", "default": {}}
    assert properties["mode"]["description"] == "What counts."


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"mode": "sets"}, "mode must be one of 'bag', 'set', got 'sets'; did you mean 'set'"),
        ({"mode": True}, "mode must be one of"),
        ({"rate": 1.0}, "rate must be below 1"),
        ({"rate": float("nan")}, "rate must be finite"),
        ({"rate": "x"}, "rate must be a number"),
        ({"size": 0}, "size must be at least 1, got 0"),
        ({"size": 10}, "size must be at most 9"),
        ({"size": 2.5}, "size must be a whole number"),
        ({"size": True}, "size must be a whole number"),
        ({"names": ["a", 1]}, r"names\[1\] must be a text"),
        ({"names": [""]}, "at least 1 characters"),
        ({"names": ["a", "b", "c"]}, "at most 2 items"),
        ({"limit": 0}, "limit must be above 0"),
        ({"limit": "x"}, "limit must be a whole number or null"),
        ({"strict": 1}, "strict must be true or false"),
        ({"extra": []}, "extra must be an object"),
    ],
)
def test_values_that_do_not_fit_are_refused(params, message):
    with pytest.raises(RequestError, match=message):
        Sized(**params)


def test_a_float_that_is_whole_is_a_whole_number():
    assert Sized(size=4.0).params["size"] == 4
    assert isinstance(Sized(size=4.0).params["size"], int)
    assert Sized(limit=None).params["limit"] is None


@pytest.mark.parametrize(
    ("defaults", "declared"),
    [
        ({}, {"size": {"minimum": 1}}),
        ({"size": 0}, {"size": {"minimum": 1}}),
        ({"size": 1}, {"size": {"minumum": 1}}),
        ({"size": 1}, {"size": {"type": "int"}}),
        ({"size": [1]}, {"size": {"items": {"pattern": "x"}}}),
    ],
)
def test_a_schema_that_promises_what_is_not_checked_is_the_authors_fault(defaults, declared):
    with pytest.raises(TaskError):
        schema_of(defaults, declared)


SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "number", "string", "boolean", "null", "array"]),
        "enum": st.lists(st.none() | st.booleans() | st.integers(0, 2), min_size=1),
        "minimum": st.integers(-2, 2),
        "exclusiveMaximum": st.integers(-2, 2),
        "maxLength": st.integers(0, 3),
        "minItems": st.integers(0, 2),
    },
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-3, 3),
    st.text(max_size=4),
    st.lists(st.integers(), max_size=3),
)


@given(SCHEMAS, VALUES)
def test_what_is_accepted_is_what_json_schema_accepts(schema, value):
    """Against a validator of others."""
    validator = pytest.importorskip("jsonschema_rs").validator_for(schema)
    try:
        check("x", value, schema)
    except RequestError:
        assert not validator.is_valid(value)
    else:
        assert validator.is_valid(value)
