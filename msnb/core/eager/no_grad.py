"""`_no_grad`: a context whose operators are not recorded for gradients."""

import contextlib
from typing import Any

from msnb.core.eager import tape
from msnb.core.state import trace_state


class _no_grad(contextlib.ContextDecorator):
    """
    Context manager and decorator for PYNATIVE mode: operators inside are not recorded, and no gradient flows through
    their results.

    Raises:
        RuntimeError: If entered inside a graph. Use `ops.stop_gradient` there.

    Examples:
        >>> w = Parameter(Tensor([2.0]), name="w")
        >>> def loss(x):
        ...     with mindspore.common.api._no_grad():
        ...         scale = w * 3
        ...     return (w * scale * x).sum()
        >>> print(mindspore.grad(loss, None, mindspore.ParameterTuple([w]))(Tensor([1.0])))
        (Tensor(shape=[1], dtype=Float32, value= [ 6.00000000e+00]),)
    """

    def __init__(self) -> None:
        self._open: list[Any] = []

    def __enter__(self) -> "_no_grad":
        if trace_state.thread.frame is not None:
            raise RuntimeError(
                "_no_grad() is for PYNATIVE mode; inside a graph ops.stop_gradient(x) keeps a gradient from x."
            )
        pause = tape.paused()
        pause.__enter__()
        self._open.append(pause)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.pop().__exit__(*error)
