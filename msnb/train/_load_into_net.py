"""`load_param_into_net`: copy Parameters into a network by name, either all or none."""

from typing import TYPE_CHECKING, Any

from msnb import log, nn
from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.train._utils import check_flags

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell


def load_param_into_net(
    net: "Cell", parameter_dict: dict[Any, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> list[str]:
    """Copy Parameters into the Parameters of a network that have the same names. Either all are copied or none is.

    Args:
        net (Cell): The network.
        parameter_dict (dict): Parameters by name, as :func:`load_checkpoint` returns them; those the network does not
            have are ignored.
        strict_load (bool): Whether the names have to be equal. If False and Parameters of the network are missing, an
            additional common prefix of the names in `parameter_dict` is ignored. Default: False.
        remove_redundancy (bool): No effect: each device has complete Parameters. Default: False.

    Returns:
        list, names of the network's Parameters that were not loaded.

    Raises:
        TypeError: If `net` is not a Cell, `parameter_dict` is not a dict of Parameters, or `strict_load` is not a bool.
        ValueError: If `remove_redundancy` is not a bool.
        RuntimeError: If a Parameter has another shape or dtype than in the network.

    Examples:
        >>> from msnb import load_checkpoint, save_checkpoint
        >>> save_checkpoint(net, "lenet.ckpt")
        >>> param_dict = load_checkpoint("lenet.ckpt")
        >>> not_loaded = load_param_into_net(net, param_dict)
    """
    return [p.name for p in _load_parameters(net, parameter_dict, strict_load, remove_redundancy)[1]]


@replaces_in_api2(
    load_param_into_net,
    "it returns a pair, with the names of `parameter_dict` that the network lacks behind, and without 'strict_load' "
    "converts between types of floats and between those of whole numbers",
)
def _load_param_into_net_api2(
    net: "Cell", parameter_dict: dict[Any, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """`load_param_into_net` with MindSpore 2's return value.

    Args:
        net (Cell): As in :func:`load_param_into_net`; so are `parameter_dict` and `strict_load`.
        remove_redundancy (bool): No effect: each device has complete Parameters. Default: False.

    Returns:
        tuple, names of the network's Parameters that were not loaded, and names in `parameter_dict` that the network
        does not have.
    """
    used, missing = _load_parameters(net, parameter_dict, strict_load, remove_redundancy, converts=not strict_load)
    return [p.name for p in missing], [name for name in parameter_dict if name not in used]


def _load_parameters(net, parameter_dict, strict_load, remove_redundancy, converts=False):
    """Load the Parameters. Returns (names in the network that were loaded, Parameters that are missing)."""
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For 'load_param_into_net', 'net' should be a Cell, but got {type(net).__name__}.")
    if not isinstance(parameter_dict, dict):
        file = f"; load_checkpoint({parameter_dict!r}) reads one" if isinstance(parameter_dict, str) else ""
        raise TypeError(
            f"For 'load_param_into_net', 'parameter_dict' should be a dict of Parameters, "
            f"but got {type(parameter_dict).__name__}{file}."
        )
    Validator.check_bool(strict_load, "strict_load", "load_param_into_net")
    check_flags("load_param_into_net", remove_redundancy=remove_redundancy)
    log.unused("load_param_into_net", "one device holds whole Parameters", remove_redundancy=remove_redundancy)
    pairs, missing = [], []
    for param in net.get_parameters():
        if param.name in parameter_dict:
            pairs.append((param, parameter_dict[param.name]))
        else:
            missing.append(param)
    if missing and not strict_load:
        pairs += _match_by_common_prefix(parameter_dict, missing)
    updates = [(param, _convert_loaded_value(param, new, converts)) for param, new in pairs]
    for param, value in updates:
        param.set_data(value)
    if missing:
        log.warning(
            "%d of the network's Parameters are not in the checkpoint and were not loaded: %s.",
            len(missing),
            _abbreviate_names([p.name for p in missing]),
        )
    return {param.name for param, _ in pairs}, missing


def _abbreviate_names(names):
    return ", ".join(names) if len(names) <= 5 else f"{', '.join(names[:5])}, ..."


def _match_by_common_prefix(parameter_dict, missing):
    """Return pairs (Parameter, loaded Parameter) for those of `missing` whose names are in the dict after a common
    prefix. Removes them from the list."""
    pairs, tried = [], {""}
    while missing:
        prefix = next((p for p in _iterate_name_prefixes(parameter_dict, missing) if p not in tried), None)
        if prefix is None:
            break
        tried.add(prefix)
        log.warning("The names in the checkpoint begin with '%s', which is left out.", prefix)
        pairs += [(p, parameter_dict[prefix + p.name]) for p in missing if prefix + p.name in parameter_dict]
        missing[:] = [p for p in missing if prefix + p.name not in parameter_dict]
    return pairs


def _iterate_name_prefixes(parameter_dict, missing):
    """Yield each prefix, up to a ".", that a name of the checkpoint has before the name of a missing Parameter."""
    for param in missing:
        ending = "." + param.name
        for name in parameter_dict:
            if name.endswith(ending):
                yield name[: -len(param.name)]


_CONVERTED = (  # MindSpore 2 converts within each group.
    {mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64},
    {mstype.int8, mstype.int16, mstype.int32, mstype.int64},
)


def _convert_loaded_value(param, new, converts=False):
    """Return the value of `new` if it fits `param`. Additional trailing axes of length 1 are allowed."""
    if not isinstance(new, Parameter):
        raise TypeError(
            f"For 'load_param_into_net', 'parameter_dict' should hold Parameters, but '{param.name}' is "
            f"{type(new).__name__}."
        )
    if converts and new.dtype != param.dtype and any({new.dtype, param.dtype} <= kinds for kinds in _CONVERTED):
        new = Parameter(Tensor(new, param.dtype), new.name)
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


def _update_param(param, new_param, strict_load=True):
    """Set one Parameter to the value of another. Without `strict_load` types of floats are converted."""
    param.set_data(_convert_loaded_value(param, new_param, converts=not strict_load))


def _load_dismatch_prefix_params(net, parameter_dict, param_not_load, strict_load):
    """Load Parameters of a network whose names have a common prefix in the dict, and remove their names from the list
    `param_not_load`."""
    missing = [param for param in net.get_parameters() if param.name in param_not_load]
    for param, new in _match_by_common_prefix(parameter_dict, missing):
        _update_param(param, new, strict_load)
        param_not_load.remove(param.name)


def _fill_param_into_net(net, parameter_list):
    """Copy a list of dicts {"name": str, "data": Tensor} into a network."""
    load_param_into_net(net, {p["name"]: Parameter(p["data"], name=p["name"]) for p in parameter_list})
