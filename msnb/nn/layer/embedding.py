"""Embedding layers: lookup of vectors by index."""

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, DType, Int, Kind, NonNegInt, OneOf, PositiveInt, accept_value, check, checked
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import INTS, check_dims, check_dtypes
from msnb.nn._kinds import AboveZero, Initial, NumberType
from msnb.nn.cell import Cell
from msnb.nn.layer._norm.vector_norm import ClipByNorm
from msnb.ops import functional as F
from msnb.ops import operations as P

if TYPE_CHECKING:  # used in annotations only
    pass

__all__ = ["Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


class Embedding(Cell):
    """
    Embedding table: look up a learned vector for each index below `vocab_size`.

    Args:
        vocab_size (int): Number of vectors.
        embedding_size (int): Length of each vector.
        use_one_hot (bool): Whether the lookup is computed as one-hot vectors times the table. Default: False.
        embedding_table (Union[Tensor, str, Initializer, numbers.Number]): Initial table. Default: "normal".
        dtype (:class:`mindspore.dtype`): Element type of the one-hot vectors. Default: mindspore.float32.
        padding_idx (int): Index of a vector that is initialised to 0. Default: None.

    Inputs:
        - **ids** (Tensor) - the indices, int32 or int64, of any shape.

    Outputs:
        Tensor with an additional axis for the vectors.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `padding_idx` is out of range.

    Examples:
        >>> net = nn.Embedding(20, 8)
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.int32)).shape)
        (2, 3, 8)
    """

    @checked
    def __init__(
        self,
        vocab_size: Int,
        embedding_size: Int,
        use_one_hot: Bool = False,
        embedding_table: Initial = "normal",
        dtype: NumberType = mstype.float32,
        padding_idx: Int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size: int = vocab_size
        self.embedding_size: int = embedding_size
        self.use_one_hot: bool = use_one_hot
        self.dtype = dtype
        self.padding_idx = padding_idx
        table = initializer(embedding_table, [vocab_size, embedding_size])
        if padding_idx is not None:
            if not 0 <= padding_idx <= vocab_size:
                raise ValueError(
                    f"For '{self.cls_name}', 'padding_idx' should be in [0, {vocab_size}], but got {padding_idx}."
                )
            rows = table.asnumpy().copy()
            rows[padding_idx] = 0
            table = Tensor(rows)
        self.embedding_table: Parameter = Parameter(table, "embedding_table")
        self.gather: P.Gather = P.Gather()
        if use_one_hot:
            self.one_hot: P.OneHot = P.OneHot()
            self.on_value: Tensor = Tensor(1.0, dtype)
            self.off_value: Tensor = Tensor(0.0, dtype)
            self.matmul: P.MatMul = P.MatMul()
            self.reshape: P.Reshape = P.Reshape()

    def construct(self, ids: Tensor) -> Tensor:
        """Return the vectors."""
        if not self.use_one_hot:
            return self.gather(self.embedding_table, ids, 0)
        rows = self.one_hot(self.reshape(ids, (-1,)), self.vocab_size, self.on_value, self.off_value)
        vectors = self.matmul(rows, self.embedding_table)
        return self.reshape(vectors, (*ids.shape, self.embedding_size))

    def extend_repr(self) -> str:
        """Return the arguments and the table for `repr`."""
        names = ("vocab_size", "embedding_size", "use_one_hot", "embedding_table", "dtype", "padding_idx")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


def _check_row_counts(value):
    if not isinstance(value, tuple):
        raise TypeError
    return tuple(accept_value(PositiveInt, rows) for rows in value)


_SLICE_MODES = ("batch_slice", "field_slice", "table_row_slice", "table_column_slice")
_ROWS = Kind("a tuple of positive ints", _check_row_counts)
_NO_SERVER = "there is no parameter server"


@differs_in_api2(
    "'dtype' comes after 'sparse', and there is no cache of a parameter server",
    "vocab_size",
    "embedding_size",
    "param_init",
    "target",
    "slice_mode",
    "manual_shapes",
    "max_norm",
    "sparse",
    "dtype",
)
class EmbeddingLookup(Cell):
    """
    Embedding table that can be sharded, and whose vectors can have a maximum norm.

    Args:
        vocab_size (int): Number of vectors.
        embedding_size (int): Length of each vector.
        param_init (Union[Tensor, str, Initializer, numbers.Number]): Initial table. Default: "normal".
        target (str): "CPU" or "DEVICE". The lookup always runs on the device of the table. With "CPU", an index out of
            range gives a vector of 0, and `sparse` must be True. Default: "CPU".
        slice_mode (str): Sharding of the table: "batch_slice", "field_slice", "table_row_slice" or
            "table_column_slice". Default: "batch_slice".
        manual_shapes (tuple): Number of rows on each device for "field_slice". Default: None.
        max_norm (float): Maximum norm of a vector. Default: None.
        sparse (bool): Whether the gradient of the table is a RowTensor, so that optimizers for sparse gradients update
            only the rows that were looked up. Default: True.
        vocab_cache_size (int): Size of the cache of a parameter server. No effect: msnb has no parameter server.
            Default: 0.
        dtype (mindspore.dtype): Element type of the table. Default: mstype.float32.

    Inputs:
        - **indices** (Tensor) - int32 or int64; with target "CPU" an index out of range gives a vector of 0.

    Outputs:
        Tensor with an additional axis for the vectors.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, or `sparse` is False with target "CPU".

    Examples:
        >>> net = nn.EmbeddingLookup(4, 2)
        >>> print(net(Tensor([[1, 0], [3, 2]], mindspore.int32)).shape)
        (2, 2, 2)
    """

    BATCH_SLICE, FIELD_SLICE, TABLE_ROW_SLICE, TABLE_COLUMN_SLICE = _SLICE_MODES

    @checked
    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        param_init: Initial = "normal",
        target: Annotated[str, OneOf("CPU", "DEVICE")] = "CPU",
        slice_mode: Annotated[str, OneOf(*_SLICE_MODES)] = "batch_slice",
        manual_shapes: Any = None,
        max_norm: AboveZero | None = None,
        sparse: Bool = True,
        vocab_cache_size: Annotated[int, OneOf(0, otherwise=_NO_SERVER, among=NonNegInt)] = 0,
        *,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        if target == "CPU" and not sparse:
            raise ValueError(f"For '{self.cls_name}', 'sparse' must be True when 'target' is CPU, but got False.")
        self.vocab_size: int = vocab_size
        self.embedding_size: int = embedding_size
        self.target: str = target
        self.slice_mode: str = slice_mode
        if slice_mode == "field_slice" and manual_shapes is not None:
            manual_shapes = check(_ROWS, manual_shapes, "manual_shapes", self.cls_name)
        self.manual_shapes = manual_shapes
        self.embedding_table: Parameter = Parameter(
            initializer(param_init, [vocab_size, embedding_size], dtype), "embedding_table"
        )
        self.lookup = P.EmbeddingLookup() if target == "CPU" else P.SparseGatherV2() if sparse else P.Gather()
        self.max_norm: Tensor = max_norm
        if max_norm is not None:
            self.max_norm = Tensor(max_norm, mstype.float32)
            self.clip_by_norm: ClipByNorm = ClipByNorm(-1)

    def construct(self, indices: Tensor) -> Tensor:
        """Return the vectors."""
        vectors = self.lookup(self.embedding_table, indices, 0)
        return vectors if self.max_norm is None else self.clip_by_norm(vectors, self.max_norm)


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """
    Embeddings of multi-field inputs: the vectors of all indices of a field are reduced to one vector.

    Args:
        vocab_size (int): Number of vectors.
        embedding_size (int): Length of each vector.
        field_size (int): Number of fields.
        param_init (Union[Tensor, str, Initializer, numbers.Number]): Initial table. Default: "normal".
        target (str): As in EmbeddingLookup. Default: "CPU".
        slice_mode (str): As in EmbeddingLookup. Default: "batch_slice".
        feature_num_list (tuple): As `manual_shapes` in EmbeddingLookup. Default: None.
        max_norm (float): As in EmbeddingLookup. Default: None.
        sparse (bool): As in EmbeddingLookup. Default: True.
        operator (str): Reduction of the vectors of a field: "SUM", "MEAN" or "MAX". Default: "SUM".
        dtype (mindspore.dtype): As in EmbeddingLookup. Default: mstype.float32.

    Inputs:
        - **input_indices** (Tensor) - the indices, (batch_size, seq_length), int32 or int64.
        - **input_values** (Tensor) - factors of the vectors, (batch_size, seq_length), float32; 0 marks padding.
        - **field_ids** (Tensor) - the field of each index, (batch_size, seq_length), int32.

    Outputs:
        Tensor of shape (batch_size, field_size, embedding_size).

    Raises:
        TypeError: If an argument or an input is of another type.
        ValueError: If an input is not 2-D, or `operator` is unknown.

    Examples:
        >>> net = nn.MultiFieldEmbeddingLookup(10, 4, field_size=2)
        >>> numbers, fields = Tensor([[2, 4, 6]], mindspore.int32), Tensor([[0, 1, 1]], mindspore.int32)
        >>> print(net(numbers, Tensor([[1.0, 1.0, 1.0]], mindspore.float32), fields).shape)
        (1, 2, 4)
    """

    OPERATOR_SUM, OPERATOR_MEAN, OPERATOR_MAX = _OPERATORS = ("SUM", "MEAN", "MAX")

    @checked
    def __init__(
        self,
        vocab_size: PositiveInt,
        embedding_size: PositiveInt,
        field_size: PositiveInt,
        param_init: Initial = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        feature_num_list: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        operator: Annotated[str, OneOf(*_OPERATORS)] = "SUM",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__(
            vocab_size,
            embedding_size,
            param_init,
            target,
            slice_mode,
            feature_num_list,
            max_norm,
            sparse,
            dtype=dtype,
        )
        self.field_size: int = field_size
        self.operator: str = operator

    def construct(self, input_indices: Tensor, input_values: Tensor, field_ids: Tensor) -> Tensor:
        """Return the vectors of the fields."""
        floats = (mstype.float32,) if self._compute is None else (mstype.float32, mstype.float16, mstype.bfloat16)
        for name, x, dtypes in (
            ("input_indices", input_indices, INTS),
            ("input_values", input_values, floats),
            ("field_ids", field_ids, (mstype.int32,)),
        ):
            check_dims(self.cls_name, x, 2, name=f"'{name}'")
            check_dtypes(self.cls_name, dtypes, **{name: x})
        samples = input_indices.shape[0]
        count = samples * self.field_size
        # Field f of sample n is segment n * field_size + f.
        first = Tensor(np.arange(samples, dtype=np.int32)[:, None] * self.field_size)
        segments = F.reshape(field_ids + first, (-1,))
        factors = F.reshape(input_values, (-1, 1))
        vectors = F.reshape(super().construct(input_indices), (-1, self.embedding_size)) * factors
        merged = self._merge_fields(vectors, factors, segments, count)
        return F.reshape(merged, (samples, self.field_size, self.embedding_size))

    def _merge_fields(self, vectors, factors, segments, count):
        if self.operator == self.OPERATOR_SUM:
            return F.unsorted_segment_sum(vectors, segments, count)
        weight = F.unsorted_segment_sum(F.abs(factors), segments, count)
        if self.operator == self.OPERATOR_MEAN:
            return P.DivNoNan()(F.unsorted_segment_sum(vectors, segments, count), weight)
        # Padding must not be the maximum, and a field without indices has the vector 0.
        least = F.cast(F.equal(factors, 0), mstype.float32) * float(np.finfo(np.float32).min)
        greatest = F.unsorted_segment_max(vectors + least, segments, count)
        return greatest * F.cast(F.not_equal(weight, 0), mstype.float32)
