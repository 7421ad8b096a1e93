"""Comparison of what a program prints with what is expected."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.verifiers.code.check import CHECKERS, close_floats, same_bytes, same_tokens
from verigym.verifiers.code.extract import extract_program


def test_tokens():
    assert same_tokens(b" 1\t2\r\n\n", b"1 2\n", 0.0)
    assert not same_tokens(b"1 2 3", b"1 2", 0.0)
    assert not same_tokens(b"12", b"1 2", 0.0)
    assert not same_tokens(b"", b"1", 0.0)
    assert not same_tokens(b"1.0", b"1", 0.0)


def test_exact():
    assert same_bytes(b"1  2", b"1  2\n", 0.0)
    assert not same_bytes(b"1 2", b"1  2", 0.0)
    assert not same_bytes(b"1 2 ", b"1 2", 0.0)


@pytest.mark.parametrize("token", [b"nan", b"NaN", b"inf", b"-inf", b"1e999", b"1_0", b"0x1", b"x"])
def test_nothing_is_close_to_what_is_no_finite_number(token):
    assert not close_floats(token, b"1.0", 1e9)
    assert not close_floats(b"1.0", token, 1e9)


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(
    "printed",
    [b"9" * 10**6 + b"x", b"9" * 10**6, b"0" * 10**6 + b"8", b"1e" + b"9" * 10**6, b" " * 10**6,
     b"7\n" * 10**5, b"\xff" * 10**6, b"-" * 10**6],
    ids=range(8),
)  # fmt: skip
def test_a_flood_costs_the_checkers_little(checker, printed):
    began = time.process_time()
    assert not CHECKERS[checker](printed, b"7", 1e-6)
    # A quadratic pattern took hours over a million digits and a letter.
    assert time.process_time() - began < 10


def test_two_whole_numbers_are_close_only_where_they_are_one():
    assert not close_floats(b"1000000008", b"1000000007", 1e-6)
    assert not close_floats(b"-7", b"7", 100.0)
    assert close_floats(b"+0007", b"7", 0.0)
    assert close_floats(b"-0", b"0", 0.0)
    assert close_floats(b"1000000007.0", b"1000000007", 1e-6)


@pytest.mark.parametrize(
    "printed",
    [b"1000000006.6", b"1000000000.0", b"1000000007.4999", b"1000000007.0000001", b"1e9", b"1.000000006e9",
     b"1000000007e1", b"1000000007e-1", b"-1000000007.0", b"1e999", b"1e" + b"9" * 5000, b"1e-" + b"9" * 5000,
     b"1000000007e" + b"0" * 5000],
)  # fmt: skip
def test_a_whole_number_is_wanted_exactly(printed):
    assert not close_floats(printed, b"1000000007", 1e-6)


@pytest.mark.parametrize(
    ("printed", "wanted"),
    [(b"1.000000007e9", b"1000000007"), (b"1000000007.", b"1000000007"), (b"10000000070e-1", b"1000000007"),
     (b"-.0", b"0"), (b"0e99999999999999999999", b"0"), (b"+12E+02", b"1200"), (b"9" * 400 + b".0", b"9" * 400),
     (b"1000000006.6", b"1000000007.0")],
)  # fmt: skip
def test_a_whole_number_may_be_written_in_other_ways(printed, wanted):
    assert close_floats(printed, wanted, 1e-6)


@pytest.mark.parametrize("line", ["~" * 60_000 + "`", "```" + "a" * 60_000 + "`", "```" + " " * 60_000 + "`"],
                         ids=range(3))  # fmt: skip
def test_a_long_line_of_fences_costs_little(line):
    began = time.process_time()
    assert extract_program(line, "python") == line
    assert time.process_time() - began < 5


def test_floats():
    assert close_floats(b"0.3333333 x", b"0.33333333333 x", 1e-6)
    assert close_floats(b"1e3", b"1000", 1e-6)
    assert not close_floats(b"0.3334", b"0.33333333333", 1e-6)
    assert not close_floats(b"1 2", b"1", 1.0)
    assert not close_floats(b"", b"1", 1.0)


@given(st.binary())
def test_every_output_is_the_same_as_itself(data):
    assert same_tokens(data, data, 0.0)
    assert same_bytes(data, data, 0.0)
    assert close_floats(data, data, 0.0)


@given(st.binary(), st.binary())
def test_exact_is_the_strictest(one, two):
    if same_bytes(one, two, 0.0):
        assert same_tokens(one, two, 0.0)
    if same_tokens(one, two, 0.0):
        assert close_floats(one, two, 0.0)
