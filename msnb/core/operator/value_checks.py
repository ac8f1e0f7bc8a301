"""Checks that only the data can answer: whether indices lie within an axis, and labels within the classes.

A declaration names them beside its kernel: ``@operator(checks=[index("indices", "params", "axis")])``.

- PYNATIVE mode: values that lie ready on the host are looked at before the kernel runs, and the error points at the
  user's line. For others the device computes a verdict, which `core.late` raises at the next look at a value.
- GRAPH mode: labels are always checked; the program returns a verdict, nobody waits for it, and a step with a wrong
  label leaves every Parameter as it was. Everything else is checked where ``set_context(check_indices=True)`` or
  ``%%mindspore --check`` asks for it; the call of the program then raises. Constants are checked while it is traced.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from msnb import context
from msnb.core.compat.jax_private import is_available, is_tracer
from msnb.core.eager.kernel import Kernel
from msnb.core.errors.messages import format_location as show_place
from msnb.core.errors.messages import hide_directory, user_line
from msnb.core.operator.operator_types import Operator, is_deleted
from msnb.core.state import deferred_errors, trace_state
from msnb.core.support.unknown_shape import UnknownShape

_thread = trace_state.thread
_state = context._state

hide_directory(os.path.dirname(jax.__file__) + os.sep)  # it stands between a derivative and the user's line
context.on_change("check_indices", lambda _: trace_state.epoch.bump())  # each form is another program


class Range(NamedTuple):
    """The values of an input and where they have to lie.

    Attributes:
        values (jax.Array): Integers of any shape.
        high (Union[int, tuple]): The bound that they stay below; a tuple bounds each place of the last axis.
        low (Union[int, None]): The smallest value, None where there is none. Default: 0.
        ignored (Union[int, None]): A value that is right wherever it lies. Default: None.
    """

    values: jax.Array
    high: int | tuple[Any, ...]
    low: int | None = 0
    ignored: int | None = None


class Check:
    """What the values of an input have to keep to.

    Args:
        name (str): The input.
        ranges (Callable): Takes the inputs and attributes by name, a dict, and returns `Range`s; none where something
            else is wrong, which the kernel will say better.
        error (type): The class of the error, as MindSpore has it. Default: RuntimeError.
        always (bool): Whether it is done in GRAPH mode without being asked for. Default: False.
        what (str): What the values are, for the message. Default: "indices".
        sentence (str): What the error says that the input should be, with {value} for the value to blame. Default:
            None, within which bounds the values lie.
    """

    __slots__ = ("name", "ranges", "error", "always", "what", "sentence")

    def __init__(
        self,
        name: str,
        ranges: Callable[..., Any],
        error: type[Exception] = RuntimeError,
        always: bool = False,
        what: str = "indices",
        sentence: str | None = None,
    ) -> None:
        self.name: str = name
        self.ranges: Callable[..., Any] = ranges
        self.error: type[Exception] = error
        self.always: bool = always
        self.what: str = what
        self.sentence: str | None = sentence


def index(
    name: str, of: str, axis: int | str = 0, negative: bool = True, error: type[Exception] = RuntimeError
) -> Check:
    """A check of indices along an axis of another input.

    Args:
        name (str): The input with the indices.
        of (str): The input that they count along.
        axis (Union[int, str]): Its axis, or the input or attribute that says which. Default: 0.
        negative (bool): Whether -1 is the last place. Default: True.
        error (type): The class of the error. Default: RuntimeError.
    """

    def ranges(given):
        shape, along = np.shape(given[of]), given[axis] if isinstance(axis, str) else axis
        if not -len(shape) <= along < len(shape):
            return ()
        return [Range(given[name], shape[along], -shape[along] if negative else 0)]

    return Check(name, ranges, error)


def position(name: str, of: str, error: type[Exception] = RuntimeError) -> Check:
    """A check of positions, the last axis of an input, in the first dimensions of another.

    Args:
        name (str): The input with the positions.
        of (str): The input that they point into, or one that is its shape.
        error (type): The class of the error. Default: RuntimeError.
    """

    def ranges(given):
        values, whole = given[name], given[of]
        shape = tuple(getattr(whole, "shape", whole))
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
    """A check of class numbers, which is always done.

    Args:
        name (str): The input with the labels.
        classes (Callable): Takes the inputs and attributes by name, a dict, and returns the number of classes.
        ignored (str): The attribute that names a label which does not count. Default: None.
        error (type): The class of the error. Default: RuntimeError.
        always (bool): Whether GRAPH mode checks without being asked. Default: True.
    """

    def ranges(given):
        return [Range(given[name], classes(given), 0, given[ignored] if ignored else None)]

    return Check(name, ranges, error, always, "labels")


class Finding:
    """What an error will say, once it is known whether there is one and which value is to blame.

    Args:
        op (str): The operator.
        check (Check): The check that failed.
        bounds (Range): Of which the bounds are used; its values may be gone.
        late (bool): Whether nobody waits for the verdict.
    """

    __slots__ = ("op", "check", "low", "high", "ignored", "late")

    def __init__(self, op: str, check: Check, bounds: Range, late: bool) -> None:
        self.op: str = op
        self.check: Check = check
        self.late: bool = late
        _, self.high, self.low, self.ignored = bounds

    def error(self, value: int | tuple[int, ...]) -> Exception:
        """The exception for `value`, an int or a tuple of int."""
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
def outside(values: Any, high: Any, low: Any = 0, ignored: Any = None) -> int | tuple[int, ...] | None:
    """The first of `values` (numpy) that does not keep to its range, an int or a tuple of int; None if all do."""
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
def _verdict(values, high, low, ignored, code, before):
    """`before`, the error of a program as (code, value to blame), or this one where it comes first."""
    values = values.astype(jax.dtypes.canonicalize_dtype(np.int64))  # the bounds need not fit into a narrower type
    bad = values >= high
    if low is not None:
        bad |= values < low
    if ignored is not None:
        bad &= values != ignored
    least, most = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    blamed = jnp.max(jnp.where(bad, jnp.clip(values, least, most), least), initial=least).astype(jnp.int32)
    return jnp.where((before[0] == 0) & jnp.any(bad), jnp.stack([jnp.asarray(code, jnp.int32), blamed]), before)


_verdicts = {"indices": Kernel("CheckIndices", _verdict), "labels": Kernel("CheckLabels", _verdict)}
_NO_ERROR = np.zeros(2, np.int32)


def _passed(bounds, code, before):
    """The arguments of `_verdict`."""
    values, high, low, ignored = bounds
    return values, np.array(high) if isinstance(high, tuple) else high, low, ignored, code, before


def examine(op: str, check: Check, bounds: Range) -> None:
    """Look whether the values of a `Range` keep to it, now or later.

    Raises:
        Exception: Of the class that `check` names, if they are known not to.
    """
    values, frame = bounds.values, _thread.frame
    if is_tracer(values) or frame is not None and frame.conditional():
        if frame is not None and (check.always or _state.check_indices):
            _in_graph(frame, op, check, bounds)
    elif is_deleted(values):
        return  # a training step of another thread took it over; the operator will see to that
    elif frame is not None or is_available(values):
        found = outside(np.asarray(values), *bounds[1:])
        if found is not None:
            raise Finding(op, check, bounds, False).error(found)
    else:
        deferred_errors.defer(
            _verdicts[check.what].call(*_passed(bounds, 1, _NO_ERROR)),
            _Report(Finding(op, check, bounds, True), user_line()),
        )


def _in_graph(frame, op, check, bounds):
    errors, where = frame.root().errors, user_line()
    errors.append((Finding(op, check, bounds, not _state.check_indices), where[:2] if where else ("", 0)))
    frame.error = _verdicts[check.what].run(*_passed(bounds, len(errors), frame.current_error()))


class _Report:
    """Raises a finding about an operator that has run."""

    __slots__ = ("finding", "where")

    def __init__(self, finding, where):
        self.finding, self.where = finding, where

    def __call__(self, verdict):
        if verdict[0]:
            error = self.finding.error(int(verdict[1]))
            if self.where is not None:
                error.add_note(f"raised by the operator at {show_place(*self.where[:2])}, which had not finished")
            raise error


# ---------------------------------------------------------------------- operators with checks
class Checked:
    """What an operator whose declaration names checks does besides; stands before the class of the operator.

    Attributes:
        checks (tuple): The checks. Each kernel knows where in its arrays the inputs that they name stand.
    """

    checks: tuple[Any, ...] = ()

    def _build(self, attributes, layout, statics):
        kernel = super()._build(attributes, layout, statics)
        known, spots, rest, at = dict(attributes), [], iter(statics), int(self.random)
        for inp, entry in zip(self.inputs, layout or [1] * len(self.inputs)):
            if entry == -1:
                known[inp.name] = next(rest)
            elif entry == 0:
                known[inp.name] = None
            else:
                width = entry[0] if isinstance(entry, tuple) else 1
                spots.append((inp.name, at if entry == 1 else slice(at, at + width)))
                at += width
        kernel.checked = known, spots
        return kernel

    def run(self, kernel: Kernel, boxes: Sequence[Any], arrays: Sequence[Any], targets: Sequence[Any] = ()) -> Any:
        """Check, then run `kernel`; see `Operator.run`."""
        known, spots = kernel.checked
        given = {**known, **{name: arrays[spot] for name, spot in spots}}
        try:
            for check in self.checks:
                for bounds in check.ranges(given):
                    if getattr(bounds.values, "dtype", _INT).kind in "iu":  # of another type: the kernel will say so
                        examine(self.name, check, bounds)
        except TypeError:
            if not any(isinstance(array, UnknownShape) for array in arrays):  # of these, too
                raise
        return super().run(kernel, boxes, arrays, targets)


class CheckedOperator(Checked, Operator):
    """An `Operator` with checks."""


_INT = np.dtype(int)  # of Python's numbers
