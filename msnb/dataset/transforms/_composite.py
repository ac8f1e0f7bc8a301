"""Transforms made of other transforms. C++ operators in MindSpore."""

import random
from typing import Annotated, Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import of_callable, of_type, within
from msnb.dataset.core.streams import Mt32
from msnb.dataset.core.tensor_op import TensorOp, as_array


def filled(values, name):
    """A list with something in it."""
    of_type(list)(values, name)
    if not values:
        raise ValueError(f"{name} can not be empty.")
    return values


def check_operations(transforms, name="op_list"):
    """A non-empty list of transforms or functions."""
    for i, op in enumerate(filled(transforms, name)):
        of_callable(op, f"{name}[{i}]")


def open_all(operations):
    """The states of the transforms, in a running pipeline."""
    return [op._open_state() if isinstance(op, TensorOp) else None for op in operations]


def run_one(op, state, values):
    """One transform or function on the columns of a row, as a tuple."""
    if not isinstance(op, TensorOp):
        made = op(*values)
    elif len(values) == 1 and _is_pil(values[0]) and hasattr(op, "_transform_pil"):
        made = op._transform_pil(values[0])
    elif getattr(op, "to_pil", False) is True:
        made = op(*values)
    else:
        made = op._run_row(state, *(np.asarray(v) if _is_pil(v) else v for v in values))
    if not isinstance(made, tuple):
        made = (made,)
    return tuple(v if isinstance(v, np.ndarray) or _is_pil(v) else as_array(v) for v in made)


def _is_pil(value):
    return type(value).__module__.startswith("PIL")


def unwrapped(values):
    """The columns as arrays, a lone one without its tuple."""
    values = tuple(np.asarray(v) if _is_pil(v) else v for v in values)
    return values[0] if len(values) == 1 else values


class _Composite(TensorOp):
    """Base of what holds other transforms."""

    inputs = None

    @answered
    def __init__(self, transforms: list[Any]) -> None:
        check_operations(transforms)
        self.transforms = transforms

    def _open_state(self):
        return self._own_state(), open_all(self.transforms)

    def _own_state(self):
        return Mt32(fresh_seed())

    def _all(self, states, values):
        for op, state in zip(self.transforms, states, strict=True):
            values = run_one(op, state, values)
        return values


class Compose(_Composite):
    """Transforms one after the other.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is no list of them.
        ValueError: If it is empty.

    Examples:
        >>> import mindspore.dataset.transforms.c_transforms as C
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> C.Compose([CV.Decode(), CV.RandomCrop(512)])
    """

    @answered
    def __init__(self, transforms: list[Any]) -> None:
        super().__init__(transforms)
        self.deterministic: bool = all(isinstance(t, TensorOp) and t.deterministic for t in transforms)
        self.costly: bool = any(getattr(t, "costly", False) for t in transforms)

    def _own_state(self):
        return None

    def _transform_row(self, *values):
        for op in self.transforms:
            values = run_one(op, None, values)
        return unwrapped(values)

    def _run_row(self, state, *values):
        return unwrapped(self._all(state[1], values))


class RandomApply(_Composite):
    """Transforms one after the other, or none of them, at random.

    Args:
        transforms (list): Transforms or functions.
        prob (float, optional): Probability of applying them. Default: 0.5.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `transforms` is empty or `prob` not in [0, 1].
    """

    deterministic = False

    @checked
    def __init__(self, transforms: list[Any], prob: Annotated[float | int, within(0, 1, float, int)] = 0.5) -> None:
        super().__init__(transforms)
        self.prob = prob

    def _run_row(self, state, *values):
        stream, states = state
        if stream.canonical() <= self.prob:
            values = self._all(states, values)
        return unwrapped(values)


class RandomChoice(_Composite):
    """One of the transforms, at random.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is no list of them.
        ValueError: If it is empty.
    """

    deterministic = False

    def _run_row(self, state, *values):
        stream, states = state
        chosen = stream.uniform_int(0, len(self.transforms) - 1)
        return unwrapped(run_one(self.transforms[chosen], states[chosen], values))


class RandomOrder(_Composite):
    """The transforms one after the other, in random order.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is no list of them.
        ValueError: If it is empty.
    """

    deterministic = False

    def _run_row(self, state, *values):
        order = list(range(len(self.transforms)))
        random.shuffle(order)  # a Python transform in MindSpore: it draws from Python's random
        for i in order:
            values = run_one(self.transforms[i], state[1][i], values)
        return unwrapped(values)


class Plugin(TensorOp):
    """Transforms of a shared library of MindSpore's own are not supported.

    Args:
        lib_path (str): Path of the library.
        func_name (str): Name of the function.
        user_args (str, optional): Its argument. Default: None.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, lib_path: str, func_name: str, user_args: str | None = None) -> None:
        raise NotImplementedError(
            "Plugin loads a compiled library of MindSpore's; write the transform as a Python function instead."
        )
