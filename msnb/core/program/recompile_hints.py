"""What makes a Cell or function compile again and again: which argument changes, in which axis, and what helps."""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.program.argument_names import argument_name
from msnb.core.program.staging import dynamic
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor

TOLD_AT = 3  # compiles
_MOST = 5  # values that are listed
_PLAIN = (bool, int, str, bytes)


def arguments(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], constants: Sequence[int] = ()
) -> dict[str, Any]:
    """What a call of `fn` gives a signature: {name of an argument: shape of a Tensor, or the number or text itself}; of
    floats those that are `constants`, see `Staged`."""
    leaves, rebuild = flatten((args, kwargs))
    found, place = {}, -1
    for spot, leaf in enumerate(leaves):
        place += dynamic(leaf)
        if isinstance(leaf, Tensor) and not isinstance(leaf, Parameter):
            found[argument_name(fn, rebuild, leaves, spot)] = leaf.shape
        elif isinstance(leaf, _PLAIN) or type(leaf) is float and place in constants:
            found[argument_name(fn, rebuild, leaves, spot)] = leaf
    return found


def sentence(title: str, seen: list[dict[str, Any]]) -> str | None:
    """What to say of a program that was compiled for each of these `arguments`; None where no argument explains it."""
    told = []
    for name in seen[-1]:
        values = list(dict.fromkeys(each[name] for each in seen if name in each))
        if len(values) >= TOLD_AT:
            told.append(_shapes(name, values) if isinstance(values[-1], tuple) else _numbers(name, values))
    if not told:
        return None
    what, cure = zip(*told[:2])
    return f"{title} has been compiled {len(seen)} times: {' and '.join(what)}. {' '.join(dict.fromkeys(cure))}"


def _shapes(name, shapes):
    if len({len(shape) for shape in shapes}) > 1:
        return f"the shape of '{name}' was {_list(shapes)}", "Give it one number of dimensions."
    axes = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1]
    said = " and ".join(f"axis {a} of '{name}' was {_list(list(dict.fromkeys(s[a] for s in shapes)))}" for a in axes)
    cures = ["dataset.batch(..., drop_remainder=True) makes all batches of one size"] if axes[0] == 0 else []
    if axes[-1] > 0:
        cures.append(
            "pad to one length (dataset.batch(..., pad_info=...)) or to a few (dataset.bucket_batch_by_length)"
        )
    else:
        cures.append("or pad")
    return said, f"Every new shape is compiled anew: {', '.join(cures)}."


def _numbers(name, values):
    what = "text" if isinstance(values[-1], (str, bytes)) else "number"
    if isinstance(values[-1], float):
        return (
            f"the Python number '{name}' was {_list(values)}",
            f"An operator needs '{name}' as a constant: every new value of it is compiled anew.",
        )
    return (
        f"the Python {what} '{name}' was {_list(values)}",
        f"Pass it as a Tensor, Tensor({name}): every new value of a Python number is compiled anew."
        if what == "number"
        else "Every new text is compiled anew.",
    )


def _list(values):
    shown = ", ".join(map(repr, values[:_MOST]))
    return shown + (", ..." if len(values) > _MOST else "")
