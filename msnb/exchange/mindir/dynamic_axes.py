"""Build graphs of networks whose inputs have axes of any length (None), for MINDIR.

A dimension that is a product of such axes is computed where an operator needs it. Any other dimension that depends on
them, such as the output size of a convolution with a stride, is `Unknown`. The shapes in a MINDIR file need no more.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.exchange import dynamic_axes
from msnb.exchange.symbolic import Merge, Refused, Unknown
from msnb.ir.anf import FuncGraph


class _Merge(Merge):
    def number(self, a, b):
        try:
            return super().number(a, b)
        except Refused:
            return Unknown()


def graph_of(net: Callable[..., Any], inputs: Sequence[Any]) -> FuncGraph:
    """Return the graph of a network. A dimension that depends on an axis of any length is an `Extent` or `Unknown`,
    see `msnb.exchange.symbolic`.
    """
    return dynamic_axes.graph_of(net, inputs, _Merge)
