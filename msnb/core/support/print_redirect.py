"""Redirection of the output of `Print` in running programs. `msnb.train` sets a function that writes it to a file."""

from collections.abc import Callable
from typing import Any

current_target: Callable[[list[Any]], None] | None = None  # receives the values of one print


def send_to(taker: Callable[[list[Any]], None] | None) -> None:
    """Pass the values of each print to `taker` from now on; None prints them again."""
    global current_target
    current_target = taker
