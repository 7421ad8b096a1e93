"""Statements turned into closures: one method for each kind of node that is available."""

from __future__ import annotations

import ast

from verigym.verifiers.code.counted.expressions import Expressions
from verigym.verifiers.code.counted.scope import Scope, refuse
from verigym.verifiers.code.counted.state import BREAK, CONTINUE, CallFrame, Evaluate, Signal


class Compiler(Expressions):
    """Statements; each gives None, or the signal that ends the block."""

    def block(self, body: list[ast.stmt], scope: Scope) -> Evaluate:
        steps = [self.statement(node, scope) for node in body]

        def run(frame: CallFrame) -> Signal | None:
            for step in steps:
                signal: Signal | None = step(frame)
                if signal is not None:
                    return signal
            return None

        return run

    def statement(self, node: ast.stmt, scope: Scope) -> Evaluate:
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise refuse(node)
        made: Evaluate = method(node, scope)
        return made

    def do_Pass(self, node: ast.Pass, scope: Scope) -> Evaluate:
        return lambda frame: None

    def do_Break(self, node: ast.Break, scope: Scope) -> Evaluate:
        return lambda frame: BREAK

    def do_Continue(self, node: ast.Continue, scope: Scope) -> Evaluate:
        return lambda frame: CONTINUE

    def do_Return(self, node: ast.Return, scope: Scope) -> Evaluate:
        if scope.outer is None:
            raise refuse(node, "return outside a function")
        if node.value is None:
            return lambda frame: Signal()
        value = self.expression(node.value, scope)
        return lambda frame: Signal(value(frame))

    def do_Expr(self, node: ast.Expr, scope: Scope) -> Evaluate:
        value = self.expression(node.value, scope)

        def run(frame: CallFrame) -> None:
            value(frame)

        return run

    def do_Assign(self, node: ast.Assign, scope: Scope) -> Evaluate:
        value = self.expression(node.value, scope)
        puts = [self.target(target, scope) for target in node.targets]

        def run(frame: CallFrame) -> None:
            got = value(frame)
            for put in puts:
                put(frame, got)

        return run

    def do_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> Evaluate:
        if node.value is None:
            return lambda frame: None
        return self.do_Assign(ast.Assign([node.target], node.value), scope)

    def do_AugAssign(self, node: ast.AugAssign, scope: Scope) -> Evaluate:
        value = self.expression(node.value, scope)
        operate = self.operator(node.op, node, in_place=True)
        meter = self.meter
        if isinstance(node.target, ast.Subscript):
            if isinstance(node.target.slice, ast.Slice):
                raise refuse(node, "assigning to a slice")
            holder = self.expression(node.target.value, scope)
            index = self.expression(node.target.slice, scope)
            load, store = self.library.load_item, self.library.store_item

            def run_item(frame: CallFrame) -> None:
                meter.used += 1
                thing, at = holder(frame), index(frame)
                store(meter, thing, at, operate(meter, load(meter, thing, at), value(frame)))

            return run_item
        if not isinstance(node.target, ast.Name):
            raise refuse(node)
        get = self.get_Name(ast.Name(node.target.id, ast.Load()), scope)
        put = self.target(node.target, scope)

        def run(frame: CallFrame) -> None:
            meter.used += 1
            put(frame, operate(meter, get(frame), value(frame)))

        return run

    def do_If(self, node: ast.If, scope: Scope) -> Evaluate:
        test = self.expression(node.test, scope)
        body, orelse = self.block(node.body, scope), self.block(node.orelse, scope)
        return lambda frame: body(frame) if test(frame) else orelse(frame)

    def do_While(self, node: ast.While, scope: Scope) -> Evaluate:
        test, body = self.expression(node.test, scope), self.block(node.body, scope)
        orelse, spend = self.block(node.orelse, scope), self.spend_round

        def run(frame: CallFrame) -> Signal | None:
            while test(frame):
                spend(1)
                signal = body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
            ended: Signal | None = orelse(frame)
            return ended

        return run

    def do_For(self, node: ast.For, scope: Scope) -> Evaluate:
        source, put = self.expression(node.iter, scope), self.target(node.target, scope)
        body, orelse = self.block(node.body, scope), self.block(node.orelse, scope)
        spend, items = self.spend_round, self.machine.items

        def run(frame: CallFrame) -> Signal | None:
            for item in items(source(frame)):
                spend(1)
                put(frame, item)
                signal = body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
            ended: Signal | None = orelse(frame)
            return ended

        return run

    def do_FunctionDef(self, node: ast.FunctionDef, scope: Scope) -> Evaluate:
        if node.decorator_list:
            raise refuse(node, "a decorator")
        if any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(node)):
            raise refuse(node, "global or nonlocal")
        inner = Scope(scope)
        inner.declare(node.body)
        make = self.function(node.name, node.args, inner, scope, node)
        body = self.block(node.body, inner)

        def run(frame: CallFrame) -> None:
            frame.names[node.name] = make(frame, body)

        return run
