"""Files of programs: each is used, and runs by itself with its example values."""

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from verigym.envs.code import easy, hard, medium, mutated_easy, mutated_hard, mutated_medium
from verigym.envs.code.faster import LEVELS
from verigym.envs.code.functions import SLOTS
from verigym.envs.code.long_programs import PARTS
from verigym.envs.code.program_files import MARKER, VERILOG_MARKER, body, fill_logic, program
from verigym.envs.code.stages import FEATURES, HELPERS, REPORTS, STEPS
from verigym.envs.code.stdio import MACHINES, SYSTEMS
from verigym.envs.code.verilog import LEVELS as HARDWARE

PROGRAMS = files("verigym.envs.code.programs")
FAMILIES = [
    one
    for module in (easy, medium, hard)
    for one in vars(module).values()
    if isinstance(one, type) and one.__module__ == module.__name__ and hasattr(one, "draw")
]
MUTATED = [one for m in (mutated_easy, mutated_medium, mutated_hard) for one in m.FUNCTIONS]
SLOW = [one for level in LEVELS.values() for one in level]
USED = {
    "stdio": {one.name.replace("-", "_") for one in FAMILIES},
    "mutated": {one.name for one in MUTATED},
    "mixing": {"mix"},
    "slow": {one.name for one in SLOW},
    "fast": {one.name for one in SLOW},
    "stages": {one.name for one in (*STEPS, *FEATURES, *REPORTS)},
    "helpers": set(HELPERS),
    "predict": {one.name for one in PARTS},
    "functions": {one.__name__ for level in SLOTS.values() for slot in level for one in slot}
    - {one.function for one in (*SYSTEMS, *MACHINES)},
    "systems": {one.function for one in (*SYSTEMS, *MACHINES)},
}


@pytest.mark.parametrize("folder", USED)
def test_every_file_is_a_program_of_a_task(folder):
    found = {file.name for file in (PROGRAMS / folder).iterdir() if file.name.endswith(".py")}
    assert found == {f"{name}.py" for name in USED[folder]} | {"__init__.py"}
    for name in USED[folder]:
        text = (PROGRAMS / folder / f"{name}.py").read_text(encoding="utf-8")
        assert text.count(MARKER) == 1
        assert program(f"{folder}/{name}.py").strip()
        space = {"__name__": name}
        if folder != "stdio":  # these read their input where they stand
            exec(compile(text, name, "exec"), space)
            assert any(callable(value) for value in space.values())


def test_a_program_is_the_text_below_the_marker():
    assert program("slow/pairs_to.py").startswith("def pairs_to(xs):\n    count = 0\n")
    assert program("slow/pairs_to.py").endswith("    return count\n")
    assert body("mutated/is_special.py").startswith("    n = year + START\n")


def test_every_verilog_file_is_a_module_that_a_task_is_made_from():
    kinds = {kind.__name__ for level in HARDWARE.values() for kind in level}
    found = {file.name for file in (PROGRAMS / "verilog").iterdir() if file.name.endswith(".v")}
    assert found == {f"{name}.v" for name in kinds - {"gray"}}  # made of one line for each bit
    assert fill_logic("adder", SIGN="-") == ("  assign {cout, s} = {1'b0, a} - {1'b0, b} - cin;")


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed")
def test_verilog_files_compile_as_they_stand():
    found = sorted(Path(str(PROGRAMS)).glob("verilog/*.v"))
    for file in found:
        assert file.read_text(encoding="utf-8").count(VERILOG_MARKER) == 1
        subprocess.run(["iverilog", "-g2012", "-t", "null", str(file)], check=True)
    assert found
