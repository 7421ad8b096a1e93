"""`Builder`: what it asks a backend to run. On real backends: tests/sandbox/languages."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.errors import RequestError
from verigym.sandbox.build import Builder
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.languages.load import COMPILE_LIMITS, Needs, load_languages

LANGUAGES = load_languages()
OK = Result(status=JobStatus.OK, stdout=b"ran", wall_s=0.5)
MIB = 1 << 20


class Backend:
    """Records the steps and gives prepared results: a compiler's, then the program's for ever."""

    def __init__(self, *results):
        self.results = list(results)
        self.steps = []

    def __call__(self, step):
        self.steps.append(step)
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


def made(**files):
    return Result(status=JobStatus.OK, stdout=b"from the compiler", wall_s=9.0, files=files)


def c(source="int main() {}", **further):
    return Job(source=source, language="c", **further)


def test_a_command_is_one_step_as_it_is():
    backend = Backend(OK)
    limits = Limits(wall_s=3.0)
    job = Job(
        command=("ls", "-l"),
        args=("a",),
        files={"a": b"1"},
        stdin=b"in",
        env={"X": "1"},
        limits=limits,
        fetch=("a",),
    )
    assert Builder(LANGUAGES).run(job, backend) is OK
    (step,) = backend.steps
    assert step.argv == ("ls", "-l", "a")
    assert (step.files, step.stdin, step.env, step.limits) == (
        {"a": b"1"},
        b"in",
        {"X": "1"},
        limits,
    )
    assert (step.fetch, step.python, step.executable) == (("a",), None, frozenset())
    assert step.address_space_mib > 16 << 10, "it may be any runtime"


def test_an_interpreted_program_is_one_step():
    backend = Backend(OK)
    job = Job(source="print(1)", args=("a",), files={"d": b"2"}, env={"PYTHONHASHSEED": "7"})
    assert Builder(LANGUAGES).run(job, backend) is OK
    (step,) = backend.steps
    assert step.argv == (*LANGUAGES["python"].run, "a")
    assert step.files == {"main.py": b"print(1)", "d": b"2"}
    assert (step.python, step.fetch, step.executable) == ("main.py", (), frozenset())
    assert step.env["PYTHONHASHSEED"] == "7", "the job's variables win"
    assert step.env["OMP_NUM_THREADS"] == "1"


def test_a_compiled_program_is_two_steps_the_first_without_the_job():
    backend = Backend(made(main=b"\x7fELF"), OK)
    job = c(args=("a",), stdin=b"in", env={"X": "1"}, files={"x.h": b"1"}, fetch=("out",))
    assert Builder(LANGUAGES).run(job, backend) is OK
    compiling, running = backend.steps
    assert compiling.argv == LANGUAGES["c"].compile
    assert compiling.files == {"main.c": b"int main() {}", "x.h": b"1"}
    assert (compiling.stdin, compiling.env, compiling.network) == (b"", {}, False)
    assert compiling.fetch == ("main",)
    assert running.argv == ("./main", "a")
    assert running.files == {"main": b"\x7fELF", "x.h": b"1"}
    assert (running.executable, running.stdin, running.env) == ({"main"}, b"in", {"X": "1"})
    assert running.fetch == ("out",)


def test_the_compiler_has_limits_of_its_own_and_its_files_room_beside_the_jobs():
    backend = Backend(made(main=b"x" * (3 * MIB)), OK)
    limits = Limits(wall_s=1.0, memory_mib=8, disk_mib=1, inodes=2, processes=1, open_files=4)
    Builder(LANGUAGES).run(c(limits=limits), backend)
    compiling, running = backend.steps
    assert replace(compiling.limits, memory_mib=1, disk_mib=1, inodes=1) == replace(
        COMPILE_LIMITS, memory_mib=1, disk_mib=1, inodes=1
    )
    assert compiling.limits.disk_mib > COMPILE_LIMITS.disk_mib
    assert (running.limits.disk_mib, running.limits.memory_mib, running.limits.inodes) == (5, 12, 3)
    assert (running.limits.wall_s, running.limits.processes) == (1.0, 1)


@given(st.sampled_from(sorted(LANGUAGES)), st.integers(1, 4096), st.integers(1, 100))
def test_what_the_runtime_needs_is_added(name, memory_mib, processes):
    language = LANGUAGES[name]
    limits = Limits(memory_mib=memory_mib, processes=processes)
    artefacts = {pattern.replace("*", "Main"): b"" for pattern in language.artefacts}
    backend = Backend(*([made(**artefacts)] if artefacts else []), OK)
    Builder(LANGUAGES).run(Job(source="", language=name, limits=limits), backend)
    step = backend.steps[-1]
    for field in fields(Limits):
        extra = getattr(language.needs, field.name, 0)
        # Artefacts take room too.
        most = extra + (
            1 if artefacts and field.name in ("memory_mib", "disk_mib", "inodes") else 0
        )
        assert extra <= getattr(step.limits, field.name) - getattr(limits, field.name) <= most
    assert step.address_space_mib == memory_mib + language.needs.address_space_mib
    assert "{memory_mib}" not in " ".join((*step.argv, *step.env.values()))
    if name == "java":
        assert f"-Xmx{memory_mib}m" in step.argv


def test_a_compiler_runs_once_for_one_content():
    backend = Backend(made(main=b"1"), OK)
    builder = Builder(LANGUAGES)
    for stdin in (b"1", b"2", b"3"):
        assert builder.run(c(stdin=stdin, args=("x",), limits=Limits(wall_s=3)), backend) is OK
    assert [step.argv[0] for step in backend.steps] == ["gcc", "./main", "./main", "./main"]


PROGRAMS = st.builds(
    lambda language, source, files: (language, source, tuple(sorted(files.items()))),
    st.sampled_from(["c", "cpp", "rust"]),
    st.sampled_from(["", "a", "ab"]),
    st.dictionaries(st.sampled_from(["x", "y", "xy"]), st.sampled_from([b"", b"a", b"b"])),
)


@given(st.lists(PROGRAMS, max_size=12))
def test_each_content_is_compiled_once_and_has_artefacts_of_its_own(programs):
    builder, compiled = Builder(LANGUAGES), []

    def execute(step):
        if step.argv[0].startswith("./"):
            return replace(OK, stdout=step.files["main"])
        language = {"gcc": "c", "g++": "cpp", "rustc": "rust"}[step.argv[0]]
        source = step.files[LANGUAGES[language].source].decode()
        files = {k: v for k, v in step.files.items() if k != LANGUAGES[language].source}
        content = (language, source, tuple(sorted(files.items())))
        compiled.append(content)
        return made(main=repr(content).encode())

    for program in programs:
        language, source, files = program
        job = Job(source=source, language=language, files=dict(files))
        assert builder.run(job, execute).stdout == repr(program).encode()
    assert sorted(compiled) == sorted(set(programs))


def test_an_upgraded_compiler_compiles_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("verigym.sandbox.build.PATH", str(tmp_path))
    compiler = tmp_path / "gcc"
    compiler.write_text("old")
    compiler.chmod(0o755)
    backend = Backend(made(main=b"1"), OK)
    builder = Builder(LANGUAGES)
    builder.run(c(), backend)
    builder.run(c(), backend)
    compiler.write_text("newer")
    backend.results = [made(main=b"2"), OK]
    builder.run(c(), backend)
    assert [step.argv[0] for step in backend.steps] == ["gcc", "./main", "./main", "gcc", "./main"]
    assert backend.steps[-1].files == {"main": b"2"}


def test_a_compile_error_is_kept_and_says_what_the_compiler_said():
    said = b"main.c:1: error: first\n" + b"x" * 5000 + b"main.c:9: error: last\n"
    failed = Result(
        status=JobStatus.NONZERO_EXIT, exit_code=1, stderr=said, wall_s=2.0, files={"main": b""}
    )
    backend = Backend(failed)
    builder = Builder(LANGUAGES)
    first = builder.run(c(), backend)
    assert (first.status, first.exit_code, first.files) == (JobStatus.COMPILE_ERROR, 1, {})
    assert first.detail.startswith("main.c:1: error: first")
    assert first.detail.endswith("main.c:9: error: last")
    assert len(first.detail) < 3100
    assert first.stderr == said
    second = builder.run(c(limits=Limits(output_bytes=100)), backend)
    assert (second.detail, second.stderr, second.stderr_truncated) == (
        first.detail,
        said[:100],
        True,
    )
    assert len(backend.steps) == 1


def test_messages_on_standard_output_are_messages_too():
    backend = Backend(
        Result(status=JobStatus.NONZERO_EXIT, exit_code=2, stdout=b"main.ts(1,1): no\n")
    )
    result = Builder(LANGUAGES).run(Job(source="", language="ts"), backend)
    assert (result.status, result.detail) == (JobStatus.COMPILE_ERROR, "main.ts(1,1): no")


@pytest.mark.parametrize(
    ("failed", "detail", "kept"),
    [
        (Result(status=JobStatus.SIGNAL, signal=11), "the compiler was killed by signal 11", True),
        (Result(status=JobStatus.MEMORY_LIMIT), "the compiler passed its limit of 1024 MiB", True),
        (Result(status=JobStatus.DISK_LIMIT), "the compiler passed its limit of 128 MiB on disk", True),
        (Result(status=JobStatus.OUTPUT_LIMIT, stderr=b"e"), "the compiler said more than", True),
        (Result(status=JobStatus.TIME_LIMIT, cpu_s=29.0), "the compiler passed its limit of 15 s", True),
        # The machine was busy: perhaps not, another time.
        (Result(status=JobStatus.TIME_LIMIT, cpu_s=1.0), "the compiler passed its limit of 15 s", False),
        (made(), "the compiler ended well but left no main\nfrom the compiler", True),
        (made(other=b""), "the compiler ended well but left no main", True),
        (
            Result(status=JobStatus.OK, refused={"main": "has 99 MiB, at most 32 are brought back"}),
            "what the compiler made is unusable: main: has 99 MiB",
            True,
        ),
    ],
)  # fmt: skip
def test_a_compiler_that_gives_nothing_usable(failed, detail, kept):
    backend = Backend(failed)
    builder = Builder(LANGUAGES)
    for _ in range(2):
        result = builder.run(c(), backend)
        assert result.status is JobStatus.COMPILE_ERROR
        assert result.detail.startswith(detail)
    assert len(backend.steps) == (1 if kept else 2)


def test_a_fault_while_compiling_is_the_machines_and_not_kept():
    fault = Result(status=JobStatus.SANDBOX_ERROR, detail="no memory")
    backend = Backend(fault, made(main=b"1"), OK)
    builder = Builder(LANGUAGES)
    first = builder.run(c(), backend)
    assert (first.status, first.detail) == (JobStatus.SANDBOX_ERROR, "while compiling: no memory")
    assert builder.run(c(), backend) is OK


def test_files_that_the_compiler_left_alone_are_no_artefacts():
    backend = Backend(made(**{"a.class": b"brought", "Main.class": b"made"}), OK)
    job = Job(source="", language="java", files={"a.class": b"brought"})
    Builder(LANGUAGES).run(job, backend)
    assert backend.steps[1].executable == {"Main.class"}
    assert backend.steps[1].files == {"a.class": b"brought", "Main.class": b"made"}


@pytest.mark.parametrize(
    ("name", "stderr", "status", "expected"),
    [
        ("python", b"MemoryError\n", JobStatus.NONZERO_EXIT, JobStatus.MEMORY_LIMIT),
        ("python", b"MemoryError\n", JobStatus.OK, JobStatus.OK),
        ("python", b"MemoryError\n", JobStatus.TIME_LIMIT, JobStatus.TIME_LIMIT),
        ("python", b"ValueError\n", JobStatus.NONZERO_EXIT, JobStatus.NONZERO_EXIT),
        ("javascript", b"JavaScript heap out of memory", JobStatus.SIGNAL, JobStatus.MEMORY_LIMIT),
    ],
)
def test_a_runtime_that_says_it_has_no_memory_is_believed(name, stderr, status, expected):
    backend = Backend(Result(status=status, stderr=stderr))
    assert Builder(LANGUAGES).run(Job(source="", language=name), backend).status is expected


def test_aliases_are_names():
    backend = Backend(OK)
    Builder(LANGUAGES).run(Job(source="", language="js"), backend)
    assert backend.steps[0].argv[0] == "node"


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("pyhton", "unknown language 'pyhton'; did you mean 'python'"),
        ("", "unknown language ''; known: bash, python"),
        ("rust", r"Rust is known, but its toolchain is not in this sandbox \(rustc, cc on its PATH\); "
                 "on Debian: apt-get install rustc"),
        ("rs", "Rust is known"),
    ],
)  # fmt: skip
def test_unknown_and_absent_languages_are_told_apart(language, message):
    here = {name: LANGUAGES[name] for name in ("python", "bash")}
    builder = Builder(here)
    assert builder.available == {"python", "bash"}
    for ask in (builder.check, lambda job: builder.run(job, Backend(OK))):
        with pytest.raises(RequestError, match=message):
            ask(Job(source="", language=language))


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("c", "main.c"),
        ("c", "main"),
        ("c", "main/x.h"),
        ("python", "main.py"),
        ("sqlite", "stdin.sql"),
        ("typescript", "node-any.d.ts"),
    ],
)
def test_files_named_as_ours_are_refused(language, name):
    with pytest.raises(RequestError, match="use another name"):
        Builder(LANGUAGES).check(Job(source="", language=language, files={name: b""}))


def test_a_source_too_large_for_the_disk_is_refused():
    builder = Builder(LANGUAGES)
    builder.check(Job(source="#" * MIB, limits=Limits(disk_mib=2)))
    with pytest.raises(RequestError, match="more than disk_mib 1"):
        builder.check(Job(source="#" * MIB, limits=Limits(disk_mib=1)))


def test_the_step_of_a_session():
    builder = Builder(LANGUAGES)
    limits = Limits(wall_s=60.0)
    step = builder.session_step("py", limits, {"data.txt": b"1"}, {"X": "1"})
    assert step.python in step.files
    assert step.python in step.argv
    assert step.files["data.txt"] == b"1"
    assert (step.env["X"], step.env["OMP_NUM_THREADS"]) == ("1", "1")
    assert step.limits.wall_s == 60.0
    shell = builder.session_step("bash", limits)
    assert (shell.python, shell.argv[0]) == (None, "bash")
    with pytest.raises(
        RequestError, match="no sessions in 'ruby'; sessions are in python and bash"
    ):
        builder.session_step("ruby", limits)
    with pytest.raises(RequestError, match="unknown language"):
        builder.session_step("rubby", limits)
    with pytest.raises(RequestError, match="use another name"):
        builder.session_step("python", limits, {step.python: b""})
    with pytest.raises(RequestError, match="must be relative"):
        builder.session_step("python", limits, {"../x": b""})
    with pytest.raises(RequestError, match="NUL"):
        builder.session_step("python", limits, None, {"X": "\0"})


def test_needs_are_never_negative():
    with pytest.raises(RequestError, match="at least 0"):
        Needs(open_files=-1)
