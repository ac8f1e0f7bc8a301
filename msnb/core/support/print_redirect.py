"""Where what a running program prints goes instead of the screen, if somebody says so: `train` keeps it in a file."""

from collections.abc import Callable
from typing import Any

current_target: Callable[[list[Any]], None] | None = None  # takes the values of one print


def send_to(taker: Callable[[list[Any]], None] | None) -> None:
    """Have `taker` called with the values of each print from now on; None: they are printed."""
    global current_target
    current_target = taker
