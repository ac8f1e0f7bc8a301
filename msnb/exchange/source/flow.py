"""Branches and loops in `construct`: `if` and `while`, and what their variables are called."""

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from msnb.ir.anf import ValueNode

from .blocks import Blocks, Body, Op, Value
from .words import NAMES, Expression, Hole, Line, shortest


class FlowWriter:
    """What of a `Method` writes branches and loops."""

    blocks: Blocks
    construct: list[Line]
    value: Any
    _block: Any
    _called: Any
    _line: Any
    _takes: Any

    def _assign(self, pairs: Iterable[tuple[str, Expression]], depth: int) -> None:
        """Assign at once, so that nothing is overwritten too early."""
        pairs = [(name, words) for name, words in pairs if words != [name]]
        if pairs:
            left = ", ".join(name for name, _ in pairs)
            right = [word for i, (_, words) in enumerate(pairs) for word in ([", "] if i else []) + words]
            self._line(depth, [f"{left} = ", *right])

    def _condition(self, value: Value, names: dict[Value, str]) -> Expression:
        """A value that decides, without a name of its own where the line before has just made it."""
        words = self.value(value, names)
        last = self.construct[-1] if self.construct else None
        if len(words) == 1 and last is not None and last.words[:1] == [f"{words[0]} = "]:
            if len(self.blocks.users(self.blocks.real(value))) == 1:
                self.construct.pop()
                return last.words[1:]
        return words

    def _switch(self, step: Op, names, later, wanted, depth) -> None:
        node = step.node
        test = self._condition(self.blocks.uses(node)[0], names)
        results = [(node, slot) for slot in range(len(node.types))]
        used = {names[value] for value in later if value in names}
        inner = set().union(
            *(self._takes(s) for body in step.bodies for s in body.steps), *(b.outputs for b in step.bodies)
        )
        busy = used | {names[value] for value in inner if value in names}
        targets = []
        for slot, value in enumerate(results):
            if value not in later:
                targets.append("")
                continue
            handed = [names[b.outputs[slot]] for b in step.bodies if b.outputs[slot] in names]
            fresh = [wanted[value]] if value in wanted else []
            pool = (*NAMES, *(f"x{n}" for n in range(1, 1000)))
            options = [n for n in (*handed, *fresh) if n not in used] + [n for n in pool if n not in busy]
            targets.append(next(n for n in options if n not in targets))
        order = [1, 0] if len(step.bodies) == 2 else list(range(len(step.bodies)))
        for place, number in enumerate(order):
            body = step.bodies[number]
            if len(step.bodies) == 2:
                head: Expression = ["if ", *test, ":"] if place == 0 else ["else:"]
            else:
                last = place == len(order) - 1
                head = ["else:"] if last else ["if " if place == 0 else "elif ", *test, f" == {number}:"]
            start = len(self.construct)
            self._line(depth, head)
            first = len(self.construct)
            inside = dict(names)
            wants = {v: t for v, t in zip(body.outputs, targets, strict=True) if t}
            self._block(body.steps, body.outputs, inside, later - set(results), wants, depth + 1)
            self._assign(
                [(t, self.value(v, inside)) for v, t in zip(body.outputs, targets, strict=True) if t], depth + 1
            )
            if len(self.construct) == first:
                if head == ["else:"]:
                    del self.construct[start:]
                else:
                    self._line(depth + 1, ["pass"])
        for value, name in zip(results, targets, strict=True):
            if name:
                for other in [v for v, n in names.items() if n == name]:
                    del names[other]
                names[value] = name

    def _starts(self, step):
        body = step.bodies[1].graph
        uses = list(step.node.uses)
        return [self.blocks.real(uses[feed]) for feed in body.feeds[body.free :]]

    def _start(self, value: Value, names: dict[Value, str]) -> Expression:
        """What a variable of a loop is at first; a number whose type is that of a literal is written as one."""
        node = self.blocks.real(value)[0]
        if isinstance(node, ValueNode) and isinstance(node.value, (np.ndarray, np.generic, jax.Array)):
            if not np.ndim(node.value) and node.types[0].dtype in ("Int64", "Float32", "Bool"):
                return [Hole("start", shortest(np.asarray(node.value)))]
        return self.value(value, names)

    def _while(self, step: Op, names, later, wanted, depth) -> None:
        node, (test, body) = step.node, step.bodies
        state = [(p, 0) for p in body.graph.parameters[body.graph.free :]]
        starts, results = self._starts(step), [(node, slot) for slot in range(len(node.types))]
        inner = set(test.outputs) | set(body.outputs)
        for each in (*test.steps, *body.steps):
            inner |= self._takes(each)
        free = {value for value in (later | inner) - set(results) - set(state) if value in names}
        used = {names[value] for value in free if value in names}
        variables: list[str] = []
        for start, own, result in zip(starts, state, results, strict=True):
            options = [wanted[result]] if result in wanted else []
            options += [names[start]] if start in names else []
            options += [own[0].name] if own[0].name.isidentifier() and "_" not in own[0].name else []
            pool = (*NAMES, *(f"x{n}" for n in range(1, 1000)))
            variables.append(next(n for n in (*options, *pool) if n not in used and n not in variables))
        self._assign([(n, self._start(v, names)) for n, v in zip(variables, starts, strict=True)], depth)
        inside = {value: name for value, name in names.items() if name not in variables}
        inside.update(zip(state, variables, strict=True))
        keep = free
        words = self._tested(test, dict(inside), depth)
        again = words is None
        if again:
            around = dict(inside)
            go = next(n for n in ("go", "go_on", "go_further") if n not in {*around.values(), *variables})
            self._block(test.steps, test.outputs, around, keep | set(state), {test.outputs[0]: go}, depth)
            self._assign([(go, self.value(test.outputs[0], around))], depth)
            words = [go]
        self._line(depth, ["while ", *words, ":"])
        wants = dict(zip(body.outputs, variables, strict=True))
        mine = dict(inside)
        self._block(body.steps, body.outputs, mine, keep, wants, depth + 1)
        self._assign([(n, self.value(v, mine)) for n, v in zip(variables, body.outputs, strict=True)], depth + 1)
        if again:
            around = dict(inside)
            self._block(test.steps, test.outputs, around, keep | set(state), {test.outputs[0]: words[0]}, depth + 1)
            self._assign([(words[0], self.value(test.outputs[0], around))], depth + 1)
        for name in variables:
            for other in [v for v, n in names.items() if n == name]:
                del names[other]
        names.update(zip(results, variables, strict=True))

    def _tested(self, test: Body, names: dict[Value, str], depth: int) -> Expression | None:
        """What a loop asks as one expression, None where it is more than that."""
        if not test.steps:
            return self.value(test.outputs[0], names)
        if len(test.steps) > 1 or not isinstance(test.steps[0], Op) or test.steps[0].bodies:
            return None
        words, results = self._called(test.steps[0], names)
        return words if results == test.outputs else None
