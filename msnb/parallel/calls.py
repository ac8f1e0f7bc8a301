"""The calls of operators in a graph, by the names that r1.1 has for them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import Literal

from msnb.core.names import GraphName
from msnb.core.operator import REGISTRY
from msnb.ir.scope import parse
from msnb.parallel.search.flat import KEPT

_ITEM = re.compile(r"([^/.]+)\.(\d+)(?=[.-])")  # a Cell of a list that is not called itself: "layers.0-Dense"
_LOOP = re.compile(r"-CellList/\d+-")


class OperatorCall(NamedTuple):
    """A call of an operator that a program was written with.

    Attributes:
        name (str): What r1.1 calls it, ``Default/network-Net/MatMul-op1``.
        eqn (JaxprEqn): The call in the graph.
        forward (bool): Whether a gradient goes through it.
    """

    name: str
    eqn: Any
    forward: bool

    @property
    def scope(self) -> str:
        """Its name without the number."""
        return self.name.rpartition("-op")[0]

    @property
    def meaning(self) -> Any:
        """The operator, its attributes and marks, see `core.names.Meaning`."""
        return self.eqn.params["name"].meaning

    @property
    def inputs(self) -> list[Any]:
        """Its inputs in the graph, variables or literals; without the key of what is drawn."""
        return list(self.eqn.invars[REGISTRY[self.meaning.operator].random :])


def opened(jaxpr: Any) -> Iterator[Any]:
    """The equations of a graph, those of recomputed Cells in their place: as the graph's own variables go in."""
    given: dict[Any, Any] = {}

    def of(inner):
        for eqn in inner.eqns:
            invars = [v if isinstance(v, Literal) else given.get(v, v) for v in eqn.invars]
            if eqn.primitive.name not in KEPT:
                yield eqn.replace(invars=invars)
                continue
            body = eqn.params["jaxpr"]
            given.update(zip(body.invars, invars, strict=True))
            yield from of(body)
            found = [v if isinstance(v, Literal) else given.get(v, v) for v in body.outvars]
            given.update(zip(eqn.outvars, found, strict=True))

    return of(jaxpr)


def calls(jaxpr: Any) -> Iterator[OperatorCall]:
    """The calls of operators in a graph, in its order; what transformations made of them is not among them: gradients,
    and calls with another axis or with tangents.

    They are numbered as r1.1 meets them: from a result back to what it is made of, each input with all that is behind
    it before the next one.
    """
    eqns = list(opened(jaxpr))
    own = {place: _own(eqn) for place, eqn in enumerate(eqns)}
    own = {place: transforms for place, transforms in own.items() if transforms is not None}
    numbers = {}
    for place in _met(eqns, jaxpr.outvars):
        if place in own:
            numbers[place] = len(numbers)
    for place in own:
        numbers.setdefault(place, len(numbers))
    for place, transforms in own.items():
        eqn = eqns[place]
        operator = REGISTRY.get(eqn.params["name"].meaning.operator)
        if operator is not None and len(eqn.invars) == _inputs(operator, eqn.params["name"].layout):
            scope = parse(str(eqn.source_info.name_stack))[0]
            scope = [_ITEM.sub(r"\1-CellList/\2", part) for part in scope]
            path = "/".join([*scope, f"{eqn.params['name'].meaning.operator}-op{numbers[place]}"])
            yield OperatorCall(path, eqn, "jvp" in transforms)


def of_network(jaxpr: Any) -> list[OperatorCall]:
    """The calls of a network, as r1.1 counts them: in a training those that gradients go through, and not the
    optimizer's; what is computed once by itself and once for a gradient, once."""
    found = list(calls(jaxpr))
    if not any(call.forward for call in found):
        return found
    by_scope: dict[str, list[OperatorCall]] = defaultdict(list)
    for call in found:
        by_scope[call.scope].append(call)
    kept = []
    for several in by_scope.values():
        if any(call.forward for call in several):
            kept += [call for call in several if not call.forward] or several
    return kept


def counted(jaxpr: Any) -> int:
    """How many operators a search of r1.1 has before it: of the equal Cells of a CellList those of one, and an identity
    for each input of the graph that several read."""
    found = of_network(jaxpr)
    each = Counter(call.scope for call in found)
    alike: dict[str, int] = defaultdict(int)
    for scope, count in each.items():
        one = _LOOP.sub("-CellList/", scope)
        alike[one] = max(alike[one], count)
    own = set(jaxpr.invars)
    readers = Counter(v for call in found for v in {v for v in call.inputs if not isinstance(v, Literal)} & own)
    return sum(alike.values()) + sum(count > 1 for count in readers.values())


def _own(eqn):
    """The transformations that a call stands in which a program was written with; None for every other equation."""
    if not isinstance(eqn.params.get("name"), GraphName):
        return None
    transforms = set(parse(str(eqn.source_info.name_stack))[1])
    nothing = does_nothing(eqn.params["name"].meaning, np.shape(eqn.invars[0].aval) if eqn.invars else ())
    return None if transforms - {"jvp"} or nothing else transforms


def does_nothing(meaning: Any, shape: tuple[int, ...]) -> bool:
    """Whether a call gives what it is given: a Reshape to the shape that is there, which r1.1 takes out before it looks
    at strategies."""
    return meaning.operator == "Reshape" and tuple(meaning.attributes.get("shape", ())) == tuple(shape)


def _met(eqns, results):
    """The places of equations, as they are met on the way back from the results."""
    maker = {var: place for place, eqn in enumerate(eqns) for var in eqn.outvars}
    seen, waiting = set(), list(results)[::-1]
    while waiting:
        place = maker.get(var) if not isinstance(var := waiting.pop(), Literal) else None
        if place is None or place in seen:
            continue
        seen.add(place)
        yield place
        waiting += reversed(eqns[place].invars)


def _inputs(operator, layout):
    """How many arrays a call is given."""
    if layout is None:
        return operator.random + sum(i.kind is None for i in operator.inputs)
    return operator.random + sum(entry[0] if isinstance(entry, tuple) else entry == 1 for entry in layout)
