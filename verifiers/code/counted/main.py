"""Program that runs in the sandbox: call one function of each program on each input and count the
steps.

Reads `{"programs": [text], "function", "calls": [[args]], "steps", "total"}`. `steps` bounds one
call, including the program's top level, which runs again for each call; `total` bounds all calls
of one program. Prints one line of JSON: for each program a text if it was refused, else for each
call `[steps, [value]]` or `[steps, error]`. `machine.py`, `library.py` and `call_python.py` lie
beside it.
"""

import json
import os
import sys
from typing import Any

import call_python  # type: ignore[import-not-found]
import library  # type: ignore[import-not-found]
import machine  # type: ignore[import-not-found]


def main() -> None:
    """Read the request from standard input, run every program, and print the answers."""
    # A call of a program takes some dozen of the interpreter's own.
    sys.setrecursionlimit(40 * machine.MAX_DEPTH)
    asked = json.loads(sys.stdin.buffer.read())
    encode = call_python.encoder(json.encoder.encode_basestring_ascii)
    answers = [_answers(asked, program, encode) for program in asked["programs"]]
    text = ("[" + ",".join(answers) + "]\n").encode()
    while text:
        text = text[os.write(1, text) :]


def _answers(asked: dict[str, Any], program: str, encode: Any) -> str:
    made = []
    left = asked["total"]
    for args in asked["calls"]:
        running = machine.Machine(library, max(0, min(asked["steps"], left)))
        try:
            frame = running.load(program)
            given = [call_python.decoded(arg) for arg in args]
            value = "[" + _encoded(running, frame, asked["function"], given, encode) + "]"
        except machine.RefusedProgram as error:
            return json.dumps(str(error))
        except machine.FailedProgram as error:
            value = json.dumps(str(error))
        made.append(f"[{running.meter.used},{value}]")
        left -= running.meter.used
    return "[" + ",".join(made) + "]"


def _encoded(running: Any, frame: Any, function: str, args: list[Any], encode: Any) -> str:
    value = running.call_named(frame, function, args)
    try:
        # A few lists that hold each other many times would take for ever to write out.
        library.weigh(running.meter, value)
        text: str = encode(value, 0)
    except (TypeError, ValueError) as error:
        raise machine.FailedProgram(f"the value returned is not plain data: {error}") from error
    return text


if __name__ == "__main__":
    main()
