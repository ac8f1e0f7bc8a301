"""Accidental hits: sampled candidates of a sampled softmax that are true classes."""

import numpy as np

from msnb.common.kinds import PositiveInt, check
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._host import HostPrimitive, host_operator


@host_operator()
class ComputeAccidentalHits(HostPrimitive):
    """Find the sampled candidates that are true classes.

    The number of hits depends on values. Therefore a Cell with this operator runs operator by operator even in GRAPH
    mode.

    Args:
        num_true (int): number of true classes per example. Default: 1.

    Inputs:
        - **true_classes** (Tensor) - (N, num_true), int32 or int64.
        - **sampled_candidates** (Tensor) - (S,), of the same type.

    Outputs:
        Tuple of three Tensors of shape (hits,): the example of each hit, its candidate (both indices of the type of
        `true_classes`), and its weight, which is always -float32.max.
    """

    def __init__(self, num_true=1):
        super().__init__()
        self.add_prim_attr("num_true", check(PositiveInt, num_true, "num_true", self.name))

    def __call__(self, true_classes, sampled_candidates):
        for name, x in (("true_classes", true_classes), ("sampled_candidates", sampled_candidates)):
            if not isinstance(x, Tensor) or x._array.dtype not in _check.INDEX:
                raise TypeError(f"For '{self.name}', '{name}' should be a Tensor of int32 or int64.")
        true, sampled = self.values_of(true_classes, sampled_candidates)
        if true.ndim != 2 or true.shape[1] != self.num_true or sampled.ndim != 1:
            raise ValueError(
                f"For '{self.name}', 'true_classes' should have shape (N, {self.num_true}) and "
                f"'sampled_candidates' (S,), but got {true.shape} and {sampled.shape}."
            )
        example, _, candidate = np.nonzero(true[:, :, None] == sampled[None, None, :])
        weights = np.full(len(example), -np.finfo(np.float32).max, np.float32)
        return tuple(map(Tensor, (example.astype(true.dtype), candidate.astype(true.dtype), weights)))
