"""Runs programs in a small part of Python and counts what they do; for the sandbox.

A program is turned into closures over a white list of syntax: nothing that it says becomes Python
code, so it has no way to reach the counter, other modules or the interpreter's own objects. There are
no attributes (but methods of texts, lists, dicts and sets that stand in `library.METHODS`), imports,
classes, exceptions, generators by `yield`, floats or names that begin with `__`. Values are None,
truth values, whole numbers, texts, lists, tuples, dicts, sets, ranges and functions.

Each node of the syntax tree that is evaluated counts one step, and whatever touches many items or
characters at once counts one for each (`library.py`). Steps bound time and memory: a program is
stopped at its limit. What is left to the sandbox: time for colliding hashes.
Only the standard library, and `library`, whose tables are passed in, since both lie alone where they run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from types import GeneratorType
from typing import Any

MAX_DEPTH = 400
"""Calls within calls."""

Evaluate = Callable[["Frame"], Any]


class RefusedProgram(Exception):
    """The program uses what is not there; the text says what and where."""


class FailedProgram(Exception):
    """The program failed while it ran: a wrong type, a missing key, a limit."""


class OutOfSteps(FailedProgram):
    """The program took more steps than it was given."""


class Meter:
    """Counter of the steps taken, with their limit."""

    __slots__ = ("depth", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.used = 0
        self.limit = limit
        self.depth = 0

    def spend(self, steps: int) -> None:
        """Count `steps`. Raises OutOfSteps above the limit."""
        self.used += steps
        if self.used > self.limit:
            raise OutOfSteps(f"more than {self.limit} steps")


class Frame:
    """Variables of one call, and the frame of the function around it."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: Frame | None) -> None:
        self.names: dict[str, Any] = {}
        self.outer = outer


class Function:
    """A function of the program."""

    __slots__ = ("body", "defaults", "frame", "name", "params")

    def __init__(
        self, name: str, params: list[str], defaults: list[Any], body: Evaluate, frame: Frame
    ) -> None:
        self.name, self.params, self.defaults = name, params, defaults
        self.body, self.frame = body, frame


class Builtin:
    """A function of the library, as a value."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name, self.call = name, call


class _Signal:
    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value


_BREAK, _CONTINUE = _Signal(), _Signal()
_ITERABLE = (list, tuple, str, dict, set, range, GeneratorType)


class Machine:
    """Compiles programs and calls their functions; `library` is the module with the tables."""

    def __init__(self, library: Any, limit: int) -> None:
        self.library = library
        self.meter = Meter(limit)
        self.builtins = {
            name: Builtin(name, function) for name, function in library.BUILTINS.items()
        }

    def load(self, source: str) -> Frame:
        """Run the top level of a program. Raises RefusedProgram, FailedProgram."""
        try:
            tree = ast.parse(source)
            scope = _Scope(None)
            scope.declare(tree.body)
            body = _Compiler(self).block(tree.body, scope)
        except (SyntaxError, ValueError, MemoryError) as error:
            raise RefusedProgram(f"it does not parse: {type(error).__name__}") from error
        except RecursionError as error:
            raise RefusedProgram("it is nested too deep") from error
        frame = Frame(None)
        self._run(lambda: body(frame))
        return frame

    def call_named(self, frame: Frame, name: str, args: list[Any]) -> Any:
        """Call the function `name` of a loaded program and return its result. Raises
        FailedProgram."""
        function = frame.names.get(name)
        if not isinstance(function, Function):
            raise FailedProgram(f"there is no function {name}")
        return self._run(lambda: self.call(function, args, {}))

    def _run(self, run: Callable[[], Any]) -> Any:
        self.meter.depth = 0
        try:
            return run()
        except RecursionError as error:
            raise FailedProgram("calls or values are nested too deep") from error
        except (TypeError, ValueError, LookupError, ArithmeticError, RuntimeError) as error:
            raise FailedProgram(f"{type(error).__name__}: {str(error)[:100]}") from error

    def call(self, function: Any, args: list[Any], named: Mapping[str, Any]) -> Any:
        """Call a function of the program or the library and return its result."""
        meter = self.meter
        meter.spend(1)
        if isinstance(function, Builtin):
            return function.call(self, *args, **named)
        if not isinstance(function, Function):
            raise TypeError(f"{type(function).__name__} cannot be called")
        params = function.params
        frame = Frame(function.frame)
        names = frame.names
        if len(args) > len(params):
            raise TypeError(f"{function.name} takes {len(params)} arguments, got {len(args)}")
        names.update(zip(params, args, strict=False))
        for name, value in named.items():
            if name not in params or name in names:
                raise TypeError(f"{function.name} does not take {name} here")
            names[name] = value
        if len(names) < len(params):
            first = len(params) - len(function.defaults)
            for at, name in enumerate(params):
                if name not in names:
                    if at < first:
                        raise TypeError(f"{function.name} lacks its argument {name}")
                    names[name] = function.defaults[at - first]
        meter.depth += 1
        if meter.depth > MAX_DEPTH:
            raise FailedProgram(f"more than {MAX_DEPTH} calls within calls")
        signal = function.body(frame)
        meter.depth -= 1
        return signal.value if isinstance(signal, _Signal) else None

    def items(self, value: Any) -> Iterator[Any]:
        """Return an iterator over a value. Raises TypeError if it cannot be iterated."""
        if type(value) not in _ITERABLE:
            raise TypeError(f"{type(value).__name__} has no items")
        return iter(value)


class _Scope:
    """The names that a function, lambda, comprehension or the program's top level binds."""

    def __init__(self, outer: _Scope | None) -> None:
        self.outer = outer
        self.names: set[str] = set()

    def declare(self, body: list[ast.stmt]) -> None:
        """Add what the statements bind, not what functions and comprehensions in them do."""
        queue: list[ast.AST] = list(body)
        while queue:
            node = queue.pop()
            if isinstance(node, ast.FunctionDef):
                self.names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.names.add(node.id)
            elif not isinstance(
                node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
            ):
                queue.extend(ast.iter_child_nodes(node))


def _refuse(node: ast.AST, what: str = "") -> RefusedProgram:
    line = getattr(node, "lineno", 0)
    return RefusedProgram(f"line {line}: {what or type(node).__name__} is not available")


class _Compiler:
    """Turns syntax into closures; one method for each kind of node that there is."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.meter = machine.meter
        self.library = machine.library

    def block(self, body: list[ast.stmt], scope: _Scope) -> Evaluate:
        steps = [self.statement(node, scope) for node in body]

        def run(frame: Frame) -> _Signal | None:
            for step in steps:
                signal: _Signal | None = step(frame)
                if signal is not None:
                    return signal
            return None

        return run

    def statement(self, node: ast.stmt, scope: _Scope) -> Evaluate:
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise _refuse(node)
        made: Evaluate = method(node, scope)
        return made

    def expression(self, node: ast.expr, scope: _Scope) -> Evaluate:
        method = getattr(self, f"get_{type(node).__name__}", None)
        if method is None:
            raise _refuse(node)
        made: Evaluate = method(node, scope)
        return made

    # Statements give None, or the signal that ends the block.

    def do_Pass(self, node: ast.Pass, scope: _Scope) -> Evaluate:
        return lambda frame: None

    def do_Break(self, node: ast.Break, scope: _Scope) -> Evaluate:
        return lambda frame: _BREAK

    def do_Continue(self, node: ast.Continue, scope: _Scope) -> Evaluate:
        return lambda frame: _CONTINUE

    def do_Return(self, node: ast.Return, scope: _Scope) -> Evaluate:
        if scope.outer is None:
            raise _refuse(node, "return outside a function")
        if node.value is None:
            return lambda frame: _Signal()
        value = self.expression(node.value, scope)
        return lambda frame: _Signal(value(frame))

    def do_Expr(self, node: ast.Expr, scope: _Scope) -> Evaluate:
        value = self.expression(node.value, scope)

        def run(frame: Frame) -> None:
            value(frame)

        return run

    def do_Assign(self, node: ast.Assign, scope: _Scope) -> Evaluate:
        value = self.expression(node.value, scope)
        puts = [self.target(target, scope) for target in node.targets]

        def run(frame: Frame) -> None:
            got = value(frame)
            for put in puts:
                put(frame, got)

        return run

    def do_AnnAssign(self, node: ast.AnnAssign, scope: _Scope) -> Evaluate:
        if node.value is None:
            return lambda frame: None
        return self.do_Assign(ast.Assign([node.target], node.value), scope)

    def do_AugAssign(self, node: ast.AugAssign, scope: _Scope) -> Evaluate:
        value = self.expression(node.value, scope)
        operate = self.operator(node.op, node, in_place=True)
        meter = self.meter
        if isinstance(node.target, ast.Subscript):
            if isinstance(node.target.slice, ast.Slice):
                raise _refuse(node, "assigning to a slice")
            holder = self.expression(node.target.value, scope)
            index = self.expression(node.target.slice, scope)
            load, store = self.library.load_item, self.library.store_item

            def run_item(frame: Frame) -> None:
                meter.used += 1
                thing, at = holder(frame), index(frame)
                store(meter, thing, at, operate(meter, load(meter, thing, at), value(frame)))

            return run_item
        if not isinstance(node.target, ast.Name):
            raise _refuse(node)
        get = self.get_Name(ast.Name(node.target.id, ast.Load()), scope)
        put = self.target(node.target, scope)

        def run(frame: Frame) -> None:
            meter.used += 1
            put(frame, operate(meter, get(frame), value(frame)))

        return run

    def do_If(self, node: ast.If, scope: _Scope) -> Evaluate:
        test = self.expression(node.test, scope)
        body, orelse = self.block(node.body, scope), self.block(node.orelse, scope)
        return lambda frame: body(frame) if test(frame) else orelse(frame)

    def do_While(self, node: ast.While, scope: _Scope) -> Evaluate:
        test, body = self.expression(node.test, scope), self.block(node.body, scope)
        orelse, spend = self.block(node.orelse, scope), self.meter.spend

        def run(frame: Frame) -> _Signal | None:
            while test(frame):
                spend(1)
                signal = body(frame)
                if signal is not None and signal is not _CONTINUE:
                    return None if signal is _BREAK else signal
            ended: _Signal | None = orelse(frame)
            return ended

        return run

    def do_For(self, node: ast.For, scope: _Scope) -> Evaluate:
        source, put = self.expression(node.iter, scope), self.target(node.target, scope)
        body, orelse = self.block(node.body, scope), self.block(node.orelse, scope)
        spend, items = self.meter.spend, self.machine.items

        def run(frame: Frame) -> _Signal | None:
            for item in items(source(frame)):
                spend(1)
                put(frame, item)
                signal = body(frame)
                if signal is not None and signal is not _CONTINUE:
                    return None if signal is _BREAK else signal
            ended: _Signal | None = orelse(frame)
            return ended

        return run

    def do_FunctionDef(self, node: ast.FunctionDef, scope: _Scope) -> Evaluate:
        if node.decorator_list:
            raise _refuse(node, "a decorator")
        if any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(node)):
            raise _refuse(node, "global or nonlocal")
        inner = _Scope(scope)
        inner.declare(node.body)
        make = self.function(node.name, node.args, inner, scope, node)
        body = self.block(node.body, inner)

        def run(frame: Frame) -> None:
            frame.names[node.name] = make(frame, body)

        return run

    def function(
        self, name: str, args: ast.arguments, inner: _Scope, scope: _Scope, node: ast.AST
    ) -> Callable[[Frame, Evaluate], Function]:
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
            raise _refuse(node, "an argument with a star")
        params = [arg.arg for arg in args.args]
        inner.names.update(params)
        defaults = [self.expression(default, scope) for default in args.defaults]
        return lambda frame, body: Function(name, params, [d(frame) for d in defaults], body, frame)

    def target(self, node: ast.expr, scope: _Scope) -> Callable[[Frame, Any], None]:
        """Return a function that assigns a value to a name, an item, or several of them."""
        if isinstance(node, ast.Name):
            name = node.id

            def put(frame: Frame, value: Any) -> None:
                frame.names[name] = value

            return put
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            holder = self.expression(node.value, scope)
            index = self.expression(node.slice, scope)
            meter, store = self.meter, self.library.store_item

            def put_item(frame: Frame, value: Any) -> None:
                meter.used += 1
                store(meter, holder(frame), index(frame), value)

            return put_item
        if isinstance(node, ast.Tuple | ast.List):
            puts = [self.target(one, scope) for one in node.elts]
            spend, items = self.meter.spend, self.machine.items

            def put_each(frame: Frame, value: Any) -> None:
                got = list(items(value))
                spend(len(got))
                for one, part in zip(puts, got, strict=True):
                    one(frame, part)

            return put_each
        raise _refuse(node, "this target of an assignment")

    # Expressions give their value.

    def get_Constant(self, node: ast.Constant, scope: _Scope) -> Evaluate:
        value, meter = node.value, self.meter
        if value is not None and type(value) not in (bool, int, str):
            raise _refuse(node, f"a constant of type {type(value).__name__}")
        self.library.check_size(value)

        def get(frame: Frame) -> Any:
            meter.used += 1
            return value

        return get

    def get_Name(self, node: ast.Name, scope: _Scope) -> Evaluate:
        name, meter, up = node.id, self.meter, 0
        found: _Scope | None = scope
        while found is not None and name not in found.names:
            found, up = found.outer, up + 1
        if found is None:
            if name not in self.machine.builtins:
                raise _refuse(node, f"the name {name}")
            builtin = self.machine.builtins[name]

            def get_builtin(frame: Frame) -> Any:
                meter.used += 1
                return builtin

            return get_builtin

        def get(frame: Frame) -> Any:
            meter.used += 1
            at: Any = frame
            for _ in range(up):
                at = at.outer
            if name not in at.names:
                raise FailedProgram(f"{name} has no value yet")
            return at.names[name]

        return get

    def get_BinOp(self, node: ast.BinOp, scope: _Scope) -> Evaluate:
        left, right = self.expression(node.left, scope), self.expression(node.right, scope)
        operate, meter = self.operator(node.op, node), self.meter

        def get(frame: Frame) -> Any:
            meter.used += 1
            return operate(meter, left(frame), right(frame))

        return get

    def operator(self, op: ast.operator, node: ast.AST, in_place: bool = False) -> Any:
        name = type(op).__name__
        table = self.library.IN_PLACE if in_place else {}
        found = table.get(name) or self.library.OPERATORS.get(name)
        if found is None:
            raise _refuse(node, f"the operator {name}")
        return found

    def get_UnaryOp(self, node: ast.UnaryOp, scope: _Scope) -> Evaluate:
        value, meter = self.expression(node.operand, scope), self.meter
        operate = self.library.UNARY.get(type(node.op).__name__)
        if operate is None:
            raise _refuse(node)

        def get(frame: Frame) -> Any:
            meter.used += 1
            return operate(meter, value(frame))

        return get

    def get_BoolOp(self, node: ast.BoolOp, scope: _Scope) -> Evaluate:
        values = [self.expression(value, scope) for value in node.values]
        stop, meter = isinstance(node.op, ast.Or), self.meter

        def get(frame: Frame) -> Any:
            meter.used += 1
            for value in values:
                got = value(frame)
                if bool(got) is stop:
                    break
            return got

        return get

    def get_Compare(self, node: ast.Compare, scope: _Scope) -> Evaluate:
        values = [self.expression(value, scope) for value in (node.left, *node.comparators)]
        tests = [self.library.COMPARISONS[type(op).__name__] for op in node.ops]
        meter = self.meter

        def get(frame: Frame) -> bool:
            left = values[0](frame)
            for value, test in zip(values[1:], tests, strict=True):
                meter.used += 1
                right = value(frame)
                if not test(meter, left, right):
                    return False
                left = right
            return True

        return get

    def get_IfExp(self, node: ast.IfExp, scope: _Scope) -> Evaluate:
        test, body = self.expression(node.test, scope), self.expression(node.body, scope)
        orelse = self.expression(node.orelse, scope)
        return lambda frame: body(frame) if test(frame) else orelse(frame)

    def get_Subscript(self, node: ast.Subscript, scope: _Scope) -> Evaluate:
        holder, meter = self.expression(node.value, scope), self.meter
        load, cut = self.library.load_item, self.library.load_slice
        if not isinstance(node.slice, ast.Slice):
            index = self.expression(node.slice, scope)

            def get(frame: Frame) -> Any:
                meter.used += 1
                return load(meter, holder(frame), index(frame))

            return get
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        nothing: Evaluate = lambda frame: None  # noqa: E731
        parts = [self.expression(b, scope) if b is not None else nothing for b in bounds]

        def get_slice(frame: Frame) -> Any:
            meter.used += 1
            return cut(meter, holder(frame), *(part(frame) for part in parts))

        return get_slice

    def get_List(self, node: ast.List, scope: _Scope) -> Evaluate:
        return self._each(node.elts, scope, list)

    def get_Tuple(self, node: ast.Tuple, scope: _Scope) -> Evaluate:
        return self._each(node.elts, scope, tuple)

    def get_Set(self, node: ast.Set, scope: _Scope) -> Evaluate:
        return self._each(node.elts, scope, lambda got: self.library.make_set(self.meter, got))

    def _each(self, nodes: list[ast.expr], scope: _Scope, make: Any) -> Evaluate:
        values, meter = [self.expression(value, scope) for value in nodes], self.meter

        def get(frame: Frame) -> Any:
            meter.used += 1
            return make([value(frame) for value in values])

        return get

    def get_Dict(self, node: ast.Dict, scope: _Scope) -> Evaluate:
        if any(key is None for key in node.keys):
            raise _refuse(node, "**")
        keys = [self.expression(key, scope) for key in node.keys if key is not None]
        values, meter = [self.expression(value, scope) for value in node.values], self.meter
        store = self.library.store_item

        def get(frame: Frame) -> Any:
            meter.used += 1
            made: dict[Any, Any] = {}
            for key, value in zip(keys, values, strict=True):
                store(meter, made, key(frame), value(frame))
            return made

        return get

    def get_Lambda(self, node: ast.Lambda, scope: _Scope) -> Evaluate:
        inner = _Scope(scope)
        make = self.function("lambda", node.args, inner, scope, node)
        value, meter = self.expression(node.body, inner), self.meter

        def get(frame: Frame) -> Any:
            meter.used += 1
            return make(frame, lambda inside: _Signal(value(inside)))

        return get

    def get_ListComp(self, node: ast.ListComp, scope: _Scope) -> Evaluate:
        return self._collect(node.generators, node.elt, scope, list)

    def get_SetComp(self, node: ast.SetComp, scope: _Scope) -> Evaluate:
        make = self.library.make_set
        return self._collect(node.generators, node.elt, scope, lambda got: make(self.meter, got))

    def get_GeneratorExp(self, node: ast.GeneratorExp, scope: _Scope) -> Evaluate:
        return self._collect(node.generators, node.elt, scope, lambda got: got)

    def get_DictComp(self, node: ast.DictComp, scope: _Scope) -> Evaluate:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        store, meter = self.library.store_item, self.meter

        def make(pairs: Iterator[Any]) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value in pairs:
                store(meter, made, key, value)
            return made

        return self._collect(node.generators, pair, scope, make)

    def _collect(
        self, generators: list[ast.comprehension], element: ast.expr, scope: _Scope, make: Any
    ) -> Evaluate:
        """The items of a comprehension, one by one; its variables are its own."""
        inner = _Scope(scope)
        for one in generators:
            if one.is_async:
                raise _refuse(element, "async")
            inner.declare([ast.For(one.target, ast.Constant(0), [], [])])
        first = self.expression(generators[0].iter, scope)
        rest = [self.expression(one.iter, inner) for one in generators[1:]]
        puts = [self.target(one.target, inner) for one in generators]
        tests = [[self.expression(test, inner) for test in one.ifs] for one in generators]
        value, meter, items = self.expression(element, inner), self.meter, self.machine.items

        def walk(frame: Frame, level: int, source: Any) -> Iterator[Any]:
            for item in items(source):
                meter.spend(1)
                puts[level](frame, item)
                if not all(test(frame) for test in tests[level]):
                    continue
                if level == len(puts) - 1:
                    yield value(frame)
                else:
                    yield from walk(frame, level + 1, rest[level](frame))

        def get(frame: Frame) -> Any:
            meter.used += 1
            return make(walk(Frame(frame), 0, first(frame)))

        return get

    def get_Call(self, node: ast.Call, scope: _Scope) -> Evaluate:
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            raise _refuse(node, "*")
        args = [self.expression(arg, scope) for arg in node.args]
        if any(one.arg is None for one in node.keywords):
            raise _refuse(node, "**")
        named = {str(one.arg): self.expression(one.value, scope) for one in node.keywords}
        machine, meter = self.machine, self.meter
        if isinstance(node.func, ast.Attribute):
            holder, name = self.expression(node.func.value, scope), node.func.attr
            methods = self.library.METHODS
            if not any(name in table for table in methods.values()):
                raise _refuse(node, f"the method {name}")

            def get_method(frame: Frame) -> Any:
                meter.spend(1)
                thing = holder(frame)
                method = methods.get(type(thing), {}).get(name)
                if method is None:
                    raise TypeError(f"{type(thing).__name__} has no method {name}")
                given = [arg(frame) for arg in args]
                return method(machine, thing, *given, **{k: v(frame) for k, v in named.items()})

            return get_method
        function, call = self.expression(node.func, scope), machine.call

        def get(frame: Frame) -> Any:
            found = function(frame)
            given = [arg(frame) for arg in args]
            return call(found, given, {k: v(frame) for k, v in named.items()})

        return get
