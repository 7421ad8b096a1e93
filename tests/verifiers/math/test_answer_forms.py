"""The form of an answer: what is only repeated from the question or left to do is not paid."""

import pytest

import verigym
from verigym.verifiers.math.answer import AnswerVerifier
from verigym.verifiers.math.cases import task_of

RESTATED = [
    ("What is the value of 15 * 6 * 3?", "270", "<answer>15 * 6 * 3</answer>"),
    ("What is the value of 15 * 6 * 3?", "270", "15\\times 3\\cdot6"),
    ("What is the value of 15 * 6 * 3?", "270", "\\boxed{90*3}"),
    ("What is the value of 15 * 6 * 3?", "270", "\\boxed{15*6*3=90*3}"),
    ("What is the value of 15 * 6 * 3?", "270", "((15)(6))(3)"),
    ("What is the value of 15 * 6 * 3?", "270", "x = 15*6*3"),
    ("What is the value of 15 * 6 * 3?", "270", "540/2"),
    ("What is the gcd of 4 and 12?", "4", "\\gcd(12, 4)"),
    ("What is the least common multiple of 4 and 6?", "12", "lcm(4, 6)"),
    ("What is the sum of 12 and 30?", "42", "12 + 30"),
    ("What is 20% of 45?", "9", "0.2*45"),
    ("Compute $10!$.", "3628800", "10!"),
    ("Compute $10!$.", "3628800", "10 \\cdot 9!"),
    ("Compute $\\binom{5}{2}$.", "10", "\\binom{5}{2}"),
    ("What is the square root of 144?", "12", "\\sqrt{144}"),
    ("What is 1/2 + 1/3?", "5/6", "1/3 + 1/2"),
    ("Compute 1+1/2.", "1 1/2", "1+1/2"),
    ("Simplify 6/4.", "3/2", "6/4"),
    ("What is 3/4 as a decimal?", "0.75", "3/4"),
    ("Write 50% as a fraction.", "1/2", "50%"),
    ("Expand (x+1)^2.", "x^2+2x+1", "(x+1)^2"),
    ("Expand $(x+1)^2$.", "x^2+2x+1", "(1+x)(x+1)"),
    ("Factor $x^2-1$.", "(x-1)(x+1)", "x^2 - 1"),
    ("Simplify $\\frac{x^2-1}{x-1}$.", "x+1", "(x^2-1)/(x-1)"),
    ("Simplify \\(\\sqrt{8}\\).", "2\\sqrt{2}", "\\sqrt{8}"),
    ("Simplify \\(\\sqrt{8}\\).", "2\\sqrt{2}", "\\sqrt{4}\\sqrt{2}"),
    ("What is the determinant of [[1, 2], [3, 4]]?", "-2", "\\det[[1,2],[3,4]]"),
    ("What is the determinant of [[1, 2], [3, 4]]?", "-2", "1*4 - 2*3"),
    ("Solve 2x+3=7.", "x=2", "2x+3=7"),
    ("Solve 2x+3=7.", "x=2", "2x=4"),
    ("Solve x^2-3x+2=0.", "\\{1,2\\}", "\\{x : x^2-3x+2=0\\}"),
    ("Solve x^2<4.", "(-2,2)", "x^2-4<0"),
    ("What is 1+2+...+100?", "5050", "1+2+...+100"),
    ("Simplify the ratio 6:8.", "3:4", "6:8"),
    ("Evaluate $\\sum_{k=1}^{4} k$.", "10", "\\sum_{k=1}^{4} k"),
    ("Evaluate $2^{10}$.", "1024", "2^{10}"),
]
STATED = [
    ("What is the value of 15 * 6 * 3?", "270", "15 * 6 * 3 = 90 * 3 = 270"),
    ("What is the gcd of 4 and 12?", "4", "4"),
    ("What is 1/2 + 1/3?", "5/6", "10/12"),
    ("What is 0.75 as a fraction?", "3/4", "3/4"),
    ("A coin shows heads with chance 1/2. What is the chance of tails?", "0.5", "1/2"),
    ("Which is larger, 2^3 or 3^2?", "3^2", "3^2"),
    ("In how many ways can ten people stand in a row?", "3628800", "10!"),
    ("Expand $(x+1)^2$.", "x^2+2x+1", "1+2x+x^2"),
    ("Factor $x^2-1$.", "(x-1)(x+1)", "(x+1)(x-1)"),
    ("Compute 1+1/2.", "1 1/2", "3/2"),
    ("Simplify $\\sqrt{8}$.", "2\\sqrt{2}", "2\\sqrt 2"),
    ("Write 2^10 as a power of 4.", "4^5", "4^5"),
    ("Compute $3 + 4$.", "7", "seven"),
    ("Solve 2x+3=7.", "x=2", "2"),
]
FORMS = [
    ("evaluated", "270", "270", "15*6*3"),
    ("evaluated", "1/2", "2/4", "1/4+1/4"),
    ("evaluated", "3", "x = 3", "12/4"),
    ("evaluated", "2\\sqrt2", "\\sqrt{8}", "\\sqrt{4+4}"),
    ("evaluated", "3+4i", "4i+3", "(1+2i)+(2+2i)"),
    ("evaluated", "\\{1,2\\}", "\\{2,1\\}", "\\{2,3-2\\}"),
    ("evaluated", "(1/2,-3)", "(0.5,-3)", "(1/2, 1-4)"),
    ("evaluated", "6.02*10^{23}", "6.02\\times10^{23}", "2*3.01*10^{23}"),
    ("evaluated", "7", "seven", "\\sqrt{49}"),
    ("evaluated", "[[19, 22], [43, 50]]", "[[19, 22], [43, 50]]", "[[1, 2], [3, 4]] * [[5, 6], [7, 8]]"),
    ("evaluated", "\\{1,2\\}", "x=1 or x=2", "\\{x : x^2-3x+2=0\\}"),
    ("evaluated", "(-2,2)", "-2<x<2", "x^2<4"),
    ("evaluated", "5050", "5050", "1+2+...+100"),
    ("reduced", "1/2", "0.5", "2/4"),
    ("reduced", "3/2", "1 1/2", "1 2/4"),
    ("reduced", "3", "3", "6/2"),
    ("simplified", "2\\sqrt2", "2\\sqrt{2}", "\\sqrt{8}"),
    ("simplified", "x+1", "1+x", "\\frac{x^2-1}{x-1}"),
    ("simplified", "1", "1", "\\sin^2 x+\\cos^2 x"),
    ("simplified", "2x", "x\\cdot 2", "x+x"),
    ("simplified", "x^3", "x^3", "x*x*x"),
    ("factored", "(x-1)(x+1)", "(1+x)(x-1)", "x^2-1"),
    ("factored", "(x-1)^2(x+1)", "(x+1)(x-1)(x-1)", "(x^2-1)(x-1)"),
    ("factored", "2^3*3^2*5", "2*2*2*3*3*5", "8*9*5"),
    ("factored", "2^3*3^2*5", "5*3^2*2^3", "360"),
    ("expanded", "x^2+2x+1", "1+x^2+2x", "(x+1)^2"),
    ("expanded", "x^2+2x+1", "x^2+1+2x", "x(x+2)+1"),
]  # fmt: skip


def judge(gold, answer, question=None, **params):
    task = task_of({"gold": gold, "answer": answer, "question": question})
    return AnswerVerifier(**params).verify(task, answer)


@pytest.mark.parametrize(("question", "gold", "answer"), RESTATED)
def test_an_expression_of_the_question_is_no_answer_to_it(question, gold, answer):
    verdict = judge(gold, answer, question)
    assert (verdict.score, verdict.reason) == (0.0, "restated")
    assert judge(gold, gold, question).score == 1.0


@pytest.mark.parametrize(("question", "gold", "answer"), STATED)
def test_a_value_that_the_question_names_as_well_stays_right(question, gold, answer):
    assert judge(gold, answer, question).score == 1.0


@pytest.mark.parametrize(("form", "gold", "right", "wrong"), FORMS)
def test_the_form_that_is_required_is_checked(form, gold, right, wrong):
    assert judge(gold, right, form=form).score == 1.0
    verdict = judge(gold, wrong, form=form)
    assert (verdict.score, verdict.reason) == (0.0, "wrong_form")
    assert judge(gold, wrong).score == 1.0


def test_a_form_binds_only_as_far_as_the_reference_has_it():
    assert judge("12/4", "3*1", form="evaluated").score == 1.0
    assert judge("(x+1)*exp(x)", "exp(x)*x + exp(x)", form="reduced").score == 1.0


def test_the_reference_may_name_the_form_and_the_prompt_may_be_the_question():
    task = verigym.Task(
        id="t", env_id="e", seed=0, prompt="How many?", difficulty="easy",
        reference={"answer": "24", "form": "evaluated"},
    )  # fmt: skip
    assert AnswerVerifier().verify(task, "4!").reason == "wrong_form"
    assert AnswerVerifier().verify(task, "24").score == 1.0
    task = verigym.Task(
        id="t", env_id="e", seed=0, prompt="Compute 4!.", difficulty="easy",
        reference={"answer": "24"},
    )  # fmt: skip
    assert AnswerVerifier().verify(task, "4!").reason == "restated"


def test_an_unknown_form_is_refused():
    with pytest.raises(verigym.RequestError, match="form must be one of"):
        AnswerVerifier(form="pretty")
    task = verigym.Task(
        id="t", env_id="e", seed=0, prompt="p", difficulty="easy",
        reference={"answer": "7", "form": "pretty"},
    )  # fmt: skip
    verdict = AnswerVerifier().verify(task, "7")
    assert (verdict.score, verdict.reason) == (None, "bad_task")


@pytest.mark.parametrize(
    "question",
    ["9^{9^{9^{9}}} " * 200, "(" * 4000, "$" * 4000, "1" * 4000, "1 " * 4000, "10! + " * 900],
)
def test_a_hostile_question_takes_little_work(question):
    verdict = judge("7", "3+4", question)
    assert verdict.score is not None


@pytest.mark.parametrize("text", ["1200\\%", "\\det[[12]]", "--12", "-(-12)", "1100_2", "C_{16}"])
def test_an_evaluated_number_is_written_out_in_tens(text):
    verifier = AnswerVerifier(form="evaluated")
    task = task_of({"gold": "12", "answer": text})
    assert verifier.verify(task, text).score == 0.0
    assert verifier.verify(task, "x = 12").score == 1.0
    assert verifier.verify(task_of({"gold": "1100_2"}), "1100_2").score == 1.0
    assert verifier.verify(task_of({"gold": "1/2"}), "50%").score == 1.0
