"""Find operators that form a layer of `mindspore.nn`. For example, a matrix product and the addition of a bias are a
Dense.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.rule_table import RuleTable
from msnb.ir.anf import CNode, ParameterNode, ValueNode
from msnb.nn.layer import activation
from msnb.nn.layer._one_operator import OneOperator, PlainOperator
from msnb.ops import operations as P
from msnb.ops.nn.conv._shared import transposed_length
from msnb.ops.nn.pool.max_pool import _MaxPool2D

from .blocks import Block, Blocks, Call, Op, Value

Settings = Sequence[tuple[Any, ...]]


class Layer(NamedTuple):
    """A layer that replaces operators.

    Attributes:
        kind (str): Name of the layer's class in `mindspore.nn`.
        settings (Sequence): [(argument, value)] of the constructor. Positional ones come first, with a "*" before the
            name. A third entry is the default; a value equal to it is not written.
        weights (dict): {attribute of the layer: Parameter}.
        input (Value), output (Value): Input and result of the layer.
        nodes (tuple[CNode]): The operators.
    """

    kind: str
    settings: Settings
    weights: dict[str, ParameterNode]
    input: Value
    output: Value
    nodes: tuple[CNode, ...]


class LayerCall:
    """Step of `construct`: a call of a `Layer` that replaces operators of this Cell."""

    __slots__ = ("layer",)

    def __init__(self, layer: Layer) -> None:
        self.layer: Layer = layer


patterns = RuleTable("a layer", "It is called as an operator.")
_Pattern = Callable[["LayerMatcher", CNode], Layer | None]


class LayerMatcher:
    """Finds operators of a Block that together form a layer of `mindspore.nn`.

    Args:
        blocks (Blocks): The graph.
        block (Block): The Cell.
        is_single (bool): True if the Cell contains only operators and has one input and one output. Layers without
            Parameters are matched only then.
    """

    def __init__(self, blocks: Blocks, block: Block, is_single: bool) -> None:
        self.blocks = blocks
        self.weight_values = {(weight, 0) for weight in block.weights}
        self.is_single: bool = is_single
        self.ops = {step.node for step in block.steps if isinstance(step, Op) and not step.bodies}

    def weight(self, value: Value, dims: int) -> ParameterNode | None:
        """Return the Parameter of this Cell that `value` refers to, if it has `dims` dimensions and a single use."""
        node = value[0]
        if value not in self.weight_values or len(self.blocks.users(value)) != 1:
            return None
        kind = node.types[0]
        return node if kind.dtype == "Float32" and len(kind.shape) == dims else None

    def sole_consumer(self, value: Value, op: str) -> CNode | None:
        """Return the only user of a value, if it is a call of `op` in this Cell with the value as its first input."""
        users = self.blocks.users(value)
        user = next(iter(users)) if len(users) == 1 else None
        if user is None or user not in self.ops or user.op != op or self.blocks.uses(user)[0] != value:
            return None
        return user


def find_layers(blocks: Blocks, block: Block) -> None:
    """Replace operators that form a layer by a `LayerCall`, and set `block.layer` if the Block is one layer."""
    is_single = all(isinstance(step, Op) for step in block.steps) and len(block.outputs) == len(block.inputs) == 1
    matcher = LayerMatcher(blocks, block, is_single)
    steps, done = [], set()
    for step in block.steps:
        if isinstance(step, Op):
            if step.node in done:
                continue
            match = None if step.bodies or step.node.direction != "forward" else _match_layer(matcher, step.node)
            if match is not None and (match.weights or len(match.nodes) == len(block.steps)):
                done.update(match.nodes)
                step = LayerCall(match)
        steps.append(step)
    block.steps = steps = [step for step in steps if not isinstance(step, Op) or step.node not in done]
    layer_weights = {w for step in steps if isinstance(step, LayerCall) for w in step.layer.weights.values()}
    block.weights = [w for w in block.weights if w not in layer_weights]
    if len(steps) == 1 and isinstance(steps[0], LayerCall) and block is not blocks.root:
        layer = steps[0].layer
        if block.inputs == [layer.input] and block.outputs == [layer.output]:
            block.layer = layer


def is_plain(block: Block) -> bool:
    """Return True if a Block is a single operator, which can be called without a Cell."""
    step = block.steps[0] if len(block.steps) == 1 else None
    return isinstance(step, Op) and not step.bodies and not block.weights


def sequential_cells(block: Block) -> list[Block] | None:
    """Return the Cells of a SequentialCell: numbered Cells that are called one after the other. Return None for any
    other Block.
    """
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


def _match_layer(matcher, node):
    entry = patterns.named(node.op)
    return entry(matcher, node) if entry is not None else None


def _collapse_equal_numbers(value):
    """Return one number if all numbers of a tuple are equal, otherwise the tuple."""
    value = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return value[0] if len(set(value)) == 1 else value


# ---------------------------------------------------------------------- with Parameters
def _match_bias(matcher, node, *others):
    """Return the bias addition after `node` and its Parameter, or (None, None). `others` are operators that are
    accepted in place of BiasAdd.
    """
    for op in ("BiasAdd", *others):
        added = matcher.sole_consumer((node, 0), op)
        bias = matcher.weight(matcher.blocks.uses(added)[1], 1) if added is not None else None
        if bias is not None and added.shape == node.shape:
            return added, bias
    return None, None


@patterns.register(P.Conv2D)
def _match_conv2d(matcher: LayerMatcher, node: CNode) -> Layer | None:
    return _match_convolution(matcher, node, "Conv2d")


@patterns.register(P.Conv2DBackpropInput)
def _match_conv2d_transpose(matcher: LayerMatcher, node: CNode) -> Layer | None:
    """Match a Conv2dTranspose. With a stride, several output sizes are possible for one input. Return None unless it is
    the size that the layer computes.
    """
    a, (x, *_) = node.attrs, matcher.blocks.uses(node)
    pads = a.get("pad", (0, 0, 0, 0))
    image, kernel, stride = x[0].types[x[1]].shape[2:], a["kernel_size"], a.get("stride", (1, 1))
    axes = zip(image, kernel, stride, a.get("dilation", (1, 1)), pads[::2], pads[1::2], strict=True)
    if node.shape[2:] != tuple(transposed_length(a.get("pad_mode", "valid"), *axis) for axis in axes):
        return None
    return _match_convolution(matcher, node, "Conv2dTranspose")


def _match_convolution(matcher, node, kind):
    x, w = matcher.blocks.uses(node)[:2]
    weight = matcher.weight(w, 4)
    a = node.attrs
    if weight is None or a.get("data_format", "NCHW") != "NCHW" or a.get("mode", 1) != 1:
        return None
    added, bias = _match_bias(matcher, node)
    group, mode = a.get("group", 1), a.get("pad_mode", "valid")
    stride, dilation, padding = (
        _collapse_equal_numbers(a.get("stride", 1)),
        _collapse_equal_numbers(a.get("dilation", 1)),
        _collapse_equal_numbers(a.get("pad", 0)),
    )
    channels = weight.shape[1] * group, weight.shape[0]
    ins, outs = channels if kind == "Conv2d" else channels[::-1]
    settings = [
        ("*in_channels", ins),
        ("*out_channels", outs),
        ("*kernel_size", _collapse_equal_numbers(weight.shape[2:])),
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
def _match_dense(matcher: LayerMatcher, node: CNode) -> Layer | None:
    x, w = matcher.blocks.uses(node)
    weight = matcher.weight(w, 2)
    if weight is None or not node.attrs.get("transpose_b") or node.attrs.get("transpose_a"):
        return None
    added, bias = _match_bias(matcher, node, "Add")
    nodes = (node,) if added is None else (node, added)
    x, nodes = _match_flattened_input(matcher, x, nodes)
    settings = [
        ("*in_channels", weight.shape[1]),
        ("*out_channels", weight.shape[0]),
        ("has_bias", bias is not None, True),
    ]
    weights = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    return Layer("Dense", settings, weights, x, (nodes[-1], 0), nodes)


def _match_flattened_input(matcher, x, nodes):
    """Include the Reshape operators with which a Dense flattens and restores an input of more than two dimensions."""
    reshape_in, reshape_out = x[0], matcher.sole_consumer((nodes[-1], 0), "Reshape")
    if (
        reshape_out is None
        or reshape_in not in matcher.ops
        or reshape_in.op != "Reshape"
        or matcher.blocks.users(x) != {nodes[0]}
    ):
        return x, nodes
    unflattened = matcher.blocks.uses(reshape_in)[0]
    shape = unflattened[0].types[unflattened[1]].shape
    if len(shape) < 3 or reshape_in.shape != (_multiply_sizes(shape[:-1]), shape[-1]):
        return x, nodes
    if reshape_out.shape != (*shape[:-1], nodes[-1].shape[-1]):
        return x, nodes
    return unflattened, (reshape_in, *nodes, reshape_out)


def _multiply_sizes(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


@patterns.register(P.BatchNorm)
def _match_batch_norm(matcher: LayerMatcher, node: CNode) -> Layer | None:
    x, *rest = matcher.blocks.uses(node)
    weights = [matcher.weight(value, 1) for value in rest]
    rank = len(x[0].types[x[1]].shape)
    if None in weights or node.attrs.get("is_training") or node.attrs.get("data_format", "NCHW") != "NCHW":
        return None
    if rank not in (2, 4) or any(matcher.blocks.users((node, slot)) for slot in range(1, len(node.types))):
        return None
    names = ("gamma", "beta", "moving_mean", "moving_variance")
    settings = [("*num_features", weights[0].shape[0]), ("eps", node.attrs.get("epsilon", 1e-5))]
    named = dict(zip(names, weights, strict=True))
    return Layer("BatchNorm2d" if rank == 4 else "BatchNorm1d", settings, named, x, (node, 0), (node,))


@patterns.register(P.LayerNorm)
def _match_layer_norm(matcher: LayerMatcher, node: CNode) -> Layer | None:
    x, gamma, beta = matcher.blocks.uses(node)
    first = node.attrs.get("begin_norm_axis", 1)
    shape = x[0].types[x[1]].shape
    first, second = first % len(shape), node.attrs.get("begin_params_axis", 1) % len(shape)
    weights = [matcher.weight(value, len(shape) - first) for value in (gamma, beta)]
    if None in weights or first != second or any(matcher.blocks.users((node, slot)) for slot in (1, 2)):
        return None
    settings = [
        ("*normalized_shape", weights[0].shape),
        ("begin_norm_axis", first - len(shape), -1),
        ("begin_params_axis", first - len(shape), -1),
        ("epsilon", node.attrs.get("epsilon", 1e-7)),
    ]
    return Layer("LayerNorm", settings, dict(zip(("gamma", "beta"), weights, strict=True)), x, (node, 0), (node,))


@patterns.register(P.Gather)
def _match_embedding(matcher: LayerMatcher, node: CNode) -> Layer | None:
    table, ids, *axis = matcher.blocks.uses(node)
    weight = matcher.weight(table, 2)
    axis_value = axis[0][0].value if axis and isinstance(axis[0][0], ValueNode) else node.attrs.get("axis")
    if weight is None or axis_value != 0 or isinstance(ids[0], ValueNode):
        return None
    settings = [("*vocab_size", weight.shape[0]), ("*embedding_size", weight.shape[1])]
    return Layer("Embedding", settings, {"embedding_table": weight}, ids, (node, 0), (node,))


# ---------------------------------------------------------------------- without Parameters
def _make_pooling_pattern(kind):
    def pattern(matcher, node):
        a = node.attrs
        if not matcher.is_single or a.get("data_format", "NCHW") != "NCHW":
            return None
        mode = str(a.get("pad_mode", "valid")).lower()
        settings = [
            ("*kernel_size", _collapse_equal_numbers(a["kernel_size"])),
            ("stride", _collapse_equal_numbers(a["strides"])),
            ("pad_mode", mode, "valid"),
        ]
        return Layer(kind, settings, {}, matcher.blocks.uses(node)[0], (node, 0), (node,))

    return pattern


@patterns.register(_MaxPool2D)
def _match_padded_max_pool(matcher: LayerMatcher, node: CNode) -> Layer | None:
    """Match a MaxPool2d with the same padding at all edges, or with the padding of pad mode "same"."""
    a, (x,) = node.attrs, matcher.blocks.uses(node)
    if not matcher.is_single or a.get("ceil_mode") or _collapse_equal_numbers(a.get("dilation", 1)) != 1:
        return None
    kernel, strides, pads = tuple(a["kernel_size"]), tuple(a.get("strides") or a["kernel_size"]), tuple(a["pads"])
    settings = [("*kernel_size", _collapse_equal_numbers(kernel)), ("stride", _collapse_equal_numbers(strides))]
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


patterns.register(P.MaxPool)(_make_pooling_pattern("MaxPool2d"))
patterns.register(P.AvgPool)(_make_pooling_pattern("AvgPool2d"))


@patterns.register(P.Reshape)
def _match_flatten(matcher: LayerMatcher, node: CNode) -> Layer | None:
    x = matcher.blocks.uses(node)[0]
    if not matcher.is_single or isinstance(x[0], ValueNode):
        return None
    shape = x[0].types[x[1]].shape
    if len(shape) < 2 or node.shape != (shape[0], _multiply_sizes(shape[1:])):
        return None
    return Layer("Flatten", [], {}, x, (node, 0), (node,))


def _make_activation_pattern(kind, **names):
    """Return a function that matches a layer with one operator. `names` maps the operator's attributes to the layer's
    arguments.
    """

    def pattern(matcher, node):
        operator = REGISTRY.get(node.op)
        defaults = {name: default for name, (_, default) in operator.attributes.items()}
        settings_in_use = {
            name: node.attrs[name] for name in defaults if name in node.attrs and node.attrs[name] != defaults[name]
        }
        if not matcher.is_single or len(matcher.blocks.uses(node)) != 1 or set(settings_in_use) - set(names):
            return None
        settings = [(names[name], value) for name, value in settings_in_use.items()]
        return Layer(kind, settings, {}, matcher.blocks.uses(node)[0], (node, 0), (node,))

    return pattern


for _name in activation.__all__:
    _class = getattr(activation, _name)
    if isinstance(_class, type) and issubclass(_class, PlainOperator) and _class.construct is OneOperator.construct:
        patterns.register(_class._operator)(_make_activation_pattern(_name))
patterns.register(P.Softmax)(_make_activation_pattern("Softmax", axis="axis"))
patterns.register(P.LogSoftmax)(_make_activation_pattern("LogSoftmax", axis="axis"))
