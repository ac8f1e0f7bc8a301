"""Rematerialisation of Cells: the backward pass computes intermediate values again instead of reading saved ones."""

from collections.abc import Callable
from typing import Any

import jax

from msnb import log
from msnb.core import script
from msnb.core.eager import remat_policy
from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.nested_outputs import NestedOutputs

_thread = trace_state.thread


def recompute(
    block: Any,
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable[[], Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Cell or a method of a Cell. In a graph, only its inputs are saved for the backward pass.

    The backward pass computes the intermediate values again.

    In PYNATIVE mode it is an ordinary call.

    Args:
        block (Union[Cell, method]): The Cell or method.
        args (Any): Arguments of `block`.
        use_reentrant (bool): The way of PYNATIVE mode. No effect. Default: True.
        output_recompute (bool): Merge adjacent Cells. No effect; XLA decides. Default: False.
        early_stop (bool): Stop as soon as all values are there. No effect; XLA computes what is read. Default: True.
        context_fn (Callable): Returns contexts for PYNATIVE mode. No effect. Default: None.
        kwargs (Any): Keyword arguments of `block`.

    Returns:
        Any, the result.

    Raises:
        TypeError: If `block` is neither a Cell nor a method of one.
        ValueError: If `context_fn` is passed without ``use_reentrant=False``.

    Examples:
        >>> print(mindspore.recompute(nn.ReLU(), Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    report_ignored_settings("recompute", use_reentrant, output_recompute, early_stop, context_fn)
    owner = block if hasattr(block, "construct") else getattr(block, "__self__", None)
    if not hasattr(owner, "get_parameters"):
        raise TypeError(f"For 'recompute', 'block' should be a Cell or a method of one, but got {describe(block)}.")
    return (
        call_recomputed(_CellMethod(block, owner), args, kwargs)
        if _thread.frame is not None
        else block(*args, **kwargs)
    )


def report_ignored_settings(
    name: str, use_reentrant: bool, output_recompute: bool, early_stop: bool, context_fn: Callable[[], Any] | None
) -> None:
    """Say once which settings of a recomputation have no effect.

    Raises:
        ValueError: If `context_fn` is passed without ``use_reentrant=False``.
    """
    if context_fn is not None and use_reentrant:
        raise ValueError(f"For '{name}', 'context_fn' needs use_reentrant=False.")
    log.unused(
        name,
        "XLA computes again what the gradient reads",
        use_reentrant=not use_reentrant,
        output_recompute=output_recompute,
        early_stop=not early_stop,
        context_fn=context_fn is not None,
    )


class _CellMethod:
    """Pairs a function with the Parameters of the Cell that owns it."""

    def __init__(self, function, owner):
        self.construct = function if function is not owner else owner.__call__
        self.get_parameters = owner.get_parameters


def call_recomputed(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `cell.construct` in the current trace. Only its inputs are saved for the backward pass.

    Only the first computation writes Parameters, draws random numbers and checks values.
    """
    outer = _thread.frame
    construct = script.call(cell.construct)
    # Gradients of integers flow through carriers. The function below would drop them, so nothing is recomputed.
    if _thread.carriers is not None and _thread.carriers.active:
        return construct(*args, **kwargs)
    arg_leaves, rebuild_args = flatten((args, kwargs))
    params = list(cell.get_parameters())
    outputs = NestedOutputs()

    def run(param_arrays, arrays):
        arrays = iter(arrays)
        run_args, run_kwargs = rebuild_args([box(next(arrays)) if isinstance(g, Tensor) else g for g in arg_leaves])
        with trace_state.TraceFrame(params, param_arrays, outer) as frame:
            return outputs.collect(frame, construct(*run_args, **run_kwargs))

    tensors = [g._array for g in arg_leaves if isinstance(g, Tensor)]
    results, written, hidden = jax.checkpoint(run, policy=remat_policy.policy)([p._array for p in params], tensors)
    outputs.apply(outer, written, hidden)
    return outputs.build(results)
