"""Verifiers that misbehave on request; tests install them as a plugin (tests/conftest.py)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from msgspec import Struct

from verigym import SandboxError, TaskError, Verifier, scored


class ObeysParams(Struct, frozen=True):
    """Parameters of `Obeys`."""

    strict: bool = True


class Obeys(Verifier[ObeysParams]):
    """Does what `submission["do"]` says; `submission["at"]` is a path to report a pid to."""

    id = "unruly/obeys"
    version = 3
    about = "Does as it is told."

    def judge(self, task, submission):
        do = submission["do"]
        if do == "hang":
            self._report(submission, os.getpid())
            time.sleep(3600)
        elif do == "sleep":
            time.sleep(submission["seconds"])
        elif do == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif do == "die_once":
            if not Path(submission["at"]).exists():
                self._report(submission, os.getpid())
                os.kill(os.getpid(), signal.SIGKILL)
        elif do == "hang_once":
            if not Path(submission["at"]).exists():
                self._report(submission, os.getpid())
                time.sleep(3600)
        elif do == "raise":
            raise ValueError(f"expected {task.reference} in {__file__}")
        elif do == "bad_task":
            raise TaskError(f"reference {task.reference} cannot be used")
        elif do == "sandbox":
            raise SandboxError(f"no room in {__file__} for {task.reference}")
        elif do == "print":
            print("noise of a verifier", flush=True)
        elif do == "sigint":
            os.kill(os.getpid(), signal.SIGINT)
        elif do == "leave_child":
            # A grandchild whose parent exits at once: it belongs to nobody here.
            script = (
                "import os, pathlib, sys, time\n"
                "told, tell = os.pipe()\n"
                "if os.fork(): os.read(told, 1), os._exit(0)\n"
                "pathlib.Path(sys.argv[1]).write_text(f'{os.getpid()}\\n')\n"
                "os.write(tell, b'x')\n"
                "time.sleep(3600)"
            )
            subprocess.run([sys.executable, "-P", "-c", script, submission["at"]], check=True)
        elif do == "keep_child":
            child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
            self._report(submission, child.pid)
            time.sleep(3600)
        elif do == "global_random":
            import random

            return scored(random.random(), "drawn")
        return scored(1.0, "obeyed", parts={"told": 1.0})

    @staticmethod
    def _report(submission, pid):
        if "at" in submission:
            Path(submission["at"]).write_text(f"{pid}\n")


class PickyParams(Struct, frozen=True):
    """Parameters of `Picky`."""

    size: int = 1

    def __post_init__(self):
        if self.size < 1:
            raise ValueError("size must be a whole number above 0")


class Picky(Verifier[PickyParams]):
    """Refuses some values of its parameter."""

    id = "unruly/picky"
    version = 1

    def judge(self, task, submission):
        return scored(1.0 if submission == task.reference else 0.0, "compared")
