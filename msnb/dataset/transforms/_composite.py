"""Transforms that consist of other transforms. They are C++ operators in MindSpore."""

import random
from typing import Annotated, Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.core.operator import api_generations
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import of_callable, of_type, within
from msnb.dataset.core.streams import Mt32
from msnb.dataset.core.tensor_op import Described, TensorOp, as_array


def check_non_empty(values, name):
    """Return `values` if it is a non-empty list. Raise an error otherwise."""
    of_type(list)(values, name)
    if not values:
        raise ValueError(f"{name} can not be empty.")
    return values


def check_operations(transforms, name="op_list"):
    """Check a non-empty list of transforms or functions."""
    for i, op in enumerate(check_non_empty(transforms, name)):
        of_callable(op, f"{name}[{i}]")


def open_states(operations):
    """Return the state of each transform for one running pipeline; None for functions."""
    return [op._create_random_state() if isinstance(op, TensorOp) else None for op in operations]


def run_operation(op, state, values):
    """Run one transform or function on the columns of a row and return a tuple."""
    if not isinstance(op, TensorOp):
        outputs = op(*values)
    elif len(values) == 1 and _is_pil(values[0]) and hasattr(op, "_transform_pil_image"):
        outputs = op._transform_pil_image(values[0])
    elif getattr(op, "to_pil", False) is True:
        outputs = op(*values)
    else:
        outputs = op._transform_row_with_state(state, *(np.asarray(v) if _is_pil(v) else v for v in values))
    if not isinstance(outputs, tuple):
        outputs = (outputs,)
    return tuple(v if isinstance(v, np.ndarray) or _is_pil(v) else as_array(v) for v in outputs)


def accepts_pil(op: Any) -> bool:
    """Return True if `op` has a form that uses Pillow. MindSpore 2 runs this form on a PIL image."""
    if isinstance(op, _Composite):
        return all(map(accepts_pil, op.transforms))
    return hasattr(op, "_transform_pil_image") or _is_python_only(op)


def _is_python_only(op):
    return isinstance(op, Described) and not isinstance(op, TensorOp)


def _is_pil(value):
    return type(value).__module__.startswith("PIL")


def convert_pil_images(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the columns with PIL images as arrays."""
    return tuple(np.asarray(v) if _is_pil(v) else v for v in values)


def unwrap_single(values):
    """Return the columns as arrays. A single column is returned without its tuple."""
    values = convert_pil_images(values)
    return values[0] if len(values) == 1 else values


class _Composite(TensorOp):
    """Base of transforms that contain other transforms."""

    inputs = None

    @answered
    def __init__(self, transforms: list[Any]) -> None:
        check_operations(transforms)
        self.transforms = transforms

    def _create_random_state(self):
        return self._create_random_stream(), open_states(self.transforms)

    def _create_random_stream(self):
        return Mt32(fresh_seed())

    def _run_all_transforms(self, states, values):
        for op, state in zip(self.transforms, states, strict=True):
            values = run_operation(op, state, values)
        return values

    def _run_all_functions(self, values):
        for op in self.transforms:
            values = run_operation(op.__call__, None, values)
        return values

    def _uses_pillow(self, values):
        """Return True if MindSpore 2 runs the transforms in Python on these columns."""
        if api_generations.shared == 1 or not accepts_pil(self):
            return False
        return any(map(_is_pil, values)) or any(map(_is_python_only, self.transforms))

    def _transform_row_in_python(self, values):
        """Transform a row as the Python form of MindSpore 2 does, with Python's random numbers."""
        raise NotImplementedError(f"{type(self).__name__} has no Python form.")

    def __call__(self, *inputs: Any) -> Any:
        """Apply the transforms to the columns of one row outside a pipeline."""
        if inputs and self._uses_pillow(inputs):
            outputs = self._transform_row_in_python(inputs)
            return outputs[0] if len(outputs) == 1 else outputs
        return super().__call__(*inputs)


class Compose(_Composite):
    """Apply transforms one after the other.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is not a list of them.
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

    def _create_random_stream(self):
        return None

    def _uses_pillow(self, values):
        return any(map(_is_pil, values)) and super()._uses_pillow(values)

    def _transform_row_in_python(self, values):
        return self._run_all_functions(values)

    def _transform_row(self, *values):
        for op in self.transforms:
            values = run_operation(op, None, values)
        return unwrap_single(values)

    def _transform_row_with_state(self, state, *values):
        return unwrap_single(self._run_all_transforms(state[1], values))


class RandomApply(_Composite):
    """Apply all transforms one after the other with probability `prob`, or none of them.

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

    def _transform_row_in_python(self, values):
        return values if self.prob < random.random() else self._run_all_functions(values)

    def _transform_row_with_state(self, state, *values):
        if self._uses_pillow(values):
            return unwrap_single(self._transform_row_in_python(values))
        values = convert_pil_images(values)
        stream, states = state
        if stream.canonical() <= self.prob:
            values = self._run_all_transforms(states, values)
        return unwrap_single(values)


class RandomChoice(_Composite):
    """Apply one random transform.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is not a list of them.
        ValueError: If it is empty.
    """

    deterministic = False

    def _transform_row_in_python(self, values):
        return run_operation(random.choice(self.transforms).__call__, None, values)

    def _transform_row_with_state(self, state, *values):
        if self._uses_pillow(values):
            return unwrap_single(self._transform_row_in_python(values))
        values = convert_pil_images(values)
        stream, states = state
        index = stream.uniform_int(0, len(self.transforms) - 1)
        return unwrap_single(run_operation(self.transforms[index], states[index], values))


class RandomOrder(_Composite):
    """Apply the transforms in random order.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is not a list of them.
        ValueError: If it is empty.
    """

    deterministic = False

    @answered
    def __init__(self, transforms: list[Any]) -> None:
        super().__init__(transforms)
        self._order = list(range(len(transforms)))

    def _create_random_state(self):
        return list(self._order), open_states(self.transforms)

    def _run_eagerly(self, *arrays):
        return self._transform_row_with_state((self._order, open_states(self.transforms)), *arrays)

    def _transform_row_in_python(self, values):
        random.shuffle(self._order)
        for i in self._order:
            values = run_operation(self.transforms[i].__call__, None, values)
        return values

    def _transform_row_with_state(self, state, *values):
        order, states = state
        random.shuffle(order)  # a Python transform of MindSpore: Python's random shuffles the last order again
        for i in order:
            values = run_operation(self.transforms[i], states[i], values)
        return unwrap_single(values)


class Plugin(TensorOp):
    """Transforms of a compiled MindSpore library are not supported.

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
