"""Expressions turned into closures: one method for each kind of node that is available."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.operators import check_size
from verigym.verifiers.code.counted.scope import Scope, refuse
from verigym.verifiers.code.counted.state import (
    Builtin,
    CallFrame,
    Evaluate,
    FailedProgram,
    Function,
    Signal,
)


class Expressions:
    """Expressions, and what takes values: targets of assignments, and parameters of functions."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.meter = machine.meter
        self.library = machine.library
        self.spend_round = machine.meter.spend
        """Called with 1 for each round of a loop or comprehension."""

    def expression(self, node: ast.expr, scope: Scope) -> Evaluate:
        method = getattr(self, f"get_{type(node).__name__}", None)
        if method is None:
            raise refuse(node)
        made: Evaluate = method(node, scope)
        return made

    def target(self, node: ast.expr, scope: Scope) -> Callable[[CallFrame, Any], None]:
        """Return a function that assigns a value to a name, an item, or several of them."""
        if isinstance(node, ast.Name):
            name = node.id

            def put(frame: CallFrame, value: Any) -> None:
                frame.names[name] = value

            return put
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            holder = self.expression(node.value, scope)
            index = self.expression(node.slice, scope)
            meter, store = self.meter, self.library.store_item

            def put_item(frame: CallFrame, value: Any) -> None:
                meter.used += 1
                store(meter, holder(frame), index(frame), value)

            return put_item
        if isinstance(node, ast.Tuple | ast.List):
            puts = [self.target(one, scope) for one in node.elts]
            spend, items = self.meter.spend, self.machine.items

            def put_each(frame: CallFrame, value: Any) -> None:
                got = list(items(value))
                spend(len(got))
                for one, part in zip(puts, got, strict=True):
                    one(frame, part)

            return put_each
        raise refuse(node, "this target of an assignment")

    def function(
        self, name: str, args: ast.arguments, inner: Scope, scope: Scope, node: ast.AST
    ) -> Callable[[CallFrame, Evaluate], Function]:
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
            raise refuse(node, "an argument with a star")
        params = [arg.arg for arg in args.args]
        inner.names.update(params)
        defaults = [self.expression(default, scope) for default in args.defaults]
        return lambda frame, body: Function(name, params, [d(frame) for d in defaults], body, frame)

    def get_Constant(self, node: ast.Constant, scope: Scope) -> Evaluate:
        value, meter = node.value, self.meter
        if value is not None and type(value) not in (bool, int, str):
            raise refuse(node, f"a constant of type {type(value).__name__}")
        check_size(value)

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            return value

        return get

    def get_Name(self, node: ast.Name, scope: Scope) -> Evaluate:
        name, meter, up = node.id, self.meter, 0
        found: Scope | None = scope
        while found is not None and name not in found.names:
            found, up = found.outer, up + 1
        if found is None:
            if name not in self.machine.builtins:
                raise refuse(node, f"the name {name}")
            builtin = self.machine.builtins[name]

            def get_builtin(frame: CallFrame) -> Any:
                meter.used += 1
                return builtin

            return get_builtin

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            at: Any = frame
            for _ in range(up):
                at = at.outer
            if name not in at.names:
                raise FailedProgram(f"{name} has no value yet")
            return at.names[name]

        return get

    def get_BinOp(self, node: ast.BinOp, scope: Scope) -> Evaluate:
        left, right = self.expression(node.left, scope), self.expression(node.right, scope)
        operate, meter = self.operator(node.op, node), self.meter

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            return operate(meter, left(frame), right(frame))

        return get

    def operator(self, op: ast.operator, node: ast.AST, in_place: bool = False) -> Any:
        name = type(op).__name__
        table = self.library.in_place if in_place else {}
        found = table.get(name) or self.library.operators.get(name)
        if found is None:
            raise refuse(node, f"the operator {name}")
        return found

    def get_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Evaluate:
        value, meter = self.expression(node.operand, scope), self.meter
        operate = self.library.unary.get(type(node.op).__name__)
        if operate is None:
            raise refuse(node)

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            return operate(meter, value(frame))

        return get

    def get_BoolOp(self, node: ast.BoolOp, scope: Scope) -> Evaluate:
        values = [self.expression(value, scope) for value in node.values]
        stop, meter = isinstance(node.op, ast.Or), self.meter

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            for value in values:
                got = value(frame)
                if bool(got) is stop:
                    break
            return got

        return get

    def get_Compare(self, node: ast.Compare, scope: Scope) -> Evaluate:
        values = [self.expression(value, scope) for value in (node.left, *node.comparators)]
        tests = [self.library.comparisons[type(op).__name__] for op in node.ops]
        meter = self.meter

        def get(frame: CallFrame) -> bool:
            left = values[0](frame)
            for value, test in zip(values[1:], tests, strict=True):
                meter.used += 1
                right = value(frame)
                if not test(meter, left, right):
                    return False
                left = right
            return True

        return get

    def get_IfExp(self, node: ast.IfExp, scope: Scope) -> Evaluate:
        test, body = self.expression(node.test, scope), self.expression(node.body, scope)
        orelse = self.expression(node.orelse, scope)
        return lambda frame: body(frame) if test(frame) else orelse(frame)

    def get_Subscript(self, node: ast.Subscript, scope: Scope) -> Evaluate:
        holder, meter = self.expression(node.value, scope), self.meter
        load, cut = self.library.load_item, self.library.load_slice
        if not isinstance(node.slice, ast.Slice):
            index = self.expression(node.slice, scope)

            def get(frame: CallFrame) -> Any:
                meter.used += 1
                return load(meter, holder(frame), index(frame))

            return get
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        nothing: Evaluate = lambda frame: None  # noqa: E731
        parts = [self.expression(b, scope) if b is not None else nothing for b in bounds]

        def get_slice(frame: CallFrame) -> Any:
            meter.used += 1
            return cut(meter, holder(frame), *(part(frame) for part in parts))

        return get_slice

    def get_List(self, node: ast.List, scope: Scope) -> Evaluate:
        return self._each(node.elts, scope, list)

    def get_Tuple(self, node: ast.Tuple, scope: Scope) -> Evaluate:
        return self._each(node.elts, scope, tuple)

    def get_Set(self, node: ast.Set, scope: Scope) -> Evaluate:
        return self._each(node.elts, scope, lambda got: self.library.make_set(self.meter, got))

    def _each(self, nodes: list[ast.expr], scope: Scope, make: Any) -> Evaluate:
        values, meter = self.values(nodes, scope), self.meter

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            return make(values(frame))

        return get

    def values(self, nodes: list[ast.expr], scope: Scope) -> Evaluate:
        """Return a function that gives the values of expressions as a list."""
        values = [self.expression(node, scope) for node in nodes]
        return lambda frame: [value(frame) for value in values]

    def get_Dict(self, node: ast.Dict, scope: Scope) -> Evaluate:
        if any(key is None for key in node.keys):
            raise refuse(node, "**")
        keys = [self.expression(key, scope) for key in node.keys if key is not None]
        values, meter = [self.expression(value, scope) for value in node.values], self.meter
        store = self.library.store_item

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            made: dict[Any, Any] = {}
            for key, value in zip(keys, values, strict=True):
                store(meter, made, key(frame), value(frame))
            return made

        return get

    def get_Lambda(self, node: ast.Lambda, scope: Scope) -> Evaluate:
        inner = Scope(scope)
        make = self.function("lambda", node.args, inner, scope, node)
        value, meter = self.expression(node.body, inner), self.meter

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            return make(frame, lambda inside: Signal(value(inside)))

        return get

    def get_ListComp(self, node: ast.ListComp, scope: Scope) -> Evaluate:
        return self._collect(node.generators, node.elt, scope, list)

    def get_SetComp(self, node: ast.SetComp, scope: Scope) -> Evaluate:
        make = self.library.make_set
        return self._collect(node.generators, node.elt, scope, lambda got: make(self.meter, got))

    def get_GeneratorExp(self, node: ast.GeneratorExp, scope: Scope) -> Evaluate:
        return self._collect(node.generators, node.elt, scope, lambda got: got)

    def get_DictComp(self, node: ast.DictComp, scope: Scope) -> Evaluate:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        store, meter = self.library.store_item, self.meter

        def make(pairs: Iterator[Any]) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value in pairs:
                store(meter, made, key, value)
            return made

        return self._collect(node.generators, pair, scope, make)

    def _collect(
        self, generators: list[ast.comprehension], element: ast.expr, scope: Scope, make: Any
    ) -> Evaluate:
        """The items of a comprehension, one by one; its variables are its own."""
        inner = Scope(scope)
        for one in generators:
            if one.is_async:
                raise refuse(element, "async")
            inner.bind(one.target)
        first = self.expression(generators[0].iter, scope)
        rest = [self.expression(one.iter, inner) for one in generators[1:]]
        puts = [self.target(one.target, inner) for one in generators]
        tests = [[self.expression(test, inner) for test in one.ifs] for one in generators]
        value, meter, items = self.expression(element, inner), self.meter, self.machine.items
        spend = self.spend_round

        def walk(frame: CallFrame, level: int, source: Any) -> Iterator[Any]:
            for item in items(source):
                spend(1)
                puts[level](frame, item)
                if not all(test(frame) for test in tests[level]):
                    continue
                if level == len(puts) - 1:
                    yield value(frame)
                else:
                    yield from walk(frame, level + 1, rest[level](frame))

        def get(frame: CallFrame) -> Any:
            meter.used += 1
            return make(walk(CallFrame(frame), 0, first(frame)))

        return get

    def get_Call(self, node: ast.Call, scope: Scope) -> Evaluate:
        args = self.arguments(node, scope)
        if any(one.arg is None for one in node.keywords):
            raise refuse(node, "**")
        named = {str(one.arg): self.expression(one.value, scope) for one in node.keywords}
        if isinstance(node.func, ast.Attribute):
            return self.method_call(node.func, args, named, scope)
        function, call = self.expression(node.func, scope), self.machine.call

        def get(frame: CallFrame) -> Any:
            found = function(frame)
            given = args(frame)
            return call(found, given, {k: v(frame) for k, v in named.items()})

        return get

    def arguments(self, node: ast.Call, scope: Scope) -> Evaluate:
        """Return a function that gives a call's arguments without a name as a list."""
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            raise refuse(node, "*")
        return self.values(node.args, scope)

    def method_call(
        self, node: ast.Attribute, args: Evaluate, named: Mapping[str, Evaluate], scope: Scope
    ) -> Evaluate:
        """Return a function that calls a method of a value."""
        find, machine = self.method(node, scope), self.machine

        def get_method(frame: CallFrame) -> Any:
            machine.meter.spend(1)
            method, thing = find(frame)
            given = args(frame)
            return method(machine, thing, *given, **{k: v(frame) for k, v in named.items()})

        return get_method

    def get_Attribute(self, node: ast.Attribute, scope: Scope) -> Evaluate:
        """Return a function that gives a method of a value, to be called later, as in `push = stack.append`."""
        find, meter = self.method(node, scope), self.meter

        def get(frame: CallFrame) -> Any:
            meter.spend(1)
            method, thing = find(frame)
            return Builtin(
                node.attr, lambda machine, *args, **named: method(machine, thing, *args, **named)
            )

        return get

    def method(
        self, node: ast.Attribute, scope: Scope
    ) -> Callable[[CallFrame], tuple[Callable[..., Any], Any]]:
        """Return a function that gives the method that a dot names, and the value that it belongs to."""
        holder, name = self.expression(node.value, scope), node.attr
        methods = self.library.methods
        if not any(name in table for table in methods.values()):
            raise refuse(node, f"the method {name}")

        def find(frame: CallFrame) -> tuple[Callable[..., Any], Any]:
            thing = holder(frame)
            method = methods.get(type(thing), {}).get(name)
            if method is None:
                raise TypeError(f"{type(thing).__name__} has no method {name}")
            return method, thing

        return find
