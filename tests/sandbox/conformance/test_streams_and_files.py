"""Input and output of a job: streams, arguments, variables, files."""

import os

import pytest

from verigym.sandbox.job import JobStatus

EVERY_BYTE = bytes(range(256))


def test_standard_input_and_output_are_binary_and_whole(run):
    data = EVERY_BYTE * 4096
    result = run(
        "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)",
        stdin=data,
        output_bytes=2 << 20,
    )
    assert result.status is JobStatus.OK
    assert result.stdout == data


def test_standard_input_that_nobody_reads(run):
    result = run("print('done')", stdin=b"x" * (8 << 20))
    assert (result.status, result.stdout) == (JobStatus.OK, b"done\n")


def test_standard_input_is_empty_where_none_is_given(run):
    assert run("import sys; print(len(sys.stdin.read()))").stdout == b"0\n"


def test_output_while_input_is_still_to_come(run):
    # Each fills its pipe before the other is read: a naive parent waits for ever.
    source = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)"
    data = b"line\n" * 150_000
    result = run(source, stdin=data, output_bytes=1 << 20)
    assert result.stdout == data


def test_streams_by_their_names(run):
    script = "echo out >/dev/stdout; echo err >/dev/stderr; cat /dev/stdin; echo x >/dev/null"
    result = run(command=("bash", "-c", script), stdin=b"in\n")
    assert (result.status, result.stdout, result.stderr) == (JobStatus.OK, b"out\nin\n", b"err\n")


def test_files_are_moved_and_linked_between_folders(run):
    source = """
import os
os.makedirs("a/b")
open("a/b/x", "w").write("moved")
os.rename("a/b/x", "y")
os.link("y", "a/z")
open("a/z", "w").truncate(0)
print(os.path.getsize("y"))
"""
    assert run(source).stdout == b"0\n"


def test_arguments(run):
    args = ("one", "", "with space", "--flag=1", "naïve ☃", "$HOME", "a\nb")
    result = run("import sys; print(sys.argv[1:])", args=args)
    assert result.stdout.decode() == f"{list(args)}\n"


def test_arguments_of_a_command(run):
    result = run(command=("printf", "%s|"), args=("a b", "*"))
    assert result.stdout == b"a b|*|"


def test_variables(run):
    env = {"GIVEN": "value ☃", "EMPTY": ""}
    source = "import os; print(repr(os.environ['GIVEN']), repr(os.environ['EMPTY']))"
    assert run(source, env=env).stdout.decode() == "'value ☃' ''\n"


def test_nothing_of_the_hosts_variables(run):
    assert os.environ["VERIGYM_CONFORMANCE_SECRET"]
    source = """
import glob, os
seen = [" ".join(os.environ), " ".join(os.environ.values())]
for path in glob.glob("/proc/*/environ"):
    try:
        seen.append(open(path).read())
    except OSError:
        pass
text = " ".join(seen)
print("CONFORMANCE" in text, "of-the-host" in text, "PYTEST" in text)
"""
    assert run(source).stdout == b"False False False\n"


def test_the_folder_is_home_and_temporary_folder_and_where_programs_are_found(run):
    source = """
import os, tempfile
here = os.path.realpath(os.getcwd())
print(here == os.path.realpath(os.environ["HOME"]) == os.path.realpath(tempfile.gettempdir()))
"""
    assert run(source).stdout == b"True\n"
    assert (
        run(command=("sh", "-c", "command -v python3 cat >/dev/null && echo found")).stdout
        == b"found\n"
    )


def test_files_go_in(run):
    files = {"a.bin": EVERY_BYTE, "deep/er/b.txt": b"nested", "empty": b"", "naïve ☃": b"name"}
    source = """
import os
for folder, _, names in sorted(os.walk(".")):
    for name in sorted(names):
        if name != "main.py" and "pycache" not in folder:
            path = os.path.join(folder, name)
            print(path, len(open(path, "rb").read()))
print(open("a.bin", "rb").read() == bytes(range(256)))
"""
    lines = run(source, files=files).stdout.decode().splitlines()
    assert sorted(lines[:-1]) == sorted(
        ["./a.bin 256", "./empty 0", "./naïve ☃ 4", "./deep/er/b.txt 6"]
    )
    assert lines[-1] == "True"


def test_a_module_beside_the_program(run):
    assert run("import helper; print(helper.x)", files={"helper.py": b"x = 5"}).stdout == b"5\n"


def test_files_come_back(run):
    source = """
import os
os.makedirs("out/deep")
open("out/a.csv", "w").write("1,2")
open("out/deep/b.csv", "wb").write(bytes(range(256)))
open("out/c.txt", "w").write("other")
open("named", "w").write("exact")
open("kept", "w").write("not asked for")
"""
    result = run(source, fetch=("out/*.csv", "named", "never-made", "no/*.such"))
    assert result.status is JobStatus.OK
    assert result.files == {"out/a.csv": b"1,2", "out/deep/b.csv": EVERY_BYTE, "named": b"exact"}
    assert not result.refused


def test_files_come_back_from_a_job_that_failed(run):
    result = run("open('log', 'w').write('so far'); raise SystemExit(1)", fetch=("log",))
    assert result.status is JobStatus.NONZERO_EXIT
    assert result.files == {"log": b"so far"}


def test_what_is_no_plain_file_is_refused_with_a_reason(run):
    source = """
import os, socket
open("plain", "w").write("fine")
os.symlink("plain", "link-in")
os.symlink("/etc/passwd", "link-out")
os.symlink("/", "link-root")
os.mkfifo("pipe")
bound = socket.socket(socket.AF_UNIX)
try:
    bound.bind("door")
except OSError:
    os.mkfifo("door")
open("large", "wb").write(b"x" * 20_001)
"""
    result = run(source, fetch=("*",), output_bytes=20_000)
    assert result.status is JobStatus.OK, result.stderr
    assert result.files["plain"] == b"fine"
    assert set(result.files) == {"plain", "main.py"}
    assert set(result.refused) == {"link-in", "link-out", "link-root", "pipe", "door", "large"}
    assert all(result.refused.values())


def test_nothing_is_read_through_a_link_to_a_folder(run):
    result = run(
        "import os; os.symlink('/etc', 'etc')", fetch=("etc/hostname", "etc/passwd", "etc/*")
    )
    assert result.status is JobStatus.OK
    assert not result.files


def test_names_that_are_no_text(run):
    source = "open(b'bad\\xff', 'w').write('x'); open('good', 'w').write('y')"
    result = run(source, fetch=("*",))
    assert result.files.keys() == {"good", "main.py"}
    assert len(result.refused) == 1


def test_a_name_that_is_no_text_is_told_from_one_that_spells_its_escape(run):
    source = r"""
for name in (b"out\xff.txt", rb"out\xff.txt", rb"out\\xff.txt", b"big\xff", rb"big\xff"):
    open(name, "wb").truncate(20_001 if b"big" in name else 3)
"""
    result = run(source, fetch=("*t", "big*"), output_bytes=20_000)
    assert result.files.keys() == {r"out\xff.txt", r"out\\xff.txt"}
    assert len(result.refused) == 3
    assert not result.files.keys() & result.refused.keys()
    assert all(name.startswith("./") or name == r"big\xff" for name in result.refused)


def test_thousands_of_files_just_too_large_cost_their_reader_nothing(run):
    source = "for n in range(1900): open(f's{n:04}', 'wb').truncate((1 << 22) + 1)"
    result = run(source, fetch=("*",), output_bytes=1 << 22)
    assert result.status is JobStatus.OK, result.detail
    assert result.files.keys() == {"main.py"}
    assert len(result.refused) == 1900


def test_a_file_that_is_large_only_in_name(run):
    result = run("open('sparse', 'wb').truncate(25 << 20)", fetch=("sparse",), output_bytes=4096)
    assert not result.files
    assert "sparse" in result.refused


def test_many_sparse_files_together_stay_within_the_disk(run):
    source = "for n in range(40): open(f's{n:02}', 'wb').truncate(1 << 20)"
    result = run(source, fetch=("s*",), output_bytes=1 << 20, disk_mib=8)
    assert result.status is JobStatus.OK
    assert sum(map(len, result.files.values())) <= 8 << 20
    assert result.refused


def test_unreadable_files_and_folders_do_no_harm(run):
    source = """
import os
os.mkdir("shut")
open("shut/inside", "w").write("x")
open("closed", "w").write("y")
os.chmod("closed", 0)
os.chmod("shut", 0)
"""
    result = run(source, fetch=("*",))
    assert result.status is JobStatus.OK
    assert {"closed", "shut/inside"} >= result.files.keys() - {"main.py"}
    assert run("print(1)").status is JobStatus.OK


def test_a_folder_of_great_depth_does_no_harm(run):
    source = """
import os
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
open("end", "w").write("x")
"""
    result = run(source, fetch=("*",))
    assert result.status is JobStatus.OK, result.stderr
    assert run("import os; print(sorted(os.listdir('.')))").stdout == b"['main.py']\n"


@pytest.mark.parametrize(
    "where",
    [
        *("kept", "/tmp/kept", "/dev/shm/kept"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("~/kept", "/var/tmp/kept")),
    ],
)
def test_no_state_between_jobs(sandbox, run, where):
    write = f"import os; open(os.path.expanduser({where!r}), 'w').write('secret')"
    look = f"import os; print(os.path.exists(os.path.expanduser({where!r})))"
    for _ in range(sandbox.max_jobs + 1):
        assert run(write).status is not JobStatus.SANDBOX_ERROR
    for _ in range(sandbox.max_jobs + 1):
        assert run(look).stdout == b"False\n"
