"""`msnb.summary`: a network's Cells as a table of output shapes, Parameters and FLOPs, or a checkpoint's Parameters."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from msnb.insight.layers import Layer, folded, layers
from msnb.ir.overlay import human
from msnb.notebook.display.checkpoint_table import Contents, contents
from msnb.notebook.display.html import escape, framed
from msnb.notebook.display.table_css import STYLE
from msnb.notebook.text_width import columns_of, pad

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.tensor.parameter import Parameter
    from msnb.nn.cell import Cell

_HEADS = ("Layer", "Class", "Output shape", "Parameters", "FLOPs")
_NUMBERS = 3  # index of the first column of numbers
_WIDEST = 44  # maximum characters of a cell in the text table


def summary(
    net: "Cell | str | PathLike[str] | Mapping[str, Parameter]", *inputs: Any, depth: int | None = None
) -> "Summary | Contents":
    """Return a table of a network's layers, with the output shape, Parameters and FLOPs of each.

    The network is traced on shapes: nothing is computed and nothing compiled. Each row is a call of a Cell, in the
    order of the calls, named by its Cell path (``layer3.2.conv2``). Equal consecutive calls share one row with their
    number. The row of a Cell with sub-Cells excludes the numbers of the sub-Cells, so that both columns of numbers add
    up to the totals. Operators in a loop or branch over Tensors count for the Cell that contains the loop.

    A checkpoint (a file, or the result of `load_checkpoint`) has no calls. Its table lists the Parameters, with the
    mean, standard deviation and histogram of their values and the number of values that are not finite.

    Args:
        net (Union[Cell, str, Path, Mapping[str, Parameter]]): The network, or a checkpoint. A network is traced in its
            current mode, training or evaluation, which matters to Dropout.
        inputs: Inputs of the network: Tensors or arrays. A shape stands for a float32 Tensor, a pair of shape and
            dtype for another Tensor. A single data set supplies the columns of its first batch, as many as `construct`
            takes.
        depth (int): Number of levels of Cells in the table. Deeper Cells are added to the enclosing ones. Default:
            None, all levels.

    Returns:
        Summary, or Contents of a checkpoint. It is displayed as a table in a notebook, and printed as text.

    Raises:
        TypeError: If `net` is no Cell, `construct` needs other inputs, or there are inputs for a checkpoint.
        ValueError: If `depth` is not an int of at least 0; if a file is no checkpoint.

    Examples:
        >>> import msnb
        >>> from msnb import nn
        >>> msnb.summary(nn.SequentialCell(nn.Dense(784, 128), nn.ReLU(), nn.Dense(128, 10)), (32, 784))
        Layer           Class  Output shape  Parameters   FLOPs
        -------------------------------------------------------
        SequentialCell         (32, 10)
        0               Dense  (32, 128)        100,480  6.43 M
        1               ReLU   (32, 128)                  4.1 k
        2               Dense  (32, 10)           1,290  82.2 k
        -------------------------------------------------------
        Parameters  101,770
        FLOPs       6.51 M in one call, a multiply-add as two
        Memory      Parameters 407 kB, inputs 100 kB, outputs of the layers 34 kB
    """
    if depth is not None and (type(depth) is not int or depth < 0):
        raise ValueError(f"For 'summary', 'depth' should be an int of at least 0, but got {depth!r}.")
    if isinstance(net, (str, PathLike, Mapping)):
        if inputs or depth is not None:
            raise TypeError(
                "For 'summary', a checkpoint takes no inputs and no depth: it holds Parameters and no network."
            )
        return contents(net)
    return Summary(layers(net, *inputs), depth)


class Summary:
    """The result of `summary`.

    Attributes:
        layers (Layer): Every call of a Cell, see `msnb.insight.layers`.
        parameters (int), trained (int): Number of elements in all Parameters and in trainable ones, each counted once.
        flops (int): FLOPs of one call; a multiply-add is two.
        parameter_bytes (int), input_bytes (int), output_bytes (int): Memory of the Parameters, of the inputs, and of
            the outputs of the innermost layers.
    """

    def __init__(self, root: Layer, depth: int | None = None) -> None:
        self.layers: Layer = root
        calls = list(root.calls())
        parameters = {id(p): p for call in calls for p in call.cell.get_parameters()}
        self._left = _describe_uncalled_cells(calls)
        self.parameters: int = sum(p.size for p in parameters.values())
        self.trained: int = sum(p.size for p in parameters.values() if p.requires_grad)
        self.flops: int = sum(call.flops for call in calls)
        self.parameter_bytes: int = sum(p.nbytes for p in parameters.values())
        self.input_bytes: int = sum(octets for *_, octets in root.inputs)
        self.output_bytes: int = sum(octets for call in calls if not call.inner for *_, octets in call.outputs)
        self._rows = [_format_row(layer) for layer in folded(root, depth).calls()]

    def totals(self) -> list[tuple[str, str]]:
        """Return the totals of the network as a list of pairs of str: (name, amount)."""
        fixed = self.parameters - self.trained
        totals = [
            ("Parameters", f"{self.parameters:,}" + (f" ({self.trained:,} trained, {fixed:,} fixed)" if fixed else "")),
            ("FLOPs", f"{human(self.flops)} in one call, a multiply-add as two"),
            (
                "Memory",
                f"Parameters {human(self.parameter_bytes, 'B')}, inputs {human(self.input_bytes, 'B')}, outputs of "
                f"the layers {human(self.output_bytes, 'B')}",
            ),
        ]
        return [*totals, ("Not called", self._left)] if self._left else totals

    def __repr__(self) -> str:
        rows = [_HEADS, *(cells for cells, _ in self._rows)]
        rows = [[_ellipsize(cell) for cell in row] for row in rows]
        widths = [max(columns_of(row[column]) for row in rows) for column in range(len(_HEADS))]
        lines = [
            "  ".join(
                pad(cell, width, to_right=column >= _NUMBERS)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([*lines[:1], rule, *lines[1:], rule, *(f"{what:<10}  {much}" for what, much in self.totals())])

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th scope="col"{_get_alignment_class(column)}>{escape(head)}</th>' for column, head in enumerate(_HEADS)
        )
        rows = "".join(
            f"<tr{' class=around' if around else ''}>"
            + "".join(f"<td{_get_alignment_class(column)}>{escape(cell)}</td>" for column, cell in enumerate(cells))
            + "</tr>"
            for cells, around in self._rows
        )
        totals = "".join(
            f'<div><b>{escape(what)}</b> <span class="dim">{escape(much)}</span></div>' for what, much in self.totals()
        )
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        body = f'{STYLE}<div class="layers" tabindex="0">{table}</div><div class="totals">{totals}</div>'
        return framed(body, f"Layers of {self.layers.kind}")


def _format_row(layer):
    """Return (cells of the table, True for a Cell with sub-Cells in the table) of a call."""
    name = layer.path or layer.kind
    if layer.last != layer.path:
        name = f"{layer.path} … {layer.last.rpartition('.')[2]}"
    kind = (layer.kind if layer.path else "") + (f" × {layer.times}" if layer.times > 1 else "")
    times = f"{layer.times} × " if layer.times > 1 else ""
    outputs = ", ".join(_format_output(*output) for output in layer.outputs)
    parameters = f"{times}{layer.parameters:,}" if layer.parameters else "shared" if layer.shared else ""
    return (name, kind, outputs, parameters, f"{times}{human(layer.flops)}" if layer.flops else ""), bool(layer.inner)


def _format_output(dtype, shape, _):
    return str(shape) if dtype == "Float32" else f"{dtype} {shape}"


def _describe_uncalled_cells(calls):
    """Return a text that lists the Cells with Parameters that are never called; "" if there are none."""
    called = {id(call.cell) for call in calls}
    left = []
    for path, cell in calls[0].cell.cells_and_names():
        numbers = sum(p.size for p in cell.get_parameters())
        if id(cell) not in called and numbers and not any(path.startswith(f"{other}.") for other, _ in left):
            if not any(id(below) in called for _, below in cell.cells_and_names()):  # a CellList itself is never called
                left.append((path, numbers))
    return ", ".join(f"{path} ({numbers:,} numbers)" for path, numbers in left)


def _ellipsize(cell):
    if columns_of(cell) <= _WIDEST:
        return cell
    while columns_of(cell) >= _WIDEST:
        cell = cell[:-1]
    return f"{cell}…"


def _get_alignment_class(column):
    return ' class="n"' if column >= _NUMBERS else ""
