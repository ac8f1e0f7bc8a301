"""Write `construct` of a Cell: its statements and the variable names of its values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.exchange.source.call_syntax import call_expression
from msnb.exchange.source.control_flow import FlowWriter
from msnb.exchange.source.expressions import NAMES, Expression, Group, IndexedUpdate, Line, NoPythonForm
from msnb.exchange.source.init_writer import InitWriter, identifier
from msnb.ir.anf import ParameterNode, ValueNode

from .blocks import Block, Blocks, Call, Op, Value
from .layers import LayerCall


class Method(InitWriter, FlowWriter):
    """Writes the methods of one Cell.

    Args:
        blocks (Blocks): The graph.
        block (Block): The Cell.
        constants (Callable): Function that returns a Parameter for an array that is too large for the text.

    Attributes:
        construct (list[Line]): The lines of `construct`.
        arguments (list[str]): Names of the inputs.

    `InitWriter` documents the attributes of `__init__`.
    """

    def __init__(self, blocks: Blocks, block: Block, constants: Callable[[np.ndarray], ParameterNode]) -> None:
        self.blocks = blocks
        self.construct: list[Line] = []
        super().__init__(block, constants)
        self.arguments = self._argument_names()
        names = dict(zip(block.inputs, self.arguments, strict=True))
        self._write_steps(block.steps, block.outputs, names, set(), {}, 0)
        self._write_return(names)

    # ------------------------------------------------------------------ values
    def _argument_names(self) -> list[str]:
        names: list[str] = []
        for number, (node, _) in enumerate(self.block.inputs):
            name = NAMES[number] if number < len(NAMES) else f"x{number}"
            if not self.block.path and isinstance(node, ParameterNode):
                name = identifier(node.name.lstrip("_"))
            while name in names or name in _RESERVED:
                name += "_"
            names.append(name)
        return names

    def value(self, value: Value, names: dict[Value, str], operands: Sequence[Value] = ()) -> Expression:
        """Return a value as an expression. `operands` are the other inputs of the same operator."""
        value = self.blocks.real(value)
        node = value[0]
        if isinstance(node, ValueNode):
            return self._make_constant_expression(node, [self.blocks.real(other) for other in operands])
        if value in self._expressions:
            return self._expressions[value]
        if value not in names:
            raise NoPythonForm(f"a value of {node!r} is not known here")
        return [names[value]]

    # ------------------------------------------------------------------ construct
    def _write_steps(
        self,
        steps: Sequence[Any],
        outputs: Sequence[Value],
        names: dict[Value, str],
        live_out: set[Value],
        preferred: dict[Value, str],
        depth: int,
    ) -> None:
        """Write steps and record the variable names of their results in `names`.

        Values in `live_out` are used after the steps. `preferred` maps a result to the name that it gets if this name
        is free.
        """
        outputs = [self.blocks.real(value) for value in outputs]
        for number, step in enumerate(steps):
            live = set(outputs) | live_out
            for rest in steps[number + 1 :]:
                live |= self._collect_inputs(rest)
            if isinstance(step, Op) and step.bodies:
                write = {"Switch": self._write_switch, "While": self._write_while}.get(step.node.op)
                if write is None:
                    self.blocks.missing.setdefault((step.node.op, "it is a loop of JAX's own"), step.node)
                    for slot in range(len(step.node.types)):
                        names[step.node, slot] = "x"
                    continue
                write(step, names, live, preferred, depth)
                continue
            words, results = self._make_call_expression(step, names)
            update = words[0] if isinstance(words[0], IndexedUpdate) else None
            targets = self._name_used_results(results, step, names, live, preferred, update is not None)
            if update is not None:
                self._add_line(depth, [f"{targets[0]} = ", *update.tensor, ".copy()"])
                self._add_line(depth, [targets[0], *update.index, " = ", *update.value])
                continue
            if any(targets):
                while targets and not targets[-1]:
                    targets.pop()
                has_several = len(results) > 1
                if has_several and len(targets) == 1:
                    words, text = [*words, "[0]"], targets[0]
                else:
                    text = ", ".join(name or "_" for name in targets)
                    if has_several and len(targets) < len(results):
                        text += ", *_"
                self._add_line(depth, [f"{text} = ", *words])

    def _add_line(self, depth: int, words: Expression) -> None:
        self.construct.append(Line(depth, words))

    def _make_call_expression(self, step: Any, names: dict[Value, str]) -> tuple[Expression, list[Value]]:
        """Return a step as an expression, and its results."""
        if isinstance(step, LayerCall):
            return [*self._expressions[step], Group("(", [self.value(step.layer.input, names)], ")")], [
                step.layer.output
            ]
        if isinstance(step, Call):
            inputs = [self.value(value, names) for value in step.inputs]
            return [*self._expressions[step.block], Group("(", inputs, ")")], step.outputs
        node, uses = step.node, self.blocks.uses(step.node)
        try:
            words = call_expression(node, [self.value(v, names, uses) for v in uses])
        except NoPythonForm as error:
            self.blocks.missing.setdefault((node.op, str(error)), node)
            words = ["None"]
        return words, [(node, slot) for slot in range(len(node.types))]

    def _collect_inputs(self, step: Any) -> set[Value]:
        """Return all values that a step uses, including those used in subgraphs."""
        if isinstance(step, LayerCall):
            return {step.layer.input}
        if isinstance(step, Call):
            return set(step.inputs)
        if not step.bodies:
            return set(self.blocks.uses(step.node))
        inputs = (
            set(self.blocks.uses(step.node)[:1]) if step.node.op == "Switch" else set(self._get_initial_values(step))
        )
        for body in step.bodies:
            inputs.update(body.outputs)
            for inner in body.steps:
                inputs |= self._collect_inputs(inner)
        return inputs

    def _name_used_results(self, results, step, names, live, preferred, takes_statements=False) -> list[str]:
        """Name the results that are used. The name of an unused result is "". If `takes_statements`, the step is
        written as several statements. Its result may then reuse only the name of the first input, because later
        statements read the other inputs.
        """
        used = {names[value] for value in live if value in names}
        input_names = [names[v] for v in self._list_inputs_in_order(step) if v in names]
        if takes_statements:
            used |= set(input_names[1:])
        targets = []
        for value in results:
            if not self.blocks.users(value) or value not in live:
                targets.append("")
                continue
            preferred_names = [preferred[value]] if value in preferred else []
            pool = (*NAMES, *(f"x{n}" for n in range(1, 1000)))
            name = next(n for n in (*preferred_names, *input_names, *pool) if n not in used and n not in targets)
            targets.append(name)
        for value, name in zip(results, targets, strict=True):
            if name:
                for other in [v for v, n in names.items() if n == name]:
                    del names[other]
                names[value] = name
        return targets

    def _list_inputs_in_order(self, step):
        if isinstance(step, LayerCall):
            return [step.layer.input]
        return step.inputs if isinstance(step, Call) else self.blocks.uses(step.node)

    def _write_return(self, names: dict[Value, str]) -> None:
        """Write the return statement. A single result of the last line is returned directly."""
        last = self.construct[-1] if self.construct else None
        outputs = [self.value(value, names) for value in self.block.outputs]
        if len(outputs) == 1 and last is not None and last.depth == 0:
            head = last.words[0]
            if isinstance(head, str) and head == f"{outputs[0][0]} = ":
                self.construct[-1] = Line(0, ["return ", *last.words[1:]])
                return
        if len(outputs) == 1:
            words = outputs[0]
        else:
            words = [word for i, out in enumerate(outputs) for word in ([", "] if i else []) + out]
        self._add_line(0, ["return ", *words])


_RESERVED = frozenset(("mindspore", "nn", "ops", "self", "Parameter", "Tensor"))
