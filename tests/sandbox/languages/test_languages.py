"""Every language on the real local backend: the programs of `programs/<name>.toml`."""

import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from verigym.sandbox.base import Cancellation
from verigym.sandbox.build import Builder
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.languages.load import COMPILE_LIMITS, load_languages
from verigym.sandbox.local import LocalSandbox

LANGUAGES = load_languages()
PROGRAMS = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).with_name("programs").glob("*.toml"))
}
COMPILED = sorted(name for name, language in LANGUAGES.items() if language.compile)


def usual(names):
    """The languages of `names`, all but a few in the slow tail: of these, one is compiled and two are not.

    That every language runs, reads and writes is shown for each in `make test`.
    """
    few = ("c", "javascript", "python")
    return [pytest.param(name, marks=() if name in few else pytest.mark.slow) for name in names]


@pytest.fixture(scope="module")
def sandbox():
    """The local backend as it is made by default."""
    with LocalSandbox() as made:
        yield made


def run(sandbox, name, program, *, stdin=b"", args=(), files=None, **limits):
    """Run one of the language's programs with limits that a busy machine does not pass."""
    if name not in sandbox.languages:
        pytest.skip(f"its toolchain is absent: apt-get install {LANGUAGES[name].package}")
    return sandbox.run(
        Job(
            source=PROGRAMS[name].get(program, program),
            language=name,
            stdin=stdin,
            args=args,
            files=files or {},
            limits=Limits(**{"wall_s": 30.0, "cpu_s": 30.0, **limits}),
        )
    )


def test_every_language_has_its_programs():
    assert sorted(PROGRAMS) == sorted(LANGUAGES)
    for name, programs in PROGRAMS.items():
        assert {"echo", "exit", "fails", "endless", "hog"} <= programs.keys(), name
        assert ("broken" in programs) == (name in COMPILED), name


def test_every_toolchain_says_its_version(sandbox):
    said = sandbox.versions()
    assert said.keys() == sandbox.languages
    for name, version in said.items():
        assert re.search(r"\d+\.\d+", version), f"{name}: {version!r}"


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_program_reads_standard_input_and_arguments(sandbox, name):
    args = tuple(PROGRAMS[name].get("args", ("one", "two words")))
    result = run(sandbox, name, "echo", stdin=b"world\n", args=args)
    assert result.status is JobStatus.OK, result
    assert result.stdout == b"hello world\none\ntwo words\n"
    assert result.stderr == b""


@pytest.mark.parametrize("name", usual(LANGUAGES))
def test_a_program_chooses_its_exit_code(sandbox, name):
    result = run(sandbox, name, "exit")
    assert (result.status, result.exit_code) == (JobStatus.NONZERO_EXIT, 3), result


@pytest.mark.parametrize("name", usual(LANGUAGES))
def test_a_failing_program_is_seen_to_fail(sandbox, name):
    result = run(sandbox, name, "fails")
    assert result.status in (JobStatus.NONZERO_EXIT, JobStatus.SIGNAL), result
    assert (result.exit_code is None) == (result.status is JobStatus.SIGNAL)


@pytest.mark.parametrize("name", usual(COMPILED))
def test_a_compile_error_says_what_the_compiler_said(sandbox, name):
    result = run(sandbox, name, "broken")
    assert result.status is JobStatus.COMPILE_ERROR, result
    assert PROGRAMS[name]["message"] in result.detail


@pytest.mark.parametrize("name", usual(LANGUAGES))
def test_an_endless_program_is_stopped(sandbox, name):
    result = run(sandbox, name, "endless", wall_s=0.5)
    assert result.status is JobStatus.TIME_LIMIT, result


@pytest.mark.parametrize("name", usual(LANGUAGES))
def test_memory_without_end_is_memory_limit(sandbox, name):
    result = run(sandbox, name, "hog", memory_mib=128)
    assert result.status is JobStatus.MEMORY_LIMIT, result


@pytest.mark.parametrize("name", usual(COMPILED))
def test_a_result_holds_the_times_of_the_run_alone(sandbox, name):
    # The second time from the cache: what is reported must not say which it was.
    first, second = (run(sandbox, name, "exit") for _ in range(2))
    assert (first.exit_code, first.stdout) == (second.exit_code, second.stdout)
    assert max(first.cpu_s, second.cpu_s) < LANGUAGES[name].compile_limits.cpu_s / 10


HELPERS = {
    "c": ("twice.h", "#define TWICE(x) ((x) * 2)", '#include "twice.h"\nint main() { return TWICE(2); }'),
    "cpp": ("twice.h", "#define TWICE(x) ((x) * 2)", '#include "twice.h"\nint main() { return TWICE(2); }'),
    "rust": ("twice.rs", "pub const TWO: i32 = 2;", "mod twice; fn main() { std::process::exit(twice::TWO * 2) }"),
    "go": ("twice.go", "package main\nconst two = 2\n", 'package main\nimport "os"\nfunc main() { os.Exit(two * 2) }'),
    "java": (
        "Twice.java",
        "class Twice { static final int TWO = Integer.parseInt(\"2\"); }",
        "class Main { public static void main(String[] a) { System.exit(Twice.TWO * 2); } }",
    ),
    "typescript": ("twice.ts", "export const two: number = 2;", 'import { two } from "./twice"; process.exit(two * 2);'),
    "javascript": ("twice.js", "exports.two = 2", 'process.exit(require("./twice").two * 2)'),
    "python": ("twice.py", "two = 2", "import sys, twice; sys.exit(twice.two * 2)"),
    "ruby": ("twice.rb", "TWO = 2", 'require_relative "twice"; exit TWO * 2'),
    "perl": ("Twice.pm", "package Twice; our $two = 2; 1", 'use lib "."; use Twice; exit $Twice::two * 2'),
    "php": ("twice.php", "<?php const TWO = 2;", '<?php require "twice.php"; exit(TWO * 2);'),
    "lua": ("twice.lua", "return 2", 'os.exit(require("twice") * 2)'),
    "r": ("twice.R", "two <- 2", 'source("twice.R"); quit(status = two * 2)'),
    "haskell": (
        "Twice.hs",
        "module Twice where\ntwo :: Int\ntwo = 2",
        "import Twice\nimport System.Exit\nmain = exitWith (ExitFailure (two * 2))",
    ),
    "fortran": ("twice.inc", "integer, parameter :: two = 2", "program main\ninclude 'twice.inc'\nstop two * 2\nend"),
    "bash": ("twice.sh", "two=2", ". ./twice.sh; exit $((two * 2))"),
    "verilog": (
        "twice.v",
        "module twice(input [3:0] x, output [3:0] y); assign y = x * 2; endmodule",
        "module main; wire [3:0] y; twice t(4'd2, y); initial begin #1 $finish_and_return(y); end endmodule",
    ),
    "sqlite": ("twice.sql", "CREATE TABLE t(x); INSERT INTO t VALUES (2);", ".read twice.sql\nSELECT 2 * x FROM t;\n.exit 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", usual(HELPERS))
def test_a_job_may_bring_further_sources(sandbox, name):
    helper, text, program = HELPERS[name]
    result = run(sandbox, name, program, files={helper: text.encode()})
    assert result.exit_code == 4, result


@pytest.mark.parametrize("name", usual(sorted({"java", "go", "javascript", "haskell", "r"})))
def test_a_runtime_starts_under_small_limits(sandbox, name):
    # What it takes for itself comes on top of what the job allows.
    result = run(
        sandbox, name, "exit", memory_mib=32, processes=1, open_files=8, disk_mib=1, inodes=8
    )
    assert result.exit_code == 3, result


THREADS = {
    "c": """
#include <pthread.h>
void *run(void *x) { return x; }
int main(void) {
    pthread_t t[8];
    for (int i = 0; i < 8; i++) if (pthread_create(t + i, 0, run, 0)) return 1;
    for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
    return 4;
}
""",
    "cpp": """
#include <future>
int main() {
    std::future<int> f[8];
    for (auto &x : f) x = std::async(std::launch::async, [] { return 1; });
    int n = 0;
    for (auto &x : f) n += x.get();
    return n / 2;
}
""",
    "rust": """
fn main() {
    let t: Vec<_> = (0..8).map(|i| std::thread::spawn(move || i)).collect();
    let n: i32 = t.into_iter().map(|t| t.join().unwrap()).sum();
    std::process::exit(n / 7)
}
""",
    "go": """
package main

import ("os"; "sync"; "time")

func main() {
	var wait sync.WaitGroup
	for i := 0; i < 1000; i++ {
		wait.Add(1)
		go func() { defer wait.Done(); time.Sleep(time.Millisecond) }()
	}
	wait.Wait()
	os.Exit(4)
}
""",
    "java": """
import java.util.concurrent.*;
class Main {
    public static void main(String[] a) throws Exception {
        var pool = Executors.newFixedThreadPool(8);
        var done = new CountDownLatch(8);
        for (int i = 0; i < 8; i++) pool.submit(done::countDown);
        done.await();
        System.exit(4);
    }
}
""",
    "javascript": """
const { Worker, isMainThread } = require("worker_threads");
if (isMainThread) new Worker(__filename).on("exit", (code) => process.exit(code));
else process.exit(4);
""",
    "python": """
import sys
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(8) as pool:
    sys.exit(sum(pool.map(int, "1111")))
""",
    "ruby": "exit (1..8).map { |i| Thread.new { 1 } }.sum(&:value) / 2",
    "haskell": """
import Control.Concurrent
import Control.Monad
import System.Exit

main = do
  done <- newEmptyMVar
  forM_ [1 .. 8] (forkIO . putMVar done)
  n <- sum <$> replicateM 8 (takeMVar done)
  exitWith (ExitFailure (n `div` 9))
""",
}


@pytest.mark.parametrize("name", usual(THREADS))
def test_a_program_may_use_threads(sandbox, name):
    result = run(sandbox, name, THREADS[name])
    assert result.exit_code == 4, result


def test_lines_of_standard_input_are_rows_for_sqlite(sandbox):
    rows = b'1,one\n"2;two|x\nlast'
    program = "SELECT rowid, line FROM stdin;"
    result = run(sandbox, "sqlite", program, stdin=rows)
    assert result.stdout == b'1|1,one\n2|"2;two|x\n3|last\n'
    assert run(sandbox, "sqlite", "SELECT count(*) FROM stdin;").stdout == b"0\n"


def test_sqlite_ends_at_the_first_error(sandbox):
    result = run(sandbox, "sqlite", "SELECT 1;\nSELECT missing;\nSELECT 2;")
    assert (result.status, result.stdout) == (JobStatus.NONZERO_EXIT, b"1\n")


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("java", "public class Solution { public static void main(String[] a) {} }"),
        ("c", "double area(double r) { return r; }"),
        ("verilog", "module main; missing m(); endmodule"),
    ],
)
def test_what_cannot_be_linked_is_a_compile_error(sandbox, name, program):
    result = run(sandbox, name, program)
    assert result.status is JobStatus.COMPILE_ERROR, result
    assert result.detail


def test_a_compiler_that_works_without_end_is_stopped_and_named(sandbox):
    if "cpp" not in sandbox.languages:
        pytest.skip("its toolchain is absent: apt-get install g++")
    # 4**14 instantiations.
    program = """
template <int N, int M> struct X {
  static const int v = X<N - 1, M * 4>::v + X<N - 1, M * 4 + 1>::v + X<N - 1, M * 4 + 2>::v
      + X<N - 1, M * 4 + 3>::v;
};
template <int M> struct X<0, M> { static const int v = M; };
int main() { return X<14, 0>::v; }
"""
    limits = replace(COMPILE_LIMITS, wall_s=1.0)
    builder = Builder({"cpp": replace(LANGUAGES["cpp"], compile_limits=limits)})
    job = Job(source=program, language="cpp")
    result = builder.run(job, lambda step: sandbox._execute(step, Cancellation()))
    assert result.status is JobStatus.COMPILE_ERROR, result
    assert result.detail.startswith("the compiler passed its limit of 1 s")


def test_an_artefact_too_large_to_bring_out_is_a_compile_error(sandbox):
    result = run(sandbox, "c", "char a[48 << 20] = {1}; int main() { return 0; }")
    assert result.status is JobStatus.COMPILE_ERROR, result
    assert result.detail.startswith("what the compiler made is unusable: main")


def test_threads_that_want_one_program_compile_it_once(sandbox):
    if "c" not in sandbox.languages:
        pytest.skip("its toolchain is absent: apt-get install gcc libc6-dev")
    builder, steps = Builder({"c": LANGUAGES["c"]}), []

    def execute(step):
        steps.append(step.argv[0])
        return sandbox._execute(step, Cancellation())

    def answer(number):
        source = "#include <stdio.h>\nint main(int n, char **v) { puts(v[1]); }"
        job = Job(source=source, language="c", args=(str(number),))
        return builder.run(job, execute).stdout

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(answer, range(12)))
    assert answers == [b"%d\n" % number for number in range(12)]
    assert sorted(steps) == ["./main"] * 12 + ["gcc"]


def test_a_compiler_sees_neither_input_nor_the_jobs_variables(sandbox):
    if "haskell" not in sandbox.languages:
        pytest.skip("its toolchain is absent: apt-get install ghc")
    # A program that runs while it is compiled.
    source = (
        "{-# LANGUAGE TemplateHaskell #-}\nimport Language.Haskell.TH\n"
        "import System.Environment\nimport System.IO\n"
        'main = putStr $(do { v <- runIO (lookupEnv "ANSWER"); e <- runIO (hIsEOF stdin); '
        "litE (stringL (show (v, e))) })"
    )
    job = Job(source=source, language="haskell", stdin=b"42", env={"ANSWER": "42"})
    result = sandbox.run(job)
    assert result.stdout == b"(Nothing,True)", result
