"""Language files: those of ours, and what is said of wrong ones."""

import re

import pytest

from verigym.errors import ConfigError
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.sandbox.languages.load import (
    COMPILE_LIMITS,
    FOLDER_VARIABLE,
    Needs,
    address_space_mib,
    environment,
    fill,
    find,
    load_languages,
    versions,
)

SHIPPED = [
    "bash", "c", "cpp", "fortran", "go", "haskell", "java", "javascript", "lua", "ocaml", "perl",
    "php", "python", "r", "ruby", "rust", "sqlite", "typescript", "verilog",
]  # fmt: skip

GOOD = """
title = "Copy"
aliases = ["cp"]
source = "main.txt"
run = ["cat", "main.txt"]
version = ["cat", "--version"]
programs = ["cat"]
package = "coreutils"
"""


def test_the_languages_of_ours():
    languages = load_languages()
    assert list(languages) == SHIPPED
    assert languages["cpp"].aliases[0] == "c++"
    for name, language in languages.items():
        assert language.name == name
        assert language.run[0].removeprefix("./") in (*language.programs, *language.artefacts)
        assert not language.compile or language.compile[0] in language.programs
        assert language.version[0] in language.programs


def test_a_folder_adds_a_language_and_replaces_one_of_ours(tmp_path, monkeypatch):
    (tmp_path / "copy.toml").write_text(GOOD)
    (tmp_path / "lua.toml").write_text(GOOD.replace('["cp"]', '["copy5"]'))
    (tmp_path / "notes.txt").write_text("no language")
    languages = load_languages(tmp_path)
    assert sorted(languages) == sorted([*SHIPPED, "copy"])
    assert (languages["copy"].aliases, languages["lua"].title) == (("cp",), "Copy")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert load_languages() == languages


def test_the_tables_of_a_file(tmp_path):
    (tmp_path / "copy.toml").write_text(
        GOOD
        + 'compile = ["cc"]\nartefacts = ["out"]\n'
        + "[needs]\nprocesses = 3\naddress_space_mib = 100\n"
        + "[compile_limits]\nwall_s = 5\nmemory_mib = 77\n"
        + '[env]\nHEAP = "{memory_mib}m"\n'
    )
    language = load_languages(tmp_path)["copy"]
    assert language.needs == Needs(processes=3, address_space_mib=100)
    assert (language.compile_limits.wall_s, language.compile_limits.memory_mib) == (5, 77)
    assert language.compile_limits.output_bytes == COMPILE_LIMITS.output_bytes
    limits = Limits(memory_mib=64)
    assert environment(language, limits) == {"HEAP": "64m"}
    assert fill(("-Xmx{memory_mib}m", "{x}"), limits) == ("-Xmx64m", "{x}")
    assert address_space_mib(language, limits) == 164


WRONG = [
    ("", "title = ", "copy.toml"),
    ("GOOD", 'compiler = ["cc"]\n', "unknown key compiler; did you mean 'compile'"),
    ("GOOD", "[needs]\nmemory = 3\n", "unknown key needs.memory; did you mean 'memory_mib'"),
    ("GOOD", "[compile_limits]\nwall = 3\n", "unknown key compile_limits.wall; did you mean 'wall_s'"),
    ("GOOD", "[compile_limits]\nwall_s = -3\n", "wall_s must be above 0"),
    ("GOOD", "[needs]\nprocesses = -1\n", "needs.processes must be at least 0, got -1"),
    ("GOOD", "[needs]\nprocesses = 1.5\n", "needs.processes"),
    ("GOOD", "compile_limits = 3\n", "compile_limits must be a table, got 3"),
    ("GOOD", 'compile = ["cc"]\n', "compile and artefacts belong together"),
    ("GOOD", 'paths = ["etc"]\n', "paths must be absolute, got 'etc'"),
    ("GOOD", 'name = "other"\n', "name is the name of the file"),
    ("GOOD", 'files = { "../x" = "" }\n', "must be relative"),
    ('source = "main.txt"', 'source = "/main.txt"', "must be relative"),
    ('source = "main.txt"\n', "", "source"),
    ('title = "Copy"', 'title = ""', "title must not be empty"),
    ('run = ["cat", "main.txt"]', 'run = "cat main.txt"', "run"),
    ('run = ["cat", "main.txt"]', "run = []", "run must not be empty"),
    ('aliases = ["cp"]', "aliases = [1]", "aliases[0]"),
    ('aliases = ["cp"]', 'aliases = ["C P"]', "'C P' is not a valid language name"),
    ('aliases = ["cp"]', 'aliases = ["python"]', "'python' names both"),
    ('aliases = ["cp"]', 'aliases = ["js"]', "'js' names both"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_a_wrong_file_is_refused_with_its_reason(tmp_path, old, new, message):
    text = GOOD.replace(old, new) if old != "GOOD" and old else (GOOD if old else "") + new
    (tmp_path / "copy.toml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        load_languages(tmp_path)
    assert "copy" in str(caught.value)


def test_a_file_with_a_wrong_name_or_bytes_is_refused(tmp_path):
    (tmp_path / "Copy It.toml").write_text(GOOD)
    with pytest.raises(ConfigError, match="'Copy It' is not a valid language name"):
        load_languages(tmp_path)
    (tmp_path / "Copy It.toml").unlink()
    (tmp_path / "copy.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(ConfigError, match=r"copy\.toml"):
        load_languages(tmp_path)
    with pytest.raises(ConfigError, match="not a folder of language files"):
        load_languages(tmp_path / "missing")


def test_only_those_with_all_their_programs_are_found():
    languages = load_languages()
    assert find(languages, lambda program: True) == languages
    assert find(languages, lambda program: False) == {}
    # The interpreter without the compiler is not enough.
    assert set(find(languages, {"node", "bash"}.__contains__)) == {"bash", "javascript"}


def test_versions_are_the_first_line_of_what_the_probe_says():
    languages = {name: load_languages()[name] for name in ("c", "lua", "rust")}

    def execute(step):
        assert step.limits == COMPILE_LIMITS
        if step.argv[0] == "gcc":
            return Result(status=JobStatus.OK, stdout=b"\ngcc 12 \nmore")
        if step.argv[0] == "lua5.4":
            return Result(status=JobStatus.OK, stderr=b"Lua 5.4")
        return Result(status=JobStatus.SIGNAL, signal=11, stdout=b"rustc?")

    assert versions(languages, execute) == {"c": "gcc 12", "lua": "Lua 5.4", "rust": ""}
