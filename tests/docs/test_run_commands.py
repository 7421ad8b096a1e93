"""Commands of the pages are run as they stand, but for those that `LEFT_OUT` names with the reason.

Tutorials and docs/curl.md have tests of their own, which run all of theirs.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_commands import PAGES, ROOT, commands

LEFT_OUT = {
    r"^verigym serve": "a service that stays; tests/server starts it with these settings",
    r"^verigym (play|report)|--open": "wants a terminal, a browser or the folder of a run",
    r"^verigym (train (?!--list)|gateway|eval|compare|leaderboard|replay)|hf:|openai:": "a model plays or learns",
    r"(check --all|'games/\*' --jobs|selfcheck( --json)?$|raw:reasoning-gym)": "takes minutes",
    r"\b(audit (math|sql|code)$|audit --tasks math)": "takes minutes; benchmarks/cards.py and tests/verifiers do it",
    r"(cases|pairs|hacks|kept-aside|run|rows|data)\.jsonl|hacks/|main\.rs|plot\.py|capitals\.toml|served\.toml|\./mine"
    r"|mine/tasks|verifiers/math/cards": "files of the reader's",
    r"check (word|verigym)-|--author|deploy/keys|keys revoke|ors\+http": "needs what a reader has installed, made or serves",
    r"math/math-verify": "needs cases of the reader's, and a peer that starts for seconds",
}
OWN_TESTS = ("docs/tutorials/", "docs/curl.md", "docs/reproduce.md")


def to_run(page):
    """Return the commands of a page that are run, in their order."""
    if page.relative_to(ROOT).as_posix().startswith(OWN_TESTS):
        return []
    lines = [shlex.join(words) for words in commands(page) if words[-1] != "--help"]
    return [line for line in lines if not any(re.search(one, line) for one in LEFT_OUT)]


RUN = {page.relative_to(ROOT).as_posix(): lines for page in PAGES if (lines := to_run(page))}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_work_in_their_order(page, tmp_path):
    for file in (ROOT / "examples" / "datasets").glob("rivers*"):
        shutil.copy(file, tmp_path)
    verigym = Path(sys.executable).with_name("verigym")
    for line in RUN[page]:
        done = subprocess.run(
            [verigym, *shlex.split(line)[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_no_reason_to_leave_out_a_command_is_idle():
    lines = [shlex.join(words) for page in PAGES for words in commands(page)]
    assert all(any(re.search(one, line) for line in lines) for one in LEFT_OUT)
    assert sum(map(len, RUN.values())) >= 35
