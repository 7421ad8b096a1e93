"""Phrases written as formulas, multiplicities, number words of other languages, and targets of a question."""

import time

import pytest

from verigym.verifiers.math.conventions import same_group, with_plain_logs
from verigym.verifiers.math.hedges import without_warnings
from verigym.verifiers.math.phrasings import in_formulas, with_repeats
from verigym.verifiers.math.spelled_abroad import number_abroad
from verigym.verifiers.math.targets import targets_of, value_of_target


@pytest.mark.parametrize(
    ("text", "question", "formula"),
    [
        ("from 1 (inclusive) to 4 (exclusive)", "", "[1,4)"),
        ("from 1 to 4", "", "from 1 to 4"),
        ("5 degrees below zero", "", "-5 degrees"),
        ("5 degrees below average", "", "5 degrees below average"),
        ("np.array([[1., 2.], [3., 4.]])", "", "[[1, 2], [3, 4]]"),
        ("x\\mapsto x^2+1", "", "f(x) = x^2+1"),
        ("2h15", "", "2 hours 15 minutes"),
        ("two boys for every three girls", "The ratio of boys to girls?", "2:3"),
        ("two boys for every three girls", "The ratio of girls to boys?", "3:2"),
        (
            "two boys for every three girls",
            "The ratio of cats to dogs?",
            "two boys for every three girls",
        ),
        ("x=2 (or x=-5)", "", "x=2 or x=-5"),
    ],
)
def test_a_phrase_becomes_a_formula(text, question, formula):
    assert in_formulas(text, question) == formula


def test_multiplicities_repeat_members():
    assert with_repeats("1 and 3 (with multiplicity 2)") == ("1, 3, 3", "1, 3")
    assert with_repeats("3 twice") is None
    assert with_repeats("1, 3, 3") is None


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("douze", "12"), ("zwölf", "12"), ("zwoelf", "12"), ("quatre-vingt-dix-sept", "97"), ("soixante et onze", "71"), ("fünfundzwanzig", "25"),
        ("einunddreißig", "31"), ("treinta y uno", "31"), ("dieciséis", "16"), ("ventotto", "28"), ("vinte e três", "23"), ("moins deux", "-2"),
        ("once", None), ("due", None), ("cent", None), ("apple", None),
    ],
)  # fmt: skip
def test_number_words_of_other_languages(word, number):
    assert number_abroad(word, "How many?") == number


def test_english_words_are_numbers_where_the_question_is_not_english():
    assert number_abroad("once", "¿Cuántos hay?") == "11"


def test_the_target_of_a_question_has_its_value_behind_an_equals_sign():
    question = "Find x + y if 2x+y = 7 and x = 2."
    assert targets_of(question) == ("x+y",)
    assert value_of_target("So y = 3 and x + y = **5**.", question) == "5"
    for line in ("2x + y = 7", "If x + y = 5", "x + y = 5, so z = 3", "x + y is 5"):
        assert value_of_target(line, question) is None


def test_warnings_go_and_confessions_stay():
    assert not without_warnings("\n*Note: a common mistake is to answer 6.*").strip(" \n*")
    confession = " I made a common mistake, it should be 6."
    assert without_warnings(confession) == confession


def test_bases_of_logarithms_count_in_exponents_only():
    assert with_plain_logs("O(n \\log n)", "O(n \\lg n)") == ("O(n \\log n)", "O(n \\log  n)")
    assert with_plain_logs("O(n^{\\log_2 3})", "O(n^{\\log_3 2})") is None


def test_cyclic_groups_have_the_same_orders():
    assert same_group("\\ZZ _6", "cyclic group of order 6", "") is True
    assert same_group("\\ZZ _6", "Z_2 * Z_3", "") is False
    assert same_group("C_6", "Z_6", "Find the coefficient.") is None


def test_long_lines_take_no_time():
    start = time.process_time()
    for text in ("a common " * 20_000, "x + y = " * 20_000, "either 5 " * 20_000):
        without_warnings(text)
        value_of_target(text, "Find x + y.")
        in_formulas(text, "")
        with_repeats(text)
    assert time.process_time() - start < 2
