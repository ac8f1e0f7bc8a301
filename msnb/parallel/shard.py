"""`shard`: strategies of a function or Cell, for what goes in and comes out."""

import functools
from collections.abc import Callable
from typing import Any

from msnb import log
from msnb.core import holding, trace
from msnb.core.errors import describe
from msnb.parallel.layout import Layout as Layout

__all__ = ["shard"]


def shard(
    fn: Callable[..., Any],
    in_strategy: tuple[tuple[int, ...], ...],
    out_strategy: tuple[tuple[int, ...], ...] | None = None,
    parameter_plan: dict[str, tuple[int, ...]] | None = None,
    device: str = "Ascend",
    level: int = 0,
) -> Callable[..., Any]:
    """
    A function that does what `fn` does; in GRAPH mode with parallel_mode "semi_auto_parallel" or "auto_parallel" what
    goes in, comes out and is held is cut over the devices as strategies say, and what is computed between follows.

    Args:
        fn (Union[Cell, Callable]): Takes and gives Tensors.
        in_strategy (tuple): For each input a tuple with the number of parts that each of its axes is cut into, or what
            a `mindspore.parallel.Layout` gives for it.
        out_strategy (tuple): Likewise for each output. Default: None, as it comes.
        parameter_plan (dict): Such a tuple for Parameters of a Cell, by name. Default: None, as readers want them.
        device (str): Without effect: it is what the context names. Default: "Ascend".
        level (int): Without effect: there is one search. Default: 0.

    Returns:
        Callable.

    Raises:
        TypeError: If `fn` cannot be called, or a strategy is no tuple of tuples.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> doubled = mindspore.shard(lambda x: x + x, in_strategy=((2, 1),))
        >>> print(doubled(Tensor([[1.0], [2.0]])))
        [[2.]
         [4.]]
    """
    if not callable(fn):
        raise TypeError(f"For 'shard', 'fn' should be a Cell or a function, but got {describe(fn)}.")
    strategies = holding.checked("shard", in_strategy, out_strategy, parameter_plan)
    log.unused("shard", "the context says on which devices a graph runs", device=device != "Ascend", level=level)
    name = getattr(fn, "__name__", type(fn).__name__)

    @functools.wraps(fn, updated=())
    def sharded(*args):
        if trace.thread.frame is None or trace.thread.spread is None:
            return fn(*args)
        held = getattr(fn, "parameters_and_names", list)()
        return holding.call(name, strategies, fn, args, held)

    return sharded
