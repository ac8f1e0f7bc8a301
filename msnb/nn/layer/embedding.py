"""Embedding layers."""

import numpy as np

from msnb import log
from msnb._checkparam import Rel, Validator
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.core.tensor import Parameter, Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import ClipByNorm
from msnb.ops import operations as P

__all__ = ["Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


class Embedding(Cell):
    """
    A table of vectors, looked up by number.

    Args:
        vocab_size (int): The number of vectors.
        embedding_size (int): The length of a vector.
        use_one_hot (bool): Whether to look up by a matrix product with one-hot vectors. Default: False.
        embedding_table (Union[Tensor, str, Initializer, numbers.Number]): The initial table. Default: "normal".
        dtype (:class:`mindspore.dtype`): The type of the one-hot vectors. Default: mindspore.float32.
        padding_idx (int): The number whose vector is 0 at first. Default: None.

    Inputs:
        - **ids** (Tensor) - int32 or int64, of any shape.

    Outputs:
        Tensor of the shape of `ids` and a last axis of `embedding_size`.

    Raises:
        TypeError: If `vocab_size` or `embedding_size` is not an int, or `use_one_hot` not a bool.
        ValueError: If `padding_idx` is not between 0 and `vocab_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Embedding(20000, 768, True)
        >>> output = net(Tensor(np.ones([8, 128]), mindspore.int32))
        >>> print(output.shape)
        (8, 128, 768)
    """

    def __init__(
        self,
        vocab_size,
        embedding_size,
        use_one_hot=False,
        embedding_table="normal",
        dtype=mstype.float32,
        padding_idx=None,
    ):
        super().__init__()
        self.vocab_size = Validator.check_value_type("vocab_size", vocab_size, [int], self.cls_name)
        self.embedding_size = Validator.check_value_type("embedding_size", embedding_size, [int], self.cls_name)
        self.use_one_hot = Validator.check_value_type("use_one_hot", use_one_hot, [bool], self.cls_name)
        Validator.check_subclass("dtype", dtype, mstype.number_type, self.cls_name)
        self.dtype = dtype
        table = initializer(embedding_table, [vocab_size, embedding_size])
        self.padding_idx = padding_idx
        if padding_idx is not None:
            Validator.check_int_range(padding_idx, 0, vocab_size, Rel.INC_BOTH, "padding_idx", self.cls_name)
            table = np.array(table.asnumpy())
            table[padding_idx] = 0
            table = Tensor(table)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.gather = P.Gather()
        if use_one_hot:
            self.one_hot = P.OneHot()
            self.on_value = Tensor(1.0, dtype)
            self.off_value = Tensor(0.0, dtype)
            self.matmul = P.MatMul()
            self.reshape = P.Reshape()

    def construct(self, ids):
        if not self.use_one_hot:
            return self.gather(self.embedding_table, ids, 0)
        flat_ids = self.reshape(ids, (-1,))
        one_hot_ids = self.one_hot(flat_ids, self.vocab_size, self.on_value, self.off_value)
        return self.reshape(self.matmul(one_hot_ids, self.embedding_table), (*ids.shape, self.embedding_size))

    def extend_repr(self):
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


_SLICE_MODES = ("batch_slice", "field_slice", "table_row_slice", "table_column_slice")


class EmbeddingLookup(Cell):
    """
    A table of vectors, looked up by number, that can be sharded over devices and cut to a norm.

    Args:
        vocab_size (int): The number of vectors.
        embedding_size (int): The length of a vector.
        param_init (Union[Tensor, str, Initializer, numbers.Number]): The initial table. Default: "normal".
        target (str): "CPU" or "DEVICE": where MindSpore looks up; here it is always where the table is.
            Default: "CPU".
        slice_mode (str): How the table is sharded over devices: "batch_slice", "field_slice", "table_row_slice" or
            "table_column_slice". Default: "batch_slice".
        manual_shapes (tuple): The rows on each device in "field_slice". Default: None.
        max_norm (float): The greatest norm of a looked-up vector. Default: None.
        sparse (bool): Whether the table's gradient is sparse in MindSpore; must be True for target "CPU".
            Default: True.
        vocab_cache_size (int): The cache of a parameter server, not used here. Default: 0.

    Inputs:
        - **indices** (Tensor) - int32 or int64; numbers out of range give 0 with target "CPU".

    Outputs:
        Tensor of the shape of `indices` and a last axis of `embedding_size`.

    Raises:
        TypeError: If `vocab_size` or `embedding_size` is not an int, or `sparse` not a bool.
        ValueError: If `target` or `slice_mode` is unknown, `sparse` False for "CPU", or a size less than 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> input_indices = Tensor(np.array([[1, 0], [3, 2]]), mindspore.int32)
        >>> result = nn.EmbeddingLookup(4, 2)(input_indices)
        >>> print(result.shape)
        (2, 2, 2)
    """

    BATCH_SLICE, FIELD_SLICE, TABLE_ROW_SLICE, TABLE_COLUMN_SLICE = _SLICE_MODES

    def __init__(
        self,
        vocab_size,
        embedding_size,
        param_init="normal",
        target="CPU",
        slice_mode="batch_slice",
        manual_shapes=None,
        max_norm=None,
        sparse=True,
        vocab_cache_size=0,
    ):
        super().__init__()
        Validator.check_value_type("sparse", sparse, [bool], self.cls_name)
        self.target = Validator.check_string(target, ["CPU", "DEVICE"], "target", self.cls_name)
        if not sparse and target == "CPU":
            raise ValueError(f"For '{self.cls_name}', 'sparse' must be True when 'target' is CPU, but got False.")
        self.vocab_size = Validator.check_positive_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = Validator.check_positive_int(embedding_size, "embedding_size", self.cls_name)
        Validator.check_non_negative_int(vocab_cache_size, "vocab_cache_size", self.cls_name)
        self.vocab_cache_size = vocab_cache_size
        if vocab_cache_size:
            log.once("EmbeddingLookup: there is no parameter server, so 'vocab_cache_size' has no effect.")
        self.slice_mode = Validator.check_string(slice_mode, _SLICE_MODES, "slice_mode", self.cls_name)
        if manual_shapes is not None and slice_mode == "field_slice":
            Validator.check_value_type("manual_shapes", manual_shapes, [tuple], self.cls_name)
            for size in manual_shapes:
                Validator.check_positive_int(size, "manual shape dim", self.cls_name)
        self.manual_shapes = manual_shapes
        self.embedding_table = Parameter(
            initializer(param_init, [self.vocab_size, self.embedding_size]), name="embedding_table"
        )
        self.lookup = P.EmbeddingLookup() if target == "CPU" else P.Gather()
        self.max_norm = max_norm
        if max_norm is not None:
            Validator.check_positive_float(max_norm, "max_norm", self.cls_name)
            self.max_norm = Tensor(max_norm, dtype=mstype.float32)
            # The norm is that of one vector: of the last axis.
            self.clip_by_norm = ClipByNorm((-1,))

    def construct(self, indices):
        out = self.lookup(self.embedding_table, indices, 0)
        if self.max_norm is not None:
            out = self.clip_by_norm(out, self.max_norm)
        return out


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """
    Weighted vectors of a table, merged field by field.

    Args:
        vocab_size (int): The number of vectors.
        embedding_size (int): The length of a vector.
        field_size (int): The number of fields.
        param_init (Union[Tensor, str, Initializer, numbers.Number]): The initial table. Default: "normal".
        target (str): As in EmbeddingLookup. Default: "CPU".
        slice_mode (str): As in EmbeddingLookup. Default: "batch_slice".
        feature_num_list (tuple): As `manual_shapes` in EmbeddingLookup. Default: None.
        max_norm (float): As in EmbeddingLookup. Default: None.
        sparse (bool): As in EmbeddingLookup. Default: True.
        operator (str): How the vectors of a field become one: "SUM", "MEAN" or "MAX". Default: "SUM".

    Inputs:
        - **input_indices** (Tensor) - (batch_size, seq_length), int32 or int64: the vectors' numbers.
        - **input_values** (Tensor) - (batch_size, seq_length), float32: their weights; 0 marks padding.
        - **field_ids** (Tensor) - (batch_size, seq_length), int32: their fields.

    Outputs:
        Tensor of shape (batch_size, field_size, embedding_size).

    Raises:
        TypeError: If an input is of another type.
        ValueError: If an input is not 2-D, or `operator` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> input_indices = Tensor([[2, 4, 6, 0, 0], [1, 3, 5, 0, 0]], mindspore.int32)
        >>> input_values = Tensor([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]], mindspore.float32)
        >>> field_ids = Tensor([[0, 1, 1, 0, 0], [0, 0, 1, 0, 0]], mindspore.int32)
        >>> net = nn.MultiFieldEmbeddingLookup(10, 2, field_size=2, operator='SUM', target='DEVICE')
        >>> print(net(input_indices, input_values, field_ids).shape)
        (2, 2, 2)
    """

    OPERATOR_SUM, OPERATOR_MEAN, OPERATOR_MAX = _OPERATORS = ("SUM", "MEAN", "MAX")

    def __init__(
        self,
        vocab_size,
        embedding_size,
        field_size,
        param_init="normal",
        target="CPU",
        slice_mode="batch_slice",
        feature_num_list=None,
        max_norm=None,
        sparse=True,
        operator="SUM",
    ):
        super().__init__(
            vocab_size,
            embedding_size,
            param_init,
            target,
            slice_mode,
            feature_num_list,
            max_norm,
            sparse,
        )
        self.field_size = Validator.check_positive_int(field_size, "field_size", self.cls_name)
        self.operator = Validator.check_string(operator, self._OPERATORS, "operator", self.cls_name)
        self.merge = P.UnsortedSegmentMax() if operator == self.OPERATOR_MAX else P.UnsortedSegmentSum()
        self.segment_sum = P.UnsortedSegmentSum()
        self.abs = P.Abs()
        self.equal = P.Equal()
        self.not_equal = P.NotEqual()
        self.cast = P.Cast()
        self.div_no_nan = P.DivNoNan()
        self.expand = P.ExpandDims()
        self.reshape = P.Reshape()

    def _check(self, x, name, dtypes):
        if x.ndim != 2:
            raise ValueError(f"For '{self.cls_name}', '{name}' should be 2d, but got shape {x.shape}.")
        Validator.check_type_name(name, x.dtype, dtypes, self.cls_name)

    def construct(self, input_indices, input_values, field_ids):
        self._check(input_indices, "input_indices", [mstype.int32, mstype.int64])
        self._check(input_values, "input_values", [mstype.float32])
        self._check(field_ids, "field_ids", [mstype.int32])

        batch_size, length = input_indices.shape
        segments = batch_size * self.field_size
        # Each sample has its own segments: field f of sample n is segment n * field_size + f.
        first = Tensor(np.arange(0, segments, self.field_size, dtype=np.int32).reshape(batch_size, 1))
        field_ids = self.reshape(field_ids + first, (-1,))
        weights = self.reshape(input_values, (batch_size * length, 1))
        vectors = self.reshape(super().construct(input_indices), (batch_size * length, self.embedding_size)) * weights
        if self.operator == self.OPERATOR_MAX:
            # Padding must never be the maximum.
            vectors = vectors + self.cast(self.equal(weights, 0), mstype.float32) * float(np.finfo(np.float32).min)

        merged = self.merge(vectors, field_ids, segments)
        if self.operator != self.OPERATOR_SUM:
            total = self.segment_sum(self.abs(self.reshape(input_values, (-1,))), field_ids, segments)
            total = self.expand(total, -1)
            if self.operator == self.OPERATOR_MEAN:
                merged = self.div_no_nan(merged, total)
            else:
                merged = merged * self.cast(self.not_equal(total, 0.0), mstype.float32)
        return self.reshape(merged, (batch_size, self.field_size, self.embedding_size))
