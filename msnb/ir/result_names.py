"""Names of the results of a program, as its user writes them: ``loss``, ``result[1]``, ``gradient of fc1.weight``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

_GRADIENT = "gradient:"  # prefix of the label that `core.transforms` puts on the gradient of a Parameter


def name_results(program: "Program") -> list[str]:
    """Return the name of each result of a traced program, constants included.

    A gradient is named after its Parameter, a value in a dict after its key, and any other value after its index. If
    several values have the same key, their full paths are used.
    """
    static = program.results.static
    paths = dict(_iterate_leaf_paths(program.results.rebuild(list(range(len(static)))), ()))
    gradients = _collect_gradient_labels(program.jaxpr.jaxpr)
    traced = iter(program.jaxpr.jaxpr.outvars)
    labels = [gradients.get(id(next(traced))) if value is None else None for value in static]
    short = [label or _shorten_path(paths[index]) for index, label in enumerate(labels)]
    return [name if short.count(name) == 1 else _format_path(paths[index]) for index, name in enumerate(short)]


def result_name(names: Sequence[str], index: int, count: int) -> str:
    """Return the name of result `index` of `count` results. It is a default name if `names` has no such index."""
    if index < len(names):
        return names[index]
    return f"result[{index}]" if count > 1 else "result"


def _iterate_leaf_paths(value, path):
    """Yield (number of a leaf, path to it) of nested tuples, lists and dicts."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _iterate_leaf_paths(item, (*path, key))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for key, item in zip(value._fields, value, strict=True):
            yield from _iterate_leaf_paths(item, (*path, key))
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from _iterate_leaf_paths(item, (*path, index))
    else:
        yield value, path


def _shorten_path(path):
    """Return the last str key of a path and the indices after it, as text."""
    last = max((at for at, key in enumerate(path) if isinstance(key, str)), default=None)
    if last is None:
        return _format_path(path)
    return path[last] + "".join(f"[{index}]" for index in path[last + 1 :])


def _format_path(path):
    return "result" + "".join(f"[{key!r}]" for key in path)


def _collect_gradient_labels(jaxpr: Any) -> dict[int, str]:
    """Return {id of a variable: name} of the gradients of Parameters."""
    labels = {}
    for eqn in jaxpr.eqns:
        text = eqn.params.get("name") if eqn.primitive.name == "name" else None
        if text is not None and text.startswith(_GRADIENT):
            labels[id(eqn.outvars[0])] = f"gradient of {text[len(_GRADIENT) :]}"
    return labels
