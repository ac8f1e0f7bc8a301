"""`save_weights`: write the weights of a network under the names of PyTorch or of MindSpore."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from msnb import nn
from msnb._checkparam import Validator
from msnb._util.atomic_file import writing
from msnb.formats import checkpoint, safetensors
from msnb.train.weights.rules import apply_rules, invert_rules
from msnb.train.weights.slots import list_slots


def save_weights(net: "nn.Cell", path: str | os.PathLike[str], names: str = "mindspore") -> None:
    """Write the Parameters of a network to a file. `load_weights` is the way back.

    With ``names="torch"`` names and layouts are those of PyTorch for each kind of Cell: `gamma` of BatchNorm is
    `weight`, kernels of Conv1d have three axes, the packed weight of LSTM becomes `weight_ih_l0` and so on. A network
    with the attribute `weight_rules`, such as those of the model zoo, gets the names that its rules translate: those of
    torchvision, timm or Hugging Face. If the rules also translate names of another source, its attribute `torch_rules`
    has those for PyTorch.

    Args:
        net (Cell): The network.
        path (Union[str, PathLike]): File to write, ending in ".safetensors", ".ckpt" or ".npz".
        names (str): "mindspore" or "torch". Default: "mindspore".

    Raises:
        TypeError: If `net` is not a Cell.
        ValueError: If `names` or the ending is another one, the file cannot hold an element type, or the rules of the
            network have no inverse: they split arrays, as those of GPT-2 do.
        OSError: If the file cannot be written.

    Examples:
        >>> import msnb
        >>> from msnb import nn
        >>> net = nn.SequentialCell(nn.Conv1d(3, 4, 3), nn.BatchNorm2d(4))
        >>> msnb.save_weights(net, "net.safetensors", names="torch")
        >>> len(msnb.load_weights(net, "net.safetensors"))
        5
    """
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For 'save_weights', 'net' should be a Cell, but got {type(net).__name__}.")
    Validator.check_string(names, ["mindspore", "torch"], "names", "save_weights")
    ending = Path(path).suffix.lower()
    if ending not in (".safetensors", ".ckpt", ".npz"):
        raise ValueError(
            f"For 'save_weights', 'path' should end in .safetensors, .ckpt or .npz, but got {os.fspath(path)!r}. "
            "PyTorch reads .safetensors with safetensors.torch.load_file."
        )
    arrays = _list_torch_arrays(net) if names == "torch" else {p.name: p.asnumpy() for p in net.get_parameters()}
    if ending == ".ckpt":
        checkpoint.write(path, arrays)
    elif ending == ".safetensors":
        safetensors.write(path, arrays, further={"format": "pt"} if names == "torch" else None)
    else:
        foreign = [name for name, array in arrays.items() if array.dtype.kind == "V"]
        if foreign:
            dtype = arrays[foreign[0]].dtype.name
            raise ValueError(
                f"For 'save_weights', {foreign[0]!r} has elements of type {dtype}, which an .npz file cannot hold; "
                ".safetensors and .ckpt can."
            )
        with writing(path) as file:
            np.savez(file, **arrays)


def _list_torch_arrays(net):
    """Return the arrays by PyTorch's names, in its layouts."""
    arrays: dict[str, Any] = {}
    rules = invert_rules(getattr(net, "torch_rules", None) or getattr(net, "weight_rules", None) or [])
    for slot in list_slots(net):
        value = slot.parameter.asnumpy()
        pieces = [value.reshape(slot.shapes[0])] if slot.unpack is None else slot.unpack(value)
        for own_name, piece in zip(slot.names, pieces, strict=True):
            name = _translate(own_name, slot.parameter.name, rules)
            if name in arrays:
                raise ValueError(f"For 'save_weights', two Parameters have the name {name!r} in PyTorch.")
            arrays[name] = piece
    return arrays


def _translate(name, parameter_name, rules):
    """Return the name that the inverse rules give to a name of PyTorch's kind, or to the Parameter if they name it."""
    translated = apply_rules(rules, parameter_name)
    if translated.rpartition(".")[2] != parameter_name.rpartition(".")[2]:
        return translated
    return apply_rules(rules, name)
