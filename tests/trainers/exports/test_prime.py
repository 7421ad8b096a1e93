"""Prime's own evaluation plays tasksets with the harness here and with another (`make peers-prime`)."""

import subprocess
import sys

import pytest

from verigym.envs.new.hubs import write_hub_package

pytestmark = pytest.mark.slow


def run(model, replies, **more):
    return {"model": model, "replies": replies, **more}


def test_prime_evaluates_several_turns_one_reply_and_faults(peer, played):
    games = {"envs": ["games/keydoor", "games/sliding"], "difficulty": "easy"}
    sums = {"envs": ["math/arithmetic"]}
    moves, wanted = played(**games, n=4, wrong=(1,))
    answers, graded = played(**sums, n=2, wrong=(1,))
    one_reply = {"agent": {"harness": {"id": "one-reply"}}}
    unreachable = {"options": {"verifier": "http://127.0.0.1:9"}}
    found = peer(
        "prime",
        "with_prime.py",
        given=[
            run("several-turns", moves, taskset={**games, "num_tasks": 4}),
            run("one-reply", answers, taskset={**sums, "num_tasks": 2}, **one_reply),
            run("too-short", moves, taskset={**games, "num_tasks": 1}, **one_reply),
            run("stopped", moves, taskset={**games, "num_tasks": 1}, agent={"max_turns": 1}),
            run("fault", answers, taskset={**sums, **unreachable, "num_tasks": 1}),
        ],
    )["runs"]
    scored = {"ok": True, "errors": []}
    assert found["several-turns"] == [one | scored for one in wanted]
    assert found["one-reply"] == [one | scored for one in graded]
    (trace,) = found["stopped"]
    assert (trace["value"], trace["errors"]) == (0.0, [])
    assert trace["shown"] == wanted[0]["shown"][:2]
    for model, why in (("too-short", "play it turn by turn"), ("fault", "gave no score: infra")):
        (trace,) = found[model]
        assert trace["value"] is None
        assert not trace["ok"]
        assert trace["errors"][0].startswith("TaskError")
        assert why in trace["errors"][0]


def test_prime_loads_and_validates_a_written_package(peer, played, tmp_path):
    package = tmp_path / "package"
    write_hub_package(
        package, "vg-doors", hub="prime", env="games/keydoor", author="A. Author", tasks=1
    )
    flags = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", tmp_path)
    subprocess.run([sys.executable, "-m", "pip", "install", *flags, "."], cwd=package, check=True)
    moves, wanted = played(["games/keydoor"], n=2, split="test")
    settings = {"id": "vg-doors", "split": "test", "num_tasks": 2}
    found = peer(
        "prime",
        "with_prime.py",
        given=[
            run("evaluated", moves, taskset=settings),
            {"model": "validated", "taskset": settings},
        ],
    )["runs"]
    assert found["evaluated"] == [one | {"ok": True, "errors": []} for one in wanted]
    assert found["validated"].pop("valid") == 2
    assert not any(found["validated"].values())
