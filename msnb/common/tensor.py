"""Re-export module: Tensor and related classes."""

from msnb.core.operator.tensor_function import tensor
from msnb.core.tensor.conversion import _TensorMeta as _TensorMeta
from msnb.core.tensor.memory import swap_tensors
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.core.tensor.tensor import Tensor
from msnb.core.tensor.tensor import _from_pickle as _from_pickle  # pickles contain this path

__all__ = ["MetaTensor", "RowTensor", "SparseTensor", "Tensor", "swap_tensors", "tensor"]
