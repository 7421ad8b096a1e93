"""Patches as models write them: diffs with wrong numbers, whole files, and what does not fit."""

import contextlib
import difflib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym.verifiers.code.patch import BadPatch, _nearest, holds_patch, patched

FILES = {"a/x.py": "one\ntwo\nthree\ntwo\nfive\n", "README.md": "# a\n"}


def diff(*lines, path="a/x.py"):
    return "\n".join(["```diff", f"--- a/{path}", f"+++ b/{path}", *lines, "```"])


def test_the_line_number_decides_only_between_places_that_fit():
    near = patched(FILES, diff("@@ -4,1 +4,1 @@", "-two", "+TWO"))
    assert near == {"a/x.py": "one\ntwo\nthree\nTWO\nfive\n"}
    assert patched(FILES, diff("@@ -900,2 +900,1 @@", " one", "-two")) == {
        "a/x.py": "one\nthree\ntwo\nfive\n"
    }


def test_whole_files_and_new_ones():
    reply = "```python\n# file: a/y.py\nx = 1\n```\nand\n```\n# file: README.md\nnew\n```"
    assert patched(FILES, reply) == {"a/y.py": "x = 1\n", "README.md": "new\n"}
    made = "```diff\n--- /dev/null\n+++ b/a/z.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n```"
    assert patched(FILES, made)["a/z.py"].startswith("x = 1\ny = 2")


def test_line_ends_of_windows_and_paths_that_begin_with_a_point():
    reply = diff("@@ -1,2 +1,2 @@", "-one", "+1", " two")
    assert patched(FILES, reply.replace("\n", "\r\n")) == patched(FILES, reply)
    whole = "```\n# file: ./README.md\nnew\n```"
    assert patched(FILES, whole) == {"README.md": "new\n"}


def test_later_blocks_build_on_earlier_ones():
    reply = diff("@@ -1 +1 @@", "-one", "+1") + "\n" + diff("@@ -1 +1 @@", "-1", "+uno")
    assert patched(FILES, reply)["a/x.py"].startswith("uno\ntwo")


BAD = {
    "nothing": "I would change line 2.",
    "a program": "```python\nx = 1\n```",
    "a path outside": "```\n# file: ../x.py\nx\n```",
    "a path outside by a point": "```\n# file: ./../x.py\nx\n```",
    "an absolute path": "```\n# file: /etc/passwd\nx\n```",
    "no such file": diff("@@ -1 +1 @@", "-one", "+1", path="a/no.py"),
    "lines that are not there": diff("@@ -1 +1 @@", "-seven", "+7"),
    "a hunk without a file": "```diff\n@@ -1 +1 @@\n-one\n+1\n+++ \n```",
    "a name of more bytes than a file system takes": f"```\n# file: a/{'x' * 300}.py\nx\n```",
    "a thousand files": "".join(f"```\n# file: a/x{n}.py\nx\n```\n" for n in range(1000)),
    "a line without a mark": diff("@@ -1 +1 @@", "one", "+1"),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD)
def test_what_does_not_fit_is_refused(reply):
    with pytest.raises(BadPatch):
        patched(FILES, reply)


def test_a_command_is_no_patch():
    assert not holds_patch("ls")
    assert not holds_patch("```\nls\n```")
    assert holds_patch(diff("@@ -1 +1 @@", "-one", "+1"))


@settings(max_examples=50, deadline=None)
@given(
    before=st.lists(st.sampled_from(["a", "b", "", "  c"]), min_size=1, max_size=12),
    after=st.lists(st.sampled_from(["a", "b", "", "  c", "d"]), min_size=1, max_size=12),
)
def test_it_undoes_what_difflib_does(before, after):
    old, new = (["begin", *lines, "end"] for lines in (before, after))
    made = list(difflib.unified_diff(old, new, "a/f.py", "b/f.py", lineterm=""))
    if made:
        reply = "\n".join(["```diff", *made, "```"])
        files = {"f.py": "\n".join(old) + "\n"}
        assert patched(files, reply) == {"f.py": "\n".join(new) + "\n"}


@given(st.text("ab", max_size=12), st.text("ab", max_size=4), st.integers(-3, 15))
def test_the_nearest_place_is_found(text, old, wanted):
    places = [at for at in range(len(text) - len(old) + 1) if text[at : at + len(old)] == old]
    best = min(places, key=lambda at: abs(at - wanted)) if places else None
    assert _nearest(text, old, wanted) == best


def flood(kind):
    whole = "```python\n# file: a/x.py\n" + "a\n" * 45_000 + "```\n"
    if kind == "many hunks":
        return whole + diff(*["@@ -22000 +22000 @@\n a\n-a\n+a"] * 4000)
    if kind == "long hunks":
        return whole + diff(*["@@ -22000 +22000 @@\n" + " a\n" * 9000 + "-a\n+b"] * 3)
    if kind == "nearly":
        return whole + diff(*["@@ -1 +1 @@\n" + " a\n" * 15_000 + "-b"] * 2)
    return whole + "\n".join(
        ["```diff", *["--- a/a/x.py\n+++ b/a/x.py\n@@ @@\n-a\n+a"] * 2400, "```"]
    )


@pytest.mark.parametrize("kind", ["many hunks", "long hunks", "nearly", "many headers"])
def test_hunks_times_lines_cost_little(kind):
    began = time.process_time()
    with contextlib.suppress(BadPatch):
        patched(FILES, flood(kind))
    assert time.process_time() - began < 8
