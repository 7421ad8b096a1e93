"""The programs of docs/client.md run, in their order, against a real service."""

import re
from pathlib import Path

import pytest

from verigym.server.process import ServerProcess

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


@pytest.mark.slow
def test_the_programs_of_the_page_run(capsys, tmp_path):
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) == 5
    names = {}
    with ServerProcess(workers=1, envs=["games"], env={"XDG_STATE_HOME": str(tmp_path)}) as server:
        for program in programs:
            exec(program.replace("http://127.0.0.1:8080", server.url), names)
    assert names["verdict"].score == 0.0
    assert [verdict.score for verdict in names["verdicts"]] == [0.0, 0.0]
    assert names["done"].status == "done"
    assert len(names["observations"]) == 4
    assert names["rewards"] == [0.0] * 4
    assert "done [0.0, 0.0]" in capsys.readouterr().out
