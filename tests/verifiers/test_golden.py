"""Golden files: what each of these verifiers says to a reply, and why; every reason is in its file."""

import json
from pathlib import Path

import pytest

import verigym

FOLDER = Path(__file__).parents[1] / "golden"
REASONS = {
    "games/replay": {
        *("goal_reached", "goal_not_reached", "illegal_move", "moves_after_goal", "over_budget"),
        *("unknown_move", "no_moves", "too_many_moves", "bad_json", "too_deep", "not_moves"),
        *("first_wins", "draw", "second_wins", "first_forfeits", "second_forfeits"),
        *("not_over", "moves_after_end"),
    },
    "qa/answer": {
        *(
            "correct",
            "partial",
            "wrong_answer",
            "several_answers",
            "hedged",
            "too_long",
            "no_answer",
        ),
        *("unreadable", "no_citation", "unsupported", "false_quote", "not_text"),
    },
    "text/schema": {
        *(
            "valid",
            "invalid",
            "bad_json",
            "duplicate_key",
            "too_deep",
            "several_answers",
            "no_answer",
        ),
        *("not_well_formed", "refused_xml", "not_text", "no_match", "too_long"),
    },
    "tools/call": {
        *("correct", "missing_call", "extra_call", "wrong_tool", "wrong_order", "wrong_arguments"),
        *("unknown_tool", "bad_arguments", "no_call", "bad_json", "duplicate_key", "bad_call"),
        *("not_calls", "too_many_calls", "too_deep"),
    },
    "tools/state": {
        *("correct", "goal_not_met", "collateral", "bad_rows", "bad_dump", "bad_json"),
        *("duplicate_key", "bad_state", "too_deep"),
    },
}
ROWS = {
    name: [
        json.loads(line)
        for line in (FOLDER / f"{name.replace('/', '_')}.jsonl").read_text("utf-8").splitlines()
    ]
    for name in REASONS
}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param(name, row, id=f"{name}-{i}-{row['why']}")
        for name, rows in ROWS.items()
        for i, row in enumerate(rows, 1)
    ],
)
def test_the_verdict_is_as_written(name, row):
    task = verigym.Task(
        id="t",
        env_id="verigym/tests/t-v0",
        seed=0,
        prompt=row.get("prompt", "p"),
        difficulty="easy",
        reference=row["answer"],
    )
    verdict = verigym.make_verifier(name, **row.get("params", {})).verify(task, row["reply"])
    assert verdict.reason == row["reason"], verdict.evidence
    assert verdict.score == pytest.approx(row["reward"])


@pytest.mark.parametrize("name", sorted(REASONS))
def test_every_reason_is_shown(name):
    assert len(ROWS[name]) >= 40
    assert {row["reason"] for row in ROWS[name]} == REASONS[name]
