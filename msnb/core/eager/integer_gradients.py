"""Gradients with respect to integers: the gradient of the same operator on real numbers, truncated at each operator.

An operator that accepts no real number for an input, such as an index, has a zero gradient there.

On the tape an integer Tensor has a node like any other, and `Kernel.pullback` computes the gradient above. In a graph,
JAX computes gradients, and it has no derivatives for integers. An integer Tensor in a graph therefore has a carrier:
float64 zeros of its shape, through which its gradient flows. Variables of a gradient and results of Cast from real
numbers get one, and operators, loops and branches pass carriers on. An integer that a loop or branch computes from real
numbers has no carrier.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, Self

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import is_differentiated
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.support.weak_identity import WeakIdentityDict

_thread = trace_state.thread
_MAX_COMBINED = 4  # up to this number of integer inputs, every combination is tried
_REFUSALS = (TypeError, ValueError, IndexError, NotImplementedError)  # errors of a kernel that rejects real numbers


def is_integer(dtype: Any) -> bool:
    """Return True for integer dtypes (numpy); bool is not one."""
    return jnp.issubdtype(dtype, jnp.integer)


def has_gradient(dtype: Any) -> bool:
    """Return True if Tensors of `dtype` (numpy) have gradients: all numbers do, bool does not."""
    return is_inexact(dtype) or is_integer(dtype)


def as_real(array: Any) -> Any:
    """Return integers as float64, other arrays unchanged."""
    return array.astype(np.float64) if is_integer(array.dtype) else array


def cast_gradient(gradient: jax.Array, dtype: Any) -> jax.Array:
    """Return a gradient in the dtype of its variable."""
    return gradient.astype(dtype) if gradient.dtype != dtype else gradient


def differentiable_inputs(
    fn: Callable[..., Any], arrays: Sequence[Any], requested: Sequence[int]
) -> tuple[list[int], list[Any]]:
    """Return (positions, arrays): those of the `requested` inputs for which `fn(*arrays)` has a gradient, and the
    arrays at which the gradient is computed.

    As many integer inputs as `fn` accepts are converted to float64 together: operands that are added or selected must
    have equal dtypes, while indices must stay integers.
    """
    integers = [i for i, a in enumerate(arrays) if isinstance(a, jax.Array) and is_integer(a.dtype)]
    requested_integers = [i for i in requested if i in integers]
    inexact = [i for i in requested if is_inexact(arrays[i].dtype)]
    if not requested_integers:
        return inexact, list(arrays)
    for chosen in _iterate_integer_subsets(integers, requested_integers):
        reals = [as_real(a) if i in chosen else a for i, a in enumerate(arrays)]
        if _accepts_arrays(fn, reals):
            return [i for i in requested if i in chosen or i in inexact], reals
    return inexact, list(arrays)


def _iterate_integer_subsets(integers, requested):
    """Yield sets of integer inputs to convert to real numbers, largest first. Each has at least one requested input."""
    if len(integers) > _MAX_COMBINED:
        yield from (set(integers), set(requested), *({i} for i in requested))
        return
    for count in range(len(integers), 0, -1):
        for chosen in itertools.combinations(integers, count):
            if not set(requested).isdisjoint(chosen):
                yield set(chosen)


def _accepts_arrays(fn, arrays):
    """Return True if `fn` can be computed for `arrays`."""
    positions = [i for i, a in enumerate(arrays) if isinstance(a, jax.Array)]

    def run(values):
        full = list(arrays)
        for i, array in zip(positions, values):
            full[i] = array
        return fn(*full)

    try:
        jax.eval_shape(run, [arrays[i] for i in positions])
    except _REFUSALS:
        return False
    return True


# ---------------------------------------------------------------------- inside a graph
class Carriers:
    """The carriers of integer arrays while a function is differentiated in a graph; those of outer gradients included.

    A carrier is an array of float64 zeros through which the gradient of an integer array flows.
    """

    __slots__ = ("own", "outer", "active")

    def __init__(self):
        self.own: WeakIdentityDict = WeakIdentityDict()  # array -> its carrier
        self.outer: Carriers | None = _thread.carriers
        self.active: bool = self.outer is not None and self.outer.active  # True if there are any carriers

    def __enter__(self) -> Self:
        _thread.carriers = self
        trace_state.update_results_observed()
        return self

    def __exit__(self, *exc: Any) -> Literal[False]:
        _thread.carriers = self.outer
        trace_state.update_results_observed()
        return False

    def get(self, array: Any) -> Any:
        """Return the carrier of `array`, or None."""
        level = self
        while level is not None:
            own_carrier = level.own.get(array)
            if own_carrier is not None:
                return own_carrier
            level = level.outer
        return None


def carrier(array: Any) -> Any:
    """Return the carrier of an integer `array` in this thread's graph, a float64 zero through which its gradient flows;
    None if it has none.
    """
    carriers = _thread.carriers
    return None if carriers is None or not isinstance(array, jax.Array) else carriers.get(array)


def new_carrier(array: Any) -> jax.Array:
    """Return a new carrier for `array`: float64 zeros of its shape, without a gradient yet."""
    return jnp.zeros(array.shape, np.float64)


def is_carried(array: Any) -> bool:
    """Return True if `array` holds integers and the graph has carriers."""
    return is_integer(array.dtype) and _thread.carriers is not None and _thread.carriers.active


def carrier_or_new(array: Any) -> Any:
    """Return the carrier of `array`, or a new carrier if it has none."""
    current = carrier(array)
    return new_carrier(array) if current is None else current


def set_carrier(array: jax.Array, new: jax.Array) -> None:
    """Make `new` the carrier of the integer `array`."""
    carriers = _thread.carriers
    if carriers is not None:
        carriers.own[array] = new
        if not carriers.active:
            carriers.active = True
            trace_state.update_results_observed()


class DifferentiableKernel(Protocol):
    """Protocol of `core.eager.kernel.Kernel`: the members that a gradient with respect to integers uses."""

    call: Callable[..., Any]
    real: Self | None

    def pullback(self, needs: tuple[bool, ...]) -> Self:
        """Return the kernel that computes the gradients with respect to the inputs marked in `needs`."""
        ...


def attach_carriers(kernel: DifferentiableKernel, arrays: Sequence[Any], results: Sequence[Any]) -> None:
    """Make `results` (Tensors) of `kernel` depend on the carriers of `arrays`, and give integer results carriers."""
    carried_inputs = {i: new for i, a in enumerate(arrays) if (new := carrier(a)) is not None}
    if kernel.real is not None:
        carried_inputs.update({i: a for i, a in enumerate(arrays) if is_differentiated(a) and is_inexact(a.dtype)})
    if not carried_inputs or _thread.forward_mode:
        return
    positions, reals = differentiable_inputs((kernel.real or kernel).call, arrays, list(carried_inputs))
    converted = [i for i, (array, other) in enumerate(zip(arrays, reals)) if other is not array]
    outs = [r._array for r in results]
    inexact = [i for i, out in enumerate(outs) if is_inexact(out.dtype)]
    integers = [i for i, out in enumerate(outs) if is_integer(out.dtype)]
    if not positions or not (inexact or integers):
        return
    needs = tuple([i in positions for i in range(len(arrays))])
    types = [arrays[i].dtype for i in positions]

    @jax.custom_vjp
    def tie(carried, arrays, values):
        return values, [new_carrier(outs[i]) for i in integers]

    def back(saved, cotangents):
        carried, full = saved[0], list(saved[1])
        for i in converted:
            full[i] = as_real(full[i])
        for i, gradients in zip(positions, carried):  # adding the carrier (0) makes the gradient differentiable
            full[i] = full[i] + gradients if i in converted else gradients
        by_output = dict(zip((*inexact, *integers), (*cotangents[0], *cotangents[1])))
        by_output = [by_output[i] if i in by_output else jnp.zeros(out.shape, out.dtype) for i, out in enumerate(outs)]
        gradients = kernel.pullback(needs).call(*full, *by_output)
        return (
            [_truncate_straight_through(f, t) if is_integer(t) else f for f, t in zip(gradients, types)],
            None,
            cotangents[0],
        )

    tie.defvjp(lambda *given: (tie(*given), given[:2]), back)
    values, carried = tie([carried_inputs[i] for i in positions], list(arrays), [outs[i] for i in inexact])
    for i, value in zip(inexact, values):
        results[i]._array = value
    for i, new in zip(integers, carried):
        set_carrier(outs[i], new)


def _truncate_straight_through(gradient, dtype):
    """Truncate a float64 gradient to values of `dtype`; its own derivative is that of the untruncated gradient."""
    remainder = jax.lax.stop_gradient(gradient - gradient.astype(dtype).astype(np.float64))
    return gradient - remainder
