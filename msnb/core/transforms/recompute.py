"""Cells whose inner values are computed again on the way back of a gradient, instead of being kept until then."""

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
    """
    What a Cell or a method of one returns; in a graph a gradient keeps its inputs alone, and computes what is between
    again. In PYNATIVE mode it is an ordinary call.

    Args:
        block (Union[Cell, method]): What is called.
        args (Any): Its arguments.
        kwargs (Any): Its keyword arguments.

    Returns:
        Any, what it returns.

    Raises:
        TypeError: If `block` is neither.

    Examples:
        >>> print(mindspore.recompute(nn.ReLU(), Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    owner = block if hasattr(block, "construct") else getattr(block, "__self__", None)
    if not hasattr(owner, "get_parameters"):
        raise TypeError(f"For 'recompute', 'block' should be a Cell or a method of one, but got {describe(block)}.")
    return call(_Called(block, owner), args, kwargs) if _thread.frame is not None else block(*args, **kwargs)


class _Called:
    """A function, and the Parameters of the Cell that it belongs to."""

    def __init__(self, function, owner):
        self.construct = function if function is not owner else owner.__call__
        self.get_parameters = owner.get_parameters


def call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `cell.construct` gives in the graph that is being traced; of it a gradient keeps the inputs alone.

    What the Cell writes, draws and checks belongs to the first time that it is computed.
    """
    outer = _thread.frame
    construct = script.call(cell.construct)
    if _thread.carriers is not None and _thread.carriers.active:  # by whole numbers: what is kept for it is outside
        return construct(*args, **kwargs)
    given, rebuild_given = flatten((args, kwargs))
    params = list(cell.get_parameters())
    shape = {}

    def run(param_arrays, arrays):
        arrays = iter(arrays)
        again, by_name = rebuild_given([box(next(arrays)) if isinstance(g, Tensor) else g for g in given])
        with trace_state.TraceFrame(params, param_arrays, outer) as frame:
            leaves, shape["rebuild"] = flatten(construct(*again, **by_name))
            writes = frame.writes()
            shape["written"] = [p for p, _ in writes]
            shape["leaves"] = [None if isinstance(leaf, Tensor) else (leaf,) for leaf in leaves]
            shape["hidden"] = frame.hidden_names()
            found = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)]
            return found, [a for _, a in writes], frame.hidden_arrays(shape["hidden"])

    tensors = [g._array for g in given if isinstance(g, Tensor)]
    found, written, hidden = jax.checkpoint(run, policy=remat_policy.policy)([p._array for p in params], tensors)
    for param, array in zip(shape["written"], written, strict=True):
        param._assign(array)
    outer.adopt_hidden(shape["hidden"], hidden)
    found = iter(found)
    return shape["rebuild"]([box(next(found)) if s is None else s[0] for s in shape["leaves"]])
