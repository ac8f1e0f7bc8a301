"""A graph as one `jax.jit` call over lists of arrays, which may donate the arrays that it replaces.

One graph is called in several variants: with donated Parameters, without donation, with extra outputs for observers,
and with Parameters as constants.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from msnb import context
from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.jaxpr.guarded_updates import continue_error, keep_on_error
from msnb.core.jaxpr.merge_graphs import merge_graphs
from msnb.core.jaxpr.stoppable_loops import make_stoppable
from msnb.core.sharding.partitioner import ArrayShardings


def flatten_call(
    graphs: list[Any],
    n_results: int,
    copied: set[int],
    rollback: list[int],
    n_own: int | None = None,
    stoppable: list[int] | None = None,
    continues_error: bool = False,
) -> Callable[..., Any]:
    """Return `graphs` as one function (Parameters, random number, arguments) -> (new arrays of written Parameters,
    results).

    If the last result, the error code, is not 0, the written Parameters keep their old arrays, the inputs at
    `rollback`. With `continues_error`, the last argument is the error code of the previous call, which stays if it is
    not 0.

    If there are several graphs, their first `n_own` outputs must be equal; the others are extra outputs. The function
    returns the extra outputs of all graphs after the results. Equal computations are done once.

    With `stoppable`, the indices of the inputs with old arrays, the loops can be stopped: the last argument is the stop
    flag, the last result the verdict, and a stopped call returns the old arrays. See `core.jaxpr.stoppable_loops`.
    """
    # Only the first graph keeps its prints: each must appear once.
    graphs = [graphs[0], *(g.replace(jaxpr=remove_debug_callbacks(g.jaxpr)) for g in graphs[1:])]
    if continues_error:
        graphs = [continue_error(g, n_results) for g in graphs]
    if rollback:
        graphs = [keep_on_error(g, n_results, rollback) for g in graphs]

    @functools.cache
    def final_graphs():
        if stoppable is None:
            return graphs
        changed = [make_stoppable(g) for g in graphs]
        return [keep_on_error(g, n_results, stoppable, len(g.jaxpr.outvars) - 1) for g in changed]

    def run(params, extra, arrays):
        outputs = _evaluate_graphs(final_graphs(), (*params, *extra, *arrays))
        verdicts = [] if stoppable is None else [functools.reduce(jnp.logical_or, [form.pop() for form in outputs])]
        outs = [jnp.copy(o) if i in copied else o for i, o in enumerate(outputs[0][:n_own])]
        extras = [] if n_own is None else [o for form in outputs for o in form[n_own:]]
        return outs[n_results:], (*outs[:n_results], *extras, *verdicts)

    return run


def _evaluate_graphs(graphs, inputs):
    """Return the outputs of each graph."""
    if len(graphs) == 1:
        return [eval_jaxpr(graphs[0].jaxpr, graphs[0].consts, *inputs)]
    merged = merge_graphs(graphs)
    outputs = iter(eval_jaxpr(merged.jaxpr, merged.consts, *inputs))
    return [list(itertools.islice(outputs, len(graph.jaxpr.outvars))) for graph in graphs]


def jit_call(
    name: str,
    plan: list[tuple[int, int]],
    use_random: bool,
    frozen: list[Any] | None,
    shardings: ArrayShardings | None,
    flat: Callable[..., Any],
    donate: bool = False,
    undonated: frozenset[int] = frozenset(),
    error_index: int | None = None,
) -> Callable[..., Any]:
    """Return `flat` (see `flatten_call`) as a compiled call over the list of written Parameters, the list of read
    ones, and the arguments.

    With `donate`, the arrays of written Parameters are donated, except those at the indices `undonated`, and so is the
    argument `error_index`, the error code of the previous call. `frozen`
    arrays are constants of the program and replace the list of read Parameters. With `shardings`, arrays have these
    shardings; a new Parameter has the sharding of the old one.
    """

    run = flat if shardings is None or shardings.around is None else shardings.around(flat)

    def step(written, read, *rest):
        extra, arrays = (rest[:1], rest[1:]) if use_random else ((), rest)
        lists = (written, read if frozen is None else frozen)
        return run([lists[which][i] for which, i in plan], extra, arrays)

    step.__name__ = step.__qualname__ = name
    sharding_options: dict[str, Any] = {}
    if shardings is not None:
        sharding_options["in_shardings"] = (
            shardings.written,
            shardings.read if frozen is None else [],
            *shardings.rest,
        )
        sharding_options["out_shardings"] = (shardings.written, shardings.results)
    donated = () if not donate else (0,) if error_index is None or _keeps_small_buffers() else (0, 2 + error_index)
    call = (
        _PartialDonation(step, undonated, sharding_options)
        if donate and undonated
        else jax.jit(step, donate_argnums=donated, **sharding_options)
    )
    return call if shardings is None or shardings.calling is None else shardings.calling(call, shardings)


_SMALL_BYTES = 4096  # largest buffer that is not donated on a GPU


def undonated_indices(written: Sequence[Any]) -> frozenset[int]:
    """Return the indices of Parameters that must not be donated.

    On a GPU, buffers up to 4 KB are not donated. If three outputs are one value, such as the step counters that an
    optimizer has for each Parameter, XLA (seen with jaxlib 0.11.2) writes it into one of the three donated buffers and
    returns the old content of another as the new value.
    """
    if not _keeps_small_buffers():
        return frozenset()
    avals = [p._get_argument_signature() for p in written]
    return frozenset(i for i, a in enumerate(avals) if math.prod(a.shape) * a.dtype.itemsize <= _SMALL_BYTES)


def _keeps_small_buffers():
    return context.device().platform == "gpu"


class _PartialDonation:
    """A `jax.jit` of `step` that donates only some of the written Parameters."""

    __slots__ = ("_call", "_undonated", "__weakref__")

    def __init__(self, step, undonated, sharding_options):
        def merged_step(donated_arrays, undonated_arrays, *rest):
            sources = {True: iter(undonated_arrays), False: iter(donated_arrays)}
            count = len(donated_arrays) + len(undonated_arrays)
            return step([next(sources[i in undonated]) for i in range(count)], *rest)

        merged_step.__name__ = merged_step.__qualname__ = step.__name__
        self._undonated = undonated
        if "in_shardings" in sharding_options:
            written, *rest = sharding_options["in_shardings"]
            sharding_options = {**sharding_options, "in_shardings": (*self._split_by_donation(written), *rest)}
        self._call = jax.jit(merged_step, donate_argnums=0, **sharding_options)

    def _split_by_donation(self, written):
        lists = [], []
        for i, array in enumerate(written):
            lists[i in self._undonated].append(array)
        return lists

    def __call__(self, written, *rest):
        return self._call(*self._split_by_donation(written), *rest)

    def lower(self, written, *rest):
        return self._call.lower(*self._split_by_donation(written), *rest)

    def trace(self, written, *rest):
        return self._call.trace(*self._split_by_donation(written), *rest)

    def __getattr__(self, name):
        return getattr(self._call, name)


@functools.lru_cache(maxsize=1024)
def to_identifier(name: str) -> str:
    """Return `name` with each character replaced that a Python identifier cannot contain. JAX and XLA use the result as
    the name of the program.
    """
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "program"
