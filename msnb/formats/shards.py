"""Reader of weights in several files, which an index of JSON lists: ``model.safetensors.index.json``.

The index maps each name to the file that has its array: ``{"weight_map": {"a.weight": "model-00001-of-00002.bin"}}``.
The files are in the folder of the index.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

from msnb.formats.text_files import BadFileError, json_file


def read(path: str | os.PathLike[str], read_file: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    """Return the arrays that an index lists, by name.

    Args:
        path (str): The index.
        read_file (Callable): Returns the arrays in a file of weights by name.

    Raises:
        FileNotFoundError: If the index or one of its files does not exist.
        BadFileError: If it is no index, or a file does not have an array that the index lists.
    """
    path = os.fspath(path)
    index = json_file(path)
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict) or not all(isinstance(file, str) for file in names.values()):
        raise BadFileError(f"{path!r} is no index of weights: it has no 'weight_map' from names to files.")
    folder, contents = os.path.dirname(path), {}
    for file in dict.fromkeys(names.values()):
        if file in ("", ".", "..") or os.path.basename(file) != file or "\\" in file:
            raise BadFileError(f"{path!r} lists the file {file[:80]!r}, which is not in its folder.")
        contents[file] = read_file(os.path.join(folder, file))
    missing = [name for name, file in names.items() if name not in contents[file]]
    if missing:
        raise BadFileError(f"{path!r} lists {missing[0]!r} in {names[missing[0]]!r}, which does not have it.")
    return {name: contents[file][name] for name, file in names.items()}
