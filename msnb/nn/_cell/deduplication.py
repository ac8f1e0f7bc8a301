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
from msnb.core.compat.jax_private import argument_like, is_tracer, unnamed
from msnb.core.jaxpr.inline_calls import PartName
from msnb.core.operator.primitive import DeclaredPrimitive, settings_of
from msnb.core.state import events, trace_state
from msnb.core.support.weak_identity import ObjectKey, WeakIdentityDict
from msnb.core.tensor.cell_state import CellState
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.tensor import Tensor, box
from msnb.nn._cell.tree import CellTree

_asked = events.asked
_thread = trace_state.thread
_PLAIN = frozenset((bool, int, str, type(None)))
_MIN_REPEATS = 3  # so many like calls are traced as they stand: to make a part of one costs two more traces
_NOT_SHARED = object()  # in the table: its trace did more than compute


class _RepeatedCells:
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
    part = (
        _select_part(cell, args, frame) if cell._cells and not kwargs else None
    )  # a Cell of one operator costs little
    if part is None:
        return cell._run(args, kwargs)
    root = frame.root()
    root.repeats.called = True
    return part(_cached_structure_key(cell, root)[1], args, frame)


def _select_part(cell, args, frame):
    """The `_Part` that a call is, None where it is to be traced."""
    root = frame.root()
    if root.repeats is None:
        root.repeats = _RepeatedCells(next(iter(root.cells.values()), None))
    repeats = root.repeats
    carries = _thread.carriers is not None and _thread.carriers.active
    is_excluded = repeats.busy or root.checking or _asked.entered or carries or _thread.pipeline is not None
    signature = None if is_excluded else _signature_of(args)
    if signature is None:
        return None
    signature += _thread.compute_dtype, _thread.forward_mode
    peers = repeats.classes.get(type(cell), ())
    first_calls = repeats.few.setdefault((type(cell), signature), [])
    if len(first_calls) < _MIN_REPEATS and len(peers) <= _MIN_REPEATS:  # what it is like is not worth knowing yet
        first_calls.append(cell)
        return None
    structure, members = _cached_structure_key(cell, root)
    if structure is None:
        return None
    key = structure, signature
    part = repeats.parts.get(key)
    if part is None:
        if sum(_cached_structure_key(peer, root)[0] == structure for peer in peers) > _MIN_REPEATS:
            part = _MIN_REPEATS
        else:
            part = sum(_cached_structure_key(each, root)[0] == structure for each in first_calls)
    if type(part) is int:
        if part < _MIN_REPEATS:
            repeats.parts[key] = part + 1
            return None
        repeats.busy = True
        try:
            part = repeats.parts[key] = _trace_part(cell, args, members, frame)
        finally:
            repeats.busy = False
    return None if part is _NOT_SHARED else part


# ---------------------------------------------------------------------- what is alike
class UniqueCell(Exception):
    """A Cell that is like no other."""


def _signature_of(args):
    """What has to be equal of the arguments, hashable; None where a call cannot be a part."""
    leaves, _ = flatten(args)
    signature, first = [structure(args)], {}
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            if isinstance(leaf, Parameter) or not is_tracer(leaf._array):
                return None
            kind = jax.typeof(leaf._array)
            position = first.setdefault(id(leaf), len(first))  # one Tensor given twice may be asked for being one
            signature.append((position, kind.shape, kind.dtype, kind.weak_type))
        elif type(leaf) in _PLAIN or isinstance(leaf, mstype.Type):
            signature.append((type(leaf), leaf))
        elif type(leaf) is float:
            signature.append((float, repr(leaf)))
        else:
            return None
    return tuple(signature)


def _cached_structure_key(cell, root):
    """`likeness_of`, looked up while nothing has changed; (None, None) for a Cell that is like no other."""
    likes = root.repeats.likes
    now = trace_state.epoch.value, len(root.settings)
    cached = likes.get(cell)
    if cached is None or cached[0] != now:
        try:
            result = structure_key(cell)
        except UniqueCell:
            result = None, None
        cached = likes[cell] = now, result
    return cached[1]


def structure_key(cell):
    """(hashable, members): equal for Cells that differ in nothing but which Parameters and Cells, the members, they
    hold."""
    members, indices = [], {}

    def add_member(member):
        index = indices.get(id(member))
        if index is None:
            indices[id(member)] = len(members)
            members.append(member)
        return index

    def key_of_cell(cell):
        index = add_member(cell)
        if index is not None:
            return index
        if cell._hooks is not None or "construct" in vars(cell):
            raise UniqueCell
        library = type(cell).__module__.startswith("msnb.")
        attributes = [(k, key_of(v)) for k, v in cell._own_attributes() if not (library and k.endswith("_init"))]
        return (
            type(cell),
            tuple(attributes),
            *[tuple([(k, key_of(v)) for k, v in d.items()]) for d in (cell._params, cell._cells)],
        )

    def key_of(value):
        kind = type(value)
        if kind in _PLAIN:
            return kind, value
        if kind is float:
            return kind, repr(value)
        if isinstance(value, CellTree):
            return key_of_cell(value)
        if isinstance(value, Parameter):
            index = add_member(value)
            return index if index is not None else (kind, value.shape, value.dtype, value.requires_grad)
        if kind is CellState:
            return ObjectKey(value)
        if isinstance(value, Tensor):
            return ObjectKey(value), ObjectKey(value._array)
        if kind in (tuple, list):
            return kind, tuple([key_of(v) for v in value])
        if kind in (dict, OrderedDict):
            return kind, tuple([(ObjectKey(k) if k.__hash__ is None else k, key_of(v)) for k, v in value.items()])
        if isinstance(value, mstype.Type):
            return kind, value
        if isinstance(value, DeclaredPrimitive):
            return kind, tuple([(k, key_of(v)) for k, v in settings_of(value)])
        return ObjectKey(value)

    return key_of_cell(cell), members


# ---------------------------------------------------------------------- what is traced once
class _TracedCell:
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
        self.run = jax.jit(_name_function(graph.jaxpr))

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


def _name_function(jaxpr):
    """A function of what a jaxpr closes over and takes, under the name that marks calls of parts."""
    body = jaxpr_as_fun(ClosedJaxpr(jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars]), []))

    def part(*arrays):
        return body(*arrays)

    part.__name__ = part.__qualname__ = PartName("part")
    return part


def _trace_part(cell, args, members, frame):
    """Trace a Cell by itself; `_NEVER` where that cannot stand for its calls."""
    params = [m for m in members if isinstance(m, Parameter)]
    leaves, rebuild = flatten(args)
    tensor_positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    captured = {}

    def traced(arrays, key, values):
        boxes, full = {}, list(leaves)
        for i, value in zip(tensor_positions, values, strict=True):
            full[i] = boxes.setdefault(id(leaves[i]), box(value))
        with trace_state.TraceFrame(params, arrays, frame) as inner:
            captured["frame"] = inner
            inner.cells = {}
            inner.key = key
            results, captured["rebuild"] = flatten(cell._run(rebuild(full), {}))
            captured["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            captured["written"] = [p for p, _ in inner.writes()]
            captured["draws"] = inner.key is not key
            arrays = [r._array for r in results if isinstance(r, Tensor)] + [a for _, a in inner.writes()]
            return [*arrays, inner.key]

    root = frame.root()
    state = root.state()
    example_args = (
        [argument_like(p._kind) for p in params],
        _key_type(),
        [argument_like(leaves[i]._array) for i in tensor_positions],
    )
    try:
        graph = jax.make_jaxpr(traced)(*example_args)
    except Exception:  # the same comes of tracing it as it stands, and there the error knows where it is
        root.back_to(state)
        return _NOT_SHARED
    inner, indices = captured["frame"], {id(m): i for i, m in enumerate(members)}
    is_pure = not (graph.effects or inner.error is not None or inner.status is not None or inner.tensors)
    is_pure = is_pure and not inner.looked_up  # as a part of its own it would have a dense gradient
    has_only_members = all(id(m) in indices for m in [*inner.cells.values(), *captured["written"]])
    if not (is_pure and has_only_members and root.same(state)) or any(map(is_tracer, graph.consts)):
        root.back_to(state)
        return _NOT_SHARED
    graph, used = _drop_unused_inputs(graph, len(params), captured["draws"])
    reads, writes = ([indices[id(p)] for p in some] for some in ([params[i] for i in used], captured["written"]))
    return _TracedCell(
        graph,
        reads,
        writes,
        [indices[i] for i in inner.cells],
        captured["draws"],
        captured["rebuild"],
        captured["static"],
    )


def _drop_unused_inputs(graph, count, draws):
    """(graph, kept): without those of its first `count` inputs that nothing reads, and without the random stream
    unless it `draws` from it."""
    jaxpr = graph.jaxpr
    used = {v for eqn in jaxpr.eqns for v in eqn.invars if isinstance(v, Var)}
    used.update(v for v in jaxpr.outvars if isinstance(v, Var))
    used_inputs = [i for i, v in enumerate(jaxpr.invars[:count]) if v in used]
    invars = [*[jaxpr.invars[i] for i in used_inputs], *jaxpr.invars[count if draws else count + 1 :]]
    outvars = jaxpr.outvars if draws else jaxpr.outvars[:-1]
    return ClosedJaxpr(
        jaxpr.replace(invars=invars, outvars=outvars, debug_info=unnamed(jaxpr)), graph.consts
    ), used_inputs


def _key_type():
    return _key_type_of(jax.config.jax_default_prng_impl)


@functools.cache
def _key_type_of(_):
    return jax.eval_shape(lambda: jax.random.key(0))
