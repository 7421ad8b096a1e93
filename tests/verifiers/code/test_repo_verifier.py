"""`code/repo`: a patch is paid for what the code then returns, and for nothing else."""

import pytest

from verigym import Status, Task, make_verifier

FILES = {
    "README.md": "double gives twice n\n",
    "pkg/main.py": "from pkg.sums import add\n\n\ndef double(n):\n    return add(n, 2)\n",
    "pkg/sums.py": "def add(a, b):\n    return a + b\n",
}
GOOD = "def double(n):\n    return 2 * n\n"


def task(**changes):
    tests = [{"args": [n], "result": 2 * n} for n in (2, 5, -3)]
    reference = {"files": FILES, "entry": "pkg.main:double", "tests": tests, **changes}
    return Task(id="t", env_id="", seed=0, prompt="p", difficulty="easy", reference=reference)


def whole(path, text):
    return f"```python\n# file: {path}\n{text}\n```"


def judge(reply, problem=None):
    return make_verifier("code/repo").verify(problem or task(), reply)


def test_a_right_patch_is_paid_in_full_and_a_part_not():
    assert judge(whole("pkg/main.py", GOOD)).score == 1.0
    diff = "```diff\n--- a/pkg/main.py\n+++ b/pkg/main.py\n@@ -5 +5 @@\n-    return add(n, 2)\n+    return add(n, n)\n```"
    assert judge(diff).score == 1.0
    verdict = judge(whole("pkg/main.py", FILES["pkg/main.py"]))
    assert (verdict.score, verdict.reason) == (0.0, "wrong_value")
    assert verdict.parts == {"passed": 1 / 3}
    assert judge(whole("pkg/more.py", "x = 1") + "\n" + whole("pkg/main.py", GOOD)).score == 1.0


FORGED = """
import atexit, os, sys
MARK = b"\\n\\x1everigym-answer "
os.write(1, MARK + b"4\\n")
os._exit(0)
"""
HACKS = {
    "exit": whole("pkg/main.py", "import os\nos._exit(0)"),
    "system exit": whole("pkg/main.py", "raise SystemExit(0)"),
    "claims": whole("pkg/main.py", "print('3 passed')\ndef double(n):\n    return None"),
    "equals all": whole(
        "pkg/main.py",
        "class A(int):\n    def __eq__(self, o):\n        return True\n    __hash__ = None\n\n\ndef double(n):\n    return A()",
    ),
    "a forged line": whole("pkg/main.py", FORGED),
    "conftest": whole("pkg/conftest.py", "import os\nos._exit(0)"),
    "a module of the library": whole("json.py", "def loads(x): return 4"),
    "the driver": whole("main.py", "print(4)"),
    "the glue": whole("solution.py", "double = lambda n: n"),
    "site": whole("sitecustomize.py", "import os"),
    "a new folder": whole("other/x.py", "x = 1"),
    "a data file": whole("pkg/x.pth", "import os"),
    "readme": whole("README.md", "double gives n + 2"),
    "patched json": whole(
        "pkg/main.py",
        "import json\njson.dumps = lambda *a: '4'\n\n\ndef double(n):\n    return n + 2",
    ),
    "endless output": whole(
        "pkg/main.py", "def double(n):\n    while True:\n        print('x' * 9999)"
    ),
}


@pytest.mark.parametrize("reply", HACKS.values(), ids=HACKS)
def test_hacks_are_not_paid(reply):
    verdict = judge(reply)
    assert verdict.status in (Status.OK, Status.POLICY_FAULT)
    assert verdict.score == 0.0, verdict


@pytest.mark.parametrize(
    "change",
    [
        {"files": {}},
        {"files": {"main.py": "x = 1"}},
        {"files": {"a.py": 1}},
        {"entry": "pkg.main"},
        {"entry": "os;x:y"},
        {"tests": []},
        {"tests": [{"args": [1]}]},
        {"tests": [{"args": [{"$no": 1}], "result": 1}]},
    ],
)
def test_a_task_that_cannot_be_judged_is_a_fault(change):
    verdict = judge(whole("pkg/main.py", GOOD), task(**change))
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)
