"""Checkpoints: save the Parameters of a network, and load them."""

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from msnb import context, log, nn  # noqa: F401 - networks take `context` from here
from msnb._atomic import writing
from msnb._checkparam import Validator
from msnb._later import not_yet
from msnb.common import dtype as mstype
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.exchange.api import export, load, load_mindir
from msnb.formats import checkpoint, printed
from msnb.train._background import writer

if TYPE_CHECKING:  # named in annotations alone
    from msnb.nn.cell import Cell

__all__ = [
    "save_checkpoint",
    "load_checkpoint",
    "load_param_into_net",
    "export",
    "load",
    "load_mindir",
    "parse_print",
    "build_searched_strategy",
    "merge_sliced_parameter",
    "load_distributed_checkpoint",
    "async_ckpt_thread_status",
]

tensor_to_ms_type: dict[str, Any] = {
    "Int8": mstype.int8,
    "Uint8": mstype.uint8,
    "Int16": mstype.int16,
    "Uint16": mstype.uint16,
    "Int32": mstype.int32,
    "Uint32": mstype.uint32,
    "Int64": mstype.int64,
    "Uint64": mstype.uint64,
    "Float16": mstype.float16,
    "Float32": mstype.float32,
    "Float64": mstype.float64,
    "Bool": mstype.bool_,
}
tensor_to_np_type: dict[str, Any] = {
    "Int8": np.int8,
    "Uint8": np.uint8,
    "Int16": np.int16,
    "Uint16": np.uint16,
    "Int32": np.int32,
    "Uint32": np.uint32,
    "Int64": np.int64,
    "Uint64": np.uint64,
    "Float16": np.float16,
    "Float32": np.float32,
    "Float64": np.float64,
    "Bool": np.bool_,
}
SLICE_SIZE = 512 * 1024 * 1024


# ---------------------------------------------------------------------- saving
def save_checkpoint(
    save_obj: "Cell | list[Any] | dict[Any, Any]",
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool = False,
    append_dict: dict[Any, Any] | None = None,
    choice_func: Callable[..., Any] | None = None,
    crc_check: bool = False,
) -> None:
    """Save Parameters to a checkpoint file, which MindSpore reads too.

    The file gets its name only when all of it is on the disk, and is read-only. What it replaces stays until then.

    Args:
        save_obj (Union[Cell, list, dict]): A network, all of whose Parameters are saved under their names; or a list of
            dicts {"name": str, "data": Parameter or Tensor}; or a dict of Parameters or Tensors by name.
        ckpt_file_name (str): File to write, usually ending in ".ckpt"; an existing one is replaced, a missing folder is
            made.
        integrated_save (bool): Accepted; Parameters are always saved whole. Default: True.
        async_save (bool): Whether the file is written by a thread while the program goes on. What is written are the
            values of this moment. While one file is written another one may wait; saving a third waits for its turn.
            An error is logged, and raised by the next `save_checkpoint` or at the end of training. Default: False.
        append_dict (dict): Further values to save: int, float, bool, str, Parameter or Tensor by name. Default: None.
        choice_func (Callable): Takes the name of a Parameter and returns whether it is saved. Default: None, all are.
        crc_check (bool): Whether the file gets a checksum, which r1.1 cannot read. Default: False.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If two Parameters have the same name.
        OSError: If the file, or an earlier one of a thread, cannot be written.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> save_checkpoint(net, "lenet.ckpt")
    """
    if isinstance(save_obj, dict):
        save_obj = [{"name": name, "data": data} for name, data in save_obj.items()]
    if not isinstance(save_obj, (nn.Cell, list)):
        raise TypeError(
            f"For 'save_checkpoint', 'save_obj' should be a Cell, a list of dicts or a dict, "
            f"but got {type(save_obj).__name__}."
        )
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise TypeError(
            f"For 'save_checkpoint', 'ckpt_file_name' should be a string, but got {type(ckpt_file_name).__name__}."
        )
    for name, value in (("integrated_save", integrated_save), ("async_save", async_save), ("crc_check", crc_check)):
        Validator.check_bool(value, name, "save_checkpoint")
    _save(save_obj, os.fspath(ckpt_file_name), async_save, append_dict, choice_func, crc_check)


def _save(save_obj, path, in_thread=False, append_dict=None, choice_func=None, crc_check=False, after=None):
    """`save_checkpoint` without its checks; calls `after` when the file is complete, where it was written."""
    values = _by_name(save_obj)
    if choice_func is not None:
        values = {name: value for name, value in values.items() if choice_func(name)}
    values.update(_appended(append_dict))

    def prepared():
        # Copies on the device: the next training step may overwrite the Parameters, and nothing waits for it here.
        copies = {name: Tensor(value) if isinstance(value, Tensor) else value for name, value in values.items()}
        return path, lambda: _exec_save(path, copies, crc_check, after)

    if in_thread:
        writer.submit(prepared)
    else:
        writer.wait()  # what was asked for before is written before
        _exec_save(path, values, crc_check, after)


def _by_name(save_obj):
    """What is saved under which name: ValueError where one name stands for two."""
    pairs = [(p.name, p) for p in save_obj.get_parameters()] if isinstance(save_obj, nn.Cell) else _pairs(save_obj)
    values = {}
    for name, value in pairs:
        if values.setdefault(name, value) is not value:
            raise ValueError(
                f"For 'save_checkpoint', two Parameters are named '{name}', of which the file could hold "
                f"one only. Rename one of them, or save a part that has one of them."
            )
    return values


def _pairs(items):
    for item in items:
        if not isinstance(item, dict) or not {"name", "data"} <= item.keys():
            raise TypeError(
                "For 'save_checkpoint', the list should hold dicts {'name': str, 'data': Tensor}, "
                f"but it holds {item!r:.80}."
            )
        name, data = item["name"], item["data"]
        if not (isinstance(name, str) and isinstance(data, Tensor)):
            raise TypeError(
                f"For 'save_checkpoint', an entry of the list should be a name (str) with data (Tensor or "
                f"Parameter), but got {name!r} with {type(data).__name__}."
            )
        yield name, data


def _appended(append_dict):
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


def _exec_save(ckpt_file_name, values, crc_check=False, after=None):
    """Write Tensors by name to a file."""
    folder = os.path.dirname(ckpt_file_name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    arrays = {k: np.asarray(v._array) if isinstance(v, Tensor) else v for k, v in values.items()}
    checkpoint.write(ckpt_file_name, arrays, crc_check, permissions=stat.S_IRUSR)
    if after is not None:
        after()


def async_ckpt_thread_status() -> bool:
    """Whether a thread is writing a checkpoint.

    Returns:
        bool.
    """
    return writer.busy()


# ---------------------------------------------------------------------- loading
def load_checkpoint(
    ckpt_file_name: str,
    net: "Cell | None" = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[..., Any] | None = None,
    crc_check: bool = False,
) -> dict[str, Parameter]:
    """Load the Parameters of a checkpoint file, written by msnb or by any MindSpore.

    Args:
        ckpt_file_name (str): File to read, ending in ".ckpt".
        net (Cell): Network to fill as well, see :func:`load_param_into_net`. Default: None.
        strict_load (bool): As in :func:`load_param_into_net`. Default: False.
        filter_prefix (Union[str, list[str], tuple[str]]): Leave out the Parameters whose names are, or begin with, one
            of these and a ".". Default: None.
        specify_prefix (Union[str, list[str], tuple[str]]): Load only such Parameters. Default: None.
        choice_func (Callable): Takes the name of a Parameter and returns whether it is loaded. Default: None, all are.
        crc_check (bool): Whether the checksum is checked. Default: False.

    Returns:
        dict, the Parameters by name.

    Raises:
        ValueError: If the file does not exist, is empty, is no checkpoint or damaged, or nothing is left after
            filtering.
        TypeError: If a prefix is no string.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> param_dict = load_checkpoint("lenet.ckpt", filter_prefix="conv1")
        >>> load_param_into_net(net, param_dict)
    """
    path = _check_checkpoint_file(ckpt_file_name)
    left_out = _prefixes("filter_prefix", filter_prefix)
    wanted = _prefixes("specify_prefix", specify_prefix)
    try:
        entries = checkpoint.read(path, crc_check)
    except OSError as error:
        raise ValueError(f"The checkpoint file {path!r} cannot be read: {error}") from None
    parameters = {}
    for name, value in entries.items():
        if (
            (left_out and _check_param_prefix(left_out, name))
            or (wanted and not _check_param_prefix(wanted, name))
            or (choice_func is not None and not choice_func(name))
        ):
            continue
        parameters[name] = value if isinstance(value, str) else Parameter(value, name=name)
    if not parameters:
        raise ValueError(
            f"Nothing is left of the {len(entries)} Parameters in {path!r} after filtering; "
            f"please check 'filter_prefix'."
        )
    if net is not None:
        load_param_into_net(net, parameters, strict_load)
    return parameters


def _check_checkpoint_file(ckpt_file_name):
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise ValueError(
            f"For 'load_checkpoint', 'ckpt_file_name' should be a string, but got {type(ckpt_file_name).__name__}."
        )
    path = os.fspath(ckpt_file_name)
    if not os.path.exists(path):
        raise ValueError(f"The checkpoint file {path!r} does not exist.")
    if not path.endswith(".ckpt"):
        raise ValueError(f"The name of a checkpoint file should end in '.ckpt', but got {path!r}.")
    if os.path.getsize(path) == 0:
        raise ValueError(f"The checkpoint file {path!r} is empty.")
    return path


def _prefixes(argument, value):
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
    """Whether `param_name` is one of the prefixes, or goes on after it with a "."."""
    return any(
        param_name.startswith(p) and (param_name == p or p.endswith(".") or param_name[len(p)] == ".")
        for p in filter_prefix
    )


def load_param_into_net(net: "Cell", parameter_dict: dict[Any, Any], strict_load: bool = False) -> list[str]:
    """Copy Parameters into the Parameters of a network that have the same names. Either all are copied or none is.

    Args:
        net (Cell): The network.
        parameter_dict (dict): Parameters by name, as :func:`load_checkpoint` returns them; those the network does not
            have are ignored.
        strict_load (bool): Whether names have to agree in full. Otherwise, when names of the network are missing, a
            prefix that the names in `parameter_dict` have in addition is left out. Default: False.

    Returns:
        list, names of the network's Parameters that were not loaded.

    Raises:
        TypeError: If `net` is no Cell, or `parameter_dict` no dict of Parameters.
        RuntimeError: If a Parameter has another shape or dtype than in the network.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> param_dict = load_checkpoint("lenet.ckpt")
        >>> not_loaded = load_param_into_net(net, param_dict)
    """
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For 'load_param_into_net', 'net' should be a Cell, but got {type(net).__name__}.")
    if not isinstance(parameter_dict, dict):
        file = f"; load_checkpoint({parameter_dict!r}) reads one" if isinstance(parameter_dict, str) else ""
        raise TypeError(
            f"For 'load_param_into_net', 'parameter_dict' should be a dict of Parameters, "
            f"but got {type(parameter_dict).__name__}{file}."
        )
    Validator.check_bool(strict_load, "strict_load", "load_param_into_net")
    found, missing = [], []
    for param in net.get_parameters():
        if param.name in parameter_dict:
            found.append((param, parameter_dict[param.name]))
        else:
            missing.append(param)
    if missing and not strict_load:
        found += _with_prefix_removed(parameter_dict, missing)
    updates = [(param, _fitting(param, new)) for param, new in found]
    for param, value in updates:
        param.set_data(value)
    if missing:
        log.warning(
            "%d of the network's Parameters are not in the checkpoint and were not loaded: %s.",
            len(missing),
            _some([p.name for p in missing]),
        )
    return [p.name for p in missing]


def _some(names):
    return ", ".join(names) if len(names) <= 5 else f"{', '.join(names[:5])}, ..."


def _with_prefix_removed(parameter_dict, missing):
    """Pairs for those of `missing` whose names, behind a common prefix, are in the dict; they leave the list."""
    pairs, tried = [], {""}
    while missing:
        prefix = next((p for p in _prefixes_before(parameter_dict, missing) if p not in tried), None)
        if prefix is None:
            break
        tried.add(prefix)
        log.warning("The names in the checkpoint begin with '%s', which is left out.", prefix)
        pairs += [(p, parameter_dict[prefix + p.name]) for p in missing if prefix + p.name in parameter_dict]
        missing[:] = [p for p in missing if prefix + p.name not in parameter_dict]
    return pairs


def _prefixes_before(parameter_dict, missing):
    """What stands, up to a ".", before the name of a missing Parameter in a name of the checkpoint."""
    for param in missing:
        ending = "." + param.name
        for name in parameter_dict:
            if name.endswith(ending):
                yield name[: -len(param.name)]


def _fitting(param, new):
    """The value of `new`, when it fits `param`; axes of length 1 at the end may be too many."""
    if not isinstance(new, Parameter):
        raise TypeError(
            f"For 'load_param_into_net', 'parameter_dict' should hold Parameters, but '{param.name}' is "
            f"{type(new).__name__}."
        )
    if new.dtype != param.dtype:
        raise RuntimeError(
            f"The Parameter '{param.name}' is {param.dtype} in the network but {new.dtype} in the "
            f"checkpoint. Is it the checkpoint of another network?"
        )
    if new.shape != param.shape:
        rank = len(param.shape)
        if new.shape[:rank] != param.shape or any(size != 1 for size in new.shape[rank:]):
            raise RuntimeError(
                f"The Parameter '{param.name}' has shape {param.shape} in the network but {new.shape} "
                f"in the checkpoint. Is it the checkpoint of another network?"
            )
        return Tensor(new.asnumpy().reshape(param.shape))
    return new


def _fill_param_into_net(net, parameter_list):
    """Copy a list of dicts {"name": str, "data": Tensor} into a network."""
    load_param_into_net(net, {p["name"]: Parameter(p["data"], name=p["name"]) for p in parameter_list})


def _save_graph(network, file_name):
    """Write the graph of the last compiled program of `network`, if there is one."""
    graph = network.get_func_graph_proto()
    if not graph:
        return
    with writing(file_name, permissions=stat.S_IRUSR) as file:
        file.write(graph if isinstance(graph, bytes) else graph.encode())


# ---------------------------------------------------------------------- later
def parse_print(print_file_name: str) -> list[Any]:
    """Read what programs printed to the file that ``context.set_context(print_file_path=...)`` names.

    Args:
        print_file_name (str): The file.

    Returns:
        list, Tensors and str in the order in which they were printed.

    Raises:
        ValueError: If the file is empty or damaged, or something else.
        OSError: If it cannot be read.
    """
    return [value if isinstance(value, str) else Tensor(value) for value in printed.read(print_file_name)]


def build_searched_strategy(strategy_filename: str) -> NoReturn:
    """Read a strategy file of automatic parallelism; comes later.

    Args:
        strategy_filename (str): The file.

    Raises:
        NotImplementedError: Always.
    """
    raise not_yet("build_searched_strategy")


def merge_sliced_parameter(sliced_parameters: list[Parameter], strategy: dict[Any, Any] | None = None) -> NoReturn:
    """Put the slices of a Parameter from several checkpoints together; comes later.

    Args:
        sliced_parameters (list[Parameter]): The slices in the order of their ranks.
        strategy (dict): How the Parameter was cut. Default: None.

    Raises:
        NotImplementedError: Always.
    """
    raise not_yet("merge_sliced_parameter")


def load_distributed_checkpoint(
    network: "Cell", checkpoint_filenames: list[str], predict_strategy: dict[Any, Any] | None = None
) -> NoReturn:
    """Load the checkpoints of several devices into a network; comes later.

    Args:
        network (Cell): The network.
        checkpoint_filenames (list[str]): The files in the order of their ranks.
        predict_strategy (dict): How the Parameters are cut for prediction. Default: None.

    Raises:
        NotImplementedError: Always.
    """
    raise not_yet("load_distributed_checkpoint", "load_checkpoint reads the file of one device")
