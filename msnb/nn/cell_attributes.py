"""`cell_attr_register`: store the constructor arguments of a Cell."""

import functools
import inspect
from collections.abc import Callable
from typing import Any


def cell_attr_register(fn: Callable[..., Any] | None = None, attrs: str | list[str] | None = None) -> Any:
    """Decorator for a Cell's `__init__` that stores the arguments as text in `cell_init_args`.

    Args:
        fn (Callable): The `__init__`. Default: None, returns a decorator.
        attrs (Union[str, list]): Names of the arguments to store. Default: None, all arguments.
    """
    if fn is None:
        return functools.partial(cell_attr_register, attrs=attrs)
    names = [attrs] if isinstance(attrs, str) else attrs
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = list(bound.arguments.items())[1:]
        fn(self, *args, **kwargs)
        self.cell_init_args = type(self).__name__ + str([(k, str(v)) for k, v in values if names is None or k in names])

    return init
