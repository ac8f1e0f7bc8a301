"""The kinds of operators for relevance propagation: each kind has one rule in `relevance`."""

from typing import Any

from msnb.core.operator.rule_table import RuleTable
from msnb.ir.anf import CNode, ValueNode
from msnb.nn.graph_cell import operator_of
from msnb.ops import operations as P
from msnb.ops.array.gather import _TakeAlongAxis
from msnb.ops.array.repeat import _RepeatInterleave
from msnb.ops.array.split import _SplitAt
from msnb.ops.array.transpose import _MoveAxis
from msnb.ops.array.where import _BroadcastSelect, _SelectFirst, _Where
from msnb.ops.index import _TensorGetItem, _TensorGetRow
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast
from msnb.ops.math.products import _TensorDot
from msnb.ops.nn.activation.sigmoid import _SwiGlu
from msnb.ops.nn.conv.conv2d import _Conv1D
from msnb.ops.nn.image.interpolate import _Resize
from msnb.ops.nn.image.pixel_shuffle import _PixelUnshuffle
from msnb.ops.nn.pool.max_pool import _MaxPool2D

KINDS = RuleTable("a rule of relevance", "Add it to msnb/insight/attribution/relevance_kinds.py.")
KINDS.register(P.Conv2D, P.Conv3D, P.Conv2DTranspose, P.Conv3DTranspose, _Conv1D)("convolution")
KINDS.register(P.MatMul, P.BatchMatMul, _MatMulBroadcast, P.Dense)("dense")
KINDS.register(P.Einsum, _TensorDot)("product")
KINDS.register(P.BiasAdd)("bias")
# linear in all activations
KINDS.register(P.Add, P.Sub, P.AddN, P.Neg, P.BatchNorm, P.AvgPool, P.AvgPool1D, P.AvgPool2D)("sum")
KINDS.register(P.AvgPool3D, P.AdaptiveAvgPool1D, P.AdaptiveAvgPool2D, P.AdaptiveAvgPool3D, P.ReduceMean)("sum")
KINDS.register(P.ReduceSum, P.CumSum, P.UnsortedSegmentSum, P.ResizeBilinear, P.ResizeBilinearV2)("sum")
KINDS.register(_Resize, P.ResizeBicubic, P.ResizeLinear1D, P.UpsampleNearest3D, P.UpsampleTrilinear3D)("sum")
KINDS.register(P.ReLU, P.ReLU6, P.LeakyReLUExt, P.PReLU, P.Elu, P.CeLU, P.SeLU, P.GeLU, P.GeluExt)("activation")
KINDS.register(P.FastGeLU, P.SiLU, P.Sigmoid, P.HSigmoid, P.HSwish, P.Mish, P.Softplus, P.SoftplusExt)("activation")
KINDS.register(P.Softsign, P.Tanh, P.Hardtanh, P.Dropout, P.Dropout2D, P.Dropout3D, P.Square)("activation")
# each element times a number that counts as a constant
KINDS.register(P.RmsNorm, P.L2Normalize)("activation")
KINDS.register(P.LayerNorm, P.GroupNorm, P.InstanceNorm)("normalization")
KINDS.register(P.Softmax)("softmax")
KINDS.register(P.GLU, _SwiGlu)("gate")
# times a constant, or a product of two activations
KINDS.register(P.Mul, P.RealDiv, P.Div, _TrueDiv)("scale")
KINDS.register(P.Maximum, P.Minimum)("extreme")
# elements are selected or moved
KINDS.register(P.MaxPool, P.AdaptiveMaxPool2D, P.MaxPoolWithArgmax, P.MaxPoolWithArgmaxV2, _MaxPool2D)("route")
KINDS.register(P.MaxPool3D, P.ReduceMax, P.ReduceMin, P.Pad, P.PadV3, P.MirrorPad, P.Cast, P.Identity)("route")
KINDS.register(P.Reshape, P.Flatten, P.FlattenExt, P.Transpose, P.TransposeView, P.TransposeExtView)("route")
KINDS.register(P.Squeeze, P.ExpandDims, P.BroadcastTo, P.Expand, P.Tile, P.Roll, P.ReverseV2, _MoveAxis)("route")
KINDS.register(P.Concat, P.Stack, P.Unstack, P.Split, P.SplitV, P.SplitWithSize, _SplitAt)("route")
KINDS.register(P.StridedSlice, P.Slice, P.Gather, P.GatherD, P.GatherNd, _TakeAlongAxis, _RepeatInterleave)("route")
KINDS.register(P.Select, _BroadcastSelect, _Where, _SelectFirst, P.MaskedFill, P.TopK, P.Sort)("route")
KINDS.register(P.PixelShuffle, _PixelUnshuffle, P.ChannelShuffle, P.DepthToSpace, P.SpaceToDepth)("route")
KINDS.register(P.Im2Col, P.Im2ColExt, P.Tril, P.Triu, P.Diagonal)("route")
KINDS.register(_TensorGetItem, _TensorGetRow, P.ResizeNearestNeighbor, P.ResizeNearestNeighborV2)("route")

# XLA's operations in functions of jax.numpy
_ROUTES_OF_XLA = ("convert_element_type", "reshape", "broadcast_in_dim", "squeeze", "transpose", "slice", "concatenate")
_RECIPROCALS = ("Rsqrt", "Reciprocal", "Inv")


def get_kind(node: CNode) -> str | None:
    """Return the kind of the operator of a node, None if there is no rule for it."""
    operator = operator_of(node)
    if operator is None or node.kernel is None:
        return None
    if node.op == "Add" and [type(each) for each in node.inputs].count(CNode) == 1:
        is_constant = (isinstance(each, ValueNode) or getattr(each, "is_weight", False) for each in node.inputs)
        return "bias" if any(is_constant) else "sum"
    return KINDS.get(operator)


def is_route(node: CNode) -> bool:
    """Return True if a node selects or moves elements."""
    return get_kind(node) == "route" or node.kernel is None and node.op in _ROUTES_OF_XLA


def is_divisor(node: CNode, index: int) -> bool:
    """Return True if an input of a product or a quotient divides: the second one of a quotient, or a reciprocal."""
    if node.op != "Mul":
        return index == 1
    return isinstance(node.inputs[index], CNode) and node.inputs[index].op in _RECIPROCALS


def collect_nodes_before_bias(points: list[Any]) -> set[int]:
    """Return the numbers of nodes whose result is read by a BiasAdd only, which stabilizes the denominator."""
    readers: dict[int, list[Any]] = {}
    for point in points:
        for each in point.node.inputs:
            if isinstance(each, CNode):
                readers.setdefault(each.id, []).append(get_kind(point.node))
    return {number for number, kinds in readers.items() if kinds == ["bias"]}
