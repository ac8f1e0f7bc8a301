"""Names and layouts of a network's Parameters in other frameworks, from the kind of each Cell."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from msnb import nn
from msnb.core.tensor.parameter import Parameter
from msnb.nn.layer.lstm import LSTM as PackedLSTM

# Attribute of a Cell -> name in PyTorch. Other attributes have the same name there.
_NORM_NAMES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}


@dataclass
class Slot:
    """A Parameter and the arrays of another framework that fill it.

    Attributes:
        parameter (Parameter): the Parameter.
        cell_path (str): path of the Cell that has it.
        names (tuple[str]): name of each array in PyTorch.
        shapes (tuple[tuple[int]]): shape of each array.
        own_names (tuple[str]): names in MindSpore: that of the Parameter, and its attribute path.
        is_dense (bool): True if the array may be stored transposed.
        pack (Callable): returns the Parameter's value from the arrays. None if there is one array of its shape.
        unpack (Callable): returns the arrays from the Parameter's value, or None.
        aliases (list[str]): names of the same Parameter in other Cells.
    """

    parameter: Parameter
    cell_path: str
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    own_names: tuple[str, ...]
    is_dense: bool = False
    pack: Callable[[list[np.ndarray]], np.ndarray] | None = None
    unpack: Callable[[np.ndarray], list[np.ndarray]] | None = None
    aliases: list[str] = field(default_factory=list)


def list_slots(net: Any) -> list[Slot]:
    """Return a Slot for each Parameter of a network, in the order of its Cells."""
    slots: dict[int, Slot] = {}
    inner: dict[str, str] = {}  # path of a Cell that PyTorch does not have -> path of its parent
    for path, cell in net.cells_and_names():
        if isinstance(cell, nn.BatchNorm3d):
            inner[_join(path, "bn2d")] = path
        for attribute, parameter in cell._params.items():
            if parameter is None:
                continue
            slot = _make_slot(cell, inner.get(path, path), attribute, parameter)
            slot.own_names = (parameter.name, _join(path, attribute))
            if id(parameter) in slots:
                slots[id(parameter)].aliases += [*slot.names, *slot.own_names]
            else:
                slots[id(parameter)] = slot
    for parameter in net.get_parameters():
        if id(parameter) not in slots:  # in a ParameterTuple
            name, shape = parameter.name, tuple(parameter.shape)
            slots[id(parameter)] = Slot(parameter, name.rpartition(".")[0], (name,), (shape,), (name,))
    return list(slots.values())


def _join(path, name):
    return f"{path}.{name}" if path else name


def _make_slot(cell, path, attribute, parameter):
    if isinstance(cell, PackedLSTM) and attribute == "weight":
        slot = _make_lstm_slot(cell, path, parameter)
        if slot is not None:
            return slot
    shape = tuple(parameter.shape)
    is_norm = hasattr(cell, "gamma") and hasattr(cell, "beta")
    if is_norm:
        name = _NORM_NAMES.get(attribute, attribute)
    elif (isinstance(cell, nn.Embedding) and attribute == "embedding_table") or (
        isinstance(cell, nn.PReLU) and attribute == "w"
    ):
        name = "weight"
    else:
        name = attribute
    if isinstance(cell, nn.Conv1d | nn.Conv1dTranspose) and attribute == "weight":
        shape = (*shape[:2], shape[3])  # MindSpore's kernel is an image of height 1
    if getattr(cell, "is_dense_in_torch", False) and attribute == "weight":
        shape = shape[:2]  # a convolution of 1 x 1
    is_dense = isinstance(cell, nn.Dense) and attribute == "weight"
    return Slot(parameter, path, (_join(path, name),), (shape,), (), is_dense)


def _make_lstm_slot(cell, path, parameter):
    """Return the Slot of r1.1's LSTM, whose only Parameter has all matrices and then all biases.

    Without biases the layout of several layers depends on the device, so such a network has no names in PyTorch.
    """
    operator = cell.lstm
    hidden, directions = operator.hidden_size, 1 + operator.bidirectional
    if not operator.has_bias and operator.num_layers * directions > 1:
        return None
    names, shapes = [], []
    spots = [(layer, way) for layer in range(operator.num_layers) for way in ("", "_reverse")[:directions]]
    for layer, way in spots:
        features = operator.input_size if layer == 0 else hidden * directions
        names += [f"weight_ih_l{layer}{way}", f"weight_hh_l{layer}{way}"]
        shapes += [(4 * hidden, features), (4 * hidden, hidden)]
    for layer, way in spots if operator.has_bias else ():
        names += [f"bias_ih_l{layer}{way}", f"bias_hh_l{layer}{way}"]
        shapes += [(4 * hidden,)] * 2
    ends = np.cumsum([math.prod(shape) for shape in shapes])

    def pack(arrays):
        return np.concatenate([np.reshape(array, -1) for array in arrays]).reshape(parameter.shape)

    def unpack(value):
        pieces = np.split(value.reshape(-1), ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    return Slot(parameter, path, tuple(_join(path, n) for n in names), tuple(shapes), (), pack=pack, unpack=unpack)


def iterate_modules(names: list[str]) -> Iterator[list[str]]:
    """Yield the adjacent names that differ in the last component only."""
    group: list[str] = []
    for name in names:
        if group and name.rpartition(".")[0] != group[0].rpartition(".")[0]:
            yield group
            group = []
        group.append(name)
    if group:
        yield group
