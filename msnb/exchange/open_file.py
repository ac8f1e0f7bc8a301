"""Open a file and return its graph, a Cell of the graph, or its stored values. The file name's ending selects the
reader, and for stored values also the content.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msnb.formats import shards, weight_files
from msnb.ir.anf import FuncGraph

# Ending -> the module whose `look(path)` returns the graph. It is imported when such a file is opened.
READERS: dict[str, str] = {
    ".mindir": "msnb.exchange.mindir.read.reader",
    ".onnx": "msnb.exchange.onnx.read",
    ".stablehlo": "msnb.exchange.stablehlo",
}
# Ending -> the module whose `read(path)` returns arrays and strings by name, for files without a graph.
WEIGHT_READERS: dict[str, str] = {
    ".ckpt": "msnb.formats.checkpoint",
    ".safetensors": "msnb.formats.safetensors",
    ".npz": "msnb.formats.npz",
    **dict.fromkeys((".pt", ".pth", ".bin"), "msnb.formats.torch_file"),
}
_INDEX = ".index.json"  # lists files of weights, see `formats.shards`


def graph_in(path: str | os.PathLike[str]) -> FuncGraph:
    """Return the graph in a file. An operator that msnb lacks has its name in the file.

    Args:
        path (str): The file.

    Returns:
        FuncGraph. It may contain operators that msnb cannot run.

    Raises:
        ValueError: If the ending is unknown, or the file is damaged.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If the file has a structure that msnb cannot read.
    """
    path, module = _select_reader(path, READERS)
    return module.look(path)


def cell_in(path: str | os.PathLike[str]) -> Any:
    """Return a Cell that runs the operators of the graph in a file.

    Raises:
        ValueError: If the ending is not ``.mindir`` or ``.onnx``, or the file is damaged.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If the file has operators that msnb does not run.
    """
    path, module = _select_reader(path, {ending: READERS[ending] for ending in (".mindir", ".onnx")})
    return module.open_cell(path)


def weights_in(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the values in a weight file by name. Arrays are views of the memory-mapped file, so unused ones are not
    read.

    The content selects the reader where it is known; otherwise the ending does. An index of several files,
    ``.index.json``, gives the arrays of all.

    Args:
        path (str): The file.

    Returns:
        Mapping from names to arrays or strings.

    Raises:
        ValueError: If the kind of file is unknown, or it is encrypted or damaged.
        FileNotFoundError: If there is no such file.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if holds_weights(name))
        raise ValueError(f"{path!r} is a folder. Pass a file of weights in it: {', '.join(names) or 'it has none'}.")
    if _get_file_ending(path) == _INDEX:
        return shards.read(path, weights_in)
    ending = weight_files.recognise(path) if os.path.isfile(path) else ""
    return _select_reader(path, WEIGHT_READERS, ending)[1].read(path)


def holds_weights(path: str | os.PathLike[str]) -> bool:
    """Return True if a file of this name stores values and no graph."""
    return _get_file_ending(path) in (*WEIGHT_READERS, _INDEX)


def _get_file_ending(path):
    name = os.fspath(path).lower()
    return _INDEX if name.endswith(_INDEX) else os.path.splitext(name)[1]


def _select_reader(path, readers, ending=""):
    """Return the path as a str and the module that reads such a file. The name has the ending if none is passed."""
    path = os.fspath(path)
    ending = ending or _get_file_ending(path)
    if ending not in readers:
        if os.path.isfile(path):
            weight_files.recognise(path)  # a file of another framework is an error with advice
        raise ValueError(
            f"msnb opens files whose names end in {', '.join([*READERS, *WEIGHT_READERS, _INDEX])}, but got {path!r}."
        )
    if not os.path.isfile(path):
        raise FileNotFoundError(f"The file {path!r} does not exist.")
    return path, import_module(readers[ending])  # lazy: other formats are not needed
