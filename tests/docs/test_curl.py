"""The commands of docs/curl.md give the answers that the page shows, and the page shows every route."""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from verigym.server.process import ServerProcess

PAGE = (Path(__file__).parents[2] / "docs" / "curl.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
BLOCK = re.compile(r"^(`{3,4})(sh|json|text)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
KEY = "a-key-of-the-test"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    state = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    with ServerProcess(envs=["*"], workers=2, options=["--sandbox"], env=state) as server:
        yield server


@pytest.fixture(scope="module")
def keyed_service():
    with ServerProcess(verifiers=["math"], workers=1, key=KEY) as server:
        yield server


def recipes(section):
    """Return pairs of a command and the answer that follows it: its kind and text."""
    blocks = [(kind, content) for _, kind, content in BLOCK.findall(section)]
    assert [kind == "sh" for kind, _ in blocks] == [True, False] * (len(blocks) // 2), "in pairs"
    return [(blocks[i][1], *blocks[i + 1]) for i in range(0, len(blocks), 2)]


def matches(shown, got):
    """Tell if `got` is what the page shows: "..." is anything, and objects may hold more."""
    if shown == "...":
        return True
    if isinstance(shown, dict) and isinstance(got, dict):
        return all(name in got and matches(value, got[name]) for name, value in shown.items())
    if isinstance(shown, list) and isinstance(got, list):
        if shown[-1:] == ["..."]:
            shown, got = shown[:-1], got[: len(shown) - 1]
        return len(shown) == len(got) and all(map(matches, shown, got))
    return shown == got


def is_answer(kind, shown, got):
    if kind == "json":
        return matches(json.loads(shown), json.loads(got))
    for line in shown.splitlines():
        if line.startswith("{"):
            if not any(matches(json.loads(line), json.loads(one)) for one in got.splitlines()):
                return False
        elif line not in got:
            return False
    return True


def ids_in(got):
    """Return the variables that the page says to take from an answer."""
    if not got.startswith("{"):
        return {}
    answer = json.loads(got.splitlines()[0])
    found = {"JOB": answer.get("job"), "CELLS": answer.get("id")}
    if "sessions" in answer:
        found["SESSION"] = answer["sessions"][0].get("session")
    return {name: value for name, value in found.items() if isinstance(value, str)}


@pytest.mark.slow
@pytest.mark.parametrize("name", SECTIONS)
def test_commands_give_the_answers_that_the_page_shows(name, service, keyed_service, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("curl is not here")
    section = SECTIONS[name].replace("localhost:8080", service.url.removeprefix("http://"))
    section = section.replace("localhost:8081", keyed_service.url.removeprefix("http://"))
    variables = {**os.environ, "HOME": str(tmp_path), "NO_PROXY": "*", "VERIGYM_API_KEY": KEY}
    found = recipes(section)
    assert found
    for command, kind, shown in found:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, command + done.stderr
        assert is_answer(kind, shown, done.stdout), f"{command}\n{done.stdout}\nis not\n{shown}"
        variables |= ids_in(done.stdout)


@pytest.mark.slow
def test_the_page_shows_every_route(service):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{service.url}/openapi.json") as answer:
        paths = json.load(answer)["paths"]
    shown = [
        asked(line)
        for _, kind, block in BLOCK.findall(PAGE)
        if kind == "sh"
        for line in block.split("\n")
    ]
    missing = [
        f"{method.upper()} {path}"
        for path, operations in paths.items()
        for method in operations
        if not any(method == how and re.fullmatch(template(path), url) for how, url in shown)
    ]
    assert not missing, "docs/curl.md lacks these routes"


def template(path):
    """Return the pattern of a route's paths; ids of environments and verifiers have a slash."""
    return re.sub(
        r"\{(\w+)\}", lambda m: "[^/]+/[^/]+" if m[1] in ("env", "verifier") else "[^/]+", path
    )


def asked(line):
    """Return method and path of a command's first line; curl posts where it is given data."""
    named = re.search(r"-X (\w+)", line)
    url = re.search(r"localhost:8080(/[^?\"' ]*)", line)
    method = named[1].lower() if named else "post" if " -d " in line else "get"
    return method, url[1] if url else ""
