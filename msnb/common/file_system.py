"""`FileSystem`: MindSpore 2's interface to the files of checkpoints. Here it is Python's `open`."""

from collections.abc import Callable
from typing import Any

from msnb.common.missing import asked

__all__ = ["FileSystem"]


class FileSystem:
    """
    The functions that create and open checkpoint files: Python's `open` on the local file system.

    Attributes:
        create (Callable): Opens a file for writing, given its path and `create_args`.
        open (Callable): Opens a file for reading, given its path and `open_args`.

    Examples:
        >>> files = FileSystem()
        >>> with files.create("notes.bin", *files.create_args) as file:
        ...     _ = file.write(b"abc")
        >>> with files.open("notes.bin", *files.open_args) as file:
        ...     print(file.read())
        b'abc'
    """

    create: Callable[..., Any] = staticmethod(open)
    open: Callable[..., Any] = staticmethod(open)
    create_args: tuple[str, ...] = ("ab",)
    open_args: tuple[str, ...] = ("rb",)
    backend: str = "basic"


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
