"""Removal of folders that were made to resist it."""

import os
import stat
import subprocess
import sys

import pytest

from verigym.sandbox.remove import remove_tree

# In a process of its own, which may change its folder as it likes.
BUILD = """
import os, sys
os.chdir(sys.argv[1])
for i in range(int(sys.argv[2])):
    os.mkdir("d" * 60)
    os.chdir("d" * 60)
open("f", "w").close()
"""


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 2500])
def test_deep_folders(tmp_path, depth):
    job = tmp_path / "job"
    job.mkdir()
    subprocess.run([sys.executable, "-c", BUILD, str(job), str(depth)], check=True)
    remove_tree(job)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_fine(tmp_path):
    remove_tree(tmp_path / "nothing")


def test_unreadable_folders_odd_names_and_names_like_our_own(tmp_path):
    job = tmp_path / "job"
    for name in ("a/b/c", "verigym-1/x/y", "verigym-2", "z/verigym-1/w", "-rf/\n/ü"):
        (job / name).mkdir(parents=True)
    (job / "verigym-3").write_text("a file where a folder would go")
    os.mkdir(os.fsencode(job) + b"/\xff\xfe")
    os.mkfifo(job / "a" / "fifo")
    for path in (job / "a" / "b", job / "a", job / "z" / "verigym-1", job):
        path.chmod(0)
    remove_tree(job)
    assert list(tmp_path.iterdir()) == []


def test_links_are_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o750)
    (precious / "file").write_text("x")
    job = tmp_path / "job"
    (job / "inner").mkdir(parents=True)
    (job / "link").symlink_to(precious)
    (job / "inner" / "link").symlink_to(precious)
    (job / "loop").symlink_to(job)
    remove_tree(job)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    assert (precious / "file").read_text() == "x"
    assert stat.S_IMODE(precious.stat().st_mode) == 0o750
