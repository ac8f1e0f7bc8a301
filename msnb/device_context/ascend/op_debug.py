"""Settings for finding errors of operators of an Ascend. They have no effect."""

from typing import Any

from msnb import log
from msnb.common.kinds import PositiveInt, Str, checked

__all__ = ["aclinit_config", "debug_option", "execute_timeout"]

_WHY = "XLA has no backend for an Ascend"


@checked
def execute_timeout(op_timeout: PositiveInt) -> None:
    """Set the longest duration of an operator. It has no effect.

    Args:
        op_timeout (int): Seconds.

    Raises:
        TypeError: If `op_timeout` is not an int.
        ValueError: If `op_timeout` is not positive.
    """
    log.unused("execute_timeout", _WHY, op_timeout=op_timeout)


@checked
def debug_option(option_value: Str) -> None:
    """Detect wrong addresses. It has no effect.

    Args:
        option_value (str): Name of a check.

    Raises:
        TypeError: If `option_value` is not a str.
    """
    log.unused("debug_option", _WHY, option_value=option_value)


def aclinit_config(config: dict[str, Any]) -> None:
    """Set options of Ascend's library. It has no effect.

    Args:
        config (dict): The options.
    """
    log.unused("aclinit_config", _WHY, config=config)
