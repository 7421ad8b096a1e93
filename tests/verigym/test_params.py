"""Parameters: a frozen struct declares them, and its schema tells no lies."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from verigym import RequestError, TaskError, Verifier, make_verifier, scored
from verigym.params import check_declaration, read, schema_of


class SizedParams(Struct, frozen=True):
    """A parameter of every kind."""

    mode: Annotated[Literal["set", "bag"], Meta(description="What counts.")] = "bag"
    rate: Annotated[float, Meta(ge=0, lt=1)] = 0.5
    size: Annotated[int, Meta(ge=1, le=9)] = 3
    names: Annotated[tuple[Annotated[str, Meta(min_length=1)], ...], Meta(max_length=2)] = ("a",)
    limit: Annotated[int, Meta(gt=0)] | None = None
    strict: bool = True
    extra: dict[str, Any] = msgspec.field(default_factory=dict)
    low: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self):
        if self.low > self.size:
            raise ValueError(f"low must be at most size, got {self.low} and {self.size}")


class Sized(Verifier[SizedParams]):
    """Has a parameter of every kind."""

    id = "tests/sized"
    version = 1

    def judge(self, task, submission):
        return scored(1.0, "fine")


class Inherits(Sized):
    """Has the parameters of its base."""

    id = "tests/inherits"


def test_the_schema_comes_from_the_struct():
    properties = Sized().schema()["properties"]
    assert properties["rate"] == {
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.5,
    }
    assert properties["strict"] == {"type": "boolean", "default": True}
    assert properties["extra"] == {"type": "object", "default": {}}
    assert properties["limit"] == {
        "type": ["integer", "null"],
        "exclusiveMinimum": 0,
        "default": None,
    }
    assert properties["mode"] == {
        "enum": ["set", "bag"],  # as they are written, not sorted
        "description": "What counts.",
        "default": "bag",
    }
    assert properties["names"]["default"] == ["a"]
    assert Inherits().schema() == Sized().schema()
    assert Sized(size=4).settings.size == 4


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"mode": "sets"}, "mode must be one of 'set', 'bag', got 'sets'; did you mean 'set'"),
        ({"mode": True}, "mode must be one of"),
        ({"rate": 1.0}, "rate must be a number, at least 0 and below 1, got 1.0"),
        ({"rate": float("nan")}, "rate must be finite"),
        ({"names": [float("inf")]}, r"names\[0\] must be finite"),
        ({"rate": 10**400}, "rate must be a number"),
        ({"rate": "x"}, "rate must be a number"),
        ({"size": 0}, "size must be a whole number, at least 1 and at most 9, got 0; leave it out"),
        ({"size": 10}, "at most 9"),
        ({"size": 2.5}, "size must be a whole number"),
        ({"size": True}, "size must be a whole number"),
        ({"size": None}, "size must be a whole number"),
        ({"size": "x" * 10**6}, "size must be a whole number"),
        ({"names": ["a", 1]}, r"names\[1\] must be a text"),
        ({"names": [""]}, "at least 1 characters"),
        ({"names": ["a", "b", "c"]}, "at most 2 items"),
        ({"limit": 0}, "limit must be a whole number or null, above 0, got 0"),
        ({"limit": "x"}, "limit must be a whole number or null"),
        ({"strict": 1}, "strict must be true or false"),
        ({"extra": []}, "extra must be an object"),
        ({"low": 5}, "low must be at most size, got 5 and 3"),
        ({"sise": 5}, "verifier tests/sized has no parameter 'sise'; did you mean 'size'"),
    ],
)
def test_values_that_do_not_fit_are_refused(params, message):
    with pytest.raises(RequestError, match=message) as caught:
        Sized(**params)
    assert len(str(caught.value)) < 400


def test_digests_cover_values_as_they_were_given():
    assert Sized(size=4.0).params["size"] == 4
    assert isinstance(Sized(size=4.0).params["size"], int)
    assert Sized(limit=4.0).settings.limit == 4
    assert isinstance(Sized(rate=0).params["rate"], int)
    assert isinstance(Sized(rate=0).settings.rate, float)
    assert Sized(names=("b",)).params["names"] == ("b",)
    assert list(Sized(size=4, mode="set").params) == list(Sized().params)


class Thawed(Struct):
    """Not frozen."""

    size: int = 1


class Required(Struct, frozen=True):
    """Without a default."""

    size: int


class Unfit(Struct, frozen=True):
    """A default out of its range."""

    size: Annotated[int, Meta(ge=1)] = 0


class Odd(Struct, frozen=True):
    """A type that JSON lacks."""

    size: complex = 1j


@pytest.mark.parametrize("kind", [Thawed, Required, Unfit, Odd])
def test_parameters_that_cannot_be_declared_are_the_authors_fault(kind):
    with pytest.raises(TaskError):
        check_declaration(kind)


def test_the_old_declaration_says_how_to_write_the_new():
    with pytest.raises(TaskError, match=r"Old\(Verifier\[Params\]\)"):

        class Old(Verifier):
            defaults = {"size": 1}  # noqa: RUF012


def test_choices_of_checkers_are_those_there_are():
    for name in ("code/stdio", "code/function"):
        verifier = make_verifier(name)
        assert verifier.schema()["properties"]["checker"]["enum"] == sorted(verifier.checkers)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.floats(-3, 3),
    st.sampled_from(["set", "bag", "", "b"]),
    st.lists(st.sampled_from(["", "a", 1]), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
)


@given(st.dictionaries(st.sampled_from(SizedParams.__struct_fields__), VALUES, max_size=2))
def test_what_is_accepted_is_what_json_schema_accepts(params):
    """Against a validator of others."""
    validator = pytest.importorskip("jsonschema_rs").validator_for(schema_of(SizedParams))
    try:
        read(SizedParams, params, "it")
    except RequestError as error:
        fits = "low must be at most size" in str(error)  # which a schema cannot say
    else:
        fits = True
    assert fits == validator.is_valid(params)
