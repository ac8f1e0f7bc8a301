"""A graph as one compiled call over lists of arrays: a `jax.jit` that may donate what it replaces.

The same graph is called in several forms: one that donates the arrays of Parameters, one that leaves them alone, one
with further outputs, one whose Parameters are constants.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

from msnb.core._jax_private import argument_like, eval_jaxpr, without_prints
from msnb.core.keeping import keeping
from msnb.core.spreading import Places


def flat(
    graphs: list[Any], n_results: int, copied: set[int], kept: list[int], own: int | None = None
) -> Callable[..., Any]:
    """(parameters, random number, arguments) -> (new arrays of the written Parameters, results) of a graph.

    Where the error, the last result, is not 0, the parameters at `kept` are the new arrays of the written ones.
    Of several graphs, each with the same outputs and then further ones, the further outputs follow the results: they
    compute the same things, which XLA finds out, and only the first may print.
    """
    graphs = [graphs[0], *(g.replace(jaxpr=without_prints(g.jaxpr)) for g in graphs[1:])]
    if kept:
        graphs = [keeping(g, n_results, kept) for g in graphs]

    def run(params, extra, arrays):
        forms = [eval_jaxpr(g.jaxpr, g.consts, *params, *extra, *arrays) for g in graphs]
        outs = [jnp.copy(o) if i in copied else o for i, o in enumerate(forms[0][:own])]
        further = [] if own is None else [o for form in forms for o in form[own:]]
        return outs[n_results:], (*outs[:n_results], *further)

    return run


def jitted(
    name: str,
    plan: list[tuple[int, int]],
    use_random: bool,
    frozen: list[Any] | None,
    places: Places | None,
    flat: Callable[..., Any],
    donate: bool = False,
) -> Callable[..., Any]:
    """`flat` as one compiled call over the list of written Parameters, that of the others, and the arguments.

    A call that donates writes the new Parameters where the old ones were. Arrays that are `frozen` stand in the program
    instead of the list of the others. With `places`, the arrays are spread over devices, the new Parameters as the old.
    """

    run = flat if places is None or places.around is None else places.around(flat)

    def step(written, read, *rest):
        extra, arrays = (rest[:1], rest[1:]) if use_random else ((), rest)
        lists = (written, read if frozen is None else frozen)
        return run([lists[which][i] for which, i in plan], extra, arrays)

    step.__name__ = step.__qualname__ = name
    where: dict[str, Any] = {}
    if places is not None:
        where["in_shardings"] = (places.written, places.read if frozen is None else [], *places.rest)
        where["out_shardings"] = (places.written, None)
    call = jax.jit(step, donate_argnums=(0,) if donate else (), **where)
    return call if places is None or not places.apart else Apart(call, places)


class Apart:
    """A call of several processes at once; each hands over the arrays of its own device, and is given such.

    Args:
        call (Callable): What `jax.jit` has made of arrays that lie on the devices of all.
        places (Places): Where they lie.
    """

    def __init__(self, call: Any, places: Places) -> None:
        self.call = call
        self._places = places
        place = next(iter((*places.written, *places.read, *places.rest)))
        self._own = SingleDeviceSharding(next(iter(place.addressable_devices)))
        self.clear_cache: Callable[[], None] = call.clear_cache

    def __call__(self, written: list[Any], read: list[Any], *rest: Any) -> tuple[list[Any], tuple[Any, ...]]:
        new, outs = self.call(*self._joined(self._whole, written, read, *rest))
        return [a.addressable_data(0) for a in new], tuple([a.addressable_data(0) for a in outs])

    def lower(self, *arguments: Any) -> Any:
        """The call as StableHLO, for arguments as it is given them."""
        return self.call.lower(*self._joined(_joined_like, *arguments))

    def _whole(self, value, place):
        """What each process has as one array; of each the whole, as far as JAX knows."""
        own = value if getattr(value, "sharding", None) == self._own else jax.device_put(value, self._own)
        return jax.make_array_from_single_device_arrays(own.shape, place, [own])

    def _joined(self, join, written, read, *rest):
        where = self._places
        return (
            [join(a, place) for a, place in zip(written, where.written, strict=True)],
            [join(a, place) for a, place in zip(read, where.read, strict=False)],  # frozen ones are not handed over
            *[join(a, place) for a, place in zip(rest, where.rest, strict=True)],
        )


def _joined_like(value, place):
    kind = argument_like(value) if not isinstance(value, jax.ShapeDtypeStruct) else value
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=place)


@functools.lru_cache(maxsize=1024)
def identifier(name: str) -> str:
    """`name` with what no name in Python holds replaced: what XLA and JAX call a program by."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "program"
