"""Write branches and loops in `construct`: `if` and `while` statements and their variables."""

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from msnb.exchange.source.expressions import NAMES, Expression, Line, Placeholder, shortest
from msnb.ir.anf import ValueNode

from .blocks import Blocks, Body, Op, Value


class FlowWriter:
    """The part of `Method` that writes branches and loops."""

    blocks: Blocks
    construct: list[Line]
    value: Any
    _write_steps: Any
    _make_call_expression: Any
    _add_line: Any
    _collect_inputs: Any

    def _write_assignment(self, pairs: Iterable[tuple[str, Expression]], depth: int) -> None:
        """Write one tuple assignment. It reads all values before it changes a name."""
        pairs = [(name, words) for name, words in pairs if words != [name]]
        if pairs:
            left = ", ".join(name for name, _ in pairs)
            right = [word for i, (_, words) in enumerate(pairs) for word in ([", "] if i else []) + words]
            self._add_line(depth, [f"{left} = ", *right])

    def _make_condition_expression(self, value: Value, names: dict[Value, str]) -> Expression:
        """Return a condition as an expression. If the previous line only computes the condition, it is inlined."""
        words = self.value(value, names)
        last = self.construct[-1] if self.construct else None
        if len(words) == 1 and last is not None and last.words[:1] == [f"{words[0]} = "]:
            if len(self.blocks.users(self.blocks.real(value))) == 1:
                self.construct.pop()
                return last.words[1:]
        return words

    def _write_switch(self, step: Op, names, live, preferred, depth) -> None:
        node = step.node
        test = self._make_condition_expression(self.blocks.uses(node)[0], names)
        results = [(node, slot) for slot in range(len(node.types))]
        used = {names[value] for value in live if value in names}
        inner = set().union(
            *(self._collect_inputs(s) for body in step.bodies for s in body.steps), *(b.outputs for b in step.bodies)
        )
        busy = used | {names[value] for value in inner if value in names}
        targets = []
        for slot, value in enumerate(results):
            if value not in live:
                targets.append("")
                continue
            branch_names = [names[b.outputs[slot]] for b in step.bodies if b.outputs[slot] in names]
            preferred_names = [preferred[value]] if value in preferred else []
            pool = (*NAMES, *(f"x{n}" for n in range(1, 1000)))
            options = [n for n in (*branch_names, *preferred_names) if n not in used] + [
                n for n in pool if n not in busy
            ]
            targets.append(next(n for n in options if n not in targets))
        order = [1, 0] if len(step.bodies) == 2 else list(range(len(step.bodies)))
        for position, number in enumerate(order):
            body = step.bodies[number]
            if len(step.bodies) == 2:
                head: Expression = ["if ", *test, ":"] if position == 0 else ["else:"]
            else:
                is_last = position == len(order) - 1
                head = ["else:"] if is_last else ["if " if position == 0 else "elif ", *test, f" == {number}:"]
            start = len(self.construct)
            self._add_line(depth, head)
            first = len(self.construct)
            inner_names = dict(names)
            body_targets = {v: t for v, t in zip(body.outputs, targets, strict=True) if t}
            self._write_steps(body.steps, body.outputs, inner_names, live - set(results), body_targets, depth + 1)
            self._write_assignment(
                [(t, self.value(v, inner_names)) for v, t in zip(body.outputs, targets, strict=True) if t], depth + 1
            )
            if len(self.construct) == first:
                if head == ["else:"]:
                    del self.construct[start:]
                else:
                    self._add_line(depth + 1, ["pass"])
        for value, name in zip(results, targets, strict=True):
            if name:
                for other in [v for v, n in names.items() if n == name]:
                    del names[other]
                names[value] = name

    def _get_initial_values(self, step):
        body = step.bodies[1].graph
        uses = list(step.node.uses)
        return [self.blocks.real(uses[feed]) for feed in body.feeds[body.free :]]

    def _make_initial_expression(self, value: Value, names: dict[Value, str]) -> Expression:
        """Return the initial value of a loop variable. A scalar of a literal's type is written as a literal."""
        node = self.blocks.real(value)[0]
        if isinstance(node, ValueNode) and isinstance(node.value, (np.ndarray, np.generic, jax.Array)):
            if not np.ndim(node.value) and node.types[0].dtype in ("Int64", "Float32", "Bool"):
                return [Placeholder("start", shortest(np.asarray(node.value)))]
        return self.value(value, names)

    def _write_while(self, step: Op, names, live, preferred, depth) -> None:
        node, (test, body) = step.node, step.bodies
        state = [(p, 0) for p in body.graph.parameters[body.graph.free :]]
        starts, results = self._get_initial_values(step), [(node, slot) for slot in range(len(node.types))]
        inner = set(test.outputs) | set(body.outputs)
        for each in (*test.steps, *body.steps):
            inner |= self._collect_inputs(each)
        free = {value for value in (live | inner) - set(results) - set(state) if value in names}
        used = {names[value] for value in free if value in names}
        variables: list[str] = []
        for start, state_value, result in zip(starts, state, results, strict=True):
            options = [preferred[result]] if result in preferred else []
            options += [names[start]] if start in names else []
            options += (
                [state_value[0].name] if state_value[0].name.isidentifier() and "_" not in state_value[0].name else []
            )
            pool = (*NAMES, *(f"x{n}" for n in range(1, 1000)))
            variables.append(next(n for n in (*options, *pool) if n not in used and n not in variables))
        self._write_assignment(
            [(n, self._make_initial_expression(v, names)) for n, v in zip(variables, starts, strict=True)], depth
        )
        inner_names = {value: name for value, name in names.items() if name not in variables}
        inner_names.update(zip(state, variables, strict=True))
        live_out = free
        words = self._inline_condition(test, dict(inner_names), depth)
        is_flag = words is None
        if is_flag:
            test_names = dict(inner_names)
            flag = next(n for n in ("go", "go_on", "go_further") if n not in {*test_names.values(), *variables})
            self._write_steps(
                test.steps, test.outputs, test_names, live_out | set(state), {test.outputs[0]: flag}, depth
            )
            self._write_assignment([(flag, self.value(test.outputs[0], test_names))], depth)
            words = [flag]
        self._add_line(depth, ["while ", *words, ":"])
        body_targets = dict(zip(body.outputs, variables, strict=True))
        body_names = dict(inner_names)
        self._write_steps(body.steps, body.outputs, body_names, live_out, body_targets, depth + 1)
        self._write_assignment(
            [(n, self.value(v, body_names)) for n, v in zip(variables, body.outputs, strict=True)], depth + 1
        )
        if is_flag:
            test_names = dict(inner_names)
            self._write_steps(
                test.steps, test.outputs, test_names, live_out | set(state), {test.outputs[0]: words[0]}, depth + 1
            )
            self._write_assignment([(words[0], self.value(test.outputs[0], test_names))], depth + 1)
        for name in variables:
            for other in [v for v, n in names.items() if n == name]:
                del names[other]
        names.update(zip(results, variables, strict=True))

    def _inline_condition(self, test: Body, names: dict[Value, str], depth: int) -> Expression | None:
        """Return the condition of a loop as one expression, or None if it takes several statements."""
        if not test.steps:
            return self.value(test.outputs[0], names)
        if len(test.steps) > 1 or not isinstance(test.steps[0], Op) or test.steps[0].bodies:
            return None
        words, results = self._make_call_expression(test.steps[0], names)
        return words if results == test.outputs else None
