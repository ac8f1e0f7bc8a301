"""A graph as one compiled call over lists of arrays: a `jax.jit` that may donate what it replaces.

The same graph is called in several forms: one that donates the arrays of Parameters, one that leaves them alone, one
with further outputs, one whose Parameters are constants.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from msnb import context
from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.jaxpr.guarded_updates import keep_on_error
from msnb.core.sharding.partitioner import ArrayShardings


def flat(
    graphs: list[Any], n_results: int, copied: set[int], kept: list[int], own: int | None = None
) -> Callable[..., Any]:
    """(parameters, random number, arguments) -> (new arrays of the written Parameters, results) of a graph.

    Where the error, the last result, is not 0, the parameters at `kept` are the new arrays of the written ones.
    Of several graphs, each with the same outputs and then further ones, the further outputs follow the results: they
    compute the same things, which XLA finds out, and only the first may print.
    """
    graphs = [graphs[0], *(g.replace(jaxpr=remove_debug_callbacks(g.jaxpr)) for g in graphs[1:])]
    if kept:
        graphs = [keep_on_error(g, n_results, kept) for g in graphs]

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
    places: ArrayShardings | None,
    flat: Callable[..., Any],
    donate: bool = False,
    lent: frozenset[int] = frozenset(),
) -> Callable[..., Any]:
    """`flat` as one compiled call over the list of written Parameters, that of the others, and the arguments.

    A call that donates writes the new Parameters where the old ones were, but for those that are `lent`. Arrays that
    are `frozen` stand in the program instead of the list of the others. With `places`, the arrays are spread over
    devices, the new Parameters as the old.
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
        where["out_shardings"] = (places.written, places.results)
    call = (
        _Lending(step, lent, where) if donate and lent else jax.jit(step, donate_argnums=0 if donate else (), **where)
    )
    return call if places is None or places.calling is None else places.calling(call, places)


_SMALL = 4096  # bytes


def undonated(written: Sequence[Any]) -> frozenset[int]:
    """Which of the written Parameters a program does not donate: on a GPU, those that take hardly any memory.

    Where three outputs are one value, such as the counts that an optimizer has for each Parameter, XLA (seen with
    jaxlib 0.11.2) writes it into one of the three donated arrays and gives the old content of another for the new.
    """
    if context.device().platform != "gpu":
        return frozenset()
    like = [p._like() for p in written]
    return frozenset(i for i, a in enumerate(like) if math.prod(a.shape) * a.dtype.itemsize <= _SMALL)


class _Lending:
    """What a `jax.jit` of `step` is that does not donate the written Parameters at some places."""

    __slots__ = ("_call", "_lent", "__weakref__")

    def __init__(self, step, lent, where):
        def apart(given, lent_ones, *rest):
            found = {True: iter(lent_ones), False: iter(given)}
            count = len(given) + len(lent_ones)
            return step([next(found[i in lent]) for i in range(count)], *rest)

        apart.__name__ = apart.__qualname__ = step.__name__
        self._lent = lent
        if "in_shardings" in where:
            written, *rest = where["in_shardings"]
            where = {**where, "in_shardings": (*self._split(written), *rest)}
        self._call = jax.jit(apart, donate_argnums=0, **where)

    def _split(self, written):
        lists = [], []
        for i, array in enumerate(written):
            lists[i in self._lent].append(array)
        return lists

    def __call__(self, written, *rest):
        return self._call(*self._split(written), *rest)

    def lower(self, written, *rest):
        return self._call.lower(*self._split(written), *rest)

    def trace(self, written, *rest):
        return self._call.trace(*self._split(written), *rest)

    def __getattr__(self, name):
        return getattr(self._call, name)


@functools.lru_cache(maxsize=1024)
def identifier(name: str) -> str:
    """`name` with what no name in Python holds replaced: what XLA and JAX call a program by."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "program"
