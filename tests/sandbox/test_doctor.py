"""`verigym sandbox doctor`: what it says is what was found, for people and for programs."""

import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

from verigym.sandbox import doctor
from verigym.sandbox.languages.load import load_languages
from verigym.sandbox.local import probe


@pytest.fixture(scope="module")
def report():
    return doctor.diagnose()


def said(report):
    with io.StringIO() as text:
        Console(file=text, width=300).print(doctor.render(report))
        return text.getvalue()


def weakened(report, tier, *missing):
    """The report of a machine without the layers `missing`."""
    layers = [
        {**layer, "active": False, "why": "EPERM: taken away", "detail": ""}
        if layer["name"] in missing
        else layer
        for layer in report["layers"]
    ]
    accept = doctor._ACCEPT if tier == "weaker" else None
    summary = doctor._SUMMARY[tier]
    return {**report, "tier": tier, "accept": accept, "summary": summary, "layers": layers}


def test_the_report_is_json_and_complete(report):
    assert json.loads(json.dumps(report)) == report
    assert report.keys() == {
        "tier",
        "summary",
        "accept",
        "host",
        "layers",
        "backends",
        "languages",
    }
    assert [layer["name"] for layer in report["layers"]] == [name for name, *_ in probe._LAYERS]
    assert [backend["name"] for backend in report["backends"]] == ["local", "docker", "remote"]
    assert {entry["name"] for entry in report["languages"]} == set(load_languages())
    assert next(entry for entry in report["languages"] if entry["name"] == "python")["available"]


def test_what_is_absent_has_a_reason(report):
    for backend in report["backends"]:
        assert bool(backend["why"]) != backend["available"]
    for entry in report["languages"]:
        assert bool(entry["missing"]) != entry["available"]
    assert (report["tier"] == "weaker") == (report["accept"] is not None)


def test_docker_is_asked_where_docker_host_says(report, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nowhere.sock")
    found = doctor._docker()
    assert not found["available"]
    assert "nowhere.sock: No such file or directory" in found["why"]


def test_a_person_reads_every_layer_with_what_an_attacker_could_do(report):
    text = said(report)
    for layer in report["layers"]:
        assert layer["name"] in text
        assert layer["stops" if layer["active"] else "without"][:60] in text
    assert report["tier"] in text
    assert report["host"]["kernel"] in text


def test_what_is_missing_is_said_with_the_way_to_accept_it(report):
    text = said(weakened(report, "weaker", "user namespace"))
    assert "MISSING" in text
    assert "EPERM: taken away" in text
    assert f"--accept {doctor._ACCEPT}" in text
    text = said(weakened(report, "refused", "user namespace", "seccomp"))
    assert "--accept" not in text
    assert "docker or remote" in text


def test_names_of_others_are_not_read_as_markup(report):
    strange = {**report["host"], "python": "/opt/[bold]x[/bold]/[/]python"}
    assert "/opt/[bold]x[/bold]/[/]python" in said({**report, "host": strange})


@pytest.mark.slow
def test_the_command_prints_it():
    command = [sys.executable, "-m", "verigym", "sandbox", "doctor"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tier"] in ("strong", "weaker", "refused")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "seccomp" in done.stdout
