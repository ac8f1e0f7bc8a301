"""Tracing equal Cells once: the layers of an encoder, or a Cell in an unrolled loop.

This applies if a network has more than `_MIN_REPEATS` Cells that differ only in their Parameters, or calls one
Cell that often. The first calls are traced directly. Then one trace becomes a jitted function, and the other calls run
that function, so JAX traces, differentiates and transposes it once. `core.jaxpr.inline_calls` inlines the calls, so the
graph is the same as without deduplication, except for unused results. A Cell is traced each time if its trace has
effects: if it prints, checks values while the graph runs, or sets an attribute.
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
from msnb.nn._cell.tree import CellTree

_subscribers = events.subscribers
_thread = trace_state.thread
_PLAIN = frozenset((bool, int, str, type(None)))
_MIN_REPEATS = 3  # calls that are traced directly: a shared function costs two more traces
_NOT_SHARED = object()  # entry of `parts` for a Cell whose trace has effects


class _RepeatedCells:
    """Counts and shared functions of one trace, see `ProgramTrace.state_of`."""

    __slots__ = ("classes", "few", "parts", "likes", "busy")

    def __init__(self):
        self.classes = None  # class -> its Cells in the network, once `find_classes` was called
        self.few = {}  # class and signature -> the Cells of the first calls
        self.parts = {}  # structure key and signature -> number of calls, _NOT_SHARED or a _TracedCell
        self.likes = WeakIdentityDict()  # Cell -> (epoch, structure key)
        self.busy: bool = False  # True while a shared function is traced

    def find_classes(self, outermost):
        """Group the Cells of a network by class. `outermost` is the network, or None."""
        self.classes = {}
        for _, cell in outermost.cells_and_names() if outermost is not None else ():
            self.classes.setdefault(type(cell), []).append(cell)


def call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a Cell inside the current trace, as a call of a shared function if it has one."""
    frame = _thread.frame
    # a Cell without sub-Cells is cheap to trace
    part = _find_shared_traced_cell(cell, args, frame) if cell._cells and not kwargs else None
    if part is None:
        return cell._run_with_precision_and_hooks(args, kwargs)
    frame.trace.has_shared_calls = True
    return part(_get_cached_structure_key(cell, frame.trace)[1], args, frame)


def _find_shared_traced_cell(cell, args, frame):
    """Return the `_TracedCell` that replaces a call, or None if the call has to be traced."""
    trace = frame.trace
    repeats = trace.state_of(_RepeatedCells)
    if repeats.classes is None:
        repeats.find_classes(next(iter(frame.cells.values()), None))
    carries = _thread.carriers is not None and _thread.carriers.active
    is_excluded = repeats.busy or trace.checking or _subscribers.entered or carries or _thread.pipeline is not None
    signature = None if is_excluded else _compute_args_signature(args)
    if signature is None:
        return None
    signature += _thread.compute_dtype, _thread.forward_mode
    peers = repeats.classes.get(type(cell), ())
    first_calls = repeats.few.setdefault((type(cell), signature), [])
    if len(first_calls) < _MIN_REPEATS and len(peers) <= _MIN_REPEATS:  # the structure key is not needed yet
        first_calls.append(cell)
        return None
    structure, members = _get_cached_structure_key(cell, trace)
    if structure is None:
        return None
    key = structure, signature
    part = repeats.parts.get(key)
    if part is None:
        if sum(_get_cached_structure_key(peer, trace)[0] == structure for peer in peers) > _MIN_REPEATS:
            part = _MIN_REPEATS
        else:
            part = sum(_get_cached_structure_key(each, trace)[0] == structure for each in first_calls)
    if type(part) is int:
        if part < _MIN_REPEATS:
            repeats.parts[key] = part + 1
            return None
        repeats.busy = True
        try:
            part = repeats.parts[key] = _trace_cell_separately(cell, args, members, frame)
        finally:
            repeats.busy = False
    return None if part is _NOT_SHARED else part


# ---------------------------------------------------------------------- equality of Cells
class UniqueCell(Exception):
    """Raised for a Cell that equals no other Cell, because it has hooks or an instance attribute `construct`."""


def _compute_args_signature(args):
    """Return a hashable signature of the arguments, or None if the call cannot be shared."""
    leaves, _ = flatten(args)
    signature, first = [structure(args)], {}
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            if isinstance(leaf, Parameter) or not is_tracer(leaf._array):
                return None
            kind = jax.typeof(leaf._array)
            # `construct` may test whether two arguments are one Tensor
            position = first.setdefault(id(leaf), len(first))
            signature.append((position, kind.shape, kind.dtype, kind.weak_type))
        elif type(leaf) in _PLAIN or isinstance(leaf, mstype.Type):
            signature.append((type(leaf), leaf))
        elif type(leaf) is float:
            signature.append((float, repr(leaf)))
        else:
            return None
    return tuple(signature)


def _get_cached_structure_key(cell, trace):
    """Return `structure_key`, cached until the epoch changes; (None, None) for a `UniqueCell`."""
    likes = trace.state_of(_RepeatedCells).likes
    now = trace_state.epoch.value, len(trace.cell_changes)
    cached = likes.get(cell)
    if cached is None or cached[0] != now:
        try:
            result = structure_key(cell)
        except UniqueCell:
            result = None, None
        cached = likes[cell] = now, result
    return cached[1]


def structure_key(cell):
    """Return (key, members) of a Cell; members are its Parameters and sub-Cells. Keys are equal for Cells that differ
    only in members."""
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
        attributes = [
            (k, key_of(v)) for k, v in cell._iterate_own_attributes() if not (library and k.endswith("_init"))
        ]
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


# ---------------------------------------------------------------------- shared functions
class _TracedCell:
    """The trace of a Cell as a jitted function.

    Args:
        graph (ClosedJaxpr): Takes arrays of Parameters, the key of the random stream if `draws`, and arguments.
            Returns results, new arrays of Parameters, and the new key.
        reads (list): Indices of the members that are input Parameters.
        writes (list): Indices of the members that are written Parameters.
        cells (list): Indices of the members that are called Cells.
        draws (bool): True if it draws random numbers.
        rebuild (Callable): Restores the structure of the results.
        static (list): For each leaf of the result, None for a Tensor and (value,) for another value.
    """

    def __init__(self, graph, reads, writes, cells, draws, rebuild, static):
        self.reads, self.writes, self.cells, self.draws = reads, writes, cells, draws
        self.rebuild, self.static = rebuild, static
        self.consts = graph.consts
        self.run = jax.jit(_make_shared_function(graph.jaxpr))

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


def _make_shared_function(jaxpr):
    """Return a function of the constants and inputs of a jaxpr, with the name that marks shared functions."""
    body = jaxpr_as_fun(ClosedJaxpr(jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars]), []))

    def part(*arrays):
        return body(*arrays)

    part.__name__ = part.__qualname__ = PartName("part")
    return part


def _trace_cell_separately(cell, args, members, frame):
    """Trace a Cell separately. Return `_NOT_SHARED` if that trace cannot replace its calls."""
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
            results, captured["rebuild"] = flatten(cell._run_with_precision_and_hooks(rebuild(full), {}))
            captured["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            captured["written"] = [p for p, _ in inner.writes()]
            captured["draws"] = inner.key is not key
            arrays = [r._array for r in results if isinstance(r, Tensor)] + [a for _, a in inner.writes()]
            return [*arrays, inner.key]

    trace = frame.trace
    snapshot = trace.snapshot()
    example_args = (
        [argument_signature(p._kind) for p in params],
        _get_random_key_type(),
        [argument_signature(leaves[i]._array) for i in tensor_positions],
    )
    try:
        graph = jax.make_jaxpr(traced)(*example_args)
    except Exception:  # the direct trace raises the same error, with a better location
        trace.undo(snapshot)
        return _NOT_SHARED
    inner, indices = captured["frame"], {id(m): i for i, m in enumerate(members)}
    is_pure = not (graph.effects or inner.error is not None or inner.status is not None or inner.rebinds_tensors())
    is_pure = is_pure and not inner.looked_up  # a shared function would make sparse gradients dense
    has_only_members = all(id(m) in indices for m in [*inner.cells.values(), *captured["written"]])
    if not (is_pure and has_only_members and trace.is_unchanged(snapshot)) or any(map(is_tracer, graph.consts)):
        trace.undo(snapshot)
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
    """Drop unused inputs among the first `count`, and the random key unless `draws`. Return (graph, used indices)."""
    jaxpr = graph.jaxpr
    used = {v for eqn in jaxpr.eqns for v in eqn.invars if isinstance(v, Var)}
    used.update(v for v in jaxpr.outvars if isinstance(v, Var))
    used_inputs = [i for i, v in enumerate(jaxpr.invars[:count]) if v in used]
    invars = [*[jaxpr.invars[i] for i in used_inputs], *jaxpr.invars[count if draws else count + 1 :]]
    outvars = jaxpr.outvars if draws else jaxpr.outvars[:-1]
    return ClosedJaxpr(
        jaxpr.replace(invars=invars, outvars=outvars, debug_info=without_argument_names(jaxpr)), graph.consts
    ), used_inputs


def _get_random_key_type():
    return _compute_random_key_type(jax.config.jax_default_prng_impl)


@functools.cache
def _compute_random_key_type(_):
    return jax.eval_shape(lambda: jax.random.key(0))
