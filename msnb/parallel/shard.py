"""`shard`: sharding strategies for the inputs and outputs of a function or Cell."""

import functools
from collections.abc import Callable
from typing import Any

from msnb import log
from msnb.core.errors.messages import describe
from msnb.core.sharding import constraints
from msnb.core.state import trace_state
from msnb.parallel.sharding.named_layout import Layout as Layout
from msnb.parallel.sharding.named_layout import _DistributedTensorInfo as _DistributedTensorInfo  # libraries import it

__all__ = ["shard"]


def shard(
    fn: Callable[..., Any],
    in_strategy: tuple[tuple[int, ...], ...],
    out_strategy: tuple[tuple[int, ...], ...] | None = None,
    parameter_plan: dict[str, tuple[int, ...]] | None = None,
    device: str = "Ascend",
    level: int = 0,
) -> Callable[..., Any]:
    """Return a function that computes `fn` with sharded inputs, outputs and Parameters.

    The strategies apply in GRAPH mode with parallel_mode "semi_auto_parallel" or "auto_parallel". The sharding of
    intermediate values follows from them.

    Args:
        fn (Union[Cell, Callable]): Takes and returns Tensors.
        in_strategy (tuple): For each input a tuple with the number of shards along each of its axes, or the result of a
            `mindspore.parallel.Layout`.
        out_strategy (tuple): Number of shards along each axis of each output. Default: None, unconstrained.
        parameter_plan (dict): {name: number of shards along each axis} for Parameters of a Cell. Default: None,
            determined by the operators that read them.
        device (str): Without effect: the context selects the device. Default: "Ascend".
        level (int): Without effect: there is one search. Default: 0.

    Returns:
        Callable.

    Raises:
        TypeError: If `fn` cannot be called, or a strategy is not a tuple of tuples.

    Examples:
        >>> doubled = mindspore.shard(lambda x: x + x, in_strategy=((2, 1),))
        >>> print(doubled(Tensor([[1.0], [2.0]])))
        [[2.]
         [4.]]
    """
    if not callable(fn):
        raise TypeError(f"For 'shard', 'fn' should be a Cell or a function, but got {describe(fn)}.")
    strategies = constraints.check_strategies("shard", in_strategy, out_strategy, parameter_plan)
    log.unused("shard", "the context says on which devices a graph runs", device=device != "Ascend", level=level)
    name = getattr(fn, "__name__", type(fn).__name__)

    @functools.wraps(fn, updated=())
    def sharded(*args):
        if trace_state.thread.frame is None or trace_state.thread.spread is None:
            return fn(*args)
        parameters = getattr(fn, "parameters_and_names", list)()
        return constraints.call_constrained(name, strategies, fn, args, parameters)

    return sharded
