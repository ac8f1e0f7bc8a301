"""Attributes of r1.1's layers that msnb's layers do not need: operators and numbers that derived code reads.

Such an attribute is created at the first access. Each Cell has a separate operator, so that it can have its own
sharding. An attribute of that name in the Cell's `__dict__` takes precedence.
"""

from collections.abc import Callable
from typing import Any

from msnb.common import dtype as mstype
from msnb.core.tensor.tensor import Tensor
from msnb.nn import layer, learning_rate_schedule
from msnb.nn.loss import loss
from msnb.nn.wrap import loss_scale
from msnb.ops import operations as P

_CACHE = "_parts"  # not in the fingerprint of a Cell: the values are constants


class LazyAttribute:
    """An attribute of a Cell that is created at the first access.

    Args:
        make (Callable): Function of the Cell that creates the value.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make: Callable[[Any], Any] = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.name: str = name

    def __get__(self, cell: Any, owner: type | None = None) -> Any:
        if cell is None:
            return self
        cache = cell.__dict__.setdefault(_CACHE, {})
        if self.name not in cache:
            cache[self.name] = self.make(cell)
        return cache[self.name]


def _add_lazy_attributes(cls, **attributes):
    """Add lazy attributes to a class. A value is an operator class without arguments, or a function of the Cell."""
    for name, make in attributes.items():
        attribute = LazyAttribute(make if not isinstance(make, type) else lambda cell, operator=make: operator())
        attribute.__set_name__(cls, name)
        setattr(cls, name, attribute)


def _make_pad_mode_predicate(pad_mode):
    return lambda cell: cell.pad_mode == pad_mode


_add_lazy_attributes(layer.PReLU, relu=P.ReLU, assign=P.Assign)
_add_lazy_attributes(layer.LeakyReLU, greater_equal=P.GreaterEqual, mul=P.Mul)
_add_lazy_attributes(layer.LogSigmoid, mul=P.Mul, exp=P.Exp, add=P.Add, rec=P.Reciprocal, log=P.Log)
_add_lazy_attributes(
    layer.Dense,
    bias_add=P.BiasAdd,
    shape_op=P.Shape,
    batch_matmul=lambda cell: P.BatchMatMul(transpose_b=True),
    tensor_add=P.Add,
)
_add_lazy_attributes(
    layer.Norm, reduce_sum=lambda cell: P.ReduceSum(True), sqrt=P.Sqrt, squeeze=lambda cell: P.Squeeze(cell.axis)
)
_add_lazy_attributes(
    layer.ClipByNorm,
    select_=P.Select,
    greater_=P.Greater,
    cast=P.Cast,
    sqrt=P.Sqrt,
    max_op=P.Maximum,
    shape=P.Shape,
    reshape=P.Reshape,
    fill=P.Fill,
    expand_dims=P.ExpandDims,
    dtype=P.DType,
)
for _cls in (layer.Tril, layer.Triu):
    _add_lazy_attributes(_cls, dtype=P.DType, mul=P.Mul, cast=P.Cast)
for _cls in (layer.Conv2d, layer.Conv1d, layer.Conv2dTranspose, layer.Conv1dTranspose):
    _add_lazy_attributes(_cls, bias_add=lambda cell: P.BiasAdd(data_format=cell.format), shape=P.Shape)
for _cls in (layer.Conv2dTranspose, layer.Conv1dTranspose):
    _add_lazy_attributes(
        _cls,
        is_valid=_make_pad_mode_predicate("valid"),
        is_same=_make_pad_mode_predicate("same"),
        is_pad=_make_pad_mode_predicate("pad"),
    )
_add_lazy_attributes(
    layer.Embedding,
    init_tensor=lambda cell: cell.embedding_table.data,
    expand=P.ExpandDims,
    reshape_flat=P.Reshape,
    shp_flat=lambda cell: (-1,),
    one_hot=P.OneHot,
    on_value=lambda cell: Tensor(1.0, cell.dtype),
    off_value=lambda cell: Tensor(0.0, cell.dtype),
    array_mul=P.MatMul,
    reshape=P.Reshape,
    get_shp=P.Shape,
)
_add_lazy_attributes(
    layer.EmbeddingLookup,
    gather_revert=P.Gather,
    gatherv2=P.Gather,
    embeddinglookup=P.EmbeddingLookup,
    unique=P.Unique,
    reshape=P.Reshape,
    shape=P.Shape,
    cache_enable=lambda cell: False,
    forward_unique=lambda cell: False,
    vocab_cache_size=lambda cell: 0,
)
_add_lazy_attributes(
    layer.MultiFieldEmbeddingLookup,
    expand=P.ExpandDims,
    mul=P.Mul,
    inf_mask_mul=P.Mul,
    max_mask_mul=P.Mul,
    add=P.Add,
    bias_add=P.Add,
    inf_add=P.Add,
    cast=P.Cast,
    abs=P.Abs,
    equal=P.Equal,
    max_no_equal=P.NotEqual,
    div_no_nan=P.DivNoNan,
    count_op=P.UnsortedSegmentSum,
    merge_op=lambda cell: P.UnsortedSegmentMax() if cell.operator == "MAX" else P.UnsortedSegmentSum(),
)
_add_lazy_attributes(layer.ReduceLogSumExp, exp=P.Exp, sum=lambda cell: P.ReduceSum(cell.keep_dims), log=P.Log)
_add_lazy_attributes(
    layer.Moments, cast=P.Cast, square_diff=P.SquaredDifference, squeeze=lambda cell: P.Squeeze(cell.axis)
)
_add_lazy_attributes(
    layer.MatMul,
    shape_op=P.Shape,
    expand_op=P.ExpandDims,
    squeeze_left_op=lambda cell: P.Squeeze(-2),
    squeeze_right_op=lambda cell: P.Squeeze(-1),
    reduce_sum_op=lambda cell: P.ReduceSum(keep_dims=False),
)
_add_lazy_attributes(
    layer.GroupNorm,
    shape=P.Shape,
    reshape=P.Reshape,
    reduce_mean=lambda cell: P.ReduceMean(keep_dims=True),
    reduce_sum=lambda cell: P.ReduceSum(keep_dims=True),
    square=P.Square,
    sqrt=P.Sqrt,
)
for _cls in (layer.MaxPool1d, layer.AvgPool1d):
    _add_lazy_attributes(_cls, shape=P.Shape, reduce_mean=lambda cell: P.ReduceMean(keep_dims=True))
_add_lazy_attributes(layer.AvgPool1d, slice=P.Slice)

for _cls in (
    learning_rate_schedule.ExponentialDecayLR,
    learning_rate_schedule.NaturalExpDecayLR,
    learning_rate_schedule.PolynomialDecayLR,
):
    _add_lazy_attributes(_cls, pow=P.Pow, cast=P.Cast)
for _cls in (
    learning_rate_schedule.InverseDecayLR,
    learning_rate_schedule.CosineDecayLR,
    learning_rate_schedule.WarmUpLR,
):
    _add_lazy_attributes(_cls, cast=P.Cast, min=P.Minimum)
_add_lazy_attributes(learning_rate_schedule.CosineDecayLR, cos=P.Cos)
_add_lazy_attributes(learning_rate_schedule.PolynomialDecayLR, ceil=P.Ceil, min=P.Minimum, max=P.Maximum)

_add_lazy_attributes(loss.L1Loss, abs=P.Abs)
_add_lazy_attributes(loss.CosineEmbeddingLoss, maximum=P.Maximum)
_add_lazy_attributes(loss.BCELoss, ones=P.OnesLike)
_add_lazy_attributes(
    loss_scale.DynamicLossScaleUpdateCell,
    select=P.Select,
    max=P.Maximum,
    minimum_loss_scale=lambda cell: Tensor(1.0, mstype.float32),
    reciprocal=P.Reciprocal,
    less_equal=P.LessEqual,
    logic_and=P.LogicalAnd,
    logic_not=P.LogicalNot,
    logic_or=P.LogicalOr,
    const_true=lambda cell: Tensor(True, mstype.bool_),
)
