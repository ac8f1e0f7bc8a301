"""`construct` of a Cell: statements, and the names of values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.ir.anf import ParameterNode, ValueNode

from .blocks import Block, Blocks, Call, Op, Value
from .flow import FlowWriter
from .holding import Holder, identifier
from .layers import Step
from .spellings import spelled
from .words import NAMES, Changed, Expression, Group, Line, Unwritten


class Method(Holder, FlowWriter):
    """Writes the methods of one Cell.

    Args:
        blocks (Blocks): The graph.
        block (Block): The Cell.
        constants (Callable): Makes a Parameter of a constant that is too large to be written out.

    Attributes:
        construct (list[Line]): Those of `construct`.
        arguments (list[str]): Names of the inputs.

    What `__init__` says and holds is a `Holder`'s.
    """

    def __init__(self, blocks: Blocks, block: Block, constants: Callable[[np.ndarray], ParameterNode]) -> None:
        self.blocks = blocks
        self.construct: list[Line] = []
        super().__init__(block, constants)
        self.arguments = self._arguments()
        names = dict(zip(block.inputs, self.arguments, strict=True))
        self._block(block.steps, block.outputs, names, set(), {}, 0)
        self._returned(names)

    # ------------------------------------------------------------------ values
    def _arguments(self) -> list[str]:
        found: list[str] = []
        for number, (node, _) in enumerate(self.block.inputs):
            name = NAMES[number] if number < len(NAMES) else f"x{number}"
            if not self.block.path and isinstance(node, ParameterNode):
                name = identifier(node.name.lstrip("_"))
            while name in found or name in _MODULES:
                name += "_"
            found.append(name)
        return found

    def value(self, value: Value, names: dict[Value, str], beside: Sequence[Value] = ()) -> Expression:
        """A value as it is written; `beside` are the others that it is computed with."""
        value = self.blocks.real(value)
        node = value[0]
        if isinstance(node, ValueNode):
            return self._constant(node, [self.blocks.real(other) for other in beside])
        if value in self._of:
            return self._of[value]
        if value not in names:
            raise Unwritten(f"a value of {node!r} is not known here")
        return [names[value]]

    # ------------------------------------------------------------------ construct
    def _block(
        self,
        steps: Sequence[Any],
        outputs: Sequence[Value],
        names: dict[Value, str],
        keep: set[Value],
        wanted: dict[Value, str],
        depth: int,
    ) -> None:
        """Write steps; `names` gets what their results are called. What is in `keep` is used after them, and results
        in `wanted` are called so where that spoils nothing."""
        outputs = [self.blocks.real(value) for value in outputs]
        for number, step in enumerate(steps):
            later = set(outputs) | keep
            for rest in steps[number + 1 :]:
                later |= self._takes(rest)
            if isinstance(step, Op) and step.bodies:
                write = {"Switch": self._switch, "While": self._while}.get(step.node.op)
                if write is None:
                    self.blocks.missing.setdefault((step.node.op, "it is a loop of JAX's own"), step.node)
                    for slot in range(len(step.node.types)):
                        names[step.node, slot] = "x"
                    continue
                write(step, names, later, wanted, depth)
                continue
            words, results = self._called(step, names)
            change = words[0] if isinstance(words[0], Changed) else None
            targets = self._named(results, step, names, later, wanted, change is not None)
            if change is not None:
                self._line(depth, [f"{targets[0]} = ", *change.whole, ".copy()"])
                self._line(depth, [targets[0], *change.index, " = ", *change.value])
                continue
            if any(targets):
                while targets and not targets[-1]:
                    targets.pop()
                many_ = len(results) > 1
                if many_ and len(targets) == 1:
                    words, text = [*words, "[0]"], targets[0]
                else:
                    text = ", ".join(name or "_" for name in targets)
                    if many_ and len(targets) < len(results):
                        text += ", *_"
                self._line(depth, [f"{text} = ", *words])

    def _line(self, depth: int, words: Expression) -> None:
        self.construct.append(Line(depth, words))

    def _called(self, step: Any, names: dict[Value, str]) -> tuple[Expression, list[Value]]:
        """(a step as an expression, its results)."""
        if isinstance(step, Step):
            return [*self._of[step], Group("(", [self.value(step.layer.input, names)], ")")], [step.layer.output]
        if isinstance(step, Call):
            inputs = [self.value(value, names) for value in step.inputs]
            return [*self._of[step.block], Group("(", inputs, ")")], step.outputs
        node, uses = step.node, self.blocks.uses(step.node)
        try:
            words = spelled(node, [self.value(v, names, uses) for v in uses])
        except Unwritten as error:
            self.blocks.missing.setdefault((node.op, str(error)), node)
            words = ["None"]
        return words, [(node, slot) for slot in range(len(node.types))]

    def _takes(self, step: Any) -> set[Value]:
        """All values that a step takes, those that graphs within do included."""
        if isinstance(step, Step):
            return {step.layer.input}
        if isinstance(step, Call):
            return set(step.inputs)
        if not step.bodies:
            return set(self.blocks.uses(step.node))
        found = set(self.blocks.uses(step.node)[:1]) if step.node.op == "Switch" else set(self._starts(step))
        for body in step.bodies:
            found.update(body.outputs)
            for inner in body.steps:
                found |= self._takes(inner)
        return found

    def _named(self, results, step, names, later, wanted, slowly=False) -> list[str]:
        """Give names to results that something uses; "" stands for the others. Where it takes several statements, that
        of an input can only be the first one's."""
        used = {names[value] for value in later if value in names}
        mine = [names[v] for v in self._ordered(step) if v in names]
        if slowly:
            used |= set(mine[1:])
        targets = []
        for value in results:
            if not self.blocks.users(value) or value not in later:
                targets.append("")
                continue
            fresh = [wanted[value]] if value in wanted else []
            pool = (*NAMES, *(f"x{n}" for n in range(1, 1000)))
            name = next(n for n in (*fresh, *mine, *pool) if n not in used and n not in targets)
            targets.append(name)
        for value, name in zip(results, targets, strict=True):
            if name:
                for other in [v for v, n in names.items() if n == name]:
                    del names[other]
                names[value] = name
        return targets

    def _ordered(self, step):
        if isinstance(step, Step):
            return [step.layer.input]
        return step.inputs if isinstance(step, Call) else self.blocks.uses(step.node)

    def _returned(self, names: dict[Value, str]) -> None:
        """The last statement: the results, of which a single one need not have a name."""
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
        self._line(0, ["return ", *words])


_MODULES = frozenset(("mindspore", "nn", "ops", "self", "Parameter", "Tensor"))
