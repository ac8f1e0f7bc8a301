"""`_no_grad`: a context whose operators are not recorded for gradients."""

import contextlib

from msnb.core.state import trace_state


def is_grad_enabled() -> bool:
    """Return False while `_no_grad` or `enable_grad(False)` is in effect in this thread."""
    return trace_state.thread.paused is None


def enable_grad(is_enabled: bool) -> None:
    """Stop recording operators for gradients in this thread, or continue. The end of a gradient restores the state
    before it.

    Raises:
        RuntimeError: If called inside a graph. Use `ops.stop_gradient` there.
    """
    thread = trace_state.thread
    if thread.frame is not None:
        raise RuntimeError(
            "_no_grad() is for PYNATIVE mode; inside a graph ops.stop_gradient(x) keeps a gradient from x."
        )
    if is_enabled and thread.paused is not None:
        thread.recording, thread.paused = thread.paused, None
    elif not is_enabled and thread.paused is None:
        thread.recording, thread.paused = 0, thread.recording
    trace_state.update_results_observed()


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
        self._before: list[bool] = []

    def __enter__(self) -> "_no_grad":
        before = is_grad_enabled()
        enable_grad(False)
        self._before.append(before)
        return self

    def __exit__(self, *error: object) -> None:
        enable_grad(self._before.pop())
