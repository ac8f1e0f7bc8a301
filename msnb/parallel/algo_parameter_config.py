"""Parameters of r1.1's search for sharding strategies. They are stored and have no effect."""

from typing import Any

from msnb import log
from msnb._config.settings_table import Settings
from msnb.common.kinds import Between, Bool, Int, StrictFloat

_parameters = Settings(
    "set_algo_parameters",
    {
        "fully_use_devices": (True, Bool),
        "elementwise_op_strategy_follow": (False, Bool),
        "tensor_slice_align_enable": (False, Bool),
        "tensor_slice_align_size": (16, Between(Int, 1, 1024)),
        "enable_algo_approxi": (False, Bool),
        "algo_approxi_epsilon": (0.1, StrictFloat),
    },
)


def set_algo_parameters(**kwargs: Any) -> None:
    """Store parameters of r1.1's search for sharding strategies. They have no effect on msnb's search.

    Args:
        fully_use_devices (bool): If True, only strategies that use every device are considered. Default: True.
        elementwise_op_strategy_follow (bool): If True, an elementwise operator is sharded like its reader. Default:
            False.
        tensor_slice_align_enable (bool): If True, slices of MatMul are checked for alignment. Default: False.
        tensor_slice_align_size (int): Smallest aligned slice of a MatMul, in [1, 1024]. Default: 16.
        enable_algo_approxi (bool): If True, the search may approximate. Default: False.
        algo_approxi_epsilon (float): Tolerance of the approximation. Default: 0.1.

    Raises:
        ValueError: If a key is unknown or a value out of range.
        TypeError: If a value has another type than the parameter.
    """
    checked = _parameters.check(kwargs)
    log.once("set_algo_parameters has no effect: the search is an integer linear program and counts bytes.")
    _parameters.assign(checked)


def get_algo_parameters(attr_key: str) -> Any:
    """Return a parameter of :func:`set_algo_parameters`. Raise ValueError if there is none of that name."""
    return getattr(_parameters.values, _parameters.find(attr_key))


def reset_algo_parameters() -> None:
    """Reset every parameter of :func:`set_algo_parameters` to its default."""
    _parameters.reset()
