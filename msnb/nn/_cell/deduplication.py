"""Equal Cells are traced once: the layers of an encoder, the Cell of an unrolled loop.

Where a network holds more than a few Cells that differ in nothing but their Parameters, or calls one Cell more often
than that, what one call traces becomes a call that the others make: JAX traces, differentiates and transposes it once.
The graph is the same as without (`core.inlining`), but for results of operators that nothing uses. A Cell is traced
each time where its trace does more than compute: where it prints, checks what may fail as the graph runs, or sets an
attribute.
"""

import functools
from collections import OrderedDict
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Var, jaxpr_as_fun

from msnb.common import dtype as mstype
from msnb.core.compat.jax_private import argument_signature, is_tracer, without_argument_names
from msnb.core.jaxpr.inline_calls import PartName
from msnb.core.operator.primitive import DeclaredPrimitive, settings_of
from msnb.core.state import events, trace_state
from msnb.core.support.weak_identity import ObjectKey, WeakIdentityDict
from msnb.core.tensor.cell_state import CellState
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.tensor import Tensor, box
from msnb.nn._cell.tree import Tree

_asked = events.subscribers
_thread = trace_state.thread
_PLAIN = frozenset((bool, int, str, type(None)))
_FEW = 3  # so many like calls are traced as they stand: to make a part of one costs two more traces
_NEVER = object()  # in the table: its trace did more than compute


class _Repeats:
    """What one trace knows of its Cells: kept with its root frame."""

    __slots__ = ("classes", "few", "parts", "likes", "busy", "called")

    def __init__(self, outermost):
        self.classes = {}  # class -> the Cells of it that the network holds
        for _, cell in outermost.cells_and_names() if outermost is not None else ():
            self.classes.setdefault(type(cell), []).append(cell)
        self.few = {}  # class and signature -> the first few Cells that were called so; most are the only ones
        self.parts = {}  # likeness and signature -> how many calls there were, _NEVER or a _Part
        self.likes = WeakIdentityDict()  # Cell -> (when that was, what it is like)
        self.busy: bool = False  # whether a part is being traced
        self.called: bool = False  # whether there is a call of one in the graph


def call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a Cell gives in the graph that is being traced."""
    frame = _thread.frame
    part = _part_for(cell, args, frame) if cell._cells and not kwargs else None  # a Cell of one operator costs little
    if part is None:
        return cell._run(args, kwargs)
    root = frame.root()
    root.repeats.called = True
    return part(_likeness_now(cell, root)[1], args, frame)


def _part_for(cell, args, frame):
    """The `_Part` that a call is, None where it is to be traced."""
    root = frame.root()
    if root.repeats is None:
        root.repeats = _Repeats(next(iter(root.cells.values()), None))
    repeats = root.repeats
    carries = _thread.carriers is not None and _thread.carriers.active
    alone = repeats.busy or root.checking or _asked.entered or carries or _thread.pipeline is not None
    signature = None if alone else _signature(args)
    if signature is None:
        return None
    signature += _thread.compute_dtype, _thread.forward_mode
    mates = repeats.classes.get(type(cell), ())
    few = repeats.few.setdefault((type(cell), signature), [])
    if len(few) < _FEW and len(mates) <= _FEW:  # what it is like is not worth knowing yet
        few.append(cell)
        return None
    likeness, members = _likeness_now(cell, root)
    if likeness is None:
        return None
    key = likeness, signature
    part = repeats.parts.get(key)
    if part is None:
        if sum(_likeness_now(mate, root)[0] == likeness for mate in mates) > _FEW:
            part = _FEW
        else:
            part = sum(_likeness_now(each, root)[0] == likeness for each in few)
    if type(part) is int:
        if part < _FEW:
            repeats.parts[key] = part + 1
            return None
        repeats.busy = True
        try:
            part = repeats.parts[key] = _part(cell, args, members, frame)
        finally:
            repeats.busy = False
    return None if part is _NEVER else part


# ---------------------------------------------------------------------- what is alike
class Unlike(Exception):
    """A Cell that is like no other."""


def _signature(args):
    """What has to be equal of the arguments, hashable; None where a call cannot be a part."""
    leaves, _ = flatten(args)
    found, first = [structure(args)], {}
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            if isinstance(leaf, Parameter) or not is_tracer(leaf._array):
                return None
            kind = jax.typeof(leaf._array)
            same = first.setdefault(id(leaf), len(first))  # one Tensor given twice may be asked for being one
            found.append((same, kind.shape, kind.dtype, kind.weak_type))
        elif type(leaf) in _PLAIN or isinstance(leaf, mstype.Type):
            found.append((type(leaf), leaf))
        elif type(leaf) is float:
            found.append((float, repr(leaf)))
        else:
            return None
    return tuple(found)


def _likeness_now(cell, root):
    """`likeness_of`, looked up while nothing has changed; (None, None) for a Cell that is like no other."""
    likes = root.repeats.likes
    now = trace_state.epoch.value, len(root.settings)
    known = likes.get(cell)
    if known is None or known[0] != now:
        try:
            found = likeness_of(cell)
        except Unlike:
            found = None, None
        known = likes[cell] = now, found
    return known[1]


def likeness_of(cell):
    """(hashable, members): equal for Cells that differ in nothing but which Parameters and Cells, the members, they
    hold."""
    members, places = [], {}

    def place(member):
        known = places.get(id(member))
        if known is None:
            places[id(member)] = len(members)
            members.append(member)
        return known

    def of_cell(cell):
        known = place(cell)
        if known is not None:
            return known
        if cell._hooks is not None or "construct" in vars(cell):
            raise Unlike
        library = type(cell).__module__.startswith("msnb.")
        held = [(k, of(v)) for k, v in cell._own_attributes() if not (library and k.endswith("_init"))]
        return (
            type(cell),
            tuple(held),
            *[tuple([(k, of(v)) for k, v in d.items()]) for d in (cell._params, cell._cells)],
        )

    def of(value):
        kind = type(value)
        if kind in _PLAIN:
            return kind, value
        if kind is float:
            return kind, repr(value)
        if isinstance(value, Tree):
            return of_cell(value)
        if isinstance(value, Parameter):
            known = place(value)
            return known if known is not None else (kind, value.shape, value.dtype, value.requires_grad)
        if kind is CellState:
            return ObjectKey(value)
        if isinstance(value, Tensor):
            return ObjectKey(value), ObjectKey(value._array)
        if kind in (tuple, list):
            return kind, tuple([of(v) for v in value])
        if kind in (dict, OrderedDict):
            return kind, tuple([(ObjectKey(k) if k.__hash__ is None else k, of(v)) for k, v in value.items()])
        if isinstance(value, mstype.Type):
            return kind, value
        if isinstance(value, DeclaredPrimitive):
            return kind, tuple([(k, of(v)) for k, v in settings_of(value)])
        return ObjectKey(value)

    return of_cell(cell), members


# ---------------------------------------------------------------------- what is traced once
class _Part:
    """What a Cell computes, traced.

    Args:
        graph (ClosedJaxpr): Takes arrays of Parameters, the random stream's key where it draws from it, and arguments;
            gives results, new arrays of Parameters, and the new key.
        reads (list): Which members of the Cell are the Parameters that it takes.
        writes (list): Which are those that it gives.
        cells (list): Which are Cells that it calls.
        draws (bool): Whether it draws random numbers.
        rebuild (Callable): Puts results together.
        static (list): Per leaf of the result None for a Tensor, else (the value,).
    """

    def __init__(self, graph, reads, writes, cells, draws, rebuild, static):
        self.reads, self.writes, self.cells, self.draws = reads, writes, cells, draws
        self.rebuild, self.static = rebuild, static
        self.consts = graph.consts
        self.run = jax.jit(_named(graph.jaxpr))

    def __call__(self, members, args, frame):
        key = [frame.current_key()] if self.draws else []
        values = [leaf._array for leaf in flatten(args)[0] if isinstance(leaf, Tensor)]
        frame.cells.update((id(members[i]), members[i]) for i in self.cells)
        outs = iter(self.run(*self.consts, *[members[i]._array for i in self.reads], *key, *values))
        result = self.rebuild([box(next(outs)) if s is None else s[0] for s in self.static])
        for i in self.writes:
            frame.write(members[i], next(outs))
        if self.draws:
            frame.key = next(outs)
        return result


def _named(jaxpr):
    """A function of what a jaxpr closes over and takes, under the name that marks calls of parts."""
    body = jaxpr_as_fun(ClosedJaxpr(jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars]), []))

    def part(*arrays):
        return body(*arrays)

    part.__name__ = part.__qualname__ = PartName("part")
    return part


def _part(cell, args, members, frame):
    """Trace a Cell by itself; `_NEVER` where that cannot stand for its calls."""
    params = [m for m in members if isinstance(m, Parameter)]
    leaves, rebuild = flatten(args)
    spots = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    note = {}

    def traced(arrays, key, values):
        boxes, full = {}, list(leaves)
        for i, value in zip(spots, values, strict=True):
            full[i] = boxes.setdefault(id(leaves[i]), box(value))
        with trace_state.TraceFrame(params, arrays, frame) as inner:
            note["frame"] = inner
            inner.cells = {}
            inner.key = key
            results, note["rebuild"] = flatten(cell._run(rebuild(full), {}))
            note["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            note["written"] = [p for p, _ in inner.writes()]
            note["draws"] = inner.key is not key
            arrays = [r._array for r in results if isinstance(r, Tensor)] + [a for _, a in inner.writes()]
            return [*arrays, inner.key]

    root = frame.root()
    state = root.state()
    like = (
        [argument_signature(p._kind) for p in params],
        _key_kind(),
        [argument_signature(leaves[i]._array) for i in spots],
    )
    try:
        graph = jax.make_jaxpr(traced)(*like)
    except Exception:  # the same comes of tracing it as it stands, and there the error knows where it is
        root.back_to(state)
        return _NEVER
    inner, places = note["frame"], {id(m): i for i, m in enumerate(members)}
    mere = not (graph.effects or inner.error is not None or inner.status is not None or inner.tensors)
    mere = mere and not inner.looked_up  # as a part of its own it would have a dense gradient
    inside = all(id(m) in places for m in [*inner.cells.values(), *note["written"]])
    if not (mere and inside and root.same(state)) or any(map(is_tracer, graph.consts)):
        root.back_to(state)
        return _NEVER
    graph, kept = _without_unused(graph, len(params), note["draws"])
    reads, writes = ([places[id(p)] for p in some] for some in ([params[i] for i in kept], note["written"]))
    return _Part(graph, reads, writes, [places[i] for i in inner.cells], note["draws"], note["rebuild"], note["static"])


def _without_unused(graph, count, draws):
    """(graph, kept): without those of its first `count` inputs that nothing reads, and without the random stream
    unless it `draws` from it."""
    jaxpr = graph.jaxpr
    used = {v for eqn in jaxpr.eqns for v in eqn.invars if isinstance(v, Var)}
    used.update(v for v in jaxpr.outvars if isinstance(v, Var))
    kept = [i for i, v in enumerate(jaxpr.invars[:count]) if v in used]
    invars = [*[jaxpr.invars[i] for i in kept], *jaxpr.invars[count if draws else count + 1 :]]
    outvars = jaxpr.outvars if draws else jaxpr.outvars[:-1]
    return ClosedJaxpr(
        jaxpr.replace(invars=invars, outvars=outvars, debug_info=without_argument_names(jaxpr)), graph.consts
    ), kept


def _key_kind():
    return _kind_of_keys(jax.config.jax_default_prng_impl)


@functools.cache
def _kind_of_keys(_):
    return jax.eval_shape(lambda: jax.random.key(0))
