"""`load_weights`: read the weights of a network from a file of MindSpore, PyTorch, numpy or ONNX."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from msnb import log, nn
from msnb._checkparam import Validator
from msnb.common import display_hooks
from msnb.common import dtype as mstype
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.open_file import weights_in
from msnb.formats import onnx
from msnb.train.weights import align
from msnb.train.weights.align import Alignment, Match
from msnb.train.weights.slots import list_slots


class WeightRow(NamedTuple):
    """A row of `LoadedWeights`: name in the file, name of the Parameter, its shape, and how they were matched."""

    source: str
    parameter: str
    shape: str
    how: str


class LoadedWeights:
    """The result of `load_weights`: a row for each array of the file and each Parameter. It displays itself as a table.

    Attributes:
        title (str): name of the source.
        rows (list[WeightRow]): the rows, in the order of the network; names without a partner follow.
        is_complete (bool): True if every Parameter and every array has a partner.
        has_guesses (bool): True if Parameters were matched by order and shape.
    """

    def __init__(self, title: str, rows: list[WeightRow], is_complete: bool, has_guesses: bool) -> None:
        self.title, self.rows = title, rows
        self.is_complete, self.has_guesses = is_complete, has_guesses
        self.loaded: int = len({row.parameter for row in rows if row.parameter and row.source})

    _mime_ = display_hooks.mime

    def __iter__(self) -> Iterator[WeightRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def totals(self) -> str:
        """Return the number of Parameters that were loaded as text."""
        many = f"{self.title}: {self.loaded} Parameter{'s' * (self.loaded != 1)} loaded"
        if self.has_guesses:
            many += "; some were matched by order and shape, a guess"
        return many if self.is_complete else f"{many}; names without a partner are at the end"

    def __repr__(self) -> str:
        rows = [("In the file", "Parameter", "Shape", "Matched by"), *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = ["  ".join((*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3])) for row in rows]
        return "\n".join([self.totals(), *lines])


def load_weights(
    net: "nn.Cell",
    source: "str | os.PathLike[str] | Mapping[str, Any]",
    rename: align.Rename | None = None,
    strict: bool = True,
) -> LoadedWeights:
    """Load weights that MindSpore, PyTorch, numpy or ONNX stored into a network. Either all are loaded or none is.

    Arrays are aligned with Parameters in this order: by names after `rename`; by equal names; by the names that PyTorch
    gives to a Cell of this kind (`gamma` of BatchNorm is `weight`, `embedding_table` is `weight`); without a prefix
    that the file has more, such as ``module.``; and at last by order, if all shapes fit. The last one is a guess: a
    warning and the table say so. Layouts follow from the kind of the Cell: kernels of Conv1d, the packed weight of
    LSTM, and matrices of Dense that are stored transposed.

    Args:
        net (Cell): The network.
        source (Union[str, PathLike, Mapping]): A file, ending in .ckpt, .safetensors, .npz, .onnx, .pt, .pth or .bin,
            or arrays by name. A file of PyTorch cannot run code.
        rename (Union[dict, list, Callable]): New names for those of the file. A dict maps names of arrays or of
            modules; a list has pairs (regular expression, text), which are applied in turn; a function takes and
            returns a name. None in the place of a name leaves the array out. A tuple of texts in a list splits the
            array into equal pieces along its longest axis, such as the packed projections of an attention. Default:
            None, the attribute `weight_rules` of `net` if it has one, as the networks of `msnb.model_zoo` do.
        strict (bool): If True, all Parameters and all arrays need a partner of the same shape. If False, the others
            keep their values, and the table lists them. Default: True.

    Returns:
        LoadedWeights, a table with the origin of each Parameter.

    Raises:
        TypeError: If `net` is not a Cell, or `source` or `rename` has the wrong type.
        ValueError: If the file is damaged or of an unknown kind, or names or shapes do not fit.
        FileNotFoundError: If there is no such file.

    Examples:
        >>> import numpy as np
        >>> import msnb
        >>> from msnb import nn
        >>> net = nn.SequentialCell(nn.Dense(3, 2), nn.BatchNorm1d(2))
        >>> ones = np.ones(2, np.float32)
        >>> arrays = {"0.weight": np.ones((2, 3), np.float32), "0.bias": ones, "1.weight": ones, "1.bias": ones,
        ...           "1.running_mean": ones, "1.running_var": ones}
        >>> table = msnb.load_weights(net, arrays)
        >>> table.rows[2].source, table.rows[2].how
        ('1.running_mean', 'kind of Cell')
    """
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For 'load_weights', 'net' should be a Cell, but got {type(net).__name__}.")
    Validator.check_bool(strict, "strict", "load_weights")
    title, arrays = _read_arrays(source)
    if rename is None:
        rename = getattr(net, "weight_rules", None)
    arrays = align.split_packed_arrays(arrays, rename)
    slots = list_slots(net)
    alignment = align.align(slots, arrays, rename)
    problems = align.describe_problems(alignment, arrays, title)
    if problems and strict:
        raise ValueError(problems)
    transposed = align.find_transposed_modules(alignment.matches, arrays)
    values = [(match.slot.parameter, _compute_value(match, arrays, transposed)) for match in alignment.matches]
    for parameter, value in values:
        parameter.set_data(value)
    _warn_of_negative_slopes(net)
    has_guesses = any(match.how == align.GUESSED for match in alignment.matches)
    if has_guesses:
        log.warning(
            "load_weights: names of %s do not fit the network; its arrays were matched by order and shape, which is a "
            "guess. 'rename' makes it certain.",
            title,
        )
    order = {id(slot): number for number, slot in enumerate(slots)}
    return LoadedWeights(title, _list_rows(alignment, arrays, order, transposed), not problems, has_guesses)


def _warn_of_negative_slopes(net):
    """Warn of slopes that r1.1's PReLU sets to 0, because the network then computes other values than the source's."""
    names = [
        cell.w.name
        for _, cell in net.cells_and_names()
        if isinstance(cell, nn.PReLU) and cell._is_cut and (cell.w.asnumpy() < 0).any()
    ]
    if names:
        log.warning(
            "load_weights: %s has negative slopes. PReLU of MindSpore r1.1 takes 0 in their place; that of MindSpore 2 "
            "(--api 2) computes as PyTorch does.",
            ", ".join(names),
        )


def _read_arrays(source):
    """Return (title, arrays by name)."""
    if isinstance(source, Mapping):
        named = {name: value.asnumpy() if hasattr(value, "asnumpy") else value for name, value in source.items()}
        return "the mapping", {name: np.asarray(value) for name, value in named.items()}
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            "For 'load_weights', 'source' should be the path of a file, or a mapping from names to arrays, but got "
            f"{type(source).__name__}."
        )
    path = os.fspath(source)
    title = repr(os.path.basename(path))
    if path.lower().endswith(".onnx"):
        folder = os.path.dirname(path) or "."
        return title, {
            tensor["name"]: onnx.array(tensor, folder) for tensor in _iterate_initializers(onnx.load(path)["graph"])
        }
    return title, {name: value for name, value in weights_in(path).items() if not isinstance(value, str)}


def _iterate_initializers(graph):
    """Yield the initializers of an ONNX graph and of the graphs in its nodes."""
    yield from graph.get("initializer", ())
    for node in graph.get("node", ()):
        for attribute in node.get("attribute", ()):
            for inner in [attribute["g"]] if "g" in attribute else attribute.get("graphs", ()):
                yield from _iterate_initializers(inner)


def _compute_value(match, arrays, transposed):
    """Return the Tensor for the Parameter of a match."""
    slot, names = match.slot, match.names
    pieces = [np.asarray(arrays[name]) for name in names]
    if slot.pack is not None and len(pieces) > 1:
        value = slot.pack(pieces)
    elif _get_layout(match, arrays, transposed) == "transposed":
        value = pieces[0].T
    else:
        value = pieces[0].reshape(slot.parameter.shape)
    dtype = slot.parameter.dtype
    if _get_number_kind(value.dtype) > _get_number_kind(np.dtype(mstype.dtype_to_nptype(dtype))):
        raise ValueError(
            f"For 'load_weights', {names[0]!r} has elements of type {value.dtype.name}, which the Parameter "
            f"{slot.parameter.name!r} of type {dtype} cannot hold; nothing was loaded."
        )
    if value.dtype.kind == "V":  # bfloat16 and float8
        value = value.astype(np.float32)
    return Tensor(np.array(value), dtype)


def _get_number_kind(dtype):
    """Return 0 for bool, 1 for integers, 2 for floats, 3 for complex numbers."""
    return {"b": 0, "i": 1, "u": 1, "c": 3}.get(dtype.kind, 2)


def _get_layout(match, arrays, transposed):
    slot, names = match.slot, match.names
    layout = align.fit_layout(slot, slot.shapes[0], np.shape(arrays[names[0]]))
    is_follower = slot.is_dense and "." in names[0] and names[0].split(".")[-2] in transposed
    return "transposed" if is_follower and layout == "same" and len(set(slot.shapes[0])) == 1 else layout


def _list_rows(alignment: Alignment, arrays: Any, order: dict[int, int], transposed: set[str]) -> list[WeightRow]:
    rows: list[tuple[int, WeightRow]] = []

    def add(match: Match, how: str) -> None:
        for name in match.names:
            row = WeightRow(name, match.slot.parameter.name, str(tuple(np.shape(arrays[name]))), how)
            rows.append((order[id(match.slot)], row))

    for match in alignment.matches:
        is_transposed = len(match.names) == 1 and _get_layout(match, arrays, transposed) == "transposed"
        add(match, f"{match.how}, transposed" if is_transposed else match.how)
    for slot in alignment.missing:
        shape = str(tuple(slot.parameter.shape))
        rows.append((order[id(slot)], WeightRow("", slot.parameter.name, shape, align.MISSING)))
    rows.sort(key=lambda row: row[0])
    apart = {name: align.LEFT_OVER for name in alignment.left_over}
    for match in alignment.misfits:
        apart |= {name: f"{align.MISFIT} {match.slot.parameter.name}" for name in match.names}
    apart |= {name: f"left out: {reason}" for name, reason in alignment.left_out.items()}
    return [row for _, row in rows] + [
        WeightRow(name, "", str(tuple(np.shape(arrays[name]))), how) for name, how in apart.items()
    ]
