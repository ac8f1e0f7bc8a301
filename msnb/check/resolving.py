"""Finds the objects of msnb for paths of MindSpore, such as "mindspore.nn.Dense"."""

import functools
import importlib
import inspect
import sys
import types
from typing import Any

from msnb.check.uses import ROOT
from msnb.core.tensor.tensor import Tensor

ABSENT = object()  # the result for a path that does not exist
_OURS = __name__.partition(".")[0]


@functools.cache
def resolve(name: str) -> Any:
    """Return the object of a MindSpore path in msnb, or `ABSENT`."""
    owner: Any = sys.modules[_OURS]
    path = ROOT
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        inner = _get_member(owner, part)
        if inner is ABSENT:
            inner = _import_submodule(owner, part)
        if inner is ABSENT:
            return ABSENT
        owner = inner
    return owner


def _get_member(owner, name):
    if isinstance(owner, type) and hasattr(owner, "_later"):
        return owner  # a member of a placeholder is reported as the placeholder
    try:
        return getattr(owner, name)
    except AttributeError:
        # the attributes of an object are unknown
        return ABSENT if isinstance(owner, (types.ModuleType, type)) else None


def _import_submodule(owner, name):
    if not isinstance(owner, types.ModuleType):
        return ABSENT
    try:
        path = f"{owner.__name__}.{name}"
        return importlib.import_module(path)  # lazy import: only modules that the program names
    except ModuleNotFoundError:
        return ABSENT


def infer_result_class(target: Any) -> type | None:
    """Return the class of a call's result: `target` if it is a class, Tensor if that is its return annotation, else
    None.
    """
    if isinstance(target, type):
        return target
    signature = get_signature(target) if inspect.isfunction(target) else None
    return Tensor if signature is not None and signature.return_annotation is Tensor else None


@functools.cache
def get_signature(function: Any) -> inspect.Signature | None:
    """Return the signature of a callable, or None if it has none."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None
