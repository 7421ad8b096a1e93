"""The real client package plays the environments of a real service."""

import json
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

import verigym
from verigym.server.process import ServerProcess

PROGRAM = Path(__file__).parent / "real_client.py"


@pytest.mark.slow
@pytest.mark.parametrize("at_root", [False, True])
def test_the_real_client_sees_what_is_seen_in_process(real_python, at_root):
    env = verigym.make("keydoor")
    rows = [env.reset(seed=7)]
    actions = []
    while not actions or not (rows[-1][2] or rows[-1][3]):
        actions.append(env.oracle() if actions else "nonsense")
        rows.append(env.step(actions[-1]))
    wanted = [
        {
            "message": row[0],
            "reward": row[1] if i else None,
            "done": bool(i) and (row[2] or row[3]),
            "metadata": {
                "terminated": bool(i) and row[2],
                "truncated": bool(i) and row[3],
                **msgspec.to_builtins(row[-1]),
            },
        }
        for i, row in enumerate(rows)
    ]
    with ServerProcess(
        workers=1,
        verifiers=["none"],
        envs=["games"],
        options=["--openenv", "keydoor"] if at_root else [],
    ) as server:
        url = server.url if at_root else f"{server.url}/openenv/games/keydoor-v0"
        done = subprocess.run(
            [real_python, PROGRAM, url],
            input=json.dumps({"seed": 7, "actions": actions}),
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    played = found["blocking"]
    assert played["steps"] == wanted
    assert (played["state"]["episode_id"], played["state"]["step_count"]) == ("mine", len(actions))
    assert "EXECUTION_ERROR" in played["over"]
    assert "VALIDATION_ERROR" in played["wrong"]
    assert played["again"]["metadata"]["task_id"] == "verigym/games/keydoor-v0:test:tiny:3"
    assert found["many"] == [wanted] * 4
    assert found["tools"]["names"] == ["act", "look"]
    assert found["tools"]["told"] == wanted
    assert found["tools"]["steps"] == len(actions)
    assert "Tool not found: fly" in found["tools"]["unknown"]


@pytest.mark.slow
def test_the_programs_of_the_page_run(real_python):
    page = (PROGRAM.parents[3] / "docs" / "openenv.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 2
    with ServerProcess(workers=1, verifiers=["none"], envs=["games"]) as server:
        done = subprocess.run(
            [real_python, "-"],
            input="\n".join(programs).replace("http://127.0.0.1:8080", server.url),
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert (first, last) == ("0.0 True", "0.0")
