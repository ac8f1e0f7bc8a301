"""`Custom`, MindSpore 2's operator that calls a user's Python function with numpy arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.operator.user_primitive import PrimitiveWithInfer

__all__ = ["Custom"]

_COMPILED = ("hybrid", "akg", "tbe", "aot", "aicpu", "julia")


class Custom(PrimitiveWithInfer):
    """An operator that calls a Python function with numpy arrays, as in MindSpore 2.

    The function runs on the host, also within a compiled program, which waits for it. To run a function of JAX arrays
    on the device, decorate it with `mindspore.custom_operator`, or a Pallas kernel with `mindspore.pallas_operator`.

    Args:
        func (Callable): The function. It takes a numpy array for each Tensor and returns a numpy array or a tuple of
            numpy arrays.
        out_shape (Union[Callable, tuple]): Shape of the result, or a function of the inputs' shapes that returns it; a
            tuple of shapes for several results.
        out_dtype (Union[Callable, mindspore.dtype, tuple]): Element type of the result, or a function of the inputs'
            types that returns it; a tuple of types for several results.
        func_type (str): Only ``"pyfunc"`` is supported, so it must be passed. MindSpore compiles the other kinds for
            its own devices; for these, the error names an alternative. Default: "hybrid".
        bprop (Callable): The gradient: a function of the inputs, the result and the gradient of the result, all
            Tensors. It returns a gradient for each input. Default: None, no gradient.
        reg_info (Union[str, dict, list, tuple]): Registration data of the function for MindSpore; no effect here.
            Default: None.

    Inputs:
        - **inputs** (Tensor) - Arguments of the function.

    Outputs:
        Tensor, or a tuple of Tensors.

    Raises:
        NotImplementedError: If `func_type` is another kind, or a gradient is computed without a `bprop`.
        TypeError: If `func` cannot be called, or the function returns something of another type.
        ValueError: If `func_type` is unknown, `out_shape` or `out_dtype` is missing, or a result has another shape.

    Examples:
        >>> import numpy as np
        >>> op = ops.Custom(lambda x: np.sin(x), lambda x: x, lambda x: x, "pyfunc")
        >>> print(op(Tensor([0.0], mindspore.float32)))
        [0.]
    """

    def __init__(
        self,
        func: Callable[..., Any],
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "hybrid",
        bprop: Callable[..., Any] | None = None,
        reg_info: Any = None,
    ) -> None:
        super().__init__("Custom")
        if func_type in _COMPILED:
            raise NotImplementedError(
                f"For 'Custom', func_type='{func_type}' is compiled for MindSpore's own devices and does not run here. "
                "Write the function over JAX arrays and put @mindspore.custom_operator above it, or a Pallas kernel "
                "with @mindspore.pallas_operator; a function over numpy arrays is func_type='pyfunc'."
            )
        if func_type != "pyfunc":
            raise ValueError(
                f"For 'Custom', 'func_type' should be one of pyfunc, {', '.join(_COMPILED)}, but got {func_type!r}."
            )
        if not callable(func):
            raise TypeError(f"For 'Custom', 'func' should be a function, but got {describe(func)}.")
        if bprop is not None and not callable(bprop):
            raise TypeError(f"For 'Custom', 'bprop' should be a function, but got {describe(bprop)}.")
        for name, value in (("out_shape", out_shape), ("out_dtype", out_dtype)):
            if value is None:
                raise ValueError(f"For 'Custom', '{name}' is needed for func_type='pyfunc'; give it, or a function.")
        if reg_info is not None:
            log.unused("Custom", "a function of numpy arrays is not registered anywhere", reg_info=True)
        self.func, self.out_shape, self.out_dtype, self._bprop = func, out_shape, out_dtype, bprop
        for name, value in (("func", func), ("func_type", func_type)):
            self.attrs[name] = value
        # These are attributes of the operator because the result depends on them.
        self.attrs.update(out_shape=out_shape, out_dtype=out_dtype, bprop=bprop)

    def bprop_getter(self, _: Any) -> Callable[..., Any]:
        """Return the gradient function `bprop`. Raise NotImplementedError if there is none."""
        if self._bprop is None:
            raise NotImplementedError(
                f"The operator 'Custom' of {_get_function_name(self.func)} has no gradient; "
                f"give one: Custom(..., bprop=function)."
            )
        return self._bprop

    def _compute_result_types(self, arrays):
        """Return shapes and types of the results, and True if the function returns several."""
        shapes, kinds = self.out_shape, self.out_dtype
        if callable(shapes):
            shapes = shapes(*[tuple(a.shape) for a in arrays])
        if callable(kinds) and not isinstance(kinds, mstype.Type):
            kinds = kinds(*[mstype.from_numpy_dtype(a.dtype) for a in arrays])
        several = isinstance(kinds, (tuple, list))
        kinds = list(kinds) if several else [kinds]
        shapes = list(shapes) if several else [shapes]
        if len(kinds) != len(shapes):
            raise ValueError(f"For 'Custom', there are {len(shapes)} shapes, but {len(kinds)} types of results.")
        structs = [
            jax.ShapeDtypeStruct(tuple(s), mstype.np_dtype(k) if isinstance(k, mstype.Type) else np.dtype(k))
            for s, k in zip(shapes, kinds, strict=True)
        ]
        return structs, several

    def kernel(self, *arrays: Any) -> Any:
        """Call the user's function while the compiled program runs."""
        results, several = self._compute_result_types(arrays)

        def run(*inputs: Any) -> list[np.ndarray]:
            out = self.func(*[np.asarray(x) for x in inputs])
            outs = list(out) if isinstance(out, (tuple, list)) else [out]
            return _check_results(self.func, outs, results)

        outputs = jax.pure_callback(run, results, *arrays, vmap_method="sequential")
        return tuple(outputs) if several else outputs[0]


def _get_function_name(function):
    return getattr(function, "__name__", type(function).__name__)


def _check_results(function: Callable[..., Any], outs: list[Any], results: Sequence[Any]) -> list[np.ndarray]:
    if len(outs) != len(results):
        raise ValueError(
            f"For 'Custom', {_get_function_name(function)} should return {len(results)} arrays, but returned "
            f"{len(outs)}."
        )
    arrays = []
    for out, result in zip(outs, results, strict=True):
        out = np.asarray(out)
        if out.shape != result.shape:
            raise ValueError(
                f"For 'Custom', out_shape says {result.shape}, but {_get_function_name(function)} returned {out.shape}."
            )
        if out.dtype != result.dtype:
            raise TypeError(
                f"For 'Custom', out_dtype says {result.dtype}, but {_get_function_name(function)} returned {out.dtype}."
            )
        arrays.append(out)
    return arrays
