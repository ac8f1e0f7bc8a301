"""Functions that describe the change of one value, such as `zero` or `scale`, and the elements that they change."""

import dataclasses
import difflib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.support.weak_identity import ObjectKey
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.rewritten_call import call_pure

Index = int | slice | Sequence[int] | None


class UnsuitableValue(Exception):
    """Raised while a change is applied to a value that it does not fit. The message gives the reason."""


def _is_int(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_index(name, index):
    indices = index if isinstance(index, (tuple, list)) else [index]
    is_valid = index is None or (len(indices) and all(_is_int(i) or isinstance(i, slice) for i in indices))
    if is_valid and name != "position" and any(isinstance(i, slice) for i in indices):
        is_valid = isinstance(index, slice)
    if not is_valid:
        raise TypeError(f"'{name}' should be an int, a list of ints or a slice, but got {index!r}.")


@dataclasses.dataclass(frozen=True)
class Selection:
    """The elements of a value that a change applies to.

    Attributes:
        batch (Index): indices of examples, along the first axis.
        position (Index): positions in a sequence, along axis 1 of a 3-D value; or (row, column) in an image, along the
            last two axes of a 4-D value.
        channel (Index): channels, along axis 1 of a value with at least 4 axes, or along the last axis of another
            value.
        round (Union[int, tuple, None]): iteration of the loop around the node; a tuple for several loops.
        lane (str): ``"forward"``, or ``"backward"`` for the gradient with respect to the value.
        output (Union[int, None]): index of the result of a node that has several; None for the first one that another
            node reads.
    """

    batch: Index = None
    position: Any = None
    channel: Index = None
    round: int | tuple[int, ...] | None = None
    lane: str = "forward"
    output: int | None = None

    def __post_init__(self) -> None:
        if self.lane not in ("forward", "backward"):
            raise ValueError(f"'lane' should be 'forward' or 'backward', but got {self.lane!r}.")
        for name in ("batch", "position", "channel"):
            _check_index(name, getattr(self, name))
        rounds = self.round if isinstance(self.round, tuple) else (self.round,)
        if self.round is not None and not all(_is_int(each) and each >= 0 for each in rounds):
            raise ValueError(f"'round' should be an int from 0, or a tuple of ints, but got {self.round!r}.")
        if self.output is not None and (not _is_int(self.output) or self.output < 0):
            raise ValueError(f"'output' should be an int from 0, but got {self.output!r}.")

    def axes(self, ndim: int) -> list[tuple[str, int, Index]]:
        """Return (name, axis, index) of each selecting argument for a value of `ndim` axes."""
        selected: list[tuple[str, int, Index]] = []
        if self.batch is not None:
            selected.append(("batch", 0, self.batch))
        if self.channel is not None:
            selected.append(("channel", 1 if ndim >= 4 else ndim - 1, self.channel))
        if self.position is not None:
            if ndim == 3:
                selected.append(("position", 1, self.position))
            elif ndim == 4 and isinstance(self.position, tuple) and len(self.position) == 2:
                selected += [("position", 2, self.position[0]), ("position", 3, self.position[1])]
            elif ndim == 4:
                raise UnsuitableValue("'position' of a value with 4 axes should be a pair (row, column)")
            else:
                raise UnsuitableValue(f"'position' needs a value with 3 or 4 axes, but the value has {ndim}")
        if ndim == 0 and selected:
            raise UnsuitableValue(f"'{selected[0][0]}' needs a value with axes, but the value is one number")
        return selected


_EVERYTHING = Selection()


def select(options: dict[str, Any]) -> Selection:
    """Return the Selection of keyword arguments.

    Raises:
        TypeError: If an argument is unknown. The message suggests a similar name.
    """
    names = [field.name for field in dataclasses.fields(Selection)]
    for name in options:
        if name not in names:
            nearest = difflib.get_close_matches(name, names, n=1)
            hint = f"Did you mean '{nearest[0]}'?" if nearest else f"It takes {', '.join(names)}."
            raise TypeError(f"A change has no argument '{name}'. {hint}")
    return Selection(**options)


class Change:
    """A change of one value: ``value -> value``, applied to selected elements.

    Args:
        name (str): name for messages.
        compute (Callable): (value, numbers, context) -> new value, all arrays.
        numbers (Sequence): numbers of the change. They are inputs of the compiled program, so other numbers need no
            compilation.
        static (tuple): other settings. They are constants of the compiled program.
        selection (Selection): the elements that change.
        needs_float (bool): True if integers and bools can't be changed in this way.
    """

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        numbers: Sequence[Any] = (),
        static: tuple[Any, ...] = (),
        selection: Selection = _EVERYTHING,
        needs_float: bool = False,
    ) -> None:
        self.name, self.compute, self.static, self.selection = name, compute, static, selection
        self.needs_float = needs_float
        self._indices, self._index_key = _extract_index_arrays(selection)
        self.numbers: list[np.ndarray[Any, Any]] = [*map(_to_numpy, numbers), *self._indices]
        self._n_own = len(numbers)

    @property
    def uses_reference(self) -> bool:
        """True if the change needs the value that the node has without any change."""
        return self.name == "freeze"

    @property
    def structure(self) -> tuple[Any, ...]:
        """A hashable key of everything that the compiled program of the change depends on."""
        kinds = tuple((n.shape, n.dtype.name) for n in self.numbers)
        selection = self.selection
        return (
            self.name,
            self.static,
            kinds,
            self._index_key,
            selection.lane,
            selection.output,
            0 if selection.round is None else np.ndim(selection.round) + 1,
        )

    def for_query(self, query: Any) -> "Change":
        """Return the change for the nodes of a query."""
        return self

    def axis_lengths(self, shape: tuple[int, ...]) -> list[tuple[str, int, Any]]:
        """Return (name, length of the axis, index) of each selecting argument, for `check_indices`."""
        return [(name, shape[axis], index) for name, axis, index in self.selection.axes(len(shape))]

    def apply(self, value: Any, numbers: Sequence[Any], rounds: tuple[Any, ...], reference: Any) -> Any:
        """Return the new value inside a trace; the result has the shape and dtype of `value`."""
        own, rest = list(numbers[: self._n_own]), list(numbers[self._n_own :])
        if self.needs_float and not jnp.issubdtype(value.dtype, jnp.inexact):
            raise UnsuitableValue(f"it computes with real numbers, but the value is {value.dtype}")
        new = self.compute(value, own, reference)
        is_changed: Any = None
        for _, axis, index in self.selection.axes(value.ndim):
            mask = _make_axis_mask(index, value.shape[axis], rest)
            mask = mask.reshape([-1 if a == axis else 1 for a in range(value.ndim)])
            is_changed = mask if is_changed is None else is_changed & mask
        if self.selection.round is not None:
            numbers_of_rounds = rest.pop()
            is_round = jnp.all(jnp.stack(rounds) == numbers_of_rounds)
            is_changed = is_round if is_changed is None else is_changed & is_round
        return new if is_changed is None else jnp.where(is_changed, new, value)

    def __repr__(self) -> str:
        return self.name


def check_indices(lengths: Sequence[tuple[str, int, Any]]) -> None:
    """Raise `UnsuitableValue` if an index is outside of its axis."""
    for name, length, index in lengths:
        for each in index if isinstance(index, (tuple, list)) else [index]:
            if not isinstance(each, slice) and not -length <= each < length:
                raise UnsuitableValue(f"'{name}' {each} is outside of an axis of length {length}")


def _to_numpy(number):
    if isinstance(number, Tensor):
        return number.asnumpy()
    array = np.asarray(number)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _extract_index_arrays(selection):
    """Return (arrays of the indices, hashable structure). Slices are part of the structure."""
    arrays, key = [], []
    for name in ("batch", "channel", "position"):
        index = getattr(selection, name)
        if index is None:
            key.append(None)
            continue
        is_pair = name == "position" and isinstance(index, tuple) and len(index) == 2
        for each in index if is_pair else [index]:
            if isinstance(each, slice):
                key.append((name, each.start, each.stop, each.step))
            else:
                arrays.append(np.atleast_1d(np.asarray(each, np.int32)))
                key.append((name, is_pair))
    if selection.round is not None:
        arrays.append(np.atleast_1d(np.asarray(selection.round, np.int32)))
    return arrays, tuple(key)


def _make_axis_mask(index, length, arrays):
    """Return a bool per element of an axis. If `index` is not a slice, its array is removed from the front of
    `arrays`.
    """
    elements = jnp.arange(length)
    if isinstance(index, slice):
        return jnp.asarray(np.isin(np.arange(length), np.arange(length)[index]))
    indices = arrays.pop(0)
    indices = jnp.where(indices < 0, indices + length, indices)
    return (elements[:, None] == indices).any(axis=1)


# ---------------------------------------------------------------------- predefined changes
def _reshape_along_channels(vector, value):
    """Return a vector in a shape that broadcasts along the channels of a value; larger arrays are unchanged."""
    if vector.ndim == 1 and value.ndim >= 4:
        return vector.reshape((1, -1) + (1,) * (value.ndim - 2))
    return vector


def _broadcast_like(array, value):
    try:
        return jnp.broadcast_to(array.astype(value.dtype), value.shape)
    except ValueError:
        raise UnsuitableValue(f"an array of shape {array.shape} does not fit the value's {value.shape}") from None


def zero(**selection: Any) -> Change:
    """Return the change to zeros, an ablation.

    Args:
        selection: ``batch=``, ``position=``, ``channel=``, ``round=``, ``lane=`` and ``output=``, see `Selection`.

    Examples:
        >>> import msnb
        >>> from msnb import Tensor, nn
        >>> net = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones"), nn.ReLU())
        >>> with msnb.intervene(net, {"op:ReLU": zero(channel=1)}):
        ...     print(net(Tensor([[1.0, 1.0]])))
        [[2. 0. 2.]]
    """
    return Change("zero", lambda value, _, __: jnp.zeros_like(value), selection=select(selection))


def mean(axis: int | tuple[int, ...] | None = 0, **selection: Any) -> Change:
    """Return the change to the mean over `axis`, by default over the examples of the batch (mean ablation)."""

    def compute(value, _, __):
        return jnp.broadcast_to(jnp.mean(value, axis=axis, keepdims=True).astype(value.dtype), value.shape)

    static = (tuple(axis) if isinstance(axis, (tuple, list)) else axis,)
    return Change("mean", compute, static=static, selection=select(selection), needs_float=True)


def resample(seed: int = 0, **selection: Any) -> Change:
    """Return the change to the value of another example of the batch, in a random order drawn from `seed`."""

    def compute(value, numbers, _):
        if not value.ndim:
            raise UnsuitableValue("it exchanges examples of a batch, but the value is one number")
        order = jax.random.permutation(jax.random.key(numbers[0]), value.shape[0])
        return jnp.take(value, order, axis=0)

    return Change("resample", compute, [_check_seed(seed)], selection=select(selection))


def scale(factor: float, **selection: Any) -> Change:
    """Return the change to the value times `factor`."""

    def compute(value, numbers, _):
        return value * _broadcast_like(_reshape_along_channels(numbers[0], value), value)

    return Change("scale", compute, [_check_number("factor", factor)], selection=select(selection), needs_float=True)


def clamp(min: float | None = None, max: float | None = None, **selection: Any) -> Change:
    """Return the change that limits the value to ``min`` and ``max``."""
    if min is None and max is None:
        raise ValueError("'clamp' needs 'min', 'max' or both.")
    limits = [_check_number(name, limit) for name, limit in (("min", min), ("max", max)) if limit is not None]
    has_min, has_max = min is not None, max is not None

    def compute(value, numbers, _):
        numbers = [number.astype(value.dtype) for number in numbers]
        value = jnp.maximum(value, numbers[0]) if has_min else value
        return jnp.minimum(value, numbers[-1]) if has_max else value

    return Change("clamp", compute, limits, (has_min, has_max), select(selection))


def noise(std: float = 1.0, seed: int = 0, **selection: Any) -> Change:
    """Return the change that adds normal noise of standard deviation `std`, the same one in each call."""

    def compute(value, numbers, _):
        drawn = jax.random.normal(jax.random.key(numbers[1]), value.shape, jnp.float32)
        return value + (drawn * numbers[0]).astype(value.dtype)

    numbers = [_check_number("std", std), _check_seed(seed)]
    return Change("noise", compute, numbers, selection=select(selection), needs_float=True)


def steer(vector: Any, strength: float = 1.0, **selection: Any) -> Change:
    """Return the change that adds ``strength * vector``. A 1-D vector has one element per channel."""

    def compute(value, numbers, _):
        shift = numbers[0].astype(jnp.float32) * numbers[1]
        return value + _broadcast_like(_reshape_along_channels(shift, value), value)

    numbers = [_check_array("vector", vector), _check_number("strength", strength)]
    return Change("steer", compute, numbers, selection=select(selection), needs_float=True)


def project(vector: Any, onto: bool = False, **selection: Any) -> Change:
    """Return the change that removes the component along a vector of the channels, or keeps only this component if
    `onto` is True.
    """
    array = _check_array("vector", vector)
    if array.ndim != 1 or not np.linalg.norm(array) > 0:
        raise ValueError(f"For 'project', 'vector' should be a vector other than 0, but got shape {array.shape}.")

    def compute(value, numbers, _):
        axis = 1 if value.ndim >= 4 else value.ndim - 1
        if not value.ndim or value.shape[axis] != numbers[0].shape[0]:
            raise UnsuitableValue(
                f"the vector has {numbers[0].shape[0]} elements, but the value's shape is {value.shape}"
            )
        unit = numbers[0].astype(jnp.float32)
        unit = _reshape_along_channels(unit / jnp.linalg.norm(unit), value).astype(value.dtype)
        component = jnp.sum(value * unit, axis=axis, keepdims=True) * unit
        return component if onto else value - component

    return Change("project", compute, [array], (bool(onto),), select(selection), needs_float=True)


def replace(value: Any, **selection: Any) -> Change:
    """Return the change to another value: a number, or an array that broadcasts to the value."""

    def compute(old, numbers, _):
        return _broadcast_like(_reshape_along_channels(numbers[0], old), old)

    return Change("replace", compute, [_check_array("value", value)], selection=select(selection))


def freeze(**selection: Any) -> Change:
    """Return the change to the value that the node has without any intervention. It undoes the effect of other
    changes.
    """
    return Change("freeze", lambda _, __, reference: reference, selection=select(selection))


class AttributeChange(Change):
    """Other attributes of the operator of a node; see `attribute`.

    Attributes:
        attributes (dict): name of an attribute -> value.
    """

    def __init__(self, attributes: dict[str, Any]) -> None:
        static = tuple((name, type(value).__name__, value) for name, value in sorted(attributes.items()))
        super().__init__("attribute", lambda value, *_: value, static=static)
        self.attributes = attributes

    def __repr__(self) -> str:
        return f"attribute({', '.join(f'{name}={value!r}' for name, value in self.attributes.items())})"


def attribute(**attributes: Any) -> Change:
    """Return the change that computes an operator with other attributes, such as another epsilon or axis.

    The results keep their shapes and dtypes. Each new value is compiled, because attributes are constants of a program.

    Args:
        attributes: names of attributes, as the graph view shows them, and their values.

    Examples:
        >>> import msnb
        >>> from msnb import Tensor, ops
        >>> with msnb.intervene(ops.Elu(), {"op:Elu": attribute(alpha=0.0)}) as net:
        ...     print(net(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    if not attributes:
        raise TypeError("'attribute' needs at least one attribute, such as attribute(epsilon=1e-3).")
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}
    for name, value in values.items():
        items = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(item, (bool, int, float, str)) for item in items):
            raise TypeError(f"'{name}' should be a number, a str or a tuple of these, but got {describe(value)}.")
    return AttributeChange(values)


class _FromRun(Change):
    """The value of a node in a recorded run, which is read when the query of the change is known."""

    def __init__(self, run: Any, step: int | None, node: Any, selection: dict[str, Any]) -> None:
        super().__init__("from_run", lambda *_: None, selection=select(selection))
        self._run, self._step, self._node, self._arguments = run, step, node, selection

    def for_query(self, query: Any) -> Change:
        node = query if self._node is None else self._node
        options = {} if self._step is None else {"step": self._step}
        if self.selection.round is not None:
            options["round"] = self.selection.round
        return replace(self._run.value(node, **options), **self._arguments)


def from_run(run: Any, step: int | None = None, node: Any = None, **selection: Any) -> Change:
    """Return the change to a value of a recorded run.

    Args:
        run (Union[Timeline, GraphView]): the result of `msnb.timeline`, or of `msnb.view` after a call of its `run`.
        step (int): number of the step, for a Timeline. Default: None, the last one.
        node (Union[str, int]): a query of the node whose value is used. Default: None, the query of the change.
        selection: as for `zero`.
    """
    if not callable(getattr(run, "value", None)):
        raise TypeError(f"For 'from_run', 'run' should be a timeline or a view with values, but got {describe(run)}.")
    return _FromRun(run, step, node, selection)


def apply(function: Callable[[Tensor], Any], **selection: Any) -> Change:
    """Return the change that applies a function to the value, for selected elements.

    Args:
        function (Callable): takes the value and returns the new one, of the same shape and dtype. It is traced.
        selection: as for `zero`.
    """
    if not callable(function):
        raise TypeError(
            "A change should be a function of the value, such as zero() or replace(0.5), but got "
            f"{describe(function)}. msnb.interventions has them."
        )
    name = getattr(function, "__name__", type(function).__name__)

    def compute(value, _, __):
        try:
            out = call_pure(function, value)
        except ValueError as error:
            if "but it should only compute" not in str(error):
                raise
            raise UnsuitableValue(str(error)) from None
        array = out._array if isinstance(out, Tensor) else out
        shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
        if shape != value.shape or dtype != value.dtype:
            raise UnsuitableValue(f"the function should return {describe(value)}, but returned {describe(out)}")
        return array

    return Change(name, compute, static=(ObjectKey(function),), selection=select(selection))


def as_change(value: Any) -> Change:
    """Convert a function to a Change; a Change is returned unchanged."""
    return value if isinstance(value, Change) else apply(value)


def _check_seed(seed):
    if not _is_int(seed):
        raise TypeError(f"'seed' should be an int, but got {describe(seed)}.")
    return np.uint32(seed % 2**32)


def _check_number(name, value):
    if isinstance(value, bool) or np.ndim(_to_numpy(value)) > 1 or _to_numpy(value).dtype.kind not in "fiu":
        raise TypeError(f"'{name}' should be a number, but got {describe(value)}.")
    return np.asarray(_to_numpy(value), np.float32)


def _check_array(name, value):
    array = _to_numpy(value)
    if array.dtype.kind not in "fiubc" and array.dtype.name != "bfloat16":
        raise TypeError(f"'{name}' should be a number or an array, but got {describe(value)}.")
    return array
