"""Conversion between the two checkpoint formats: `ckpt_to_safetensors` and `safetensors_to_ckpt`."""

import os
import re
import stat
from collections.abc import Iterator

from msnb import log
from msnb.formats import checkpoint, safetensors


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Convert checkpoints to safetensors files of the same names.

    Args:
        file_path (str): A file that ends in ".ckpt", or a folder whose subfolders "rank..." hold such files.
        save_path (str): Folder for the files; it is created if it does not exist. Default: None, the folder of each
            file.
        name_map (dict): Maps the name of a Parameter to its new name. Default: None.
        file_name_regex (str): Convert only files whose names match this pattern. Default: None.
        processes_num (int): No effect: one process converts one file after another. Default: 1.

    Raises:
        ValueError: If there is no such file, or it is not a checkpoint.
        TypeError: If a checkpoint holds texts, which the other format cannot store.
        OSError: If a file cannot be written.

    Examples:
        >>> from msnb import save_checkpoint
        >>> save_checkpoint(net, "lenet.ckpt")
        >>> ckpt_to_safetensors("lenet.ckpt")
    """
    log.unused("ckpt_to_safetensors", "one process converts all files", processes_num=processes_num != 1)
    for source, target in _list_conversions(
        "ckpt_to_safetensors", file_path, save_path, file_name_regex, ".ckpt", ".safetensors"
    ):
        safetensors.write(target, _rename_entries(checkpoint.read(source), name_map), permissions=stat.S_IRUSR)


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Convert safetensors files to checkpoints of the same names.

    Args:
        file_path (str): A file that ends in ".safetensors", or a folder whose subfolders "rank..." hold such files.
        save_path (str): As in :func:`ckpt_to_safetensors`. Default: None.
        name_map (dict): As in :func:`ckpt_to_safetensors`. Default: None.
        file_name_regex (str): As in :func:`ckpt_to_safetensors`. Default: None.
        processes_num (int): As in :func:`ckpt_to_safetensors`. Default: 1.

    Raises:
        ValueError: If there is no such file, or it is not a safetensors file.
        OSError: If a file cannot be written.

    Examples:
        >>> from msnb import save_checkpoint
        >>> save_checkpoint(net, "lenet.safetensors", format="safetensors")
        >>> safetensors_to_ckpt("lenet.safetensors")
    """
    log.unused("safetensors_to_ckpt", "one process converts all files", processes_num=processes_num != 1)
    for source, target in _list_conversions(
        "safetensors_to_ckpt", file_path, save_path, file_name_regex, ".safetensors", ".ckpt"
    ):
        checkpoint.write(target, _rename_entries(safetensors.read(source), name_map), permissions=stat.S_IRUSR)


def _rename_entries(entries, name_map):
    names = name_map or {}
    renamed = {names.get(name, name): entries[name] for name in entries}
    if len(renamed) != len(entries):
        raise ValueError("'name_map' gives two Parameters one name.")
    return renamed


def _list_conversions(function, file_path, save_path, pattern, ending, other) -> Iterator[tuple[str, str]]:
    """Yield (source file, target file). Creates the target folders."""
    if os.path.isfile(file_path):
        sources = [file_path] if file_path.endswith(ending) else []
    else:
        ranks = sorted(f.path for f in os.scandir(file_path) if f.is_dir() and f.name.startswith("rank")) if (
            os.path.isdir(file_path)) else []  # fmt: skip
        sources = [os.path.join(folder, name) for folder in ranks for name in sorted(os.listdir(folder))]
        sources = [name for name in sources if name.endswith(ending)]
    sources = [name for name in sources if pattern is None or re.search(pattern, os.path.basename(name))]
    if not sources:
        raise ValueError(
            f"For '{function}', 'file_path' should be a file that ends in '{ending}', or a folder with such files in "
            f"folders 'rank...', but got {file_path!r}."
        )
    for source in sources:
        folder = os.path.dirname(source)
        if save_path is not None:
            subfolder = "" if os.path.isfile(file_path) else os.path.relpath(folder, file_path)
            folder = os.path.join(save_path, subfolder)
            os.makedirs(folder, exist_ok=True)
        yield source, os.path.join(folder, os.path.basename(source).removesuffix(ending) + other)
