"""The kinds of constraint: golden texts, writers against checks, public rows, hostile text."""

import json
import random
import time
from pathlib import Path

import pytest

import verigym
from verigym import Status
from verigym.verifiers.text.constraints import split
from verigym.verifiers.text.constraints.draw import KINDS, draw, say, write
from verigym.verifiers.text.constraints.language import is_language, language_of
from verigym.verifiers.text.constraints.own import OWN
from verigym.verifiers.text.constraints.public import PUBLIC, SAMPLES

GOLDEN = Path(__file__).parents[3] / "golden" / "text_constraints.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def judge(reference, text, **params):
    task = verigym.Task(
        id="t", env_id="x", seed=0, prompt="p", difficulty="easy", reference=reference
    )
    return verigym.make_verifier("text/constraints", **params).verify(task, text)


def one(id, text, **args):
    return judge({"constraints": [{"id": id, "args": args}]}, text)


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{r['why']}" for i, r in enumerate(ROWS, 1)])
def test_golden(row):
    if row.get("needs"):
        pytest.importorskip(row["needs"])
    verdict = judge(row["answer"], row["reply"], **row.get("params", {}))
    assert (verdict.score, verdict.reason) == (row["reward"], row["reason"]), verdict.evidence


def test_there_are_all_public_kinds_and_as_many_of_our_own():
    assert len(PUBLIC) == 25
    assert len(OWN) >= 25
    assert len(KINDS) == len(PUBLIC) + len(OWN) + 1
    disagreements = [row for row in ROWS if "public" in row]
    assert all(row["public"] != row["reward"] for row in disagreements)
    assert len(disagreements) >= 5


@pytest.mark.parametrize("id", KINDS)
def test_what_a_kind_writes_satisfies_it_and_most_other_texts_do_not(id):
    if id == "language:response_language":
        pytest.importorskip("py3langid")
    kind = KINDS[id]
    for seed in range(20):
        chosen = draw(seed, 1, [id])
        assert chosen == draw(seed, 1, [id])
        text = write(chosen[0])
        assert text.strip()
        verdict = judge({"constraints": chosen}, text)
        assert verdict.score == 1.0, (chosen, text, verdict.evidence)
        assert set(verdict.parts) == {id}
        assert len(say(chosen)) > 8
        assert kind.read({**chosen[0]["args"], "another_kind": None}, "x") == chosen[0]["args"]


def test_a_public_row_runs_as_it_is():
    row = {
        "key": 1000,
        "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
        "prompt": "p",
        "kwargs": [
            {"num_words": None},
            {"num_words": 3.0, "relation": "at least", "keyword": None},
        ],
    }
    assert judge(row, "one two three").score == 1.0
    verdict = judge(row, "one, two")
    assert verdict.score == 0.0
    assert verdict.parts == {"punctuation:no_comma": 0.0, "length_constraints:number_words": 0.0}
    half = judge(row, "one, two three", score="share")
    assert half.score == 0.5


def test_two_of_one_kind_have_parts_of_their_own():
    reference = {
        "constraints": [
            {"id": "keywords:existence", "args": {"keywords": ["a"]}},
            {"id": "keywords:existence", "args": {"keywords": ["z"]}},
        ]
    }
    parts = judge(reference, "a b").parts
    assert parts == {"keywords:existence": 1.0, "keywords:existence#2": 0.0}


def test_loose_mode_forgives_a_first_line():
    reference = {"constraints": [{"id": "startend:quotation"}]}
    text = 'Sure, here it is:\n"**Text.**"'
    assert judge(reference, text).score == 0.0
    assert judge(reference, text, mode="loose").score == 1.0


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {},
        {"constraints": []},
        {"constraints": [{"id": "no:such"}]},
        {"constraints": [{"id": "keywords:existence"}]},
        {"constraints": [{"id": "keywords:existence", "args": {"keywords": []}}]},
        {"constraints": [{"id": "words:exactly", "args": {"n": -1}}]},
        {"constraints": [{"id": "words:exactly", "args": {"n": True}}]},
        {"constraints": [{"id": "words:exactly", "args": {"n": 1, "m": 2}}]},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault(reference):
    verdict = judge(reference, "text")
    assert verdict.status is Status.VERIFIER_ERROR
    assert verdict.reason == "bad_task"


def test_unusable_submissions():
    reference = {"constraints": [{"id": "punctuation:no_comma"}]}
    assert judge(reference, " \n").reason == "no_answer"
    assert judge(reference, 3).reason == "not_text"
    assert judge(reference, "x" * ((1 << 20) + 1)).reason == "too_long"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Mr. Smith lives in the U.S. He is old.", 2),
        ("It is 3.5 km, e.g. far.", 1),
        ('He said "Go." Then he left.', 2),
        ("What?! No.", 2),
        ("1. First. 2. Second.", 4),
        ("J. K. Rowling wrote it.", 1),
        ("I CAN'T. NO.", 2),
        ("no end", 1),
    ],
)
def test_sentences(text, count):
    assert split.count_sentences(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("DON'T", 2), ("I am", 1), ("NASA's U.S. COVID-19", 3), ("CANNOT (ABC)", 3), ("Abc 12", 0)],
)
def test_capital_tokens(text, count):
    assert split.n_capital_tokens(text) == count


def test_languages():
    pytest.importorskip("py3langid")
    for code, text in SAMPLES.items():
        assert language_of(text) == code
        assert is_language(text, code)
        assert not is_language(text, "pl")
    assert is_language("123", "en")


HOSTILE = [
    "[" * 200_000,
    "*" * 200_001,
    "*a" * 100_000,
    "\n" * 200_000 + "x",
    " " * 200_000 + ".",
    "." * 200_000 + "a",
    "?!" * 100_000 + "a",
    "```x\n" * 40_000,
    "<<" * 100_000,
    "p." * 100_000,
    "Section" * 30_000,
    '{"a":' * 40_000,
    "a." * 100_000,
    "' \"" * 60_000,
    "1" * 200_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_costs_little(text):
    chosen = [c for id in KINDS for c in draw(1, 1, [id])]
    chosen = [c for c in chosen if c["id"] != "language:response_language"]
    began = time.process_time()
    for constraint in chosen:
        KINDS[constraint["id"]].check(text, constraint["args"])
    # Quadratic scans of these texts take minutes; a busy machine takes a second or two.
    assert time.process_time() - began < 30


def test_drawing_uses_no_global_state():
    random.seed(1)
    before = random.getstate()
    draw(3, 5)
    assert random.getstate() == before
