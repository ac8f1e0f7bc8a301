"""Values that a program hands to somebody: what summary operators see.

While a program is traced, `hand` puts a label on the value, and behind it a callback that takes it where the program
gets there. A call with callbacks has to be waited for. So `taken_out` removes those that can be reached, and
`returning` makes a graph that returns the labelled values beside its results: they are handed over when the call has
been sent off, and nobody waits for them. Of a value in a loop that is the last one. What cannot be reached (a lane of
`vmap`, the condition of a `while`) keeps its callback. The new graph takes functions with their own gradient apart: it
is run, and not differentiated.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import ClosedJaxpr, Jaxpr

from msnb.core.compat.jax_private import effects_of, is_debug_callback
from msnb.core.jaxpr.instrument import TRANSPARENT, Measure, instrument

_STAGED, _TAKEN = "handed:", "handed out:"  # labels with and without a callback behind them
_receivers: list[Callable[[str, Any, Any], None]] = []


class SownValue(NamedTuple):
    """A value that a program returns for somebody.

    Attributes:
        text (str): what `hand` was told.
        sure (bool): whether each run computes it; else a bool comes before it that says whether this one did.
        shape (tuple), dtype (numpy.dtype): what it is.
        slot (int): which of the results of its equation it is.
    """

    text: str
    sure: bool
    shape: tuple[Any, ...]
    dtype: Any
    slot: int = 0


class Returning(NamedTuple):
    """A graph with further outputs for what it hands over.

    Attributes:
        jaxpr (ClosedJaxpr): the outputs of the graph, then those that `values` tells, each after its bool if it is
            not sure.
        values (tuple[Handed]): in the order of execution.
    """

    jaxpr: ClosedJaxpr
    values: tuple[SownValue, ...]


def on_sown(receive: Callable[[str, Any, Any], None]) -> None:
    """Have `receive(text, array, ran)` called for each value; `ran` is a bool array, or None where it surely did."""
    _receivers.append(receive)


def sow(text: str, array: Any, ordered: bool = True) -> None:
    """Hand `array`, which is being traced, to who receives such values.

    Args:
        text (str): What they are told.
        array (jax.Array): The value.
        ordered (bool): Whether a callback, where one is needed, keeps its order. Default: True.
    """
    labelled = checkpoint_name(jax.lax.stop_gradient(array), _STAGED + text)
    jax.debug.callback(lambda value: _receive(text, np.asarray(value)), labelled, ordered=ordered)


def _receive(text, array, ran=None):
    for receive in _receivers:
        receive(text, array, ran)


def give(values: tuple[SownValue, ...], outs: Any) -> None:
    """Hand over what a run of a `Returning` gave."""
    rest = iter(outs)
    for value in values:
        ran = None if value.sure else next(rest)
        _receive(value.text, next(rest), ran)


# ---------------------------------------------------------------------- what is done with a graph
# Equations whose graphs are looked into, and which of those.
_WITHIN = {**TRANSPARENT, "cond": "branches", "while": "body_jaxpr", "scan": "jaxpr"}


def taken_out(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The graph without the callbacks of values that `returning` finds; the same object where there are none."""
    jaxpr = _taken_out(closed.jaxpr, True)
    return closed if jaxpr is closed.jaxpr else closed.replace(jaxpr=jaxpr)


def _taken_out(jaxpr: Jaxpr, counts: bool) -> Jaxpr:
    if not jaxpr.effects:
        return jaxpr
    labels = {
        eqn.outvars[0]: eqn
        for eqn in jaxpr.eqns
        if eqn.primitive.name == "name" and str(eqn.params["name"]).startswith(_STAGED)
    }
    called = {eqn.invars[0] for eqn in jaxpr.eqns if is_debug_callback(eqn) and len(eqn.invars) == 1} & labels.keys()
    eqns: list[Any] = []
    for eqn in jaxpr.eqns:
        kind = eqn.primitive.name
        if is_debug_callback(eqn) and len(eqn.invars) == 1 and eqn.invars[0] in called:
            continue
        if kind == "name" and eqn.outvars[0] in called:
            if not counts:  # it stays without a label
                eqn = eqn.replace(params={**eqn.params, "name": "handed before"})
            else:
                eqn = eqn.replace(params={**eqn.params, "name": _TAKEN + eqn.params["name"].removeprefix(_STAGED)})
        elif kind in _WITHIN and eqn.effects:
            name = _WITHIN[kind]
            again = not counts or bool(eqn.params.get("differentiated"))  # the forward pass once more, for a gradient
            old = eqn.params[name]
            new = _within(old, not again)
            if new is not old:
                params = {**eqn.params, name: new}
                eqn = eqn.replace(params=params, effects=effects_of(params, eqn))
        eqns.append(eqn)
    effects = set().union(*[eqn.effects for eqn in eqns])  # a branch is said to have those of the others, too
    if effects == jaxpr.effects and len(eqns) == len(jaxpr.eqns) and all(map(operator.is_, eqns, jaxpr.eqns)):
        return jaxpr
    return jaxpr.replace(eqns=eqns, effects=effects)


def _within(graph, counts):
    """The same of a graph in the parameters of an equation, or of several."""
    if isinstance(graph, tuple):
        new = tuple([_within(part, counts) for part in graph])
        return graph if all(map(operator.is_, graph, new)) else new
    if isinstance(graph, Jaxpr):
        return _taken_out(graph, counts)
    jaxpr = _taken_out(graph.jaxpr, counts)
    return graph if jaxpr is graph.jaxpr else graph.replace(jaxpr=jaxpr)


def returning(closed: ClosedJaxpr) -> Returning | None:
    """The graph with the values that `taken_out` left to be returned; None where there are none."""
    wanted = {key: [value] for key, value in _labelled(closed.jaxpr, (), True)}
    if not wanted:
        return None
    jaxpr, values = instrument(closed, wanted, _Last())
    return Returning(jaxpr, tuple(values))


def _labelled(jaxpr: Jaxpr, path: tuple[Any, ...], sure: bool) -> Iterator[tuple[tuple[Any, ...], SownValue]]:
    """(key, value) of each labelled value; see `measured`."""
    for eqn in jaxpr.eqns:
        kind = eqn.primitive.name
        if kind == "name" and str(eqn.params["name"]).startswith(_TAKEN):
            text, kind = eqn.params["name"].removeprefix(_TAKEN), eqn.outvars[0].aval
            yield (*path, id(eqn)), SownValue(text, sure, kind.shape, kind.dtype)
        elif kind in _WITHIN:
            graphs = eqn.params[_WITHIN[kind]]
            first = 1 if kind == "while" else 0
            always = sure and kind not in ("cond", "while") and eqn.params.get("length") != 0
            for index, graph in enumerate(graphs if isinstance(graphs, tuple) else (graphs,), first):
                yield from _labelled(getattr(graph, "jaxpr", graph), (*path, (id(eqn), index)), always)


class _Last(Measure):
    """(whether it was computed, the value) of the last time."""

    def measure(self, point, array):
        return jnp.ones((), bool), array

    def empty(self, point):
        return jnp.zeros((), bool), jnp.zeros(point.shape, point.dtype)

    def merge(self, point, first, second):
        ran = second[0]
        return first[0] | ran, jnp.where(ran, second[1], first[1])

    def finish(self, points, measured, inputs, outputs):
        pairs = [(value,) if point.sure else (ran, value) for point, (ran, value) in zip(points, measured)]
        return [array for pair in pairs for array in pair]
