"""Inputs with axes of any length (None).

A dimension that is the product of such axes is computed where an operator has to be told it. One that is not, such as
that of what a convolution with a stride gives, is only known to be unknown, which is all that a shape in a MINDIR file
has to say.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.exchange import any_length
from msnb.exchange.symbolic import Merge, Refused, Unknown
from msnb.ir.anf import FuncGraph


class _Merge(Merge):
    def number(self, a, b):
        try:
            return super().number(a, b)
        except Refused:
            return Unknown()


def graph_of(net: Callable[..., Any], inputs: Sequence[Any]) -> FuncGraph:
    """The graph of a network; dimensions that differ are an `Extent` or `Unknown`, see `any_length`."""
    return any_length.graph_of(net, inputs, _Merge)
