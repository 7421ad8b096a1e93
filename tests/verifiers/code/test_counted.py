"""The step-counting interpreter: what Python gives, it gives; nothing else is there; costs are fair."""

import copy
import marshal
import types
from importlib.util import MAGIC_NUMBER, source_from_cache, source_hash

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym.sandbox.job import Limits
from verigym.verifiers.code.counted.library import COUNTED
from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.program import call_named, load
from verigym.verifiers.code.counted.run import counted_job
from verigym.verifiers.code.counted.state import FailedProgram, OutOfSteps, RefusedProgram


def play(program, *args, steps=200_000, name="f"):
    playing = Machine(COUNTED, steps)
    frame = load(playing, program)
    return call_named(playing, frame, name, list(copy.deepcopy(args))), playing.meter.used


def native(program, *args):
    space = {}
    exec(program, space)
    return space["f"](*copy.deepcopy(args))


def same(program, *args):
    got, want = play(program, *args)[0], native(program, *args)
    assert (type(got), got) == (type(want), want), program


PROGRAMS = [
    "def f(xs):\n    return [x * 2 for x in xs if x % 2], {x: -x for x in xs}, {x // 3 for x in xs}",
    "def f(xs):\n    return sorted(xs, key=lambda x: (x % 5, -x)), max(xs, default=None), xs[1:-1:2]",
    "def f(xs):\n    t = 0\n    for i, x in enumerate(xs, 1):\n        if x < 0: continue\n        if x > 90: break\n        t += i * x\n    else:\n        t = -t\n    return t",
    "def f(xs):\n    d = {}\n    for x in xs:\n        d.setdefault(x % 3, []).append(x)\n    return sorted(d.items())",
    "def f(xs):\n    def g(n):\n        return 1 if n < 2 else n * g(n - 1)\n    return [g(abs(x) % 20) for x in xs]",
    "def f(xs):\n    s = ''.join(chr(97 + x % 26) for x in xs)\n    return s.upper(), s.count('a'), s[::-1], s.split('e'), s.find('b')",
    "def f(xs):\n    ys = xs\n    ys += [1]\n    ys = ys + [2]\n    return xs, ys",
    "def f(xs, k=3):\n    return [a for a in range(len(xs)) for b in range(k) if a != b and not a == 7]",
    "def f(xs):\n    return any(x > 50 for x in xs), all(x for x in xs), sum(xs), list(zip(xs, xs[1:]))",
    "def f(xs):\n    i = 0\n    while i < len(xs) and xs[i] != 3:\n        i += 1\n    return i, xs[i] if i < len(xs) else None",
    "def f(xs):\n    return 2 ** 70 + sum(xs), -7 // 2, -7 % 3, 5 & 3 | 8 ^ 1, ~4, 1 << 9 >> 2, pow(3, 50, 7), divmod(-9, 4)",
    "def f(xs):\n    x = 5\n    g = lambda y, z=x: y + z + x\n    x = 6\n    return g(1), g(1, 1), 1 < x <= 6 != 7, x in xs, 3 not in {3: 4}",
    "def f(xs):\n    m = [[0] * 3 for _ in range(2)]\n    m[1][2] += 4\n    m[0], m[1] = m[1], m[0]\n    xs.append(1)\n    xs.insert(0, 9)\n    xs.pop(1)\n    xs.sort(reverse=True)\n    return m, xs, xs.index(1), (1, 2) + (3,), 'ab' * 2",
    "def f(xs):\n    ys = []\n    push, pop, at = ys.append, ys.pop, dict(enumerate(xs)).get\n    for x in xs:\n        push(x)\n        if len(ys) > 3:\n            pop(0)\n    return ys, at(0), at(99, 'none'), list(map(at, range(2))), max(range(2), key=at)",
]


@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=25, deadline=None)
@given(xs=st.lists(st.integers(-5, 99), min_size=2, max_size=8))
def test_it_gives_what_python_gives(program, xs):
    same(program, xs)


def test_a_method_that_is_called_by_a_name_takes_no_fewer_steps_than_one_that_is_called_by_its_dot():
    by_dot = "def f(xs):\n    ys = []\n    for x in xs:\n        ys.append(x)\n    return ys"
    by_name = by_dot.replace("ys = []", "ys = []\n    push = ys.append").replace(
        "        ys.append", "        push"
    )
    assert play(by_name, [*range(9)])[1] > play(by_dot, [*range(9)])[1]


REFUSED = [
    "import os",
    "from os import system",
    "def f():\n    return ().__class__",
    "def f():\n    return f.__globals__",
    "def f(x):\n    return x.real",
    "def f():\n    return __import__('os')",
    "def f():\n    return eval('1')",
    "def f():\n    return open('/etc/passwd')",
    "def f():\n    return getattr(f, 'x')",
    "def f():\n    return ''.format(1)",
    "def f():\n    return f'{1}'",
    "class A: pass",
    "def f():\n    yield 1",
    "async def f(): pass",
    "def f():\n    try:\n        pass\n    finally:\n        pass",
    "def f(*a): pass",
    "def f():\n    a, *b = 1, 2",
    "def f():\n    return [*'ab']",
    "def f():\n    return 1.5",
    "def f():\n    return 1 / 2",
    "def f():\n    return b'x'",
    "def f():\n    return 1j",
    "@f\ndef g(): pass",
    "def f():\n    global x\n    x = 1",
    "with f: pass",
    "del f",
    "x: y.z = 1\nlambda: (yield)",
    "return 1",
    "(" * 5000,
    "def f(:",
    "def f():\n    return " + "+".join(["1"] * 20_000),
    "def f():\n    return (x := 1)",
    "def f():\n    a = [1]\n    a[0:1] = [2]",
    "print(1)",
    "x = breakpoint",
]


@pytest.mark.parametrize("program", REFUSED)
def test_what_is_not_there_is_refused(program):
    with pytest.raises(RefusedProgram):
        load(Machine(COUNTED, 1000), program)


FAILING = {
    "a missing key": "def f():\n    return {}[1]",
    "no value yet": "def f():\n    if False:\n        x = 1\n    return x",
    "mixed types": "def f():\n    return 1 + 'a'",
    "a long power": "def f():\n    return 9 ** 9 ** 9",
    "a long shift": "def f():\n    return 1 << (1 << 70)",
    "a long product": "def f():\n    x = 3\n    while True:\n        x = x * x",
    "a large list": "def f():\n    return [0] * (1 << 40)",
    "a long text": "def f():\n    return 'x' * (1 << 40)",
    "a doubling list": "def f():\n    x = [1]\n    while True:\n        x = x + x",
    "endless": "def f():\n    while True:\n        pass",
    "endless calls": "def f():\n    return f()",
    "an endless list": "def f():\n    x = [1]\n    for y in x:\n        x.append(y)",
    "a list in itself": "def f():\n    x = []\n    x.append(x)\n    return x == [x]",
    "a deep key": "def f():\n    x = ()\n    for i in range(500):\n        x = (x,)\n    return {x: 1}",
    "a list as key": "def f():\n    return {[]: 1}",
    "no function": "def f():\n    return 3()",
    "a method of another": "def f():\n    return (1, 2).append(3)",
    "too many arguments": "def f():\n    return f(1)",
    "an argument by a wrong name": "def f():\n    return sorted([1], machine=2)",
    "a large range": "def f():\n    return list(range(1 << 60))",
    "a sum of texts": "def f():\n    return sum([['a'] * 999] * 999, [])",
    "join": "def f():\n    return ('x' * 999).join(['y'] * 99999)",
    "replace": "def f():\n    return ('x' * 9999).replace('x', 'y' * 9999)",
    "digits": "def f():\n    return int('9' * 5000)",
    "a character": "def f():\n    return chr(-1)",
}


@pytest.mark.parametrize("program", FAILING.values(), ids=FAILING)
def test_failures_end_the_program_and_nothing_else(program):
    with pytest.raises(FailedProgram):
        play(program, steps=100_000)


def test_the_limit_is_kept_and_told():
    with pytest.raises(OutOfSteps):
        play("def f(n):\n    return sum(range(n))", 1000, steps=900)
    assert play("def f(n):\n    return sum(range(n))", 1000, steps=5000)[0] == 499_500


COSTLY = {
    "sum": ("return sum(xs)", 1),
    "in": ("return -1 in xs", 1),
    "count": ("return xs.count(7)", 1),
    "slice": ("return xs[:]", 1),
    "sorted": ("return sorted(xs)", 7),
    "list": ("return list(xs)", 1),
    "set": ("return set(xs)", 1),
    "equal": ("return xs == xs[:]", 2),
    "add": ("return xs + xs", 1),
    "map": ("return map(abs, xs)", 1),
    "pop from the front": ("return xs.pop(0)", 1),
    "insert": ("return xs.insert(0, 1)", 1),
    "max": ("return max(xs)", 1),
    "reversed": ("return reversed(xs)", 1),
}


@pytest.mark.parametrize(("body", "each"), COSTLY.values(), ids=COSTLY)
def test_work_in_builtins_counts_by_items(body, each):
    program = f"def f(xs):\n    {body}"
    small, large = (play(program, list(range(size)))[1] for size in (100, 1100))
    assert large - small >= 1000 * each


def test_long_numbers_count_by_words():
    program = "def f(a):\n    return a * a"
    short, long = (play(program, 1 << bits, steps=10**6)[1] for bits in (10, 32_000))
    assert long - short > 200_000


@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_long_number_counts_on_either_side_of_a_sum(sign):
    programs = (f"def f(a):\n    return {one}" for one in (f"a {sign} 1", f"1 {sign} a"))
    assert len({play(program, 1 << 32_000)[1] for program in programs}) == 1


def test_appending_and_looking_up_do_not_count_by_length():
    program = "def f(xs):\n    d = {}\n    d[1] = 2\n    xs.append(1)\n    return d[1], len(xs), xs[5], xs.pop()"
    small, large = (play(program, list(range(size)))[1] for size in (100, 5000))
    assert small == large


def test_the_counter_is_the_same_every_time_and_calls_do_not_share_state():
    program = "def f(x, seen={}):\n    seen[x] = len(seen)\n    return len(seen)"
    assert play(program, 1) == play(program, 1)


def test_the_job_brings_each_module_with_its_compiled_form():
    sent = counted_job(["def f():\n    return 1"], "f", [[]], 10, Limits()).files
    compiled = {name: data for name, data in sent.items() if name.endswith(".pyc")}
    assert len(compiled) > 8
    for name, data in compiled.items():
        assert data[:8] == MAGIC_NUMBER + b"\1\0\0\0"
        assert data[8:16] == source_hash(sent[source_from_cache(name)])
        assert isinstance(marshal.loads(data[16:]), types.CodeType)


def test_no_value_of_the_interpreter_has_attributes_that_can_be_named():
    for kind, methods in COUNTED.methods.items():
        assert not any(name.startswith("_") for name in methods), kind
    assert not any(name.startswith("_") for name in COUNTED.functions)
    assert Machine.max_depth < 1000
