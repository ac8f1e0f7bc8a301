"""`save_checkpoint`: write the Parameters of a network, or Tensors by name, to a file."""

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import log, nn
from msnb._checkparam import Validator
from msnb._util.atomic_file import writing
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.api import cipher_of
from msnb.formats import checkpoint, safetensors
from msnb.parallel.modes.multiprocess_mesh import gather_tensors, local_parts
from msnb.train._async_writer import writer
from msnb.train._utils import check_flags

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell

FORMATS = ("ckpt", "safetensors")


def save_checkpoint(
    save_obj: "Cell | list[Any] | dict[Any, Any]",
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[Any, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[..., Any] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Save Parameters to a file that MindSpore can read too.

    The file gets its name when it is completely on disk. Until then, a file that it replaces remains. The file is
    read-only.

    Args:
        save_obj (Union[Cell, list, dict]): A network, all of whose Parameters are saved under their names; or a list of
            Parameters, or of dicts {"name": str, "data": Parameter or Tensor}; or a dict of Parameters, Tensors or
            arrays by name.
        ckpt_file_name (str): File to write, usually ending in ".ckpt"; an existing one is replaced, a missing folder is
            created. In the format "safetensors", the ending ".safetensors" is added if it is missing.
        integrated_save (bool): True gathers Parameters that are sharded over several processes, and all processes must
            call. False saves the shards of this process, for `load_distributed_checkpoint`. Default: True.
        async_save (Union[bool, str]): Whether a thread writes the file while the program continues: True or "thread";
            "process" uses a thread, too. The values are those at the time of the call. One further file may wait while
            a file is written; a third call blocks. An error is logged, and raised by the next `save_checkpoint` or at
            the end of training. Default: False.
        append_dict (dict): Further values to save: int, float, bool, str, Parameter or Tensor by name. Default: None.
        enc_key (bytes): Key of 16, 24 or 32 bytes (16 for SM4) with which the file is encrypted. Default: None.
        enc_mode (str): "AES-GCM", "AES-CBC" or "SM4-CBC". Default: "AES-GCM".
        choice_func (Callable): Takes the name of a Parameter and returns whether it is saved. Default: None, all are.
        crc_check (bool): Whether the file gets a checksum, which r1.1 cannot read; not together with `enc_key`.
            Default: False.
        format (str): "ckpt" or "safetensors", which contains only arrays and cannot be encrypted. Default: "ckpt".
        kwargs (dict): `remove_redundancy` (bool), which is written to the metadata of a "safetensors" file;
            `incremental` and `global_step_num`, which have no effect here.

    Raises:
        TypeError: If an argument is of another type, or the format cannot hold a value.
        ValueError: If two Parameters have the same name, or arguments contradict each other.
        RuntimeError: If Parameters are sharded over several processes, and another one does not call within a minute.
        ImportError: If the file is to be encrypted and the package `cryptography` is not installed.
        OSError: If the file, or an earlier file that a thread was writing, cannot be written.

    Examples:
        >>> save_checkpoint(net, "lenet.ckpt")
        >>> save_checkpoint(net, "lenet.safetensors", format="safetensors")
    """
    if not isinstance(save_obj, (nn.Cell, list, dict)):
        raise TypeError(
            f"For 'save_checkpoint', 'save_obj' should be a Cell, a list of dicts or a dict, "
            f"but got {type(save_obj).__name__}."
        )
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise TypeError(
            f"For 'save_checkpoint', 'ckpt_file_name' should be a string, but got {type(ckpt_file_name).__name__}."
        )
    Validator.check_bool(integrated_save, "integrated_save", "save_checkpoint")
    check_flags("save_checkpoint", crc_check=crc_check)
    if async_save not in ("thread", "process"):
        Validator.check_bool(async_save, "async_save", "save_checkpoint")
    Validator.check_string(format, FORMATS, "format", "save_checkpoint")
    for name in kwargs:
        if name not in ("incremental", "global_step_num", "remove_redundancy"):
            raise TypeError(f"For 'save_checkpoint', there is no argument '{name}'.")
    no_redundancy = kwargs.pop("remove_redundancy", None)
    if no_redundancy is not None:
        check_flags("save_checkpoint", remove_redundancy=no_redundancy)
    log.unused("save_checkpoint", "a checkpoint does not tell it", remove_redundancy=no_redundancy and format == "ckpt")
    log.unused("save_checkpoint", "one device holds all Parameters, and none is a hash table", **kwargs)
    path = os.fspath(ckpt_file_name)
    if format == "safetensors":
        if enc_key is not None:
            raise ValueError("For 'save_checkpoint', a file of the format 'safetensors' is not encrypted.")
        path = path if path.endswith(".safetensors") else f"{path}.safetensors"
    cipher = cipher_of("save_checkpoint", enc_key, enc_mode)
    if crc_check and cipher is not None:
        raise ValueError(
            "For 'save_checkpoint', a file has a checksum or is encrypted, not both: leave one of them out."
        )
    texts = {} if no_redundancy is None else {"remove_redundancy": str(no_redundancy)}
    values = select_values(save_obj, choice_func)
    values = gather_tensors(values, "save_checkpoint") if integrated_save else local_parts(values)
    save(values, path, bool(async_save), append_dict, crc_check, None, cipher, format, texts)


def save(
    values: dict[str, Any],
    path: str,
    in_thread: bool = False,
    append_dict: dict[Any, Any] | None = None,
    crc_check: bool = False,
    after: Callable[[], Any] | None = None,
    cipher: Any = None,
    form: str = "ckpt",
    texts: dict[str, str] | None = None,
) -> None:
    """Run `save_checkpoint` without its checks.

    Args:
        values (dict): Unsharded Tensors by name, from `select_values` and `gather_tensors`.
        path (str): The file.
        in_thread (bool): Whether a thread writes the file. Default: False.
        append_dict (dict): As in `save_checkpoint`.
        crc_check (bool): As in `save_checkpoint`.
        after (Callable): Called when the file is complete, in the thread that wrote it. Default: None.
        cipher (Cipher): Cipher with which the file is encrypted. Default: None.
        form (str): "ckpt" or "safetensors". Default: "ckpt".
        texts (dict): Metadata of a safetensors file. Default: None.
    """
    values = {**values, **convert_appended(append_dict)}

    def prepared():
        # Copy on the device, without waiting: the next training step may overwrite the arrays of Parameters.
        copies = {name: Tensor(value) if isinstance(value, Tensor) else value for name, value in values.items()}
        return path, lambda: _exec_save(path, copies, crc_check, after, cipher, form, texts)

    if in_thread:
        writer.submit(prepared)
    else:
        writer.wait()  # files of earlier calls are written first
        _exec_save(path, values, crc_check, after, cipher, form, texts)


def select_values(save_obj: Any, choice_func: Callable[..., Any] | None = None) -> dict[str, Any]:
    """Return {name: value} of the values to save. Raises ValueError if two have the same name. See `save_checkpoint`
    for the arguments."""
    if isinstance(save_obj, nn.Cell):
        pairs = [(p.name, p) for p in save_obj.get_parameters()]
    else:
        pairs = _iterate_dict_entries(save_obj) if isinstance(save_obj, dict) else _iterate_list_entries(save_obj)
    values = {}
    for name, value in pairs:
        if values.setdefault(name, value) is not value:
            raise ValueError(
                f"For 'save_checkpoint', two Parameters are named '{name}', of which the file could hold "
                f"one only. Rename one of them, or save a part that has one of them."
            )
    return values if choice_func is None else {name: value for name, value in values.items() if choice_func(name)}


def _iterate_dict_entries(items):
    for name, value in items.items():
        value = Tensor(value) if isinstance(value, np.ndarray) else value
        if not (isinstance(name, str) and isinstance(value, (str, Tensor))):
            raise _make_entry_error("dict", name, value)
        yield name, value


def _iterate_list_entries(items):
    for item in items:
        if isinstance(item, Parameter):
            yield item.name, item
            continue
        if not isinstance(item, dict) or not {"name", "data"} <= item.keys():
            raise TypeError(
                "For 'save_checkpoint', the list should hold Parameters, or dicts {'name': str, 'data': Tensor}, "
                f"but it holds {item!r:.80}."
            )
        if not (isinstance(item["name"], str) and isinstance(item["data"], Tensor)):
            raise _make_entry_error("list", item["name"], item["data"])
        yield item["name"], item["data"]


def _make_entry_error(what, name, value):
    return TypeError(
        f"For 'save_checkpoint', an entry of the {what} should be a name (str) with data (Tensor or Parameter), but "
        f"got {name!r} with {type(value).__name__}."
    )


def convert_appended(append_dict: dict[Any, Any] | None) -> dict[str, Any]:
    """Return `append_dict` with values converted to Tensors or strings. Raises TypeError for values that a checkpoint
    cannot contain."""
    if append_dict is None:
        return {}
    if not isinstance(append_dict, dict):
        raise TypeError(f"For 'save_checkpoint', 'append_dict' should be a dict, but got {type(append_dict).__name__}.")
    for name, value in append_dict.items():
        if not (isinstance(name, str) and isinstance(value, (str, int, float, Tensor))):
            raise TypeError(
                f"For 'save_checkpoint', 'append_dict' should hold numbers, strings and Tensors by name, "
                f"but it holds {name!r}: {type(value).__name__}."
            )
    return {name: value if isinstance(value, (str, Tensor)) else Tensor(value) for name, value in append_dict.items()}


def _exec_save(ckpt_file_name, values, crc_check=False, after=None, cipher=None, form="ckpt", texts=None):
    """Write Tensors by name to a file."""
    folder = os.path.dirname(ckpt_file_name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    # `asarray` copies Parameters: a training step on another thread may donate their arrays.
    arrays = {k: np.asarray(v) if isinstance(v, Tensor) else v for k, v in values.items()}
    if form == "safetensors":
        safetensors.write(ckpt_file_name, arrays, crc_check, permissions=stat.S_IRUSR, further=texts)
    else:
        checkpoint.write(ckpt_file_name, arrays, crc_check, permissions=stat.S_IRUSR, cipher=cipher)
    if after is not None:
        after()


def save_graph(network, file_name):
    """Write the graph of the last compiled program of `network`, if there is one."""
    graph = network.get_func_graph_proto()
    if not graph:
        return
    with writing(file_name, permissions=stat.S_IRUSR) as file:
        file.write(graph if isinstance(graph, bytes) else graph.encode())
