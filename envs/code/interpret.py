"""`Interpreter`: runs built-in programs in this process, step by step, without handing them to
Python.

`code/predict` takes its answers from it, and `code/repair` uses it to find out if a changed
program still behaves as it should. It walks the syntax tree and knows a part of Python: integers,
strings, lists, tuples, dictionaries, sets and deques; functions, loops, comprehensions; and only
the functions and methods of known_python.py, so nothing in a program can reach a file, a module or
an attribute. Steps, sizes of numbers and lengths are bounded. Unknown syntax raises Unknown. It is
for programs that are written or changed here; programs of a policy run in the sandbox alone.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, Final

from verigym.envs.code.known_python import BINARY, COMPARE, FUNCTIONS, METHODS

_MOST_DIGITS: Final = 1 << 256
_MOST_ITEMS: Final = 5_000
_SIZED: Final = (str, list, tuple, dict, set, deque)
_DEEPEST: Final = 40  # so that Python's own stack has room


class Unknown(Exception):
    """The program holds what the interpreter does not know."""


class TooLong(Exception):
    """The program took more steps, or made larger values, than allowed."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Interpreter:
    """One run of one program, which finds `constants` defined. `printed` holds what it printed, `steps` the nodes that it evaluated.

    `run()` and `call()` raise Unknown, TooLong, or what the program failed with, one of FAILURES
    (known_python.py).
    """

    functions: ClassVar[Mapping[str, Callable[..., Any]]] = FUNCTIONS
    methods: ClassVar[Mapping[type, frozenset[str]]] = METHODS
    expressions: ClassVar[dict[type, Callable[[Any, Any, dict[str, Any]], Any]]] = {}
    """Functions, methods and expressions that the interpreter knows; a subclass may know more."""

    def __init__(
        self,
        tree: ast.Module,
        stdin: str = "",
        most_steps: int = 20_000,
        constants: Mapping[str, int | str] | None = None,
    ) -> None:
        self.printed = ""
        self.steps = 0
        self._most = most_steps
        self._tree = tree
        self._lines = iter(stdin.removesuffix("\n").split("\n") if stdin else ())
        self._globals: dict[str, Any] = dict(constants or {})
        self._deep = 0

    def run(self) -> None:
        """Run the program."""
        self._body(self._tree.body, self._globals)

    def call(self, name: str, *args: Any) -> Any:
        """Call a function that the program has defined."""
        return self._globals[name](*args)

    # Statements.

    def _body(self, body: list[ast.stmt], names: dict[str, Any]) -> None:
        for statement in body:
            self._statement(statement, names)

    def _statement(self, node: ast.stmt, names: dict[str, Any]) -> None:
        self._count()
        match node:
            case ast.Expr(value=value):
                self._value(value, names)
            case ast.Assign(targets=targets, value=value):
                found = self._value(value, names)
                for target in targets:
                    self._assign(target, found, names)
            case ast.AugAssign(target=target, op=op, value=value):
                old = self._value(_loaded(target), names)
                self._assign(target, self._binary(op, old, self._value(value, names)), names)
            case ast.If(test=test, body=body, orelse=orelse):
                self._body(body if self._value(test, names) else orelse, names)
            case ast.For(target=target, iter=source, body=body, orelse=orelse):
                for item in self._value(source, names):
                    self._assign(target, item, names)
                    if self._loop(body, names):
                        return
                self._body(orelse, names)
            case ast.While(test=test, body=body, orelse=orelse):
                while self._value(test, names):
                    if self._loop(body, names):
                        return
                self._body(orelse, names)
            case ast.FunctionDef(name=name, args=args, body=body, decorator_list=[]):
                names[name] = self._function(args, body, names)
            case ast.Return(value=value):
                raise _Return(None if value is None else self._value(value, names))
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.ImportFrom(module="collections", names=[ast.alias(name="deque", asname=None)]):
                names["deque"] = deque
            case ast.Pass():
                pass
            case _:
                raise Unknown(type(node).__name__)

    def _loop(self, body: list[ast.stmt], names: dict[str, Any]) -> bool:
        """Run a loop's body once; whether it breaks."""
        self._count()
        try:
            self._body(body, names)
        except _Break:
            return True
        except _Continue:
            pass
        return False

    def _function(
        self, args: ast.arguments, body: list[ast.stmt] | ast.expr, outer: dict[str, Any]
    ) -> Callable[..., Any]:
        if args.defaults or args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
            raise Unknown("arguments other than by place")
        wanted = [one.arg for one in args.args]

        def function(*given: Any) -> Any:
            if len(given) != len(wanted):
                raise TypeError("wrong number of arguments")
            # A function reads the names around it as they are when it runs, and writes its own.
            names = {**outer, **dict(zip(wanted, given, strict=True))}
            self._deep += 1
            if self._deep > _DEEPEST:
                raise TooLong(f"more than {_DEEPEST} calls inside each other")
            try:
                if isinstance(body, ast.expr):
                    return self._value(body, names)
                self._body(body, names)
            except _Return as found:
                return found.value
            finally:
                self._deep -= 1
            return None

        return function

    def _assign(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
        match target:
            case ast.Name(id=name):
                names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                items = list(islice(value, _MOST_ITEMS + 1))
                self._bounded(len(items))
                last = parts[-1] if parts else None
                if isinstance(last, ast.Starred) and len(items) >= len(parts) - 1:
                    head = len(parts) - 1
                    self._assign(last.value, items[head:], names)
                    parts, items = parts[:head], items[:head]
                if len(items) != len(parts):
                    raise ValueError("wrong number of values to unpack")
                for part, item in zip(parts, items, strict=True):
                    self._assign(part, item, names)
            case ast.Subscript(value=holder, slice=place):
                held = self._value(holder, names)
                if type(held) not in (list, dict, deque):
                    raise TypeError("no item of it can be set")
                held[self._value(place, names)] = value
            case _:
                raise Unknown(f"assignment to {type(target).__name__}")

    # Expressions.

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooLong(f"more than {self._most} steps")

    def _value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        self.steps += 1
        if self.steps > self._most:
            raise TooLong(f"more than {self._most} steps")
        kind = type(node)
        # Most nodes are one of these two.
        if kind is ast.Constant:
            return node.value  # type: ignore[attr-defined]
        if kind is ast.Name and node.id in names:  # type: ignore[attr-defined]
            return names[node.id]  # type: ignore[attr-defined]
        evaluate = self.expressions.get(kind)
        if evaluate is None:
            raise Unknown(type(node).__name__)
        return evaluate(self, node, names)

    def _logic(self, node: ast.BoolOp, names: dict[str, Any]) -> Any:
        found: Any = None
        for value in node.values:
            found = self._value(value, names)
            if bool(found) is isinstance(node.op, ast.Or):
                break
        return found

    def _sign(self, node: ast.UnaryOp, names: dict[str, Any]) -> Any:
        value = self._value(node.operand, names)
        if isinstance(node.op, ast.Not):
            return not value
        if isinstance(node.op, ast.USub):
            return -value
        raise Unknown(type(node.op).__name__)

    def _choice(self, node: ast.IfExp, names: dict[str, Any]) -> Any:
        return self._value(node.body if self._value(node.test, names) else node.orelse, names)

    def _item(self, node: ast.Subscript, names: dict[str, Any]) -> Any:
        return self._value(node.value, names)[self._value(node.slice, names)]

    def _slice(self, node: ast.Slice, names: dict[str, Any]) -> Any:
        parts = (node.lower, node.upper, node.step)
        return slice(*(part and self._value(part, names) for part in parts))

    def _dict(self, node: ast.Dict, names: dict[str, Any]) -> Any:
        if None in node.keys:
            raise Unknown("** in a dictionary")
        return {
            self._value(key, names): self._value(value, names)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }

    def _name(self, node: ast.Name, names: dict[str, Any]) -> Any:
        name = node.id
        if name in names:
            return names[name]
        if name in self._globals:
            return self._globals[name]
        if name in self.functions:
            return self.functions[name]
        if name in ("print", "input", "map"):
            return {"print": self._print, "input": self._input, "map": _mapped}[name]
        raise NameError(name)

    def _binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if type(left) is int and type(right) is int and type(op) in BINARY:
            number = BINARY[type(op)](left, right)
            if abs(number) > _MOST_DIGITS:
                raise TooLong("a number of more than 256 bits")
            return number
        if isinstance(op, ast.Mult):
            for one, other in ((left, right), (right, left)):
                if isinstance(one, str | list | tuple) and isinstance(other, int):
                    self._bounded(len(one) * other)
        if isinstance(op, ast.Pow | ast.LShift):
            if not (isinstance(left, int) and isinstance(right, int) and 0 <= right <= 64):
                raise Unknown("this power")
            return left**right if isinstance(op, ast.Pow) else left << right
        if type(op) not in BINARY or (isinstance(op, ast.Mod) and isinstance(left, str)):
            raise Unknown(type(op).__name__)
        value = BINARY[type(op)](left, right)
        if isinstance(value, int) and abs(value) > _MOST_DIGITS:
            raise TooLong("a number of more than 256 bits")
        if isinstance(value, str | list | tuple):
            self._bounded(len(value))
        return value

    def _bounded(self, count: int) -> None:
        if count > _MOST_ITEMS:
            raise TooLong(f"more than {_MOST_ITEMS} items")

    def _compare(self, node: ast.Compare, names: dict[str, Any]) -> Any:
        one, result = self._value(node.left, names), True
        for op, right in zip(node.ops, node.comparators, strict=True):
            other = self._value(right, names)
            result = COMPARE[type(op)](one, other)
            if not result:
                break
            one = other
        return result

    def _items(self, parts: list[ast.expr], names: dict[str, Any]) -> list[Any]:
        items: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                items.extend(islice(self._value(part.value, names), _MOST_ITEMS + 1))
                self._bounded(len(items))
            else:
                items.append(self._value(part, names))
        return items

    def _comprehended(
        self, one: ast.expr, loops: list[ast.comprehension], names: dict[str, Any]
    ) -> Iterator[Any]:
        if not loops:
            yield self._value(one, names)
            return
        first, *inner = loops
        for item in self._value(first.iter, names):
            self._count()
            self._assign(first.target, item, names)
            if all(self._value(test, names) for test in first.ifs):
                yield from self._comprehended(one, inner, names)

    def _call(self, node: ast.Call, names: dict[str, Any]) -> Any:
        holder: Any = None
        if isinstance(node.func, ast.Attribute):
            holder = self._value(node.func.value, names)
            name = node.func.attr
            if name not in self.methods.get(type(holder), frozenset()):
                if type(holder) in self.methods and hasattr(holder, name):
                    raise Unknown(f"the method {name}")
                raise AttributeError(name)
            called = getattr(holder, name)
        else:
            called = self._value(node.func, names)
        args = self._items(node.args, names)
        if not all(one.arg for one in node.keywords):
            raise Unknown("** in a call")
        options = {str(one.arg): self._value(one.value, names) for one in node.keywords}
        if not callable(called):
            raise TypeError("it cannot be called")
        for one in args:
            self._bounded(len(one) if isinstance(one, range) else 0)
        found = called(*args, **options)
        for changed in (found, holder):
            self._bounded(len(changed) if isinstance(changed, _SIZED) else 0)
        return found

    def _print(self, *values: Any, sep: str = " ", end: str = "\n") -> None:
        self.printed += sep.join(map(str, values)) + end
        self._bounded(len(self.printed))

    def _input(self) -> str:
        line = next(self._lines, None)
        if line is None:
            raise EOFError("no more input")
        return line


Interpreter.expressions = {
    ast.Name: Interpreter._name,
    ast.BinOp: lambda run, node, names: run._binary(
        node.op, run._value(node.left, names), run._value(node.right, names)
    ),
    ast.Compare: Interpreter._compare,
    ast.BoolOp: Interpreter._logic,
    ast.UnaryOp: Interpreter._sign,
    ast.IfExp: Interpreter._choice,
    ast.Subscript: Interpreter._item,
    ast.Slice: Interpreter._slice,
    ast.Call: Interpreter._call,
    ast.Tuple: lambda run, node, names: tuple(run._items(node.elts, names)),
    ast.List: lambda run, node, names: run._items(node.elts, names),
    ast.Set: lambda run, node, names: set(run._items(node.elts, names)),
    ast.Dict: Interpreter._dict,
    ast.ListComp: lambda run, node, names: list(
        run._comprehended(node.elt, node.generators, dict(names))
    ),
    ast.SetComp: lambda run, node, names: set(
        run._comprehended(node.elt, node.generators, dict(names))
    ),
    ast.GeneratorExp: lambda run, node, names: run._comprehended(
        node.elt, node.generators, dict(names)
    ),
    ast.Lambda: lambda run, node, names: run._function(node.args, node.body, names),
}


def _mapped(function: Callable[..., Any], *sources: Any) -> Iterator[Any]:
    return map(function, *sources)


def _loaded(target: ast.expr) -> ast.expr:
    """The same place, to be read."""
    if isinstance(target, ast.Name | ast.Subscript):
        return target
    raise Unknown(f"assignment to {type(target).__name__}")
