"""The result of `msnb.diff` with values: two graphs side by side, coloured by the difference that each node adds."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.insight.debugger.onnxruntime_run import OnnxRuntimeModel, run_in_onnxruntime
from msnb.insight.debugger.runs_to_compare import run_of
from msnb.insight.debugger.value_diff import NodeDifference, ValueDiff, columns_of, diff_values
from msnb.insight.dump.dumped_run import is_dump, with_dumped_values
from msnb.notebook.graph.view import GraphView


class ValueDiffView(GraphView):
    """Two compared graphs with two columns, relative to the largest value of each node. "made here" is the difference
    that the node adds; "came in" is the difference that comes from its operands.

    Args:
        result (ValueDiff): the comparison.
        names (tuple[str]): names of the two runs.
        height (int): height in pixels.
    """

    def __init__(self, result: ValueDiff, names: tuple[str, ...], height: int) -> None:
        graphs = dict(zip(names, (result.a.graph, result.b.graph), strict=True))
        super().__init__(graphs, height=height, is_difference=True)
        self.result: ValueDiff = result
        for side, name in enumerate(names):
            for key, column in columns_of(result, side).items():
                self.set_column(key, column, colour=key == "made here" and not side, stage=name)

    @property
    def first(self) -> NodeDifference | None:
        """The first node in the order of execution that adds more difference than rounding explains, or None."""
        return self.result.first

    @property
    def nodes(self) -> list[NodeDifference]:
        """The differences of all compared nodes, in the order of execution."""
        return self.result.nodes

    def table(self, by: str | None = None) -> Any:
        """Return a table with a row per compared node: difference, came in, made here, tolerance, line.

        Args:
            by (str): ``"Cell"`` for the table of the first graph, see `GraphView.table`. Default: None.

        Returns:
            TextTable, which shows itself as text or HTML.
        """
        return self.result.table() if by is None else super().table(by)

    def explain(self) -> str:
        """Return the comparison in sentences with numbers and lines."""
        return Sentences(self.result.explain())

    def pair(self, node: Any) -> tuple[Tensor, Tensor]:
        """Return the values of a node in the two runs.

        Args:
            node (Union[str, int, CNode, NodeDifference]): a query for nodes of the first graph, or `first`.

        Raises:
            ValueError: If no node matches, or it has no counterpart.
        """
        first, second, _ = self.result.values(node)
        return Tensor(np.asarray(first)), Tensor(np.asarray(second))

    def __repr__(self) -> str:
        return self.result.explain()


def _has_stored_values(source):
    return is_dump(source) or isinstance(source, OnnxRuntimeModel)


class Sentences(str):
    """A text that a notebook shows with its line breaks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def compare_values(
    old: Any,
    new: Any,
    inputs: tuple[Any, ...],
    names: tuple[str, ...],
    height: int,
    rtol: float | None,
    pairs: Mapping[Any, Any] | None,
    weights: str | None,
) -> ValueDiffView:
    """Compare two networks by value, see `msnb.diff`."""
    if _has_stored_values(new):
        # swap: nodes of the second run are evaluated on other operands, which stored values do not allow
        if _has_stored_values(old):
            raise ValueError(
                "For 'diff', one of the two should be a network: compare each dump or run of onnxruntime with it."
            )
        (old, new), names = (new, old), names[::-1]
    evaluates = any(isinstance(one, (str, os.PathLike, OnnxRuntimeModel)) for one in (old, new) if not is_dump(one))
    second = run_of(new, inputs, names[1], evaluates)
    if isinstance(old, OnnxRuntimeModel):
        first = run_in_onnxruntime(old, inputs, names[0])
    else:
        first = run_of(new if is_dump(old) else old, inputs, names[0], evaluates)
    if is_dump(old):
        first = with_dumped_values(first, old)
    return ValueDiffView(diff_values(first, second, rtol, pairs, weights), names, height)
