"""Rematerialisation of Cells: the backward pass computes intermediate values again instead of reading saved ones."""

from typing import Any

import jax

from msnb.core import script
from msnb.core.eager import remat_policy
from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread


def recompute(block: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a Cell or a method of a Cell. In a graph, only its inputs are saved for the backward pass.

    The backward pass computes the intermediate values again.

    In PYNATIVE mode it is an ordinary call.

    Args:
        block (Union[Cell, method]): The Cell or method.
        args (Any): Arguments of `block`.
        kwargs (Any): Keyword arguments of `block`.

    Returns:
        Any, the result.

    Raises:
        TypeError: If `block` is neither a Cell nor a method of one.

    Examples:
        >>> print(mindspore.recompute(nn.ReLU(), Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    owner = block if hasattr(block, "construct") else getattr(block, "__self__", None)
    if not hasattr(owner, "get_parameters"):
        raise TypeError(f"For 'recompute', 'block' should be a Cell or a method of one, but got {describe(block)}.")
    return (
        call_recomputed(_CellMethod(block, owner), args, kwargs)
        if _thread.frame is not None
        else block(*args, **kwargs)
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
    shape = {}

    def run(param_arrays, arrays):
        arrays = iter(arrays)
        run_args, run_kwargs = rebuild_args([box(next(arrays)) if isinstance(g, Tensor) else g for g in arg_leaves])
        with trace_state.TraceFrame(params, param_arrays, outer) as frame:
            leaves, shape["rebuild"] = flatten(construct(*run_args, **run_kwargs))
            writes = frame.writes()
            shape["written"] = [p for p, _ in writes]
            shape["leaves"] = [None if isinstance(leaf, Tensor) else (leaf,) for leaf in leaves]
            shape["hidden"] = frame.hidden_names()
            results = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)]
            return results, [a for _, a in writes], frame.hidden_arrays(shape["hidden"])

    tensors = [g._array for g in arg_leaves if isinstance(g, Tensor)]
    results, written, hidden = jax.checkpoint(run, policy=remat_policy.policy)([p._array for p in params], tensors)
    for param, array in zip(shape["written"], written, strict=True):
        param._rebind_array(array)
    outer.adopt_hidden(shape["hidden"], hidden)
    results = iter(results)
    return shape["rebuild"]([box(next(results)) if s is None else s[0] for s in shape["leaves"]])
