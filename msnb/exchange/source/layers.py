"""Which operators are a layer of `mindspore.nn`: a product with a Parameter and its bias is a Dense, for instance."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msnb.core.facets import Facet
from msnb.core.operator import REGISTRY
from msnb.ir.anf import CNode, ParameterNode, ValueNode
from msnb.nn.layer import activation
from msnb.nn.layer._one_operator import OneOperator, PlainOperator
from msnb.ops import operations as P
from msnb.ops.nn._conv import transposed_length
from msnb.ops.nn.max_pool import _MaxPool2D

from .blocks import Block, Blocks, Call, Op, Value

Settings = Sequence[tuple[Any, ...]]


class Layer(NamedTuple):
    """A layer that operators are.

    Attributes:
        kind (str): Its class in `mindspore.nn`.
        settings (Sequence): [(argument, value)] that it is made with; the ones that go by position come first, and have
            a "*" before the name. Others may have a third entry, the value that need not be written.
        weights (dict): {its name for a Parameter: the Parameter}.
        input (Value), output (Value): What it takes and returns.
        nodes (tuple[CNode]): The operators.
    """

    kind: str
    settings: Settings
    weights: dict[str, ParameterNode]
    input: Value
    output: Value
    nodes: tuple[CNode, ...]


class Step:
    """A call of a layer that no scope tells of."""

    __slots__ = ("layer",)

    def __init__(self, layer: Layer) -> None:
        self.layer: Layer = layer


patterns = Facet("a layer", "It is called as an operator.")
_Pattern = Callable[["Finder", CNode], Layer | None]


class Finder:
    """Looks for the layers of a Block.

    Args:
        blocks (Blocks): The graph.
        block (Block): The Cell.
        alone (bool): Whether the Cell does nothing else: then a layer without Parameters is one, too.
    """

    def __init__(self, blocks: Blocks, block: Block, alone: bool) -> None:
        self.blocks = blocks
        self.own = {(weight, 0) for weight in block.weights}
        self.alone: bool = alone
        self.ops = {step.node for step in block.steps if isinstance(step, Op) and not step.bodies}

    def weight(self, value: Value, dims: int) -> ParameterNode | None:
        """The Parameter of this Cell that a value is, where nothing else takes it; of so many dimensions."""
        node = value[0]
        if value not in self.own or len(self.blocks.users(value)) != 1:
            return None
        kind = node.types[0]
        return node if kind.dtype == "Float32" and len(kind.shape) == dims else None

    def next(self, value: Value, op: str) -> CNode | None:
        """The operator of this name in this Cell that a value goes to as the first input, and to nothing else."""
        users = self.blocks.users(value)
        node = next(iter(users)) if len(users) == 1 else None
        if node is None or node not in self.ops or node.op != op or self.blocks.uses(node)[0] != value:
            return None
        return node


def find(blocks: Blocks, block: Block) -> None:
    """Put a `Step` in the place of operators that are a layer, and say of the Block itself which one it is."""
    alone = all(isinstance(step, Op) for step in block.steps) and len(block.outputs) == len(block.inputs) == 1
    finder = Finder(blocks, block, alone)
    steps, done = [], set()
    for step in block.steps:
        if isinstance(step, Op):
            if step.node in done:
                continue
            made = None if step.bodies or step.node.direction != "forward" else _layer(finder, step.node)
            if made is not None and (made.weights or len(made.nodes) == len(block.steps)):
                done.update(made.nodes)
                step = Step(made)
        steps.append(step)
    block.steps = steps = [step for step in steps if not isinstance(step, Op) or step.node not in done]
    taken = {w for step in steps if isinstance(step, Step) for w in step.layer.weights.values()}
    block.weights = [w for w in block.weights if w not in taken]
    if len(steps) == 1 and isinstance(steps[0], Step) and block is not blocks.root:
        layer = steps[0].layer
        if block.inputs == [layer.input] and block.outputs == [layer.output]:
            block.layer = layer


def is_plain(block: Block) -> bool:
    """Whether a Block is nothing but one operator, which its caller may call itself."""
    step = block.steps[0] if len(block.steps) == 1 else None
    return isinstance(step, Op) and not step.bodies and not block.weights


def chain(block: Block) -> list[Block] | None:
    """The Cells that a Block calls one after the other, where it does nothing else and they have numbers for names."""
    steps = block.steps
    if len(steps) < 2 or not all(isinstance(s, Call) and s.block.attribute.isdigit() for s in steps):
        return None
    blocks = [s.block for s in steps]
    if len({id(b) for b in blocks}) < len(blocks) or block.weights or len(block.inputs) != 1:
        return None
    value = block.inputs[0]
    for step in steps:
        if step.inputs != [value] or len(step.outputs) != 1:
            return None
        value = step.outputs[0]
    return blocks if block.outputs == [value] else None


def _layer(finder, node):
    entry = patterns.named(node.op)
    return entry(finder, node) if entry is not None else None


def _square(value):
    """A number for two that are equal."""
    value = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return value[0] if len(set(value)) == 1 else value


# ---------------------------------------------------------------------- with Parameters
def _biased(finder, node, *others):
    """(the BiasAdd that follows, or one of the other operators, its Parameter) or (None, None)."""
    for op in ("BiasAdd", *others):
        added = finder.next((node, 0), op)
        bias = finder.weight(finder.blocks.uses(added)[1], 1) if added is not None else None
        if bias is not None and added.shape == node.shape:
            return added, bias
    return None, None


@patterns.register(P.Conv2D)
def _conv2d(finder: Finder, node: CNode) -> Layer | None:
    return _filtering(finder, node, "Conv2d")


@patterns.register(P.Conv2DBackpropInput)
def _conv2d_transpose(finder: Finder, node: CNode) -> Layer | None:
    """Where the layer makes an image of this size, of which a stride leaves several open."""
    a, (x, *_) = node.attrs, finder.blocks.uses(node)
    pads = a.get("pad", (0, 0, 0, 0))
    image, kernel, stride = x[0].types[x[1]].shape[2:], a["kernel_size"], a.get("stride", (1, 1))
    axes = zip(image, kernel, stride, a.get("dilation", (1, 1)), pads[::2], pads[1::2], strict=True)
    if node.shape[2:] != tuple(transposed_length(a.get("pad_mode", "valid"), *axis) for axis in axes):
        return None
    return _filtering(finder, node, "Conv2dTranspose")


def _filtering(finder, node, kind):
    x, w = finder.blocks.uses(node)[:2]
    weight = finder.weight(w, 4)
    a = node.attrs
    if weight is None or a.get("data_format", "NCHW") != "NCHW" or a.get("mode", 1) != 1:
        return None
    added, bias = _biased(finder, node)
    group, mode = a.get("group", 1), a.get("pad_mode", "valid")
    stride, dilation, padding = _square(a.get("stride", 1)), _square(a.get("dilation", 1)), _square(a.get("pad", 0))
    channels = weight.shape[1] * group, weight.shape[0]
    ins, outs = channels if kind == "Conv2d" else channels[::-1]
    settings = [
        ("*in_channels", ins),
        ("*out_channels", outs),
        ("*kernel_size", _square(weight.shape[2:])),
        ("stride", stride, 1),
        ("pad_mode", mode, "same"),
        ("padding", padding if mode == "pad" else 0, 0),
        ("dilation", dilation, 1),
        ("group", group, 1),
        ("has_bias", bias is not None, False),
    ]
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    nodes = (node,) if added is None else (node, added)
    return Layer(kind, settings, weights, x, (nodes[-1], 0), nodes)


@patterns.register(P.MatMul)
def _dense(finder: Finder, node: CNode) -> Layer | None:
    x, w = finder.blocks.uses(node)
    weight = finder.weight(w, 2)
    if weight is None or not node.attrs.get("transpose_b") or node.attrs.get("transpose_a"):
        return None
    added, bias = _biased(finder, node, "Add")
    nodes = (node,) if added is None else (node, added)
    x, nodes = _flattened(finder, x, nodes)
    settings = [
        ("*in_channels", weight.shape[1]),
        ("*out_channels", weight.shape[0]),
        ("has_bias", bias is not None, True),
    ]
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    return Layer("Dense", settings, weights, x, (nodes[-1], 0), nodes)


def _flattened(finder, x, nodes):
    """The same for an input of more dimensions, which a Dense flattens before and spreads afterwards."""
    before, after = x[0], finder.next((nodes[-1], 0), "Reshape")
    if after is None or before not in finder.ops or before.op != "Reshape" or finder.blocks.users(x) != {nodes[0]}:
        return x, nodes
    whole = finder.blocks.uses(before)[0]
    shape = whole[0].types[whole[1]].shape
    if len(shape) < 3 or before.shape != (_product(shape[:-1]), shape[-1]):
        return x, nodes
    if after.shape != (*shape[:-1], nodes[-1].shape[-1]):
        return x, nodes
    return whole, (before, *nodes, after)


def _product(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


@patterns.register(P.BatchNorm)
def _batch_norm(finder: Finder, node: CNode) -> Layer | None:
    x, *rest = finder.blocks.uses(node)
    weights = [finder.weight(value, 1) for value in rest]
    rank = len(x[0].types[x[1]].shape)
    if None in weights or node.attrs.get("is_training") or node.attrs.get("data_format", "NCHW") != "NCHW":
        return None
    if rank not in (2, 4) or any(finder.blocks.users((node, slot)) for slot in range(1, len(node.types))):
        return None
    names = ("gamma", "beta", "moving_mean", "moving_variance")
    settings = [("*num_features", weights[0].shape[0]), ("eps", node.attrs.get("epsilon", 1e-5))]
    named = dict(zip(names, weights, strict=True))
    return Layer("BatchNorm2d" if rank == 4 else "BatchNorm1d", settings, named, x, (node, 0), (node,))


@patterns.register(P.LayerNorm)
def _layer_norm(finder: Finder, node: CNode) -> Layer | None:
    x, gamma, beta = finder.blocks.uses(node)
    first = node.attrs.get("begin_norm_axis", 1)
    shape = x[0].types[x[1]].shape
    first, second = first % len(shape), node.attrs.get("begin_params_axis", 1) % len(shape)
    weights = [finder.weight(value, len(shape) - first) for value in (gamma, beta)]
    if None in weights or first != second or any(finder.blocks.users((node, slot)) for slot in (1, 2)):
        return None
    settings = [
        ("*normalized_shape", weights[0].shape),
        ("begin_norm_axis", first - len(shape), -1),
        ("begin_params_axis", first - len(shape), -1),
        ("epsilon", node.attrs.get("epsilon", 1e-7)),
    ]
    return Layer("LayerNorm", settings, dict(zip(("gamma", "beta"), weights, strict=True)), x, (node, 0), (node,))


@patterns.register(P.Gather)
def _embedding(finder: Finder, node: CNode) -> Layer | None:
    table, ids, *axis = finder.blocks.uses(node)
    weight = finder.weight(table, 2)
    told = axis[0][0].value if axis and isinstance(axis[0][0], ValueNode) else node.attrs.get("axis")
    if weight is None or told != 0 or isinstance(ids[0], ValueNode):
        return None
    settings = [("*vocab_size", weight.shape[0]), ("*embedding_size", weight.shape[1])]
    return Layer("Embedding", settings, {"embedding_table": weight}, ids, (node, 0), (node,))


# ---------------------------------------------------------------------- without
def _pooling(kind):
    def pattern(finder, node):
        a = node.attrs
        if not finder.alone or a.get("data_format", "NCHW") != "NCHW":
            return None
        mode = str(a.get("pad_mode", "valid")).lower()
        settings = [
            ("*kernel_size", _square(a["kernel_size"])),
            ("stride", _square(a["strides"])),
            ("pad_mode", mode, "valid"),
        ]
        return Layer(kind, settings, {}, finder.blocks.uses(node)[0], (node, 0), (node,))

    return pattern


@patterns.register(_MaxPool2D)
def _max_pool_of_edges(finder: Finder, node: CNode) -> Layer | None:
    """With an edge around the image: as wide at each end, or as "same" has it."""
    a, (x,) = node.attrs, finder.blocks.uses(node)
    if not finder.alone or a.get("ceil_mode") or _square(a.get("dilation", 1)) != 1:
        return None
    kernel, strides, pads = tuple(a["kernel_size"]), tuple(a.get("strides") or a["kernel_size"]), tuple(a["pads"])
    settings = [("*kernel_size", _square(kernel)), ("stride", _square(strides))]
    if len({*pads}) == 1:
        settings += [("pad_mode", "pad"), ("padding", pads[0])]
    elif pads == tuple(
        edge
        for n, k, s in zip(x[0].types[x[1]].shape[2:], kernel, strides, strict=True)
        for total in [max((-(-n // s) - 1) * s + k - n, 0)]
        for edge in (total // 2, total - total // 2)
    ):
        settings.append(("pad_mode", "same"))
    else:
        return None
    return Layer("MaxPool2d", settings, {}, x, (node, 0), (node,))


patterns.register(P.MaxPool)(_pooling("MaxPool2d"))
patterns.register(P.AvgPool)(_pooling("AvgPool2d"))


@patterns.register(P.Reshape)
def _flatten(finder: Finder, node: CNode) -> Layer | None:
    x = finder.blocks.uses(node)[0]
    if not finder.alone or isinstance(x[0], ValueNode):
        return None
    shape = x[0].types[x[1]].shape
    if len(shape) < 2 or node.shape != (shape[0], _product(shape[1:])):
        return None
    return Layer("Flatten", [], {}, x, (node, 0), (node,))


def _activation(kind, **names):
    """A layer that is one operator; `names` are its arguments by the operator's attributes."""

    def pattern(finder, node):
        operator = REGISTRY.get(node.op)
        usual = {name: default for name, (_, default) in operator.attributes.items()}
        given = {name: node.attrs[name] for name in usual if name in node.attrs and node.attrs[name] != usual[name]}
        if not finder.alone or len(finder.blocks.uses(node)) != 1 or set(given) - set(names):
            return None
        settings = [(names[name], value) for name, value in given.items()]
        return Layer(kind, settings, {}, finder.blocks.uses(node)[0], (node, 0), (node,))

    return pattern


for _name in activation.__all__:
    _class = getattr(activation, _name)
    if isinstance(_class, type) and issubclass(_class, PlainOperator) and _class.construct is OneOperator.construct:
        patterns.register(_class._operator)(_activation(_name))
patterns.register(P.Softmax)(_activation("Softmax", axis="axis"))
patterns.register(P.LogSoftmax)(_activation("LogSoftmax", axis="axis"))
