"""Functions that derive functions of mint from those of `mindspore.ops`, with the same or other argument names."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from msnb.common import dtype as mstype
from msnb.core.operator.api_generations import api2_meaning
from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F
from msnb.ops.array.cast import Cast


def functions_of_ops(names: str) -> dict[str, Any]:
    """Return {name: function of `mindspore.ops`} for the names in a text, separated by spaces."""
    return {name: api2_function(name) for name in names.split()}


def api2_function(name: str) -> Any:
    """Return the function of `mindspore.ops` as in MindSpore 2, regardless of the API generation that is set."""
    return api2_meaning(name, getattr(F, name))


def with_mint_names(name: str, parameters: str, fn: Any = None) -> Callable[..., Any]:
    """Return a function of `mindspore.ops` with mint's argument names.

    Args:
        name (str): Name of the function in mint.
        parameters (str): The arguments in order, "input:x dim:axis * dtype". The name in `mindspore.ops` follows a
            colon if it differs. Arguments after the star are keyword-only. Arguments that are not listed are omitted.
        fn (Callable): The function. Default: None, the function of `mindspore.ops` with the same name.

    Returns:
        Callable.
    """
    fn = api2_function(name) if fn is None else fn
    positional, _, keyword_only = parameters.partition("*")
    ops_names = {
        new: old or new
        for new, _, old in (word.partition(":") for word in [*positional.split(), *keyword_only.split()])
    }
    parameters_of_fn = inspect.signature(fn).parameters
    new_parameters = [parameters_of_fn[old].replace(name=new) for new, old in ops_names.items()]
    positional_count = len(positional.split())
    new_parameters[positional_count:] = [p.replace(kind=p.KEYWORD_ONLY) for p in new_parameters[positional_count:]]
    if [*ops_names.values()][:positional_count] != [*parameters_of_fn][:positional_count]:
        raise ValueError(f"'{name}' takes its arguments in another order than the function that it stands for.")

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) > positional_count:
            raise TypeError(f"For '{name}', at most {positional_count} arguments go by position, but got {len(args)}.")
        if kwargs:
            for keyword in kwargs.keys() - ops_names.keys():
                raise TypeError(f"For '{name}', there is no argument '{keyword}'; it takes {', '.join(ops_names)}.")
            kwargs = {ops_names[keyword]: value for keyword, value in kwargs.items()}
        return fn(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__signature__ = inspect.Signature(
        new_parameters, return_annotation=inspect.signature(fn).return_annotation
    )
    function.__doc__ = _rename_args_in_docstring(
        fn.__doc__ or "", {old: new for new, old in ops_names.items() if old != new}
    )
    return function


def _rename_args_in_docstring(doc, names):
    for old, new in names.items():
        doc = re.sub(rf"`{old}`|\*\*{old}\*\*|(?m:^ +{old} \()", lambda m, o=old, n=new: m[0].replace(o, n), doc)
    return doc


def with_float_input(name: str) -> Callable[[Tensor], Tensor]:
    """Return a function of `mindspore.ops` of one Tensor, extended to convert integers and bool to float32 first.

    Args:
        name (str): Name of the function in mint and in `mindspore.ops`.

    Returns:
        Callable.
    """
    fn = api2_function(name)

    def function(input: Tensor) -> Tensor:
        return fn(as_floating(input))

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = _rename_args_in_docstring(
        fn.__doc__ or "", {next(iter(inspect.signature(fn).parameters)): "input"}
    )
    return function


def as_floating(x: Any) -> Any:
    """Return `x`, converted to float32 if it is a Tensor of integers or bool."""
    if isinstance(x, Tensor) and x._array.dtype.kind in "biu":
        return Cast.functional(x, mstype.float32)
    return x


def cast_to_int64(indices: Tensor) -> Tensor:
    """Cast indices to int64, the element type of indices in mint."""
    return Cast.functional(indices, mstype.int64)
