"""Operators that call a Python function: `PyFunc` with numpy arrays, `Morph` with Tensors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb import log
from msnb._util.placeholders import not_yet
from msnb.common.dtype import Type
from msnb.common.kinds import Bool, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops.custom import Custom


@host_operator()
class PyFunc(HostPrimitive):
    """An operator that calls a Python function with numpy arrays, without gradient.

    In PYNATIVE mode the function runs once for each call. A compiled program may skip a call whose results are
    unused, or a call with the same inputs as another.

    Args:
        fn (Callable): The function: it takes a numpy array for each Tensor and returns one, or a tuple of them.
        in_types (list[mindspore.dtype]): Element types of its arguments.
        in_shapes (list[tuple]): Shapes of its arguments.
        out_types (list[mindspore.dtype]): Element types of its results, which are converted to them.
        out_shapes (list[tuple]): Shapes of its results.
        stateful (bool): No effect: a function is called in both cases. Default: True.

    Inputs:
        - **input_x** (Union[tuple[Tensor], list[Tensor]]) - The arguments.

    Outputs:
        tuple[Tensor].

    Raises:
        TypeError: If `fn` cannot be called, or the inputs are no tuple or list of Tensors of `in_types`.
        ValueError: If the numbers of types and shapes differ, or an argument or a result has another shape.
    Examples:
        >>> double = ops.PyFunc(lambda x: x * 2, [mindspore.float32], [(2,)], [mindspore.float32], [(2,)])
        >>> print(double((Tensor([1.0, 2.0], mindspore.float32),))[0])
        [2. 4.]
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        in_types: Sequence[Type],
        in_shapes: Sequence[tuple[int, ...]],
        out_types: Sequence[Type],
        out_shapes: Sequence[tuple[int, ...]],
        stateful: bool = True,
    ):
        super().__init__()
        if not callable(fn):
            raise TypeError(f"For 'PyFunc', 'fn' should be a function, but got {describe(fn)}.")
        for types, shapes, which in ((in_types, in_shapes, "in"), (out_types, out_shapes, "out")):
            if len(types) != len(shapes):
                raise ValueError(
                    f"For 'PyFunc', '{which}_types' and '{which}_shapes' should be as many, but got {len(types)} and "
                    f"{len(shapes)}."
                )
        stateful = check(Bool, stateful, "stateful", "PyFunc")
        log.unused("PyFunc", "a function runs whenever it is called", stateful=not stateful)
        self.fn = fn
        self.given = list(zip(in_types, map(tuple, in_shapes), strict=True))
        self.promised = list(zip(out_types, map(tuple, out_shapes), strict=True))

    def _call_function(self, *arrays):
        """Call the function and return its results as arrays of the declared types."""
        out = self.fn(*arrays)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        if len(outs) != len(self.promised):
            raise ValueError(f"For 'PyFunc', the function should return {len(self.promised)} arrays, not {len(outs)}.")
        results = [np.asarray(o, np_dtype(kind)) for o, (kind, _) in zip(outs, self.promised, strict=True)]
        for i, (array, (_, shape)) in enumerate(zip(results, self.promised, strict=True)):
            if array.shape != shape:
                raise ValueError(f"For 'PyFunc', result {i} should have shape {shape}, but it has {array.shape}.")
        return tuple(results)

    def __call__(self, input_x):
        if not isinstance(input_x, (tuple, list)) or len(input_x) != len(self.given):
            raise TypeError(
                f"For 'PyFunc', 'input_x' should be a tuple of {len(self.given)} Tensors, but got {describe(input_x)}."
            )
        for i, (x, (kind, shape)) in enumerate(zip(input_x, self.given, strict=True)):
            tensor_argument("PyFunc", f"input_x[{i}]", x)
            if x.dtype != kind:
                raise TypeError(f"For 'PyFunc', input {i} should be made of {kind}, but got {x.dtype}.")
            if x.shape != shape:
                raise ValueError(f"For 'PyFunc', input {i} should have shape {shape}, but got {x.shape}.")
        if not any(is_tracer(x._array) for x in input_x):
            return tuple(Tensor(array) for array in self._call_function(*[x.asnumpy() for x in input_x]))
        kinds, shapes = tuple(k for k, _ in self.promised), tuple(s for _, s in self.promised)
        return Custom(self._call_function, shapes, kinds, "pyfunc")(*input_x)


@host_operator()
class Morph(HostPrimitive):
    """An operator that applies a Python function to Tensors, in both modes. Its gradient is that of the function.

    Args:
        fn (Callable): The function.
        infer_shape (Callable): No effect: shapes follow from `fn`. MindSpore's compiler reads it.
        infer_dtype (Callable): No effect: types follow from `fn`.
        bprop_fn (Callable): Refused; write a Cell with a `bprop`. Default: None.

    Inputs:
        The arguments of `fn`.

    Outputs:
        The results of `fn`.

    Raises:
        NotImplementedError: If `bprop_fn` is not None.

    Examples:
        >>> double = ops.Morph(lambda x: x * 2, lambda shape: shape, lambda dtype: dtype)
        >>> print(double(Tensor([1, 2])))
        [2 4]
    """

    def __init__(self, fn: Any, infer_shape: Any, infer_dtype: Any, bprop_fn: Any = None):
        super().__init__()
        if bprop_fn is not None:
            raise not_yet("bprop_fn of mindspore.ops.Morph", "write a Cell with a bprop(self, *inputs, out, dout)")
        for function, name in ((fn, "fn"), (infer_shape, "infer_shape"), (infer_dtype, "infer_dtype")):
            if not callable(function):
                raise TypeError(f"For 'Morph', '{name}' should be a function, but got {describe(function)}.")
        log.unused("Morph", "shapes and types follow from 'fn'", infer_shape=True, infer_dtype=True)
        self.fn = fn

    def __call__(self, *args):
        return self.fn(*args)
