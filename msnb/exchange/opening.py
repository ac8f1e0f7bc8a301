"""What is in a file, for looking: its graph, or the values that it holds by name. The file's ending says what it is."""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msnb.ir.anf import FuncGraph

# Ending -> the module whose `look(path)` gives the graph; each is loaded when such a file is opened.
READERS: dict[str, str] = {
    ".mindir": "msnb.exchange.mindir.read",
    ".onnx": "msnb.exchange.onnx.read",
    ".stablehlo": "msnb.exchange.stablehlo",
}
# Ending -> the module whose `read(path)` gives arrays and texts by name, for files that hold no graph.
HOLDERS: dict[str, str] = {".ckpt": "msnb.formats.checkpoint", ".safetensors": "msnb.formats.safetensors"}


def graph_in(path: str | os.PathLike[str]) -> FuncGraph:
    """The graph in a file, with operators that msnb does not have as they are called there.

    Args:
        path (str): The file.

    Returns:
        FuncGraph, whose operators need not be those of msnb.

    Raises:
        ValueError: If the ending is unknown, or the file is damaged.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If the file is built in a way that msnb does not read.
    """
    path, module = _reader(path, READERS)
    return module.look(path)


def weights_in(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The values that a file holds, by name; an array is read when it is looked at.

    Args:
        path (str): The file.

    Returns:
        Mapping, names to arrays and texts.

    Raises:
        ValueError: If the ending is unknown, or the file is encrypted or damaged.
        FileNotFoundError: If there is no such file.
    """
    path, module = _reader(path, HOLDERS)
    return module.read(path)


def holds_weights(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name holds values and no graph."""
    return _ending(path) in HOLDERS


def _ending(path):
    return os.path.splitext(os.fspath(path))[1].lower()


def _reader(path, readers):
    """(the path as a str, the module that reads such a file)."""
    path = os.fspath(path)
    if _ending(path) not in readers:
        raise ValueError(
            f"A file whose name ends in {', '.join(READERS | HOLDERS)} can be looked at, but got {path!r}."
        )
    if not os.path.isfile(path):
        raise FileNotFoundError(f"The file {path!r} does not exist.")
    return path, import_module(readers[_ending(path)])  # spares its tables to those who open no such file
