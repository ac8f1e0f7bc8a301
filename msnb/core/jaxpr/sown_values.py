"""Extra outputs that a compiled program returns for summary operators.

While a program is traced, `sow` labels the value and adds a callback that receives it at run time. The caller would
have to wait for a call with callbacks. `remove_callbacks` therefore removes as many callbacks as possible, and
`return_sown` makes a graph that returns the labelled values after its results. The receivers get these values when the
call has been dispatched, without waiting. A value in a loop is that of the last iteration. Values that cannot be
returned (under `vmap`, or in the condition of a `while`) keep their callback. The new graph inlines functions with a
custom gradient: it can be run, but not differentiated.
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

_STAGED, _RETURNED = "handed:", "handed out:"  # labels of values with and without a callback
_receivers: list[Callable[[str, Any, Any], None]] = []


class SownValue(NamedTuple):
    """A value that a program returns for a summary operator, labelled by `sow`.

    Attributes:
        text (str): The label passed to `sow`.
        sure (bool): True if each run computes the value. Otherwise the output before it, a bool, is True if this run
            has computed it.
        shape (tuple), dtype (numpy.dtype): Shape and dtype of the value.
        slot (int): Its index among the results of its equation.
    """

    text: str
    sure: bool
    shape: tuple[Any, ...]
    dtype: Any
    slot: int = 0


class SownGraph(NamedTuple):
    """A graph that returns its sown values as extra outputs.

    Attributes:
        jaxpr (ClosedJaxpr): Returns the outputs of the original graph, then those of `values`, each after its bool
            unless it is `sure`.
        values (tuple[SownValue]): The sown values in order of execution.
    """

    jaxpr: ClosedJaxpr
    values: tuple[SownValue, ...]


def on_sown(receive: Callable[[str, Any, Any], None]) -> None:
    """Register a function ``receive(text, array, ran)`` for sown values. `ran` is a bool array, or None if it always
    ran.
    """
    _receivers.append(receive)


def sow(text: str, array: Any, ordered: bool = True) -> None:
    """Label a traced `array`, so that its value is delivered to the receivers when the program runs.

    Args:
        text (str): Label for the receivers.
        array (jax.Array): The value.
        ordered (bool): True if a callback that is not removed runs in the order of the program. Default: True.
    """
    labelled = checkpoint_name(jax.lax.stop_gradient(array), _STAGED + text)
    jax.debug.callback(lambda value: _notify_receivers(text, np.asarray(value)), labelled, ordered=ordered)


def _notify_receivers(text, array, ran=None):
    for receive in _receivers:
        receive(text, array, ran)


def deliver(values: tuple[SownValue, ...], outs: Any) -> None:
    """Deliver the extra outputs of one run to the receivers."""
    rest = iter(outs)
    for value in values:
        ran = None if value.sure else next(rest)
        _notify_receivers(value.text, next(rest), ran)


# ------------------------------------------------------------------- changes of a graph
# {primitive: name of its parameter with nested graphs}, for the search for sown values.
_NESTED_GRAPHS = {**TRANSPARENT, "cond": "branches", "while": "body_jaxpr", "scan": "jaxpr"}


def remove_callbacks(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the graph without the callbacks of values that `return_sown` can return; the same object if there are
    none.
    """
    jaxpr = _remove_callbacks(closed.jaxpr, True)
    return closed if jaxpr is closed.jaxpr else closed.replace(jaxpr=jaxpr)


def _remove_callbacks(jaxpr: Jaxpr, is_first_pass: bool) -> Jaxpr:
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
            if not is_first_pass:  # the value was returned by the first forward pass
                eqn = eqn.replace(params={**eqn.params, "name": "handed before"})
            else:
                eqn = eqn.replace(params={**eqn.params, "name": _RETURNED + eqn.params["name"].removeprefix(_STAGED)})
        elif kind in _NESTED_GRAPHS and eqn.effects:
            name = _NESTED_GRAPHS[kind]
            # a recomputed forward pass of a gradient
            is_recomputed = not is_first_pass or bool(eqn.params.get("differentiated"))
            old = eqn.params[name]
            new = _remove_nested_callbacks(old, not is_recomputed)
            if new is not old:
                params = {**eqn.params, name: new}
                eqn = eqn.replace(params=params, effects=effects_of(params, eqn))
        eqns.append(eqn)
    # `jaxpr.effects` cannot be used: for a branch, JAX includes the effects of the other branches in it.
    effects = set().union(*[eqn.effects for eqn in eqns])
    if effects == jaxpr.effects and len(eqns) == len(jaxpr.eqns) and all(map(operator.is_, eqns, jaxpr.eqns)):
        return jaxpr
    return jaxpr.replace(eqns=eqns, effects=effects)


def _remove_nested_callbacks(graph, is_first_pass):
    """Apply `_remove_callbacks` to one nested graph, or to a tuple of them."""
    if isinstance(graph, tuple):
        new = tuple([_remove_nested_callbacks(branch, is_first_pass) for branch in graph])
        return graph if all(map(operator.is_, graph, new)) else new
    if isinstance(graph, Jaxpr):
        return _remove_callbacks(graph, is_first_pass)
    jaxpr = _remove_callbacks(graph.jaxpr, is_first_pass)
    return graph if jaxpr is graph.jaxpr else graph.replace(jaxpr=jaxpr)


def return_sown(closed: ClosedJaxpr) -> SownGraph | None:
    """Return a graph with the values that `remove_callbacks` labelled as extra outputs; None if there are none."""
    points = {key: [value] for key, value in _iterate_labelled_values(closed.jaxpr, (), True)}
    if not points:
        return None
    jaxpr, values = instrument(closed, points, _LastValue())
    return SownGraph(jaxpr, tuple(values))


def _iterate_labelled_values(
    jaxpr: Jaxpr, path: tuple[Any, ...], sure: bool
) -> Iterator[tuple[tuple[Any, ...], SownValue]]:
    """Yield (key, value) of each labelled value; `instrument` explains the keys."""
    for eqn in jaxpr.eqns:
        kind = eqn.primitive.name
        if kind == "name" and str(eqn.params["name"]).startswith(_RETURNED):
            text, kind = eqn.params["name"].removeprefix(_RETURNED), eqn.outvars[0].aval
            yield (*path, id(eqn)), SownValue(text, sure, kind.shape, kind.dtype)
        elif kind in _NESTED_GRAPHS:
            graphs = eqn.params[_NESTED_GRAPHS[kind]]
            first = 1 if kind == "while" else 0
            always = sure and kind not in ("cond", "while") and eqn.params.get("length") != 0
            for index, graph in enumerate(graphs if isinstance(graphs, tuple) else (graphs,), first):
                yield from _iterate_labelled_values(getattr(graph, "jaxpr", graph), (*path, (id(eqn), index)), always)


class _LastValue(Measure):
    """Measurement (True if computed, value) that keeps the value of the last iteration."""

    def measure(self, point, array):
        return jnp.ones((), bool), array

    def empty(self, point):
        return jnp.zeros((), bool), jnp.zeros(point.shape, point.dtype)

    def merge(self, point, first, second):
        ran = second[0]
        return first[0] | ran, jnp.where(ran, second[1], first[1])

    def finish(self, points, measurements, inputs, outputs):
        pairs = [(value,) if point.sure else (ran, value) for point, (ran, value) in zip(points, measurements)]
        return [array for pair in pairs for array in pair]
