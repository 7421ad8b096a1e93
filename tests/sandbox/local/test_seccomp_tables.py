"""The program of the system call filter says what its tables say, on every machine."""

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sandbox.local.refused_calls import MACHINES, refused
from verigym.sandbox.local import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000


def interpret(program, number, architecture, arguments):
    """Return the kernel's answer: an interpreter for classic BPF, as far as the filter uses it."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, *arguments)
    at = value = 0
    while True:
        code, yes, no, operand = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x54:
            value &= operand
        elif code == 0x05:
            at += operand
        elif code == 0x15:
            at += yes if value == operand else no
        elif code == 0x35:
            at += yes if value >= operand else no
        else:
            assert code == 0x06
            return operand


def expected(number, arguments, machine, shared=True):
    name = {number: name for name, number in seccomp.allowed(machine).items()}.get(number)
    if name is None:
        return 0x50000 | errno.ENOSYS
    rules = seccomp._rules(unix=True, inet=True, shared=shared)
    if name not in rules:
        return ALLOW
    for ways, answer in ((rules[name].ways, ALLOW), (rules[name].ignored, 0x50000)):
        for way in ways:
            if all(arguments[test.arg] & 0xFFFFFFFF & test.mask in test.values for test in way):
                return answer
    return 0x50000 | rules[name].error


INTERESTING = sorted(
    {
        value
        for rule in seccomp._RULES.values()
        for way in rule.ways
        for t in way
        for value in t.values
    }
)
ARGUMENT = st.one_of(
    st.sampled_from(INTERESTING),
    st.integers(0, 40),
    st.integers(0, 31).map(lambda bit: 1 << bit),
    st.integers(0, 2**64 - 1),
    st.sampled_from(INTERESTING).map(lambda value: value | 1 << 40),
)
PROGRAMS = {machine: seccomp.job_filter(machine=machine) for machine in MACHINES}
PRIVATE = {machine: seccomp.job_filter(machine=machine, shared=False) for machine in MACHINES}
IN_STEPS = {
    machine: (seccomp.job_filter(slot=True, machine=machine), seccomp.closing_filter(machine))
    for machine in MACHINES
}


@given(
    st.sampled_from(sorted(MACHINES)),
    st.one_of(st.integers(0, 500), st.integers(0, 0x3FFFFFFF)),
    st.tuples(*[ARGUMENT] * 6),
)
def test_the_program_says_what_the_tables_say(machine, number, arguments):
    seen = interpret(PROGRAMS[machine], number, MACHINES[machine], arguments)
    assert seen == expected(number, arguments, machine)
    seen = interpret(PRIVATE[machine], number, MACHINES[machine], arguments)
    assert seen == expected(number, arguments, machine, shared=False)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_has_its_answer(machine):
    for number in range(600):
        for arguments in ((0,) * 6, (1,) * 6, (2**64 - 1,) * 6):
            seen = interpret(PROGRAMS[machine], number, MACHINES[machine], arguments)
            assert seen == expected(number, arguments, machine), number


@given(
    st.sampled_from(sorted(MACHINES)),
    st.one_of(st.integers(0, 500), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(*[ARGUMENT] * 6),
)
def test_a_slots_filter_and_the_closing_one_are_together_as_strict(machine, number, arguments):
    both = [
        interpret(program, number, MACHINES[machine], arguments) for program in IN_STEPS[machine]
    ]
    # The kernel does what is strictest: killing, then refusing, then letting through. seccomp(2)
    together = KILL if KILL in both else min(both)
    assert together == interpret(PROGRAMS[machine], number, MACHINES[machine], arguments)


@given(
    st.sampled_from(sorted(MACHINES)), st.integers(0, 2**32 - 1), st.integers(-(2**31), 2**31 - 1)
)
def test_foreign_call_tables_kill(machine, architecture, number):
    arguments = (0,) * 6
    if architecture != MACHINES[machine]:
        assert interpret(PROGRAMS[machine], number, architecture, arguments) == KILL
    if not 0 <= number < 0x40000000:
        assert interpret(PROGRAMS[machine], number, MACHINES[machine], arguments) == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_no_refused_call_is_in_the_table(machine):
    names = refused(machine)
    assert len(names) > 70
    assert not names.keys() & seccomp.allowed(machine).keys()
    assert not set(names.values()) & set(seccomp.allowed(machine).values())


HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_kernels(machine):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip(f"{header} is not installed")
    found = re.findall(r"#define __NR(3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for _, name, number in found}
    if machine == "aarch64":
        for name, new in re.findall(r"#define __NR_(\w+) __NR3264_(\w+)", header.read_text()):
            if new in numbers:
                numbers[name] = numbers[new]
    table = {**seccomp.allowed(machine), **refused(machine)}
    newer = table.keys() - numbers.keys()
    assert newer <= {"fchmodat2", "cachestat", "statmount", "a_call_to_come"}
    assert {name: table[name] for name in table.keys() - newer} == {
        name: numbers[name] for name in table.keys() - newer
    }


def test_other_machines_are_refused():
    with pytest.raises(OSError, match="no system call filter for riscv64"):
        seccomp.job_filter(machine="riscv64")
