"""Sentences that state one number, passing mentions of numbers, and hedges behind an answer."""

import time

import pytest

from verigym.verifiers.math.answer import AnswerVerifier
from verigym.verifiers.math.cases import task_of
from verigym.verifiers.math.hedges import names_another
from verigym.verifiers.math.statements import differs, stated


@pytest.mark.parametrize(
    ("line", "question", "number"),
    [
        ("Tom has 7 apples left.", "", "7 apples"),
        ("He had 8 apples. Now he has 7.", "", "7"),
        ("It took 1 hour and 30 minutes.", "", "1 hour and 30 minutes"),
        ("The hens lay seven eggs per day.", "", "seven eggs per day"),
        ("3 dogs have 12 legs.", "How many legs have 3 dogs?", "12 legs"),
        ("3 dogs have 12 legs.", "", None),
        ("She started with 12.", "", ""),
        ("She started with 12.", "How many did she start with?", "12"),
        ("He may have 7 apples.", "", ""),
        ("Does he have 7 apples?", "", ""),
        ("He has at least 7 apples.", "", None),
        ("Let me check case 4", "", ""),
        ("There are 4 cases.", "", ""),
        ("There are 4 cases.", "How many cases are there?", "4 cases"),
        ("There are 5 left. There are 6 left.", "", ""),
        ("x = 7", "", None),
    ],
)
def test_a_sentence_states_its_number_or_mentions_it(line, question, number):
    assert stated(line, question) == number


def test_two_sentences_differ_in_their_number_only():
    assert differs("5 are left.", "6 are left.")
    assert not differs("5 are left.", "5 are left.")
    assert not differs("5 are red.", "6 are left.")


@pytest.mark.parametrize(
    ("tail", "another"),
    [
        (". It could equally be eight.", True),
        (". It could be B.", True),
        (", nine otherwise", True),
        (". The alternative is eight.", True),
        (". It could also be written as 14/2.", False),
        (". One can check this with two examples.", False),
        (". Seven is also possible to see at once.", False),
        ("", False),
    ],
)
def test_a_remark_names_another_answer(tail, another):
    assert names_another("7", tail) is another


@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ("\\boxed{7}. ", "* ", ""),
        ("\\boxed{7} ", "or seven ", ""),
        ("\\boxed{7}. ", "it could be ", ""),
        ("Tom has ", "seven ", "7"),
        ("", "12 apples - ", "7"),
        ("", "7777", "7"),
        ("", "Ответ: ", "7"),
        ("Answer:\n", "- 7\n", ""),
        ("<answer>7</answer>`<answer>", "the ", "1</answer>`"),
        ("<answer>8</answer>", "`<answer>7</answer>", "`"),
        ("It takes ", "1 hour and ", "7"),
        ("", "fig. 7 ", ""),
    ],
)
def test_long_runs_are_read_in_no_time(before, piece, behind):
    reply = before + piece * 3000 + behind
    task = task_of({"gold": "7", "answer": reply})
    began = time.process_time()
    assert AnswerVerifier().verify(task, reply).score is not None
    assert time.process_time() - began < 2.0
