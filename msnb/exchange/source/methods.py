"""`construct` and `__init__` of a Cell: the names of values, statements, branches and loops."""

import itertools
import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from msnb.core.tensor import Tensor
from msnb.ir.anf import CNode, ParameterNode, TensorType, ValueNode
from msnb.nn.cell import Cell

from .blocks import Block, Blocks, Body, Call, Op, Value
from .layers import Step, chain
from .spellings import spelled
from .words import Changed, Expression, Group, Hole, Line, Unwritten, call, literal, shortest

_NAMES = ("x", "y", "z", "u", "v", "w", "t", "s", "r", "q", "p")
_WRITTEN_OUT = 64  # elements of a constant; more of them are a Parameter


class Made:
    """An instance of a class of the text."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block: Block = block


def identifier(text: str, other: str = "x") -> str:
    """A text as a name of Python's."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or other
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


class Method:
    """Writes the methods of one Cell.

    Args:
        blocks (Blocks): The graph.
        block (Block): The Cell.
        constants (Callable): Makes a Parameter of a constant that is too large to be written out.

    Attributes:
        init (list[Expression]): Statements of `__init__`.
        construct (list[Line]): Those of `construct`.
        arguments (list[str]): Names of the inputs.
        held (list): [(attribute, Parameter)], those of layers at ``attribute.name``.
        cells (list): [(attribute, Block)] of the Cells.
    """

    def __init__(self, blocks: Blocks, block: Block, constants: Callable[[np.ndarray], ParameterNode]) -> None:
        self.blocks, self.block, self._parameter = blocks, block, constants
        self.init: list[Expression] = []
        self.construct: list[Line] = []
        self.held: list[tuple[str, ParameterNode]] = []
        self.cells: list[tuple[str, Block]] = []
        self._of: dict[Any, Expression] = {}  # what `self` holds, by what it stands for
        self._taken: set[str] = set()
        self._lists: dict[str, list[Expression]] = {}
        self._tensors: dict[Any, str] = {}
        self._within: dict[CNode | None, set[Value]] = {}
        for weight in block.weights:
            self._hold_weight(weight)
        self._declare(block.steps)
        self.arguments = self._arguments()
        names = dict(zip(block.inputs, self.arguments, strict=True))
        self._block(block.steps, block.outputs, names, set(), {}, 0)
        self._returned(names)

    # ------------------------------------------------------------------ __init__
    def _name(self, wanted: str) -> str:
        """An attribute that is not taken."""
        for number in itertools.count(1):
            name = wanted if number == 1 else f"{wanted}_{number}"
            if name not in self._taken and not hasattr(Cell, name):
                self._taken.add(name)
                return name
        raise AssertionError

    def _tail(self, name: str) -> list[str]:
        """The components of a Parameter's name behind the path to this Cell."""
        parts = name.split(".")
        path = [part for step in self.block.path for part in step.split(".")]
        while path and parts and path[0] != parts[0]:
            del path[0]
        return parts[len(path) :] if path and parts[: len(path)] == path else parts if not path else parts[-1:]

    def _hold_weight(self, weight: ParameterNode) -> None:
        name = self._name(identifier("_".join(self._tail(weight.name)), "weight"))
        kind = weight.types[0]
        made = call("ops.zeros", [[Hole("shape", kind.shape)], [f"mindspore.{dtype_of(kind)}"]])
        settings = [made, [f'name="{name}"'], *([] if weight.requires_grad else [["requires_grad=False"]])]
        self.init.append([f"self.{name} = ", *call("Parameter", settings)])
        self.held.append((name, weight))
        self._of[weight, 0] = [f"self.{name}"]

    def _declare(self, steps: Iterable[Any]) -> None:
        """Make the Cells that steps call, in their order."""
        steps = list(steps)
        listed = _lists(_blocks_in(steps))
        for step in _flat(steps):
            if isinstance(step, Step):
                wanted = self._layer_name(step.layer)
                name = self._name(wanted)
                self.init.append([f"self.{name} = ", *made_layer(step.layer)])
                self._of[step] = [f"self.{name}"]
                self.held += [(f"{name}.{own}", weight) for own, weight in step.layer.weights.items()]
            elif isinstance(step, Call) and step.block not in self._of:
                block = step.block
                if block in listed:
                    owner, members = listed[block]
                    name = self._name(owner)
                    items = []
                    for number, member in enumerate(members):
                        items.append(made(member))
                        self._of[member] = [f"self.{name}[{number}]"]
                        self.cells.append((f"{name}.{number}", member))
                    self.init.append([f"self.{name} = ", Group("nn.CellList(", [[Group("[", items, "]")]], ")")])
                    continue
                plain = block.layer is not None and not block.layer.weights
                alike = (block.attribute, block.layer.kind, repr(block.layer.settings)) if plain else block
                if alike in self._of:
                    self._of[block] = self._of[alike]
                    continue
                attribute = block.attribute
                kind = identifier(block.kind or (block.layer.kind if block.layer else "cell"), "cell").lower()
                if not attribute or attribute.isdigit():
                    attribute = kind + attribute
                name = self._name(identifier(attribute.replace(".", "_"), kind))
                self.init.append([f"self.{name} = ", *made(block)])
                self._of[block] = self._of[alike] = [f"self.{name}"]
                self.cells.append((name, block))

    def _layer_name(self, layer):
        tails = [self._tail(weight.name) for weight in layer.weights.values()]
        if tails and all(len(tail) > 1 and tail[:-1] == tails[0][:-1] for tail in tails):
            return identifier("_".join(tails[0][:-1]), "layer")
        return {"Conv2d": "conv", "BatchNorm2d": "norm", "BatchNorm1d": "norm", "LayerNorm": "norm"}.get(
            layer.kind, layer.kind.lower()
        )

    # ------------------------------------------------------------------ values
    def _arguments(self) -> list[str]:
        found: list[str] = []
        for number, (node, _) in enumerate(self.block.inputs):
            name = _NAMES[number] if number < len(_NAMES) else f"x{number}"
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

    def _constant(self, node: ValueNode, beside: Sequence[Value]) -> Expression:
        value = node.value
        if isinstance(value, Tensor):
            value = value.asnumpy()
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return [Hole("value", value)]
        if not isinstance(value, (np.ndarray, np.generic, jax.Array)):
            raise Unwritten(f"a constant is of {type(value).__name__}")
        value, kind = np.asarray(value), node.types[0]
        mates = [v[0].types[v[1]] for v in beside if not isinstance(v[0], ValueNode)]
        plain = value.size == 1 and any(m.dtype == kind.dtype and len(m.shape) >= value.ndim for m in mates)
        if plain and value.dtype.kind in "biuf":
            return [Hole("value", shortest(value.reshape(())))]
        return [f"self.{self._tensor(value, kind)}"]

    def _tensor(self, value, kind):
        key = value.tobytes(), value.shape, kind.dtype
        name = self._tensors.get(key)
        if name is None:
            if value.size > _WRITTEN_OUT and not _uniform(value):
                weight = self._parameter(value)
                self._hold_weight(weight)
                name = self.held[-1][0]
            else:
                name = self._name("constant")
                self.init.append([f"self.{name} = ", *_array(value, kind)])
            self._tensors[key] = name
        return name

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
            pool = (*_NAMES, *(f"x{n}" for n in range(1, 1000)))
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

    # ------------------------------------------------------------------ control flow
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
            pool = (*_NAMES, *(f"x{n}" for n in range(1, 1000)))
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
            pool = (*_NAMES, *(f"x{n}" for n in range(1, 1000)))
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


_MODULES = frozenset(("mindspore", "nn", "ops", "self", "Parameter", "Tensor"))


# ---------------------------------------------------------------------- what __init__ says
def made_layer(layer: Any) -> Expression:
    """``nn.Dense(3, 4)``."""
    items = []
    for name, *value in layer.settings:
        hole = Hole(name.lstrip("*"), *value)
        items.append([hole] if name[0] == "*" else [f"{name}=", hole])
    return call(f"nn.{layer.kind}", items)


def made(block: Block) -> Expression:
    """The Cell of a Block: a layer, a row of Cells, or an instance of its class."""
    if block.layer is not None:
        return made_layer(block.layer)
    row = chain(block)
    if row is not None:
        return [Group("nn.SequentialCell(", [[Group("[", [made(child) for child in row], "]")]], ")")]
    return [Made(block)]


def dtype_of(kind: TensorType) -> str:
    """What `mindspore` calls an element type."""
    return "bool_" if kind.dtype == "Bool" else kind.dtype.lower()


def _uniform(value):
    return value.size > 0 and value.dtype.kind in "biuf" and bool((value == value.flat[0]).all())


def _array(value, kind):
    """A Tensor that is written out."""
    dtype = f"mindspore.{dtype_of(kind)}"
    if value.size > 1 and _uniform(value):
        return call("ops.full", [[literal(value.shape)], [literal(value.flat[0])], [f"dtype={dtype}"]])

    def told(part):
        return [literal(part)] if part.ndim == 0 else [Group("[", [told(inner) for inner in part], "]")]

    return call("Tensor", [told(value), [dtype]])


def _flat(steps):
    """Steps with those of graphs within."""
    for step in steps:
        yield step
        for body in getattr(step, "bodies", ()):
            yield from _flat(body.steps)


def _blocks_in(steps):
    return list(dict.fromkeys(step.block for step in _flat(steps) if isinstance(step, Call)))


def _lists(blocks):
    """{Block: (attribute of the CellList, all that are in it)}."""
    owners: dict[str, dict[int, Block]] = {}
    for block in blocks:
        owner, _, number = block.attribute.rpartition(".")
        if owner and number.isdigit():
            owners.setdefault(owner, {}).setdefault(int(number), block)
    found = {}
    for owner, members in owners.items():
        if len(members) > 1 or set(members) == {0}:
            row = [members[n] for n in sorted(members)]
            found.update(dict.fromkeys(row, (identifier(owner.replace(".", "_")), row)))
    return found
