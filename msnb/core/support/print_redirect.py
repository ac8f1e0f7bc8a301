"""Redirection of the output of running programs: `train` writes it to a file."""

from collections.abc import Callable
from typing import Any

current_target: Callable[[list[Any]], None] | None = None  # receives the values of one print


def send_to(taker: Callable[[list[Any]], None] | None) -> None:
    """Call `taker` with the values of each print from now on; None prints them again."""
    global current_target
    current_target = taker
