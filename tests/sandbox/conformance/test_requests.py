"""Requests that cannot be met: a clear error before anything runs, and languages by name."""

import math

import pytest

from verigym import RequestError
from verigym.sandbox.job import MAX_SOURCE_BYTES, Job, Limits
from verigym.sandbox.languages.load import load_languages

BAD_LIMITS = [
    ("wall_s", -1.0),
    ("wall_s", 0),
    ("wall_s", math.nan),
    ("wall_s", math.inf),
    ("wall_s", "5"),
    ("wall_s", True),
    ("cpu_s", -math.inf),
    ("cpu_s", None),
    ("memory_mib", 0),
    ("memory_mib", 0.5),
    ("memory_mib", 1 << 60),
    ("processes", -3),
    ("open_files", False),
    ("disk_mib", math.nan),
    ("inodes", 0),
    ("output_bytes", -1),
]

BAD_JOBS = {
    "neither": ({}, "source or command"),
    "both": ({"source": "1", "command": ("true",)}, "source or command"),
    "bytes-source": ({"source": b"print(1)"}, "source must be text"),
    "10-MB-source": ({"source": "#" * (10 << 20)}, str(MAX_SOURCE_BYTES)),
    "text-stdin": ({"source": "1", "stdin": "text"}, "stdin must be bytes"),
    "text-args": ({"source": "1", "args": "abc"}, "args"),
    "number-in-args": ({"source": "1", "args": (1,)}, "args"),
    "nul-in-args": ({"source": "1", "args": ("a\0b",)}, "NUL"),
    "surrogate-in-args": ({"source": "1", "args": ("\ud800",)}, "Unicode"),
    "nul-in-command": ({"command": ("ec\0ho",)}, "NUL"),
    "huge-argument": ({"source": "1", "args": ("x" * 200_000,)}, "120000"),
    "equals-in-name": ({"source": "1", "env": {"A=B": "c"}}, "environment variable"),
    "empty-name": ({"source": "1", "env": {"": "c"}}, "environment variable"),
    "nul-in-variable": ({"source": "1", "env": {"A": "\0"}}, "NUL"),
    "traversal": ({"source": "1", "files": {"../x": b""}}, "relative"),
    "inner-traversal": ({"source": "1", "files": {"a/../../x": b""}}, "relative"),
    "absolute": ({"source": "1", "files": {"/etc/x": b""}}, "relative"),
    "dot": ({"source": "1", "files": {"./x": b""}}, "relative"),
    "empty-part": ({"source": "1", "files": {"a//x": b""}}, "relative"),
    "no-name": ({"source": "1", "files": {"": b""}}, "relative"),
    "nul-in-name": ({"source": "1", "files": {"a\0b": b""}}, "relative"),
    "surrogate-in-name": ({"source": "1", "files": {"\udcff": b""}}, "Unicode"),
    "long-name": ({"source": "1", "files": {"x" * 300: b""}}, "too long"),
    "text-file": ({"source": "1", "files": {"a": "text"}}, "must be bytes"),
    "file-and-folder": ({"source": "1", "files": {"a": b"", "a/b": b""}}, "folder"),
    "too-much-data": ({"source": "1", "files": {"a": b"x" * (33 << 20)}}, "disk_mib"),
    "too-many-files": ({"source": "1", "files": {f"f{n}": b"" for n in range(5000)}}, "files"),
    "too-many-folders": (
        {"source": "1", "files": {f"{n}/{'d/' * 1400}x": b"" for n in range(1000)}},
        "inodes",
    ),
    "folder-and-file": ({"source": "1", "files": {"a/b/c": b"", "a/b": b""}}, "'a/b' is also"),
    "fetch-traversal": ({"source": "1", "fetch": ("../*",)}, "relative"),
    "fetch-absolute": ({"source": "1", "fetch": ("/etc/passwd",)}, "relative"),
}


@pytest.mark.parametrize(("name", "value"), BAD_LIMITS, ids=lambda value: str(value))
def test_limits_that_make_no_sense(name, value):
    with pytest.raises(RequestError, match=name):
        Limits(**{name: value})


@pytest.mark.parametrize("case", BAD_JOBS)
def test_jobs_that_make_no_sense(sandbox, case):
    asked, said = BAD_JOBS[case]
    with pytest.raises(RequestError, match=said):
        sandbox.run(Job(**asked))


def test_an_unknown_language_with_suggestions(sandbox):
    with pytest.raises(RequestError, match="python"):
        sandbox.run(Job(source="1", language="pyton"))


def test_a_language_whose_toolchain_is_absent(sandbox):
    absent = sorted(load_languages().keys() - sandbox.languages)
    if not absent:
        pytest.skip("every toolchain is here; tests/sandbox/docker takes some away")
    with pytest.raises(RequestError, match="toolchain"):
        sandbox.run(Job(source="1", language=absent[0]))


def test_python_is_always_there(sandbox):
    assert "python" in sandbox.languages


def test_a_name_that_the_program_needs_itself(sandbox):
    with pytest.raises(RequestError, match="program itself"):
        sandbox.run(Job(source="1", files={"main.py": b""}))


def test_a_network_is_refused_where_none_is_given(sandbox):
    with pytest.raises(RequestError, match="allow_network"):
        sandbox.run(Job(source="1", network=True))


@pytest.mark.parametrize("max_jobs", [0, -1, 1.5, True, "2"])
def test_a_bound_that_makes_no_sense(make, max_jobs):
    with pytest.raises(RequestError, match="max_jobs"):
        make(max_jobs=max_jobs)


def test_describe_is_json(sandbox):
    import json

    told = json.loads(json.dumps(sandbox.describe()))
    assert told["backend"] == sandbox.name
