"""Registration of magics with a shell, which can be undone."""

from collections.abc import Callable
from typing import Any


def register_magics(shell: Any, magics: Any) -> Callable[[], None]:
    """Register an object of a Magics class with a shell. Return the function that removes its magics.

    A magic that was replaced by another one in the meantime is not removed.
    """
    shell.register_magics(magics)

    def undo():
        for kind, names in magics.magics.items():
            table = shell.magics_manager.magics[kind]
            for name in names:
                if getattr(table.get(name), "__self__", None) is magics:
                    del table[name]

    return undo
