"""The graph in a file, for looking: by its ending, operators that msnb does not have as they are called there."""

import os
from importlib import import_module

from msnb.ir.anf import FuncGraph

# Ending -> the module whose `look(path)` gives the graph; each is loaded when such a file is opened.
READERS: dict[str, str] = {
    ".mindir": "msnb.exchange.mindir.read",
    ".onnx": "msnb.exchange.onnx.read",
    ".stablehlo": "msnb.exchange.stablehlo",
}


def graph_in(path: str | os.PathLike[str]) -> FuncGraph:
    """The graph in a file.

    Args:
        path (str): The file; its ending says what it is.

    Returns:
        FuncGraph, whose operators need not be those of msnb.

    Raises:
        ValueError: If the ending is unknown, or the file is damaged.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If the file is built in a way that msnb does not read.
    """
    path = os.fspath(path)
    ending = os.path.splitext(path)[1].lower()
    if ending not in READERS:
        raise ValueError(f"A file whose name ends in {', '.join(READERS)} can be looked at, but got {path!r}.")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"The file {path!r} does not exist.")
    return import_module(READERS[ending]).look(path)  # spares its tables to those who open no such file
