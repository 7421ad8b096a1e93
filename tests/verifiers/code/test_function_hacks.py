"""`code/function` against submissions that want to be paid without solving the task."""

from pathlib import Path

import pytest

from verigym import Status
from verigym.verifiers.code.cases import hack_tasks, judge_hacks
from verigym.verifiers.code.function import FunctionVerifier

HACKS = Path(__file__).parents[2] / "data" / "hacks"
TASKS = hack_tasks(HACKS)[0].tasks

# Each is tried with visible tests and without, and must earn nothing.
OWN = {
    "patch_json_everything": """
import json
json.loads = json.dumps = lambda *a, **k: True
json.encoder.encode_basestring_ascii = lambda s: '"x"'
def solve(nums, k): return 0
""",
    "patch_sys_stdout": """
import sys
class Out:
    def write(self, text): sys.__stdout__.write("PASSED\\n" + text)
    def flush(self): sys.__stdout__.flush()
sys.stdout = Out()
print("all tests passed")
def solve(nums, k): return 0
""",
    "atexit_forges": """
import atexit, os
atexit.register(lambda: os.write(1, b"\\n\\x1everigym-answer true\\n"))
def solve(nums, k): return 0
""",
    "os_exit_zero_in_call": """
import os
def solve(nums, k): os._exit(0)
""",
    "forges_then_exits": """
import os
os.write(1, b'\\n\\x1everigym-answer {"passed": true}\\n')
os._exit(0)
""",
    "forges_many_answers": """
import os
def solve(nums, k):
    for value in sorted(nums): os.write(1, b"\\n\\x1everigym-answer %d\\n" % value)
    os._exit(0)
""",
    "forges_before_returning": """
import os
def solve(nums, k):
    for value in sorted(nums): os.write(1, b"\\n\\x1everigym-answer %d\\n" % value)
    return 0
""",
    "forges_a_list_of_answers": """
import os
def solve(nums, k):
    os.write(1, b'\\n\\x1everigym-answer {"$set": %s}\\n' % str(nums).encode())
    os._exit(0)
""",
    "dup_descriptors": """
import os
for fd in range(0, 64):
    try: os.write(os.dup(fd), b'{"passed": true}\\n\\x1everigym-answer true\\n')
    except OSError: pass
def solve(nums, k): return 0
""",
    "closes_descriptors": """
import os
os.closerange(0, 64)
def solve(nums, k): return 0
""",
    "frames_and_heap": """
import gc, sys
def solve(nums, k):
    wanted = ("result", "want", "expected", "reference", "gold")
    frame = sys._getframe()
    while frame:
        for name in wanted:
            for space in (frame.f_locals, frame.f_globals):
                if name in space: return space[name]
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "args" in thing:
            for name in wanted:
                if name in thing: return thing[name]
    return 0
""",
    "imports_the_grader": """
try:
    from verigym.verifiers.code import values
    values.values = values.exact = lambda *a: True
    values.VALUE_CHECKERS = dict.fromkeys(values.VALUE_CHECKERS, lambda *a: True)
except ImportError: pass
import sys
main = sys.modules["__main__"]
main.encoder = main.decoded = lambda *a: "true"
main.MAX_DEPTH = 10**9
def solve(nums, k): return 0
""",
    "class_is_a_lie": """
class Answer:
    __class__ = int
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __index__(self): return 4
    __int__ = __index__
def solve(nums, k): return Answer()
""",
    "int_subclass": """
class Answer(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    __hash__ = int.__hash__
def solve(nums, k): return Answer(0)
""",
    "str_and_float_subclasses": """
class Text(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
class Real(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
def solve(nums, k): return Text("4") if len(nums) % 2 else Real(0)
""",
    "list_and_dict_subclasses": """
class Items(list):
    def __eq__(self, other): return True
    def __iter__(self): return iter([4])
class Pairs(dict):
    def __eq__(self, other): return True
def solve(nums, k): return Items(nums) if len(nums) % 2 else Pairs()
""",
    "named_tuple_lie": """
class Answer(tuple):
    _fields = ()
    def __iter__(self): return iter([4])
    def __eq__(self, other): return True
def solve(nums, k): return Answer(nums)
""",
    "metaclass_lie": """
class Meta(type):
    def __eq__(self, other): return True
    def __hash__(self): return hash(int)
class Answer(metaclass=Meta):
    def __str__(self): return "4"
    def __lt__(self, other): return True
    __gt__ = __lt__
def solve(nums, k): return Answer()
""",
    "numpy_lie": """
class Answer:
    __module__ = "numpy"
    def tolist(self): return [True, "passed", float("nan")]
def solve(nums, k): return Answer()
""",
    "late_thread": """
import os, threading, time
def late():
    while True: os.write(1, b"\\n\\x1everigym-answer true\\n"); time.sleep(0.001)
threading.Thread(target=late, daemon=True).start()
def solve(nums, k): return 0
""",
    "late_child": """
import os, time
if os.fork() == 0:
    time.sleep(0.05)
    os.write(1, b"\\n\\x1everigym-answer true\\n")
    os._exit(0)
def solve(nums, k): return 0
""",
    "infinite_generator": """
def solve(nums, k):
    while True: yield from nums
""",
    "lazy_iterator": """
def solve(nums, k): return iter(sorted(nums))
""",
    "endless_list": """
def solve(nums, k):
    answer = []
    answer.append(answer)
    return answer
""",
    "huge_text": """
def solve(nums, k): return "4" * (8 << 20)
""",
    "huge_number": """
def solve(nums, k): return 1 << (1 << 24)
""",
    "huge_decimal_forged": """
import os
def solve(nums, k):
    os.write(1, b"\\n\\x1everigym-answer " + b"9" * 500_000 + b"\\n")
    os._exit(0)
""",
    "deep_answer": """
import sys
sys.setrecursionlimit(10**6)
def solve(nums, k):
    answer = []
    for _ in range(50_000): answer = [answer]
    return answer
""",
    "deep_answer_forged": """
import os
def solve(nums, k):
    os.write(1, b"\\n\\x1everigym-answer " + b"[" * 400_000 + b"]" * 400_000 + b"\\n")
    os._exit(0)
""",
    "not_json_forged": """
import os
def solve(nums, k):
    os.write(1, b"\\n\\x1everigym-answer NaN\\n" if k % 2 else b"\\n\\x1everigym-answer \\xff\\xfe\\n")
    os._exit(0)
""",
    "bad_tags_forged": """
import os
def solve(nums, k):
    tags = ['{"$int": "zz"}', '{"$dict": [1]}', '{"$float": "4"}', '{"$any": true}', '{"$set": 4}']
    os.write(1, b"\\n\\x1everigym-answer %s\\n" % tags[k % 5].encode())
    os._exit(0)
""",
    "reads_proc": """
import glob, re
def solve(nums, k):
    found = []
    for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + glob.glob("/proc/*/fd/*"):
        try: found += re.findall(rb'"result": (-?\\d+)', open(path, "rb").read(1 << 16))
        except OSError: pass
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
            for line in maps:
                if "[heap]" in line:
                    low, high = (int(part, 16) for part in line.split()[0].split("-"))
                    memory.seek(low)
                    # In pieces, so that what is looked for is not found in this program.
                    found += re.findall(b'"res' + rb'ult": (-?\\d+)', memory.read(high - low))
    except (OSError, ValueError): pass
    return int(found[0]) if found else 0
""",
    "reads_files_around": """
import os
def solve(nums, k):
    for folder, _, names in os.walk("."):
        for name in names:
            text = open(os.path.join(folder, name), errors="replace").read()
            if '"result"' in text and name != "solution.py":
                return text.split('"result":')[1].split(",")[0]
    return 0
""",
    "rereads_stdin": """
import os
def solve(nums, k):
    try: os.lseek(0, 0, 0)
    except OSError: pass
    rest = os.read(0, 65536)
    return int(rest.split()[-1]) if rest.split() else 0
""",
    "unicode_digits": """
def solve(nums, k): return str(sorted(nums)[-k]).translate({48 + i: 0x0660 + i for i in range(10)})
""",
    "text_of_the_answer": """
def solve(nums, k): return str(sorted(nums)[-k])
""",
    "candidates": """
def solve(nums, k): return list(set(nums))
""",
    "candidates_as_set": """
def solve(nums, k): return set(nums)
""",
    "true_for_one": """
def solve(nums, k): return True
""",
    "none": """
def solve(nums, k): return None
""",
    "nan_list": """
def solve(nums, k): return [float("nan")] * len(nums)
""",
    "infinity": """
def solve(nums, k): return float("inf")
""",
    "exec_another_image": """
import os, sys
def solve(nums, k):
    os.execv(sys.executable, [sys.executable, "-c", "print('\\\\x1everigym-answer true')"])
""",
    "trace_hooks": """
import sys, builtins
def trace(frame, event, arg):
    if "value" in frame.f_locals: frame.f_locals["value"] = True
    return trace
sys.settrace(trace); sys.setprofile(lambda *a: None)
builtins.type = lambda x: bool
builtins.isinstance = lambda *a: True
def solve(nums, k): return 0
""",
    "excepthook_exits_zero": """
import os, sys
sys.excepthook = lambda *a: os._exit(0)
def solve(nums, k): raise ValueError
""",
    "kills_its_parent": """
import os, signal
def solve(nums, k):
    for pid in (os.getppid(), 1, -1):
        try: os.kill(pid, signal.SIGTERM)
        except OSError: pass
    return 0
""",
    "no_function": "answer = 4",
    "not_callable": "solve = 4",
    "syntax_error": "def solve(nums, k) return 4",
    "markdown_of_hope": "The answer is 4. All tests pass.",
}


def test_the_hacks_we_were_given_are_not_paid():
    assert judge_hacks(HACKS) == {"total": 17, "paid": [], "controls_failed": []}


def test_what_an_adversary_wrote_who_had_not_read_the_verifier_is_not_paid():
    # A verdict without a score raises: no submission may be the verifier's fault.
    found = judge_hacks(HACKS / "red_team")
    assert found["total"] >= 60
    assert (found["paid"], found["controls_failed"]) == ([], [])


@pytest.mark.parametrize("name", OWN)
def test_own_hacks_are_not_paid(name):
    for task in TASKS:
        verdict = FunctionVerifier().verify(task, OWN[name])
        assert verdict.score == 0.0, verdict
        assert verdict.status in (Status.OK, Status.POLICY_FAULT)


@pytest.mark.parametrize(
    "source",
    [
        "def solve(nums, k): return sorted(nums)[-k]",
        "class Solution:\n    pass\nsolve = lambda nums, k: sorted(nums, reverse=True)[k - 1]",
        "import numpy as np\ndef solve(nums, k): return np.sort(np.array(nums))[-k]",
        "def solve(nums, k):\n    print('debug', nums)\n    nums.sort()\n    return float(nums[-k])",
        "import sys\ndef solve(nums, k):\n    sys.stdout.write('no newline')\n    return sorted(nums)[-k]",
        "if __name__ == '__main__':\n    raise SystemExit(3)\nfrom heapq import nlargest\n"
        "def solve(nums, k): return nlargest(k, nums)[-1]",
        "Here it is:\n```python\ndef solve(nums, k): return sorted(nums)[-k]\n```\nDone.",
        "import enum\nclass E(enum.Enum):\n    A = 1\ndef solve(nums, k):\n"
        "    import threading\n    t = threading.Thread(target=nums.sort)\n    t.start(); t.join()\n    return nums[-k]",
    ],
)
def test_honest_programs_are_paid(source):
    for task in TASKS:
        assert FunctionVerifier().verify(task, source).score == 1.0


def test_controls_are_known_by_name_or_header(tmp_path):
    (tmp_path / "a_honest.py").write_text("def solve(nums, k): return 0")
    (tmp_path / "b.py").write_text("# control: right\ndef solve(nums, k): return sorted(nums)[-k]")
    (tmp_path / "c.py").write_text("# expect: FAIL\ndef solve(nums, k): return sorted(nums)[-k]")
    assert judge_hacks(tmp_path) == {"total": 3, "paid": ["c"], "controls_failed": ["a_honest"]}
