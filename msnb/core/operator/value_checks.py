"""Checks of values: indices within an axis, labels within the classes, results that show a wrong input.

The declaration of an operator lists its checks: ``@operator(checks=[index("indices", "params", "axis")])``.

- PYNATIVE mode: values that are on the host are checked before the kernel runs, and the error points at the user's
  line. Other values are checked on the device, which computes an error code. `core.state.deferred_errors` raises the
  error at the next read of a value.
- GRAPH mode: labels are always checked. The program returns an error code without waiting for it, and a step with a
  wrong label leaves every Parameter unchanged, as do the steps after it until the error is raised. Other values are
  checked only with ``set_context(check_indices=True)`` or ``%%mindspore --check``; the call of the program then raises
  the error. Constants are checked while tracing.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from msnb import context
from msnb.core.compat.jax_private import is_available, is_deleted, is_tracer
from msnb.core.eager.kernel import Kernel
from msnb.core.errors.messages import format_location as format_location
from msnb.core.errors.messages import hide_directory, raise_at, user_location
from msnb.core.state import deferred_errors, trace_state
from msnb.core.support.unknown_shape import UnknownShape

_thread = trace_state.thread
_state = context._state

hide_directory(os.path.dirname(jax.__file__) + os.sep)  # JAX's frames are between a derivative and the user's line
context.on_change("check_indices", lambda _: trace_state.epoch.bump())  # each setting has its own programs


class Range(NamedTuple):
    """The values of an input and the range that they must lie in.

    Attributes:
        values (jax.Array): Integers of any shape.
        high (Union[int, tuple]): The exclusive upper bound; a tuple bounds each component of the last axis.
        low (Union[int, None]): The smallest value, None for no bound. Default: 0.
        ignored (Union[int, None]): A value that is always allowed. Default: None.
    """

    values: jax.Array
    high: int | tuple[Any, ...]
    low: int | None = 0
    ignored: int | None = None


class Check:
    """A check of the values of an input.

    Args:
        name (str): Name of the input.
        ranges (Callable): Takes a dict of inputs and attributes by name. Returns a list of `Range`, which is empty if
            another argument is wrong; the kernel reports that error.
        error (type): The class of the error, as in MindSpore. Default: RuntimeError.
        always (bool): Check in GRAPH mode by default. Default: False.
        what (str): Noun for the values in the message. Default: "indices".
        sentence (str): Requirement on the input for the message, with {value} for the first wrong value. Default:
            None, the bounds.
        of_result (bool): Check the operator's single result, which shows that the input was wrong. The check runs after
            the kernel, and `ranges` also gets the result, as "result". Default: False.
    """

    __slots__ = ("name", "ranges", "error", "always", "what", "sentence", "of_result")

    def __init__(
        self,
        name: str,
        ranges: Callable[..., Any],
        error: type[Exception] = RuntimeError,
        always: bool = False,
        what: str = "indices",
        sentence: str | None = None,
        of_result: bool = False,
    ) -> None:
        self.name: str = name
        self.ranges: Callable[..., Any] = ranges
        self.error: type[Exception] = error
        self.always: bool = always
        self.what: str = what
        self.sentence: str | None = sentence
        self.of_result: bool = of_result


def index(
    name: str, of: str, axis: int | str = 0, negative: bool = True, error: type[Exception] = RuntimeError
) -> Check:
    """Return a check that indices lie within an axis of another input.

    Args:
        name (str): Name of the input with the indices.
        of (str): Name of the input that is indexed.
        axis (Union[int, str]): Its axis, or the name of the input or attribute with the axis. Default: 0.
        negative (bool): Negative indices count from the end. Default: True.
        error (type): The class of the error. Default: RuntimeError.
    """

    def ranges(args):
        shape, along = np.shape(args[of]), args[axis] if isinstance(axis, str) else axis
        if not -len(shape) <= along < len(shape):
            return ()
        return [Range(args[name], shape[along], -shape[along] if negative else 0)]

    return Check(name, ranges, error)


def position(name: str, of: str, error: type[Exception] = RuntimeError) -> Check:
    """Return a check that positions lie within another input. A position is a vector along the last axis of the input
    `name`; it indexes the first axes of `of`.

    Args:
        name (str): Name of the input with the positions.
        of (str): The input that is indexed, or an input that is a shape.
        error (type): The class of the error. Default: RuntimeError.
    """

    def ranges(args):
        values, target = args[name], args[of]
        shape = tuple(getattr(target, "shape", target))
        depth = (np.shape(values) or (0,))[-1]
        return [Range(values, shape[:depth])] if 0 < depth <= len(shape) else ()

    return Check(name, ranges, error)


def label(
    name: str,
    classes: Callable[..., Any],
    ignored: str | None = None,
    error: type[Exception] = RuntimeError,
    always: bool = True,
) -> Check:
    """Return a check that labels are class numbers; GRAPH mode runs it by default.

    Args:
        name (str): Name of the input with the labels.
        classes (Callable): Takes a dict of inputs and attributes by name, and returns the number of classes.
        ignored (str): Name of the attribute with the label that is ignored. Default: None.
        error (type): The class of the error. Default: RuntimeError.
        always (bool): Check in GRAPH mode by default. Default: True.
    """

    def ranges(args):
        return [Range(args[name], classes(args), 0, args[ignored] if ignored else None)]

    return Check(name, ranges, error, always, "labels")


class Finding:
    """A possible error of a value check. Its message is created once the wrong value is known.

    Args:
        op (str): Name of the operator.
        check (Check): The check that may fail.
        bounds (Range): The range. Only its bounds are stored, because its values may be deleted.
        is_deferred (bool): True if no call waits for the error code.
    """

    __slots__ = ("op", "check", "low", "high", "ignored", "is_deferred")

    def __init__(self, op: str, check: Check, bounds: Range, is_deferred: bool) -> None:
        self.op: str = op
        self.check: Check = check
        self.is_deferred: bool = is_deferred
        _, self.high, self.low, self.ignored = bounds

    def error(self, value: int | tuple[int, ...]) -> Exception:
        """Return the exception for the wrong `value`, an int or a tuple of int."""
        name, high, low = self.check.name, self.high, self.low
        if self.check.sentence is not None:
            return self.check.error(f"For '{self.op}', '{name}' should {self.check.sentence.format(value=value)}")
        if isinstance(high, tuple):
            span = f"positions in the shape {high}, each from 0 on"
        elif self.check.what == "labels":
            span = f"labels of {high} classes, from 0 to {high - 1}"
        else:
            span = f"less than {high}" if low is None else f"in [{low}, {high})"
        if self.ignored is not None:
            span += f" (or {self.ignored}, which does not count)"
        return self.check.error(f"For '{self.op}', '{name}' should be {span}, but got {value}.")


# ---------------------------------------------------------------------- on the host
def find_out_of_range(values: Any, high: Any, low: Any = 0, ignored: Any = None) -> int | tuple[int, ...] | None:
    """Return the first of `values` (numpy) out of range, an int or a tuple of int; None if there is none."""
    if not values.size:
        return None
    if isinstance(high, tuple):
        rows = values.reshape(-1, len(high))
        bad = ((rows < 0) | (rows >= np.array(high))).any(1)
        return tuple(rows[bad.argmax()].tolist()) if bad.any() else None
    if values.max() < high and (low is None or values.min() >= low):
        return None
    bad = values >= high
    if low is not None:
        bad |= values < low
    if ignored is not None:
        bad &= values != ignored
    return int(values[bad][0]) if bad.any() else None


# ---------------------------------------------------------------------- on the device
def _update_error_code(values, high, low, ignored, code, before):
    """Return the error code (code, wrong value): `before` if it is set, else that of this check."""
    values = values.astype(jax.dtypes.canonicalize_dtype(np.int64))  # the bounds may not fit into a narrower type
    bad = values >= high
    if low is not None:
        bad |= values < low
    if ignored is not None:
        bad &= values != ignored
    least, most = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    blamed = jnp.max(jnp.where(bad, jnp.clip(values, least, most), least), initial=least).astype(jnp.int32)
    return jnp.where((before[0] == 0) & jnp.any(bad), jnp.stack([jnp.asarray(code, jnp.int32), blamed]), before)


_check_kernels = {
    "indices": Kernel("CheckIndices", _update_error_code),
    "labels": Kernel("CheckLabels", _update_error_code),
}
_NO_ERROR = np.zeros(2, np.int32)


def _make_update_arguments(bounds, code, before):
    """Return the arguments of `_update_error_code`."""
    values, high, low, ignored = bounds
    return values, np.array(high) if isinstance(high, tuple) else high, low, ignored, code, before


def check_range(op: str, check: Check, bounds: Range) -> None:
    """Check the values of a `Range` now, or later on the device.

    Raises:
        Exception: Of the class in `check`, if a value on the host is out of range.
    """
    values, frame = bounds.values, _thread.frame
    if is_tracer(values) or frame is not None and frame.conditional():
        if frame is not None and (check.always or _state.check_indices):
            _check_range_in_graph(frame, op, check, bounds)
    elif is_deleted(values):
        return  # another thread's training step donated it; the operator handles that
    elif frame is not None or is_available(values):
        wrong_value = find_out_of_range(np.asarray(values), *bounds[1:])
        if wrong_value is not None:
            raise Finding(op, check, bounds, False).error(wrong_value)
    else:
        deferred_errors.defer(
            _check_kernels[check.what].call(*_make_update_arguments(bounds, 1, _NO_ERROR)),
            _DeferredReport(Finding(op, check, bounds, True), user_location()),
        )


def _check_range_in_graph(frame, op, check, bounds):
    finding = Finding(op, check, bounds, not _state.check_indices)
    code = frame.trace.errors.add(finding, user_location())
    frame.error = _check_kernels[check.what].run(*_make_update_arguments(bounds, code, frame.current_error()))


class _DeferredReport:
    """Raises the error of an operator that has already returned."""

    __slots__ = ("finding", "where")

    def __init__(self, finding, where):
        self.finding, self.where = finding, where

    def __call__(self, verdict):
        code, value = np.asarray(verdict).tolist()
        if code:
            error = self.finding.error(value)
            if self.where is None:
                raise error
            error.add_note(f"raised by the operator at {format_location(*self.where)}, which had not finished")
            raise_at(error, *self.where)


# ---------------------------------------------------------------------- operators with checks
class CheckedOperator(Protocol):
    """Protocol of `Operator`: the attributes that its checks read."""

    name: str
    inputs: list[Any]
    random: bool
    checks: tuple[Check, ...]


def locate_inputs(
    op: CheckedOperator, attributes: dict[str, Any], layout: tuple[Any, ...] | None, statics: Sequence[Any]
) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """Return ({name: value} of attributes and static inputs, [(name, index or slice)] of Tensors among the arrays).

    The arguments are those of `Operator.kernel`.
    """
    statics_by_name, positions, rest, position = dict(attributes), [], iter(statics), int(op.random)
    for inp, entry in zip(op.inputs, layout or [1] * len(op.inputs)):
        if entry == -1:
            statics_by_name[inp.name] = next(rest)
        elif entry == 0:
            statics_by_name[inp.name] = None
        else:
            width = entry[0] if isinstance(entry, tuple) else 1
            positions.append((inp.name, position if entry == 1 else slice(position, position + width)))
            position += width
    return statics_by_name, positions


def check_inputs(op: CheckedOperator, kernel: Kernel, arrays: Sequence[Any]) -> None:
    """Check the inputs of `kernel` with the checks of `op`; see `check_range` for the errors."""
    _check_values(op, kernel, arrays, {}, of_result=False)


def check_result(op: CheckedOperator, kernel: Kernel, arrays: Sequence[Any], result: Any) -> None:
    """Check the array that `kernel` has returned with the checks of `op`; see `check_range` for the errors."""
    _check_values(op, kernel, arrays, {"result": result}, of_result=True)


def _check_values(op, kernel, arrays, more, of_result):
    statics_by_name, positions = kernel.checked
    args = {**statics_by_name, **{name: arrays[spot] for name, spot in positions}, **more}
    try:
        for check in op.checks:
            if check.of_result is not of_result:
                continue
            for bounds in check.ranges(args):
                if getattr(bounds.values, "dtype", _INT_DTYPE).kind in "iu":  # the kernel reports other dtypes
                    check_range(op.name, check, bounds)
    except TypeError:
        if not any(isinstance(array, UnknownShape) for array in arrays):  # an unknown shape raises TypeError, too
            raise


_INT_DTYPE = np.dtype(int)  # dtype of Python ints
