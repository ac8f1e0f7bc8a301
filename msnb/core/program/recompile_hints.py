"""Messages about repeated compilation: the argument and axis that change, and a remedy."""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.program.argument_names import argument_name
from msnb.core.program.staging import is_dynamic
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor

HINT_AFTER = 3  # number of compilations before a hint
_MAX_LISTED = 5  # maximum number of values that a message lists
_PLAIN = (bool, int, str, bytes)


def describe_arguments(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], constants: Sequence[int] = ()
) -> dict[str, Any]:
    """Return {name: shape of a Tensor, or the number or text} of the arguments in the signature of a call.

    Floats are included if they are `constants`, see `Staged`.
    """
    leaves, rebuild = flatten((args, kwargs))
    described, dynamic_index = {}, -1
    for index, leaf in enumerate(leaves):
        dynamic_index += is_dynamic(leaf)
        if isinstance(leaf, Tensor) and not isinstance(leaf, Parameter):
            described[argument_name(fn, rebuild, leaves, index)] = leaf.shape
        elif isinstance(leaf, _PLAIN) or type(leaf) is float and dynamic_index in constants:
            described[argument_name(fn, rebuild, leaves, index)] = leaf
    return described


def format_hint(title: str, history: list[dict[str, Any]]) -> str | None:
    """Return the message about a program compiled for each of these arguments; None if no argument explains it."""
    explanations = []
    for name, last in history[-1].items():
        kind = _get_kind(last)  # an argument may be a Tensor in one call and a number or text in another one
        values = list(dict.fromkeys(each[name] for each in history if name in each and _get_kind(each[name]) is kind))
        if len(values) >= HINT_AFTER:
            explanations.append(
                _explain_varying_shapes(name, values)
                if isinstance(values[-1], tuple)
                else _explain_varying_values(name, values)
            )
    if not explanations:
        return None
    causes, remedies = zip(*explanations[:2])
    return (
        f"{title} has been compiled {len(history)} times: {' and '.join(causes)}. {' '.join(dict.fromkeys(remedies))}"
    )


def _get_kind(value):
    """Return tuple for a shape, str for a text, float for a number."""
    return tuple if isinstance(value, tuple) else str if isinstance(value, (str, bytes)) else float


def _explain_varying_shapes(name, shapes):
    if len({len(shape) for shape in shapes}) > 1:
        return f"the shape of '{name}' was {_format_values(shapes)}", "Give it one number of dimensions."
    axes = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1]
    cause = " and ".join(
        f"axis {a} of '{name}' was {_format_values(list(dict.fromkeys(s[a] for s in shapes)))}" for a in axes
    )
    remedies = ["dataset.batch(..., drop_remainder=True) makes all batches of one size"] if axes[0] == 0 else []
    if axes[-1] > 0:
        remedies.append(
            "pad to one length (dataset.batch(..., pad_info=...)) or to a few (dataset.bucket_batch_by_length)"
        )
    else:
        remedies.append("or pad")
    return cause, f"Every new shape is compiled anew: {', '.join(remedies)}."


def _explain_varying_values(name, values):
    what = "text" if isinstance(values[-1], (str, bytes)) else "number"
    if isinstance(values[-1], float):
        return (
            f"the Python number '{name}' was {_format_values(values)}",
            f"An operator needs '{name}' as a constant: every new value of it is compiled anew.",
        )
    return (
        f"the Python {what} '{name}' was {_format_values(values)}",
        f"Pass it as a Tensor, Tensor({name}): every new value of a Python number is compiled anew."
        if what == "number"
        else "Every new text is compiled anew.",
    )


def _format_values(values):
    text = ", ".join(map(repr, values[:_MAX_LISTED]))
    return text + (", ..." if len(values) > _MAX_LISTED else "")
