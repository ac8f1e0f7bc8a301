"""Build graphs of networks whose inputs have axes of any length (None).

A network is traced twice with different lengths. A comparison of the graphs shows which dimensions depend on them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.symbolic import MAX_OPEN_AXES, Merge, Refused, Sizes, sizes_of
from msnb.exchange.tracing import traced
from msnb.ir.anf import FuncGraph

Lengths = Mapping[tuple[int, int], Sequence[int]]  # (index of the Tensor among the inputs, axis) -> its two lengths


def open_axes(inputs: Sequence[Any]) -> list[tuple[int, int]]:
    """Return (index of the Tensor among the inputs, axis) for each axis whose length is None."""
    tensors = (x for x in flatten(tuple(inputs))[0] if isinstance(x, Tensor))
    return [(i, axis) for i, x in enumerate(tensors) for axis, n in enumerate(x.shape) if n is None]


def graph_of(net: Callable[..., Any], inputs: Sequence[Any], merge: Callable[[Sizes], Merge] = Merge) -> FuncGraph:
    """Return the graph of a network in evaluation mode, valid for any length of the axes that are None.

    The lengths are independent of each other. If the network does not accept that, axes with the same number get the
    same length: axis 0 of all inputs is the batch.

    Args:
        net (Union[Cell, Callable]): The network.
        inputs (Sequence): Tensors, also in tuples, lists and dicts, some of which have None in their shapes.
        merge (Callable): Class that merges the graphs of the two traces. It defines how dimensions that depend on the
            lengths are represented. Default: `Merge`, which uses an `Extent`.

    Raises:
        NotImplementedError: If no graph is valid for all lengths.
        ValueError: If the network accepts no such lengths, or more than five different axis numbers are None.
    """
    open_ = open_axes(inputs)
    if len(open_) <= MAX_OPEN_AXES:
        try:
            return _trace_twice_and_merge(net, inputs, sizes_of(open_), merge)
        except ValueError:  # the lengths are not independent; axes with the same number get one length below
            pass
    lengths = sizes_of(dict.fromkeys(axis for _, axis in open_))
    return _trace_twice_and_merge(net, inputs, {(i, axis): lengths[axis] for i, axis in open_}, merge)


def _trace_twice_and_merge(net, inputs, lengths, merge):
    graphs = [traced(net, *_fill_open_axes(inputs, lengths, turn)) for turn in (0, 1)]
    names = [node.name for node in graphs[0].parameters if not node.is_weight]
    sizes: Sizes = {(names[i], axis): pair for (i, axis), pair in lengths.items()}
    try:
        return merge(sizes).graph(*graphs)
    except Refused as error:
        raise Refused(
            f"For 'export', an axis that is None has to be of any length, but {error}. Give its length: "
            "Tensor(numpy.zeros(shape))."
        ) from None


def _fill_open_axes(inputs: Sequence[Any], lengths: Lengths, turn: int) -> Any:
    """Replace each Tensor that has axes of any length by zeros. `turn` selects the first or the second length of each
    axis.
    """
    leaves, rebuild = flatten(tuple(inputs))
    filled, number = [], 0
    for x in leaves:
        if isinstance(x, Tensor):
            shape = [lengths[number, axis][turn] if n is None else n for axis, n in enumerate(x.shape)]
            x, number = Tensor(np.zeros(shape, x._array.dtype)) if None in x.shape else x, number + 1
        filled.append(x)
    return rebuild(filled)
