"""`load_checkpoint`: read Parameters from a file written by msnb or MindSpore."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb._checkparam import Validator
from msnb.core.operator import api_generations
from msnb.core.tensor.parameter import Parameter
from msnb.exchange.api import cipher_of
from msnb.formats import checkpoint, safetensors
from msnb.train._load_into_net import load_param_into_net
from msnb.train._save_checkpoint import FORMATS
from msnb.train._utils import check_flags

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell


def load_checkpoint(
    ckpt_file_name: str,
    net: "Cell | None" = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[..., Any] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Parameter]:
    """Load the Parameters of a checkpoint file, written by msnb or by any MindSpore.

    Args:
        ckpt_file_name (str): File to read, ending in "." and `format`.
        net (Cell): Network that also gets the values, see :func:`load_param_into_net`. Default: None.
        strict_load (bool): As in :func:`load_param_into_net`. Default: False.
        filter_prefix (Union[str, list[str], tuple[str]]): Omit the Parameters whose name equals one of these prefixes,
            or begins with one followed by "."; in MindSpore 2, begins with one. Default: None.
        dec_key (bytes): Key with which the file was encrypted. Default: None, no encryption.
        dec_mode (str): "AES-GCM", "AES-CBC" or "SM4-CBC", the mode in which the file was encrypted. Default: "AES-GCM".
        specify_prefix (Union[str, list[str], tuple[str]]): Load only Parameters whose name equals one of these
            prefixes, or begins with one followed by "."; in MindSpore 2, begins with one. Default: None.
        choice_func (Callable): Takes the name of a Parameter and returns whether it is loaded. Default: None, all are.
        crc_check (bool): Whether the checksum is checked. Default: False.
        remove_redundancy (bool): No effect: a file contains complete Parameters. Default: False.
        format (str): "ckpt" or "safetensors". Default: "ckpt".

    Returns:
        dict, the Parameters by name.

    Raises:
        ValueError: If the file does not exist, is empty, is not a checkpoint, is damaged or is encrypted in another
            way, if no Parameter is left after filtering, or `crc_check` or `remove_redundancy` is not a bool.
        TypeError: If a prefix is not a string.
        ImportError: If the file is encrypted and the package `cryptography` is not installed.

    Examples:
        >>> from msnb import save_checkpoint
        >>> save_checkpoint(net, "lenet.ckpt")
        >>> param_dict = load_checkpoint("lenet.ckpt", choice_func=lambda name: name.endswith("weight"))
        >>> not_loaded = load_param_into_net(net, param_dict)
    """
    Validator.check_string(format, FORMATS, "format", "load_checkpoint")
    check_flags("load_checkpoint", crc_check=crc_check, remove_redundancy=remove_redundancy)
    path = _check_checkpoint_path(ckpt_file_name, format)
    excluded = _check_prefixes("filter_prefix", filter_prefix)
    included = _check_prefixes("specify_prefix", specify_prefix)
    if format == "safetensors" and dec_key is not None:
        raise ValueError(
            "For 'load_checkpoint', a file of the format 'safetensors' is not encrypted; leave out 'dec_key'."
        )
    log.unused("load_checkpoint", "one device holds whole Parameters", remove_redundancy=remove_redundancy)
    cipher = cipher_of("load_checkpoint", dec_key, dec_mode)
    try:
        if format == "safetensors":
            entries = safetensors.read(path, crc_check)
        else:
            entries = checkpoint.read(path, crc_check, cipher)
    except OSError as error:
        raise ValueError(f"The checkpoint file {path!r} cannot be read: {error}") from None
    parameters = {}
    for name in entries:
        if (
            (excluded and _check_param_prefix(excluded, name))
            or (included and not _check_param_prefix(included, name))
            or (choice_func is not None and not choice_func(name))
        ):
            continue
        value = entries[name]
        parameters[name] = value if isinstance(value, str) else Parameter(value, name=name)
    if not parameters:
        raise ValueError(
            f"Nothing is left of the {len(entries)} Parameters in {path!r} after filtering; "
            f"please check 'filter_prefix'."
        )
    if net is not None:
        load_param_into_net(net, parameters, strict_load)
    return parameters


def load_checkpoint_async(
    ckpt_file_name: str,
    net: "Cell | None" = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[..., Any] | None = None,
) -> "Future[dict[str, Parameter]]":
    """Run :func:`load_checkpoint` in a thread. The ending of the file selects the format.

    Args:
        ckpt_file_name (str): File to read, ending in ".ckpt" or ".safetensors".
        net (Cell): As in :func:`load_checkpoint`. Default: None.
        strict_load (bool): As in :func:`load_checkpoint`. Default: False.
        filter_prefix (Union[str, list[str], tuple[str]]): As in :func:`load_checkpoint`. Default: None.
        dec_key (bytes): As in :func:`load_checkpoint`. Default: None.
        dec_mode (str): As in :func:`load_checkpoint`. Default: "AES-GCM".
        specify_prefix (Union[str, list[str], tuple[str]]): As in :func:`load_checkpoint`. Default: None.
        choice_func (Callable): As in :func:`load_checkpoint`. Default: None.

    Returns:
        Future, whose `result()` returns or raises the same as :func:`load_checkpoint`.

    Examples:
        >>> from msnb import save_checkpoint
        >>> save_checkpoint(net, "lenet.ckpt")
        >>> param_dict = load_checkpoint_async("lenet.ckpt").result()
    """
    form = "safetensors" if os.fspath(ckpt_file_name).endswith(".safetensors") else "ckpt"
    pool = ThreadPoolExecutor(1, "load_checkpoint")
    job = pool.submit(
        load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix,
        choice_func, format=form,
    )  # fmt: skip
    pool.shutdown(wait=False)
    return job


def _check_checkpoint_path(ckpt_file_name, form):
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise ValueError(
            f"For 'load_checkpoint', 'ckpt_file_name' should be a string, but got {type(ckpt_file_name).__name__}."
        )
    path = os.fspath(ckpt_file_name)
    if not os.path.exists(path):
        raise ValueError(f"The checkpoint file {path!r} does not exist.")
    if not path.endswith(f".{form}"):
        other = next((f for f in FORMATS if path.endswith(f".{f}")), None)
        advice = f"; pass format={other!r}" if other else ". msnb.load_weights reads files of other frameworks"
        if other or api_generations.shared == 1:  # MindSpore 2 takes any other name
            raise ValueError(f"The name of a checkpoint file should end in '.{form}', but got {path!r}{advice}.")
    if os.path.getsize(path) == 0:
        raise ValueError(f"The checkpoint file {path!r} is empty.")
    return path


def _check_prefixes(argument, value):
    if value is None:
        return ()
    if not isinstance(value, (str, list, tuple)):
        raise TypeError(
            f"For 'load_checkpoint', '{argument}' should be a string or a list of strings, "
            f"but got {type(value).__name__}."
        )
    prefixes = (value,) if isinstance(value, str) else tuple(value)
    if not prefixes:
        raise ValueError(f"For 'load_checkpoint', '{argument}' should not be an empty list.")
    for prefix in prefixes:
        if not isinstance(prefix, str):
            raise TypeError(
                f"For 'load_checkpoint', '{argument}' should hold strings, but it holds {type(prefix).__name__}."
            )
    return prefixes


def _check_param_prefix(filter_prefix, param_name):
    """Return whether `param_name` is one of the prefixes, or begins with one followed by ".".

    In MindSpore 2 a name that begins with a prefix is enough.
    """
    if api_generations.shared == 2:
        return param_name.startswith(tuple(filter_prefix))
    return any(
        param_name.startswith(p) and (param_name == p or p.endswith(".") or param_name[len(p)] == ".")
        for p in filter_prefix
    )
