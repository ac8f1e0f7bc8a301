"""Inputs with axes of any length (None): the network is traced with two lengths of each, which are compared.

A dimension that is the product of such axes is computed where an operator has to be told it. One that is not, such as
that of what a convolution with a stride gives, is only known to be unknown, which is all that a shape in a MINDIR file
has to say.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.core.tensor import Tensor
from msnb.core.tree import flatten
from msnb.exchange.symbolic import Merge, Refused, Sizes, Unknown, sizes_of
from msnb.exchange.tracing import traced
from msnb.ir.anf import FuncGraph


class _Merge(Merge):
    def number(self, a, b):
        try:
            return super().number(a, b)
        except Refused:
            return Unknown()


def graph_of(net: Callable[..., Any], inputs: Sequence[Any]) -> FuncGraph:
    """The graph of a network; dimensions that differ are an `Extent` or `Unknown`.

    Args:
        net (Union[Cell, Callable]): The network.
        inputs (Sequence): Tensors, also in tuples, lists and dicts, some of which have None in their shapes.

    Raises:
        NotImplementedError: If the network does not take all lengths alike.
    """
    leaves = flatten(tuple(inputs))[0]
    open_ = [(i, axis) for i, x in enumerate(leaves) for axis, n in enumerate(x.shape) if n is None]
    sizes = sizes_of(open_)
    try:
        return _merged(net, inputs, sizes)
    except ValueError:  # axes of one place may have to be of one length, such as that of the batch
        first = {axis: sizes[i, axis] for i, axis in reversed(open_)}
        return _merged(net, inputs, {(i, axis): first[axis] for i, axis in open_})


def _merged(net, inputs, lengths):
    graphs, (leaves, rebuild) = [], flatten(tuple(inputs))
    for turn in (0, 1):
        given = []
        for i, x in enumerate(leaves):
            shape = [lengths[i, axis][turn] if n is None else n for axis, n in enumerate(x.shape)]
            given.append(Tensor(np.zeros(shape, x._array.dtype)) if None in x.shape else x)
        graphs.append(traced(net, *rebuild(given)))
    names = [node.name for node in graphs[0].parameters if not node.is_weight]
    sizes: Sizes = {(names[i], axis): pair for (i, axis), pair in lengths.items()}
    try:
        return _Merge(sizes).graph(*graphs)
    except Refused as error:
        raise Refused(
            f"For 'export', an axis that is None has to be of any length, but {error}. Give its length: "
            "Tensor(numpy.zeros(shape))."
        ) from None
