"""How each language is compiled and run; a language is offered only where its tool is there."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, kw_only=True)
class Language:
    """`file` is the source's name in the job's folder; commands run there, the program's own
    arguments come last. The first word of each command is an absolute path."""

    file: str
    compile: tuple[str, ...] = ()
    run: tuple[str, ...]


def find_languages(python: str) -> dict[str, Language]:
    """The languages of this machine by name; `python` is the interpreter that runs programs."""
    found = {
        # Not -I: it would hide the modules that a job brings beside its program. -s leaves out the
        # user's packages, and the environment is ours.
        "python": Language(file="main.py", run=(python, "-s", "-B", "-X", "utf8", "main.py"))
    }
    bash = shutil.which("bash", path=PATH)
    if bash:
        found["bash"] = Language(file="main.sh", run=(bash, "--noprofile", "--norc", "main.sh"))
    gcc = shutil.which("gcc", path=PATH)
    if gcc:
        found["c"] = Language(
            file="main.c",
            compile=(gcc, "-std=gnu17", "-O2", "-w", "-o", "main", "main.c", "-lm"),
            run=("./main",),
        )
    return found
