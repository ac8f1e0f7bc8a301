"""Export of a graph as Python source: readable classes of Cells.

msnb.to_source(net, x, path="net.py")              # a Cell and the arguments of a call
msnb.to_source(msnb.load_onnx("net.onnx"))         # a network that was read from a file
"""

import os
from collections.abc import Callable
from typing import Any

from msnb._util.atomic_file import writing
from msnb.core.errors.messages import describe
from msnb.exchange.source.expressions import NoPythonForm
from msnb.exchange.tracing import traced
from msnb.formats import checkpoint
from msnb.ir.anf import FuncGraph
from msnb.ir.source import show
from msnb.nn.cell import Cell
from msnb.nn.graph_cell import GraphCell

from .blocks import Blocks
from .classes import Text

__all__ = ["to_source"]


def to_source(
    net: "Cell | Callable[..., Any] | FuncGraph", *inputs: Any, path: str | os.PathLike[str] | None = None
) -> str:
    r"""Return a network as Python source: classes of Cells with `__init__` and `construct`, to be read and changed.

    Each scope becomes a class, and equal scopes share one. Operators that form a layer of `mindspore.nn` are
    written as that layer. The text imports only `mindspore`. Its Parameters have the same names and shapes as those of
    `net`, so a checkpoint of `net` can be loaded. The classes compute the network in evaluation mode. Constants of more
    than 64 elements become Parameters, whose values are in the checkpoint next to `path`.

    Args:
        net (Union[Cell, Callable, FuncGraph]): A Cell or a function, a graph, or a Cell made from a graph, for example
            by `msnb.load_onnx`.
        inputs: The arguments of a call of the Cell or function. A graph takes none.
        path (str): A file for the text. The values of all Parameters are written next to it, under the same name with
            the ending ``.ckpt``, for `load_checkpoint`. Default: None, nothing is written.

    Returns:
        str, the text.

    Raises:
        TypeError: If `net` has another type, or if `inputs` are given for a graph.
        ValueError: If there are constants of more than 64 elements and no `path`.
        NotImplementedError: If operators can't be written in Python; all of them are named.
        OSError: If the file cannot be written.

    Examples:
        >>> text = mindspore.to_source(nn.ReLU(), Tensor([1.0], mindspore.float32))
        >>> print("\n".join(text.splitlines()[2:]))
        from mindspore import nn
        <BLANKLINE>
        <BLANKLINE>
        class ReLU(nn.Cell):
            def __init__(self):
                super().__init__()
                self.relu = nn.ReLU()
        <BLANKLINE>
            def construct(self, x):
                return self.relu(x)
    """
    if isinstance(net, (FuncGraph, GraphCell)):
        if inputs:
            raise TypeError("For 'to_source', a graph has its inputs already; give them with a Cell.")
        graph = net if isinstance(net, FuncGraph) else net.graph
    elif callable(net):
        graph = traced(net, *inputs)
    else:
        raise TypeError(f"For 'to_source', 'net' should be a Cell or a graph, but got {describe(net)}.")
    blocks = Blocks(graph)
    text = Text(blocks)
    if blocks.missing:
        raise NoPythonForm(_format_unsupported_message(graph.name, blocks.missing))
    if text.constants and path is None:
        raise ValueError(
            f"For 'to_source', {graph.name} has {len(text.constants)} constants that are too large for a text; give a "
            "'path', and they are written to a checkpoint beside it."
        )
    source = "\n".join([*text.lines(), ""])
    if path is not None:
        path = os.fspath(path)
        with writing(path, "w") as file:
            file.write(source)
        values = {
            **{name: graph.weights[name] for name in text.names.values() if name in graph.weights},
            **text.constants,
        }
        if values:
            checkpoint.write(f"{os.path.splitext(path)[0]}.ckpt", values)
    return source


def _format_unsupported_message(name, missing):
    """Return the message that lists every operator without a Python form, with the location of its first call."""
    lines = []
    for (op, why), node in missing.items():
        location = ", ".join(text for text in (node.scope, show(node.source)) if text)
        lines.append(f"  {op} in {location}: {why}" if location else f"  {op}: {why}")
    return f"'{name}' has {len(lines)} operator(s) that have no form in Python:\n" + "\n".join(lines)
