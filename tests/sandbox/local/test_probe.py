"""The layers are tried on this machine as it is, and where something is taken away from it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from verigym.sandbox.local import attempts, landlock, probe, seccomp, system

PRINT = """
import json
from verigym.sandbox.local import probe
found = probe.layers()
print(json.dumps([probe.tier(found), {layer.name: layer.why for layer in found}]))
"""


@pytest.fixture(scope="module")
def found():
    return probe.layers()


def elsewhere(*command):
    """Tier and reasons that a process found which `command` starts."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_layer_says_what_it_stops_and_why_it_is_missing(found):
    names = [layer.name for layer in found]
    assert len(set(names)) == len(names)
    assert set(names) >= attempts.ATTEMPTS.keys()
    for layer in found:
        assert layer.stops.endswith("."), layer.name
        assert layer.without.endswith("."), layer.name
        assert bool(layer.why) != layer.active, layer.name


def test_no_new_privileges_are_to_be_had_everywhere(found):
    active = {layer.name for layer in found if layer.active}
    assert active >= {"no_new_privs", "rlimits"}
    assert ("landlock" in active) == (landlock.abi() > 0)


def test_nothing_is_left(found):
    mounts = Path("/proc/self/mountinfo").read_text()
    open_files = len(os.listdir("/proc/self/fd"))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    for _ in range(3):
        assert {layer.name: layer.why for layer in probe.layers()} == {
            layer.name: layer.why for layer in found
        }
    assert Path("/proc/self/mountinfo").read_text() == mounts
    # A leak shows each time; threads of earlier tests may open a file once.
    assert len(os.listdir("/proc/self/fd")) < open_files + 3
    assert Path(f"/proc/self/task/{os.getpid()}/children").read_text() == children


def test_tiers(found):
    required = {layer.name for layer in found if layer.required}

    def of(*missing):
        layers = [
            probe.Layer(name=name, active=name not in missing, required=True, stops="", without="")
            for name in required | {"landlock", "cgroups"}
        ]
        return probe.tier(layers)

    assert of() == "strong"
    assert of("landlock") == "strong"
    assert of("cgroups") == "strong"
    assert of("user namespace") == "weaker"
    assert of("private /proc", "network namespace") == "weaker"
    assert of("user namespace", "landlock") == "refused"
    assert of("seccomp") == "refused"
    assert of("rlimits") == "refused"


# Refuses unshare as Docker's default profile does: EPERM. The rest is let through.
NO_UNSHARE = """
import os, struct, sys
from verigym.sandbox.local import seccomp
number = {"x86_64": 272, "aarch64": 97}[os.uname().machine]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]
seccomp.install(b"".join(struct.pack("<HBBI", *step) for step in steps))
"""

needs_filter = pytest.mark.skipif(
    os.uname().machine not in seccomp._MACHINES, reason="no filter for this machine"
)


@needs_filter
def test_where_namespaces_are_forbidden_as_in_a_container(found):
    tier, why = elsewhere(sys.executable, "-c", NO_UNSHARE + PRINT)
    for layer in found:
        if layer.name.endswith("namespace"):
            assert why[layer.name].startswith("EPERM: unshare"), layer.name
        elif layer.name in ("no_new_privs", "seccomp", "landlock", "rlimits"):
            assert bool(why[layer.name]) != layer.active
    assert tier == ("weaker" if landlock.abi() else "refused")


@needs_filter
def test_in_a_job_of_our_own_there_is_no_sandbox():
    inside = "from verigym.sandbox.local import seccomp\nseccomp.install(seccomp.job_filter())\n"
    tier, why = elsewhere(sys.executable, "-c", inside + PRINT)
    assert tier == "refused"
    assert why["user namespace"].startswith("ENOSYS: unshare")
    assert why["seccomp"].endswith(("Function not implemented", "Invalid argument"))
    assert why["landlock"].startswith("ENOSYS: landlock_create_ruleset")


def test_the_setting_that_forbids_is_named(found):
    if not next(layer for layer in found if layer.name == "user namespace").active:
        pytest.skip("no user namespaces here")
    if shutil.which("unshare") is None:
        pytest.skip("util-linux is not installed")
    # The setting is the new namespace's own, and goes with it.
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    tier, why = elsewhere(
        *("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"),
        *(sys.executable, "-c", PRINT),
    )
    assert why["user namespace"].startswith("ENOSPC: unshare")
    assert "user.max_user_namespaces is 0; set it to 10000" in why["user namespace"]
    assert tier != "strong"


def test_attempts_run_alone():
    """Attempts run with only the standard library and the files beside them, as for an ordinary
    user."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", attempts.__file__], capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["attempts"].keys() == attempts.ATTEMPTS.keys()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_has_the_same_layers(found):
    """Layers are the same on a machine that lets users create namespaces."""
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip("the system has no Python that another user could start")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for module in (attempts, system, seccomp, landlock):
            shutil.copy(module.__file__, folder)
        done = subprocess.run(
            [python, "-I", "-S", "-B", f"{folder}/attempts.py"],
            user=65534,
            group=65534,
            extra_groups=[],
            capture_output=True,
            timeout=60,
            cwd="/",
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["attempts"] == {
        layer.name: layer.why for layer in found if layer.name in attempts.ATTEMPTS
    }
