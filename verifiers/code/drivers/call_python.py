"""Runs in the sandbox: calls one function of `solution.py` and prints what it returned.

Only plain data leaves: exact built-in types, containers of the standard library, NumPy's numbers and
arrays. The values are read with the methods of the built-in types, so overriding them is of no use.
"""

import collections
import json
import math
import os
import sys
import types
from typing import Any

MAX_DEPTH = 200


def main() -> None:
    """Run the program; everything that is needed later is taken before it is loaded."""
    write, leave, quote = os.write, os._exit, json.encoder.encode_basestring_ascii
    call = json.loads(sys.stdin.buffer.read())
    args = [decoded(value) for value in call["args"]]
    kwargs = {name: decoded(value) for name, value in call["kwargs"].items()}
    encode = encoder(quote)
    module = types.ModuleType("solution")
    module.__file__ = "solution.py"
    sys.modules["solution"] = module
    with open("solution.py", "rb") as file:
        source = file.read()
    exec(compile(source, "solution.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    found: Any = module
    for name in call["function"].split("."):
        found = getattr(found() if isinstance(found, type) else found, name)
    line = ("\n\x1everigym-answer " + encode(found(*args, **kwargs), 0) + "\n").encode()
    while line:
        line = line[write(1, line) :]
    leave(0)


def decoded(value: Any) -> Any:
    """Return the value that a call's tagged JSON stands for."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag == "$tuple":
            return tuple(decoded(item) for item in inner)
        if tag == "$set":
            return {decoded(item) for item in inner}
        if tag == "$dict":
            return {decoded(key): decoded(item) for key, item in inner}
        if tag == "$bytes":
            return bytes.fromhex(inner)
        if tag == "$float":
            return float(inner)
        if tag == "$int":
            return int(inner, 16)
    return {key: decoded(item) for key, item in value.items()}


def encoder(quote: Any) -> Any:
    """Return a function (value, depth) -> tagged JSON; raises TypeError for what is not plain data."""
    whole: dict[type, Any] = {
        list: list.__iter__,
        tuple: tuple.__iter__,
        collections.deque: collections.deque.__iter__,
    }
    sets: dict[type, Any] = {set: set.__iter__, frozenset: frozenset.__iter__}
    maps = {dict, collections.OrderedDict, collections.defaultdict, collections.Counter}

    def encode(value: Any, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise ValueError(f"an answer may be nested {MAX_DEPTH} deep")
        kind = type(value)
        if value is None:
            return "null"
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            # Decimal texts of thousands of digits are slow to make and to read; hex ones are not.
            return str(value) if -(10**15) < value < 10**15 else f'{{"$int":"{value:x}"}}'
        if kind is float:
            return repr(value) if math.isfinite(value) else f'{{"$float":"{value!r}"}}'
        if kind is str:
            text: str = quote(value)
            return text
        if kind is bytes or kind is bytearray:
            return f'{{"$bytes":"{value.hex()}"}}'
        if kind in whole or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            items = whole.get(kind, tuple.__iter__)(value)
            return "[" + ",".join([encode(item, depth + 1) for item in items]) + "]"
        if kind in sets:
            inner = ",".join([encode(item, depth + 1) for item in sets[kind](value)])
            return '{"$set":[' + inner + "]}"
        if kind in maps:
            pairs = [
                "[" + encode(key, depth + 1) + "," + encode(item, depth + 1) + "]"
                for key, item in dict.items(value)
            ]
            return '{"$dict":[' + ",".join(pairs) + "]}"
        if kind.__module__ == "numpy" and hasattr(value, "tolist"):
            return encode(value.tolist(), depth + 1)
        raise TypeError(f"the function returned a {kind.__name__}, which is not plain data")

    return encode


if __name__ == "__main__":
    main()
