"""qa/answer: golden answers, laws about aliases, numbers and dates, and hostile input."""

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import verigym
from verigym.verifiers.qa.commit import hedge_in
from verigym.verifiers.qa.normalise import f1, tokens
from verigym.verifiers.qa.sentence_words import FUNCTION
from verigym.verifiers.qa.values import read_date, read_number

MEGABYTE = 1 << 20
DATA = Path(__file__).parents[2] / "data"
SENTENCES, FORMS, REPLIES = (
    [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    for name in ("qa_sentences.jsonl", "qa_forms.jsonl", "qa_replies.jsonl")
)


def judge(reference, reply, prompt="p", **params):
    task = verigym.Task(
        id="t",
        env_id="verigym/tests/t-v0",
        seed=0,
        prompt=prompt,
        difficulty="easy",
        reference=reference,
    )
    return verigym.make_verifier("qa/answer", **params).verify(task, reply)


WORDS = st.text("abcdefghijklmnopqrstuvwxyzäöüéñABCXYZ0123456789", min_size=1, max_size=8)
ANSWERS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@given(ANSWERS)
def test_the_answer_itself_is_right_in_every_dress(answer):
    assume(tokens(answer))
    for reply in (
        answer,
        f"  {answer}.\n",
        f"<answer>{answer}</answer>",
        f"Some words.\nFinal answer: **{answer}**",
        f"<think>{answer} or not</think>{answer}",
        {"answer": answer},
    ):
        assert judge({"answers": [answer, "another"], "kind": "text"}, reply).reason == "correct"


@given(ANSWERS, ANSWERS, st.sampled_from([", ", " or ", "; ", " / ", "\n", " | ", " and "]))
def test_two_candidates_are_never_paid(one, other, between):
    left, right = tokens(one), tokens(other)
    assume(left and right and left != right and "p" not in left + right)  # the prompt
    assume(FUNCTION.isdisjoint(left + right))  # "so, 0" has one candidate
    for reply in (f"{one}{between}{other}", f"{other}{between}{one}"):
        assume(tokens(reply) not in (left, right))
        for score in ("exact", "f1"):
            verdict = judge({"answers": [one], "kind": "text"}, reply, score=score)
            assert verdict.score < 1.0
            if score == "exact" or between.strip() in (";", "/", "|", "or"):
                assert verdict.score == 0.0


@given(ANSWERS, st.sampled_from(["Maybe {}", "I think it is {}", "{}, probably", "either {} or x"]))
def test_a_hedge_is_never_paid(answer, hedge):
    assume(tokens(answer) and hedge_in(answer) is None)
    reply = hedge.format(answer)
    assert judge({"answers": [answer], "kind": "text"}, reply).score == 0.0


@given(ANSWERS, st.text("abc ", min_size=1))
def test_f1_is_that_of_squad_and_symmetric(one, other):
    left, right = tokens(one), tokens(other)
    assert f1(left, right) == pytest.approx(f1(right, left))
    assert 0.0 <= f1(left, right) <= 1.0
    assert (f1(left, right) == 1.0) == (sorted(left) == sorted(right))


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_a_number_is_read_in_every_form(digits, places):
    value = Decimal(digits).scaleb(-places)
    forms = [f"{value:f}", f"{value:,f}", f"it is {value:f}.", f"{value:e}", f"{value:f} USD"]
    for form in forms:
        number = read_number(form)
        assert number is not None, form
        assert number.value == value, form


@given(st.integers(0, 999), st.integers(0, 999))
def test_two_numbers_are_no_number(one, other):
    for between in (" ", ", ", " or ", " to ", " - ", "; "):
        assert read_number(f"{one}{between}{other}") is None


SMALL = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@given(st.integers(1, 9), st.integers(1, 9))
def test_numbers_in_words(tens, ones):
    names = ["ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    if tens > 1:
        assert read_number(f"{names[tens - 1]}-{SMALL[ones - 1]}").value == 10 * tens + ones
    hundred = f"{SMALL[tens - 1]} hundred and {SMALL[ones - 1]}"
    assert read_number(hundred).value == 100 * tens + ones
    assert read_number(f"{SMALL[tens - 1]} million").value == tens * 10**6
    assert read_number(f"{SMALL[tens - 1]} or {SMALL[ones - 1]}") is None


@given(st.dates(datetime.date(1000, 1, 1)))
def test_a_date_is_read_in_every_form(day):
    wanted = (day.year, day.month, day.day)
    for form in ("%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%b %d %Y", "%A, %d %B %Y", "%Y/%m/%d"):
        assert read_date(day.strftime(form), None) == wanted, day.strftime(form)
    assert read_date(day.strftime("%d/%m/%Y"), True) == wanted
    assert read_date(day.strftime("%m/%d/%Y"), False) == wanted
    plain = read_date(day.strftime("%m/%d/%Y"), None)
    assert plain == (wanted if day.day > 12 or day.day == day.month else None)


PAGES = {f"p{i}": f"Page {i} says that the tower is {i} metres high." for i in range(6)}


@given(st.sets(st.sampled_from(sorted(PAGES)), min_size=1), st.sets(st.sampled_from(sorted(PAGES))))
def test_citations_must_be_precise_and_cover_every_hop(supporting, cited):
    reference = {"answer": "x", "pages": PAGES, "supporting": sorted(supporting)}
    verdict = judge(reference, {"answer": "x", "citations": sorted(cited)})
    assert (verdict.score == 1.0) == (bool(cited) and cited <= supporting)
    hops = {**reference, "supporting": [[page] for page in sorted(supporting)]}
    verdict = judge(hops, {"answer": "x", "citations": sorted(cited)})
    assert (verdict.score == 1.0) == (cited == supporting)


def test_optional_pages_count_neither_for_nor_against_an_answer():
    reference = {"answer": "x", "supporting": [["p"], ["q"]], "optional": ["r", "q"]}
    paid = {
        ("p", "q"): 1.0,
        ("p", "q", "r"): 1.0,
        ("p", "r"): 0.0,
        ("r",): 0.0,
        ("p", "q", "r", "s"): 0.0,
    }
    for cited, score in paid.items():
        verdict = judge(reference, {"answer": "x", "citations": [*cited]})
        assert verdict.score == score, (cited, verdict)
    parts = judge(reference, {"answer": "x", "citations": ["p", "q", "r"]}).parts
    assert (parts["citation_precision"], parts["citation_recall"]) == (1.0, 1.0)
    for wrong in ("r", [1], {"r": 1}):
        verdict = judge({**reference, "optional": wrong}, "x")
        assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")


@given(st.sampled_from(sorted(PAGES)), st.integers(0, 20), st.integers(12, 30))
def test_a_quote_counts_where_it_stands(page, start, length):
    reference = {"answer": "x", "pages": PAGES, "supporting": [page]}
    quote = PAGES[page][start : start + length]
    assume(len(quote.strip(" .")) >= 12)
    good = judge(reference, {"answer": "x", "citations": [{"page": page, "quote": quote.upper()}]})
    assert good.score == 1.0
    bad = judge(reference, {"answer": "x", "citations": [{"page": page, "quote": quote + "zz"}]})
    assert bad.reason == "false_quote"


KINDS = st.sampled_from(
    [
        {"answer": "Paris"},
        {"answer": 42},
        {"answer": "1969-07-20", "kind": "date"},
        {"answer": True},
        {"answer": ["red", "green"]},
        {"answer": "Paris", "supporting": ["p"]},
    ]
)
PIECES = st.sampled_from(
    [
        *[
            "<answer>",
            "</answer>",
            "is",
            "or",
            ",",
            ";",
            "%",
            "-",
            ".",
            "4",
            "1969",
            "July",
            "20",
            "yes",
            "no",
            "not",
            "Lyon",
            "(",
            ")",
            "e5",
            "million",
            "\n",
        ]
    ]
)


@given(KINDS, st.one_of(st.text(), st.lists(PIECES, max_size=12).map(" ".join)))
def test_garbage_never_raises_and_is_always_scored(reference, reply):
    verdict = judge(reference, reply)
    assert verdict.score in (0.0, 1.0)


@given(KINDS, st.recursive(st.none() | st.booleans() | st.integers(), st.lists, max_leaves=4))
def test_what_is_no_text_is_the_submitter_s_fault(reference, reply):
    for submission in (reply, {"answer": "x", "citations": [reply]}):
        assert judge(reference, submission).status is verigym.Status.POLICY_FAULT


HOSTILE = {
    "megabyte": "x" * (MEGABYTE + 1),
    "tags": "<answer>" * (MEGABYTE // 8),
    "cites": "<cite>" * (MEGABYTE // 6),
    "half cites": "<cite page='" * (MEGABYTE // 12),
    "closed cites": "<cite>p</cite>" * (MEGABYTE // 14),
    "spaces": "a" + " " * (MEGABYTE - 2) + "b",
    "labels": "answer:" * (MEGABYTE // 7),
    "label lines": "answer:\n" * (MEGABYTE // 8),
    "label spaces": "answer" + " " * (MEGABYTE - 10),
    "quotes": '"' * MEGABYTE,
    "stars": "*" * MEGABYTE,
    "digits": "9" * 1999,
    "commas": "1," * 990,
    "exponent": "1e999",
    "exponents": "1e99" * 400,
    "dashes": "-" * 1999,
    "points": "a." * 990,
    "accents": "a" + "\u0301" * 1990,
    "separators": " or" * 600,
    "data": {"answer": "x" * MEGABYTE, "citations": ["p"] * 10_000},
    "large number": {"answer": 10**400},
    "surrogate": "\ud800",
    "NUL": "\0",
    "right to left": "\u202e42",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "answer",
    [
        *("Paris", ["a", "b"]),
        *(pytest.param(answer, marks=pytest.mark.slow) for answer in (42, "1969-07-20", True)),
    ],
    ids=str,
)
def test_hostile_input_ends_at_once_with_a_verdict(name, answer):
    reference = {"answer": answer}
    if answer == "1969-07-20":
        reference["kind"] = "date"
    verdict = judge(reference, HOSTILE[name])
    assert not verdict.fault
    if name != "right to left":
        assert verdict.score == 0.0


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {},
        {"answer": None},
        {"answers": []},
        {"answer": ""},
        {"answer": "..."},
        {"answer": "x", "kind": "essay"},
        {"answer": "x", "kind": "number"},
        {"answer": "x", "kind": "date"},
        {"answer": "03/04/2020", "kind": "date"},
        {"answer": "perhaps", "kind": "yes_no"},
        {"answers": [True, False]},
        {"answer": ["a", [""]]},
        {"answer": 1, "units": "km"},
        {"answer": "x", "supporting": "p"},
        {"answer": "x", "supporting": [[]]},
        {"answer": "x", "pages": {"p": 1}},
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault_without_a_score(reference):
    verdict = judge(reference, "x")
    assert verdict.score is None
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")


@pytest.mark.parametrize("half", ["dev", "held"])
def test_right_sentences_are_paid_and_wrong_ones_never(half):
    """`held` was written before the reading was built, and measured at 142 of 147 before a look at it."""
    rows = [row for row in SENTENCES if row["half"] == half]
    paid = {0: [], 1: []}
    for row in rows:
        verdict = judge(row["reference"], row["reply"], row["prompt"])
        assert verdict.score is not None, row
        if verdict.score > 0:
            paid[row["label"]].append(row)
    assert not paid[0]
    assert len(paid[1]) >= 0.97 * sum(row["label"] for row in rows)


def test_right_answers_in_other_forms_are_paid_and_near_ones_never():
    """Each set was written before it was tried; the page on verifiers says how many were right at first sight."""
    paid = {0: 0, 1: 0}
    for row in FORMS:
        score = judge(row["reference"], row["reply"], row["prompt"]).score
        assert row["label"] or score == 0.0, row
        paid[row["label"]] += score == 1.0
    assert paid[1] >= 0.97 * sum(row["label"] for row in FORMS)


@pytest.mark.parametrize(("part", "least"), [("everyday", 0.96), ("harder", 0.76)])
def test_replies_are_paid_if_they_state_the_answer_and_else_never(part, least):
    """`harder`: in other words than the question's, in other languages, and written to trick the reading."""
    rows = [row for row in REPLIES if row.get("set", "everyday") == part]
    paid = {0: [], 1: []}
    for row in rows:
        verdict = judge(row["reference"], row["reply"], row["prompt"])
        assert verdict.score is not None, row
        if verdict.score > 0:
            paid[row["label"]].append(row)
    assert not paid[0]
    assert len(paid[1]) >= least * sum(row["label"] for row in rows)


PAIRS = [
    ("What is the capital of France?", "Paris", "London"),
    ("Who wrote Hamlet?", "William Shakespeare", "Christopher Marlowe"),
    ("Which gas do plants absorb?", "carbon dioxide", "oxygen"),
    ("Which city is larger, Tokyo or Osaka?", "Tokyo", "Osaka"),
    ("Which animal is larger, a mouse or an elephant?", "elephant", "mouse"),
    ("Which country won the final between France and Brazil?", "France", "Brazil"),
    ("Choose one: apple, pear, plum", "apple", "pear"),
    ("Pick the odd one out.\nA) cat\nB) dog\nC) car", "car", "dog"),
    ("Tom met Ann in Paris and Bob in London.\n\nWhere did Tom meet Ann?", "Paris", "London"),
    ("How many legs does a spider have?", 8, 6),
    ("What is 6 times 7?", 42, 48),
]
HEDGES = """{g} or {r}|{r} or {g}|{g}, {r}|{r}, {g}|{g}; {r}|{r} {g}|{g} {r}|{g} and {r}|{g} ({r})|{r} ({g})|{g}. {r}.
|{r}. {g}.|It is {r}, not {g}|{r} (not {g})|Not {g} but {r}|It is {g}. It is {r}.|It is {r}. It is {g}.|The answer is {g}, {r}
|{g} is {r}|{r} is {g}|{g}? {r}!|{g}. Actually {r}.|{g}, which is {r}|{g} as well as {r}|{g} with {r}|{g}: {r}|{r}: {g}
|{g} - {r}|{g} = {r}|{g} & {r}|{g} {g} {r}|One is {g}, one is {r}.|This is {g}. That is {r}.|{g} it is, {r} it is
|{g}? It is {r}.|It is {g}, the {r}|{g}. It is {r} in this case.|{g}. This is called {r} by all.|{g}. The {r} is it."""


@pytest.mark.parametrize(("prompt", "right", "rival"), PAIRS, ids=[str(pair[1]) for pair in PAIRS])
def test_a_rival_in_any_place_makes_a_reply_unpaid(prompt, right, rival):
    for form in HEDGES.replace("\n", "").split("|"):
        for change in (str, str.lower):
            reply = change(form.format(g=right, r=rival))
            assert judge({"answer": right}, reply, prompt).score == 0.0, reply


@pytest.mark.parametrize("prompt", [pair[0] for pair in PAIRS])
def test_the_question_again_is_no_answer(prompt):
    right = next(pair[1] for pair in PAIRS if pair[0] == prompt)
    for reply in (prompt, prompt.rstrip("?"), prompt.rstrip("?") + ".", f"The answer: {prompt}"):
        assert judge({"answer": right}, reply, prompt).score == 0.0, reply
