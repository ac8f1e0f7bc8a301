"""Whole numbers in gradients: the gradient by an integer is that of the same operator on real numbers, cut to the
integer's type at each operator. An operator that takes no real number there, an index say, has no slope: zero.

On the tape a Tensor of whole numbers has its node like any other, and `Kernel.pullback` does what is said above. JAX
gives an integer no derivative; in a graph each whole number that a gradient is taken by, and each that Cast makes of a
real one, goes about with a carrier, a float64 zero of its shape, through which its gradient flows; loops and
branches pass the carriers on. Where a loop or branch makes whole numbers of real ones itself there is none.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import is_differentiated
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.support.weak_identity import WeakIdentityDict

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.eager.kernel import Kernel

_thread = trace_state.thread
_MOST = 4  # whole inputs of which every choice is tried
_REFUSALS = (TypeError, ValueError, IndexError, NotImplementedError)  # what a kernel says to real numbers


def is_integer(dtype: Any) -> bool:
    """Whether `dtype` (numpy) holds whole numbers; bool does not."""
    return jnp.issubdtype(dtype, jnp.integer)


def has_gradient(dtype: Any) -> bool:
    """Whether there are gradients by Tensors of `dtype` (numpy): all numbers have them, bools have not."""
    return is_inexact(dtype) or is_integer(dtype)


def as_real(array: Any) -> Any:
    """`array` as real numbers."""
    return array.astype(np.float64) if is_integer(array.dtype) else array


def cast_gradient(gradient: jax.Array, dtype: Any) -> jax.Array:
    """A gradient in the type of what it is taken by."""
    return gradient.astype(dtype) if gradient.dtype != dtype else gradient


def differentiable_inputs(
    fn: Callable[..., Any], arrays: Sequence[Any], wanted: Sequence[int]
) -> tuple[list[int], list[Any]]:
    """By which of `wanted` (positions) `fn`, called with `arrays`, has a gradient, and the arrays at which it is taken.

    Inputs of whole numbers become real together, as many of them as `fn` takes: those that it adds or chooses from
    are to be of one type, while others are indices and stay what they are.
    """
    whole = [i for i, a in enumerate(arrays) if isinstance(a, jax.Array) and is_integer(a.dtype)]
    asked = [i for i in wanted if i in whole]
    smooth = [i for i in wanted if is_inexact(arrays[i].dtype)]
    if not asked:
        return smooth, list(arrays)
    for chosen in _choices(whole, asked):
        reals = [as_real(a) if i in chosen else a for i, a in enumerate(arrays)]
        if _takes(fn, reals):
            return [i for i in wanted if i in chosen or i in smooth], reals
    return smooth, list(arrays)


def _choices(whole, asked):
    """Sets of inputs that may become real, the largest first; each has one that is asked for."""
    if len(whole) > _MOST:
        yield from (set(whole), set(asked), *({i} for i in asked))
        return
    for count in range(len(whole), 0, -1):
        for chosen in itertools.combinations(whole, count):
            if not set(asked).isdisjoint(chosen):
                yield set(chosen)


def _takes(fn, arrays):
    """Whether `fn` can be computed for `arrays`."""
    spots = [i for i, a in enumerate(arrays) if isinstance(a, jax.Array)]

    def run(given):
        full = list(arrays)
        for i, array in zip(spots, given):
            full[i] = array
        return fn(*full)

    try:
        jax.eval_shape(run, [arrays[i] for i in spots])
    except _REFUSALS:
        return False
    return True


# ---------------------------------------------------------------------- inside a graph
class Carriers:
    """The carriers of one gradient in a graph, for as long as its function is traced; those of the gradient around it
    count as well."""

    __slots__ = ("own", "outer", "active")

    def __init__(self):
        self.own: WeakIdentityDict = WeakIdentityDict()  # array -> its carrier
        self.outer: Carriers | None = _thread.carriers
        self.active: bool = self.outer is not None and self.outer.active  # whether there are any

    def __enter__(self) -> Self:
        _thread.carriers = self
        trace_state.update_results_observed()
        return self

    def __exit__(self, *exc: Any) -> Literal[False]:
        _thread.carriers = self.outer
        trace_state.update_results_observed()
        return False

    def get(self, array: Any) -> Any:
        """The carrier of `array`, None where it has none."""
        level = self
        while level is not None:
            found = level.own.get(array)
            if found is not None:
                return found
            level = level.outer
        return None


def carrier(array: Any) -> Any:
    """The carrier of `array` in this thread's graph, None where it has none."""
    carriers = _thread.carriers
    return None if carriers is None or not isinstance(array, jax.Array) else carriers.get(array)


def new_carrier(array: Any) -> jax.Array:
    """A carrier for `array` that nothing flows through yet."""
    return jnp.zeros(array.shape, np.float64)


def is_carried(array: Any) -> bool:
    """Whether `array` holds whole numbers where some of the graph have carriers."""
    return is_integer(array.dtype) and _thread.carriers is not None and _thread.carriers.active


def carrier_or_new(array: Any) -> Any:
    """The carrier of `array`, a new one where it has none."""
    found = carrier(array)
    return new_carrier(array) if found is None else found


def set_carrier(array: jax.Array, found: jax.Array) -> None:
    """Let `found` carry the gradient of `array`."""
    carriers = _thread.carriers
    if carriers is not None:
        carriers.own[array] = found
        if not carriers.active:
            carriers.active = True
            trace_state.update_results_observed()


def attach_carriers(kernel: "Kernel", arrays: Sequence[Any], results: Sequence[Any]) -> None:
    """Let the `results` (Tensors) of `kernel` depend on the carriers of `arrays`, and give whole ones their own."""
    held = {i: found for i, a in enumerate(arrays) if (found := carrier(a)) is not None}
    if kernel.real is not None:
        held.update({i: a for i, a in enumerate(arrays) if is_differentiated(a) and is_inexact(a.dtype)})
    if not held or _thread.forward_mode:
        return
    spots, reals = differentiable_inputs((kernel.real or kernel).call, arrays, list(held))
    become = [i for i, (array, other) in enumerate(zip(arrays, reals)) if other is not array]
    outs = [r._array for r in results]
    smooth = [i for i, out in enumerate(outs) if is_inexact(out.dtype)]
    whole = [i for i, out in enumerate(outs) if is_integer(out.dtype)]
    if not spots or not (smooth or whole):
        return
    needs = tuple([i in spots for i in range(len(arrays))])
    types = [arrays[i].dtype for i in spots]

    @jax.custom_vjp
    def tie(carried, arrays, values):
        return values, [new_carrier(outs[i]) for i in whole]

    def back(saved, cotangents):
        carried, full = saved[0], list(saved[1])
        for i in become:
            full[i] = as_real(full[i])
        for i, found in zip(spots, carried):  # through them the gradient has a derivative itself
            full[i] = full[i] + found if i in become else found
        given = dict(zip((*smooth, *whole), (*cotangents[0], *cotangents[1])))
        given = [given[i] if i in given else jnp.zeros(out.shape, out.dtype) for i, out in enumerate(outs)]
        found = kernel.pullback(needs).call(*full, *given)
        return [_cut_through(f, t) if is_integer(t) else f for f, t in zip(found, types)], None, cotangents[0]

    tie.defvjp(lambda *given: (tie(*given), given[:2]), back)
    values, carried = tie([held[i] for i in spots], list(arrays), [outs[i] for i in smooth])
    for i, value in zip(smooth, values):
        results[i]._array = value
    for i, found in zip(whole, carried):
        set_carrier(outs[i], found)


def _cut_through(gradient, dtype):
    """A float64 gradient cut as if to `dtype`, whose own derivative is that of the uncut one."""
    lost = jax.lax.stop_gradient(gradient - gradient.astype(dtype).astype(np.float64))
    return gradient - lost
