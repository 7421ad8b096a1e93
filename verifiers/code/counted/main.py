"""Program that runs in the sandbox: call one function of each program on each input and count the
steps.

Reads `{"programs": [text], "function", "calls": [[args]], "steps", "total"}`. `steps` bounds one
call, including the program's top level, which runs again for each call; `total` bounds all calls
of one program. Prints one line of JSON: for each program a text if it was refused, else for each
call `[steps, [value]]` or `[steps, error]`. The files that
it imports come with the job.
"""

import json
import os
import sys
from typing import Any

from verigym.verifiers.code.counted.library import COUNTED
from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.operators import weigh
from verigym.verifiers.code.counted.program import call_named, load
from verigym.verifiers.code.counted.state import CallFrame, FailedProgram, RefusedProgram
from verigym.verifiers.code.drivers.call_python import decoded, encoder


def main() -> None:
    """Read the request from standard input, run every program, and print the answers."""
    # A call of a program takes some dozen of the interpreter's own.
    sys.setrecursionlimit(40 * Machine.max_depth)
    asked = json.loads(sys.stdin.buffer.read())
    encode = encoder(json.encoder.encode_basestring_ascii)
    answers = [_answers(asked, program, encode) for program in asked["programs"]]
    text = ("[" + ",".join(answers) + "]\n").encode()
    while text:
        text = text[os.write(1, text) :]


def _answers(asked: dict[str, Any], program: str, encode: Any) -> str:
    made = []
    left = asked["total"]
    for args in asked["calls"]:
        running = Machine(COUNTED, max(0, min(asked["steps"], left)))
        try:
            frame = load(running, program)
            given = [decoded(arg) for arg in args]
            value = "[" + _encoded(running, frame, asked["function"], given, encode) + "]"
        except RefusedProgram as error:
            return json.dumps(str(error))
        except FailedProgram as error:
            value = json.dumps(str(error))
        made.append(f"[{running.meter.used},{value}]")
        left -= running.meter.used
    return "[" + ",".join(made) + "]"


def _encoded(
    running: Machine, frame: CallFrame, function: str, args: list[Any], encode: Any
) -> str:
    value = call_named(running, frame, function, args)
    try:
        # A few lists that hold each other many times would take for ever to write out.
        weigh(running.meter, value)
        text: str = encode(value, 0)
    except (TypeError, ValueError) as error:
        raise FailedProgram(f"the value returned is not plain data: {error}") from error
    return text


if __name__ == "__main__":
    main()
