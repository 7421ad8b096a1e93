"""Program that runs many programs on many inputs in one sandbox job; for growing tests, never for
a score.

Reads `{"kind": "function" | "stdio", "function", "programs": [text], "inputs": [...], "seconds"}`
from standard input; an input is a list of arguments or a text. Prints for each program a list with
one entry per input: `[value]`, or null if it failed. Each program has its own process; if it hangs
or ends at some input, it is restarted after that input, three times at most. Uses only the
standard library, and `call_python.py`, the driver, beside it.
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import types
from typing import Any

import call_python  # type: ignore[import-not-found]  # lies beside it in the sandbox

_TRIES = 3


def main() -> None:
    """Read the request from standard input, run every program, and print the answers."""
    asked = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    text = json.dumps([_answers(asked, program) for program in asked["programs"]]).encode()
    while text:
        text = text[os.write(out, text) :]
    os._exit(0)


def _answers(asked: dict[str, Any], program: str) -> list[Any]:
    answers: list[Any] = [None] * len(asked["inputs"])
    start = 0
    for _ in range(_TRIES):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            _child(asked, program, start, write)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            lines = pipe.read().split(b"\n")
        os.waitpid(pid, 0)
        for line in lines[:-1]:
            with contextlib.suppress(ValueError):
                answers[start] = json.loads(line)
            start += 1
        start += 1  # the one at which it ended
        if start >= len(answers):
            break
    return answers


def _child(asked: dict[str, Any], program: str, start: int, write: int) -> None:
    leave = os._exit
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        run = _function(asked, program) if asked["kind"] == "function" else _stdio(program)
        for given in asked["inputs"][start:]:
            signal.setitimer(signal.ITIMER_VIRTUAL, asked["seconds"])
            try:
                line = json.dumps([run(given)])
            except (Exception, SystemExit):  # noqa: BLE001 (whatever a program raises, it fails)
                line = "null"
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            os.write(write, line.encode() + b"\n")
    finally:
        leave(0)


def _function(asked: dict[str, Any], program: str) -> Any:
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, "solution.py", "exec"), module.__dict__)  # noqa: S102
    encode = call_python.encoder(json.encoder.encode_basestring_ascii)
    names = asked["function"].split(".")

    def run(given: Any) -> Any:
        found: Any = module
        for name in names:
            found = getattr(found() if isinstance(found, type) else found, name)
        args, kwargs = given
        args = [call_python.decoded(value) for value in args]
        named = {name: call_python.decoded(value) for name, value in kwargs.items()}
        return json.loads(encode(found(*args, **named), 0))

    return run


def _stdio(program: str) -> Any:
    code = compile(program, "main.py", "exec")

    def run(given: str) -> str:
        with open("stdin", "w+b") as stdin, open("stdout", "w+b") as stdout:
            stdin.write(given.encode())
            stdin.seek(0)
            os.dup2(stdin.fileno(), 0)
            os.dup2(stdout.fileno(), 1)
            sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
            try:
                exec(code, {"__name__": "__main__", "__builtins__": __builtins__})  # noqa: S102
            except SystemExit as error:
                if error.code not in (None, 0):
                    raise
            sys.stdout.flush()
            stdout.seek(0)
            return stdout.read().decode()

    return run


if __name__ == "__main__":
    main()
