"""The in-memory program cache: signature of a call -> compiled program (GRAPH mode).

The first call with a new signature traces a `Program`. Later calls find it by the epoch and the signature of the
arguments. Attributes of Cells are compared when the epoch has changed; other Python values that the trace has read are
guards (`script.guards`), compared at each call.
"""

import functools
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from msnb import context, log
from msnb.common import dtype as mstype
from msnb.common.arguments import uncalled
from msnb.core import script
from msnb.core.compat.jax_private import limit_traces, placement
from msnb.core.eager import matmul_precision
from msnb.core.errors.data_dependent_shape import DataDependentShape, ValueNeeded, can_run_eagerly, report_eager_run
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.program import recompile_hints, static_floats, unroll_hint
from msnb.core.program.argument_names import parameter_names
from msnb.core.program.program import Program
from msnb.core.program.staging import is_dynamic
from msnb.core.sharding import partitioner
from msnb.core.state import interventions, trace_state
from msnb.core.support.unknown_shape import UnknownShape
from msnb.core.support.weak_identity import WeakIdentityDict, attach, attached
from msnb.core.tensor.cell_state import trace_with_cell_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.tensor import Tensor

__all__ = [
    "Program",
    "all_programs",
    "call",
    "call_counts",
    "find",
    "forget",
    "new_programs",
    "set_jit_decorator",
    "parameter_names",
    "program_of",
    "programs_of",
    "restore_call_counts",
]

_thread = trace_state.thread

for _key in ("device_target", "device_id", "check_bprop", "compile_effort", "gpu_config"):
    context.on_change(_key, lambda _: trace_state.epoch.bump())


class Programs:
    """The programs of one Cell or function, by signature of the arguments."""

    __slots__ = (
        "table",
        "compiled",
        "warned",
        "extras",
        "argument_history",
        "plain",
        "constants",
        "earlier_calls",
        "__weakref__",
    )

    def __init__(self):
        self.table: dict[Any, Any] = {}  # signature -> list of _CacheEntry
        self.extras: dict[Any, Any] = {}  # entries of tools for this Cell or function
        self.compiled: int = 0
        self.warned: bool = False
        # signature -> (epoch, error class, its fields, arguments in the signature) of calls that run eagerly
        self.plain: dict[Any, Any] = {}
        # signature -> indices of floats that its program needs as constants
        self.constants: dict[Any, tuple[int, ...]] = {}
        self.earlier_calls: dict[str, int] = {}  # signature of a program -> its calls in earlier processes
        self.argument_history: list[dict[str, Any]] = []  # described arguments of each compilation for a new signature

    def __deepcopy__(self, memo: dict[int, Any]) -> "Programs":
        return Programs()

    def __reduce__(self) -> tuple[Any, ...]:
        return Programs, ()


class _CacheEntry:
    """A cached program with the state that its trace depended on.

    Args:
        program (Program): The program.
        reads (Reads): Guards: Python values that the trace read, besides attributes of its Cells.
        keep (list): Arguments whose id() is part of the key.
    """

    __slots__ = ("program", "state", "reads", "same", "epoch", "keep", "checked")

    def __init__(self, program, reads, keep):
        self.program = program
        self.reads = reads
        self.same = reads.same if reads.seal(program.name, program.cells) else None
        self.keep = keep
        self.checked = _read_global_state()
        self.epoch = trace_state.epoch.value
        self.state = self.current_state()

    def current_state(self):
        return [cell._fingerprint() for cell in self.program.cells]

    def valid(self):
        """Return True if no Cell has changed since the trace. Cheap while `trace_state.epoch` is unchanged."""
        now = trace_state.epoch.value
        if self.epoch == now:
            return True
        if (
            self.checked == _read_global_state()
            and self.program.device == jax.config.jax_default_device
            and self.reads.same_code()
            and self.reads.same_primitives()
            and self.state == self.current_state()
        ):
            self.epoch = now
            return True
        return False

    def change(self):
        """Describe in words the change since the trace; empty if there is none."""
        if self.checked != _read_global_state():
            changed = [
                name
                for name, old, new in zip(_GLOBAL_STATE_NAMES, self.checked, _read_global_state(), strict=True)
                if old != new
            ]
            return f"{', '.join(changed)} changed"
        if self.program.device != jax.config.jax_default_device:
            return "the device is another"
        for cell, before, now in zip(self.program.cells, self.state, self.current_state()):
            if before != now:
                old, new = before[1], now[1]
                names = [n for n in {**old, **new} if n not in old or n not in new or old[n] != new[n]]
                return f"{', '.join(names) or 'construct'} of {type(cell).__name__} changed"
        return self.reads.change() or "the arguments are other objects"


_GLOBAL_STATE_NAMES = (
    "check_indices",
    "check_bprop",
    "compile_effort",
    "the generation that Tensors follow",
    "hooks of Parameters",
    "the devices that work is spread over",
    "gpu_config",
    "interventions",
)


def _read_global_state():
    state, hooks = context._state, trace_state.hook_epoch.value
    effort, partitioning = state.compile_effort, partitioner.state()
    return (
        state.check_indices,
        state.check_bprop,
        effort,
        api_generations.shared,
        hooks,
        partitioning,
        matmul_precision.allowed(),
        interventions.state(),
    )


_MAX_CONSTANT_BYTES = 1 << 16  # of an array whose bytes are part of a signature
_MAX_SIGNATURES = 256  # maximum per Cell or function; the oldest is dropped, with the objects that it keeps alive
_by_object = WeakIdentityDict()  # any object except Cells and functions -> Programs
_by_id = OrderedDict()  # id -> (object without weak references, Programs); the last 64
_all_programs = weakref.WeakSet()


def programs_of(root: Any) -> Programs:
    """Return the `Programs` of a Cell, a function or any other object."""
    if hasattr(root, "_programs") and not isinstance(root, type):
        programs = root._programs
        if programs is None:
            programs = new_programs()
            object.__setattr__(root, "_programs", programs)
    elif type(root) is types.FunctionType:
        programs = attached(root, "__msnb_programs__") or attach(root, "__msnb_programs__", new_programs())
    else:
        programs = _by_object.get(root)
        if programs is None and id(root) in _by_id:
            programs = _by_id[id(root)][1]  # the table keeps the object alive, so its id is unique
        if programs is None:
            programs = new_programs()
            try:
                _by_object[root] = programs
            except TypeError:
                _by_id[id(root)] = root, programs
                if len(_by_id) > 64:
                    _by_id.popitem(last=False)
    return programs


def new_programs() -> Programs:
    """Return an empty table of programs, which `all_programs` lists."""
    programs = Programs()
    _all_programs.add(programs)
    return programs


def all_programs() -> list[Program]:
    """Return every live program of this process, newest signature last."""
    return [
        entry.program for programs in list(_all_programs) for entries in programs.table.values() for entry in entries
    ]


def call_counts(root: Any) -> dict[str, int]:
    """Return {signature of a program: number of its calls} of a Cell or function, for `restore_call_counts`."""
    programs = programs_of(root)
    counts = dict(programs.earlier_calls)
    for entries in programs.table.values():
        counts.update({entry.program.signature: entry.program.next_call for entry in entries})
    return counts


def restore_call_counts(root: Any, counts: dict[str, int]) -> None:
    """Let the programs of a Cell or function go on at these numbers of calls, so that a training that is resumed
    computes the same bits, see `tiered_compilation`.
    """
    programs = programs_of(root)
    programs.earlier_calls = dict(counts)
    for entries in programs.table.values():
        for entry in entries:
            entry.program.continue_from(counts.get(entry.program.signature, 0))


def forget() -> int:
    """Drop every compiled program; returns their number."""
    count = 0
    for programs in list(_all_programs):
        count += sum(map(len, programs.table.values()))
        programs.table.clear()
    return count


def call(
    root: Any,
    fn: Callable[..., Any] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    extra: tuple[Any, ...] = (),
) -> Any:
    """Run `fn(*args, **kwargs)` as a compiled program stored with `root`.

    Args:
        root (Union[Cell, Callable]): Owner of the program; its Parameters are the first candidates for inputs.
        fn (Union[Callable, None]): The function to trace; None for the function of a Cell. (To look up an attribute of
            a Cell takes as long as a twentieth of a small step.)
        args (tuple): Positional arguments. Tensors and floats are traced, everything else is part of the key, also a
            float that the program needs as a constant, see `core.program.static_floats`.
        kwargs (dict): Keyword arguments.
        name (str): Name of the program.
        extra (tuple): Further components of the key. They must not contain an id().
    """
    try:
        program, arrays, boxes = find(root, fn, args, kwargs, name, extra)
    except (DataDependentShape, ValueNeeded) as error:
        function = root._run_in_root_scope if fn is None else fn
        if interventions.active or not can_replace_program(error, function):
            raise
        report_eager_run(name, error)
        return _run_as_graph(function, args, kwargs)
    out = program.run_recorded(arrays, boxes) if _thread.recording else program(arrays)
    if program.settings:
        program.apply_settings()
    return out


def _run_as_graph(fn, args, kwargs):
    """Run the root function of a graph operator by operator. Its Python code keeps the meaning that it has in a
    graph."""
    before, _thread.runs_as_graph = _thread.runs_as_graph, True
    try:
        return fn(*args, **kwargs)
    finally:
        _thread.runs_as_graph = before


def can_replace_program(error: DataDependentShape | ValueNeeded, fn: Callable[..., Any]) -> bool:
    """Return True if `fn`, whose trace has raised `error`, runs operator by operator instead. In r1.1 a graph has no
    values for Python."""
    return (
        _thread.frame is None
        and can_run_eagerly(fn)
        and (api_generations.shared == 2 or isinstance(error, DataDependentShape))
    )


def find(
    root: Any,
    fn: Callable[..., Any] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    extra: tuple[Any, ...] = (),
    for_inspection: bool = False,
    programs: Programs | None = None,
) -> tuple[Program, list[Any], list[Any]]:
    """Return (program, arrays, boxes of the dynamic arguments) for a call; trace the program if there is none yet.

    With `for_inspection`, for callers that do not run the program, the call does not count for the hints about
    recompilation. `programs` replaces those of `root`.
    """
    if programs is None:
        programs = getattr(root, "_programs", None)
    if programs is None:
        programs = programs_of(root)
    key, arrays, boxes = [extra], [], []
    if kwargs:
        _append_to_signature((args, kwargs), key, arrays, boxes)
    else:
        for arg in args:
            if type(arg) is Tensor:
                array = arg._array
                aval = getattr(array, "aval", array)  # its attributes are read faster than those of a jax.Array
                key += (aval.shape, aval.dtype)
                if getattr(array, "_committed", False):  # the sharding of an array with an explicit placement
                    key.append(array.sharding)
                arrays.append(array)
                boxes.append(arg)
            else:
                _append_to_signature(arg, key, arrays, boxes)
    key = tuple(key)
    entries = programs.table.get(key)
    if entries is not None:
        for entry in entries:
            if (entry.epoch == trace_state.epoch.value or entry.valid()) and (entry.same is None or entry.same()):
                return entry.program, arrays, boxes
    if interventions.active:  # they have their own cache, so the network's programs stay in this one
        changed = interventions.active[-1].programs(root)
        if programs is not changed:
            return find(root, fn, args, kwargs, name, extra, True, changed)
    fn = root._run_in_root_scope if fn is None else fn
    wide, constants = key, programs.constants.get(key, ())
    if constants:
        key, arrays, boxes = static_floats.split_constants(key, arrays, boxes, constants)
        for entry in programs.table.get(key, ()):
            if entry.valid() and (entry.same is None or entry.same()):
                return entry.program, arrays, boxes
    failed = False
    try:
        program = _trace_program(programs, root, fn, args, kwargs, name, key, constants)
    except DataDependentShape:
        raise
    except Exception:
        failed = not constants and any(type(a) is float for a in arrays)
        if not failed:
            raise
    if failed:
        find_again = functools.partial(find, root, fn, args, kwargs, name, extra, True, programs)
        program, arrays, boxes = static_floats.find_with_constants(find_again, programs.constants, wide, arrays)
    if not for_inspection:
        _count_compilation(programs, program, fn, args, kwargs)
    return program, arrays, boxes


def _trace_program(programs, root, fn, args, kwargs, name, key, constants=()):
    before = programs.plain.get(key)
    if before is not None and before[0] == trace_state.epoch.value:
        _, kind, fields, _ = before
        raise kind(*fields)
    if _thread.frame is None:
        limit_traces()
    params = list(root.get_parameters()) if hasattr(root, "get_parameters") else []
    leaves = flatten((args, kwargs))[0]
    for leaf in leaves:
        if isinstance(leaf, Tensor) and isinstance(leaf._array, UnknownShape):
            raise TypeError(f"For '{name}', {leaf._array.refusal}")
    static_leaves = [leaf for leaf in leaves if not is_dynamic(leaf)]

    def traced():
        with script.collecting() as reads:
            return Program(name, root, fn, args, kwargs, params, constants), reads

    try:
        program, reads = trace_with_cell_state(traced)
    except (DataDependentShape, ValueNeeded) as error:
        if len(programs.plain) >= _MAX_SIGNATURES:
            programs.plain.clear()
        programs.plain[key] = trace_state.epoch.value, type(error), error.fields, static_leaves
        raise
    traced_cells = {id(c) for c in program.cells}
    further_cells = [cell for cell, *_ in program.settings]
    if hasattr(root, "cells_and_names"):
        further_cells += [c for _, c in root.cells_and_names()]
    program.cells += {id(c): c for c in further_cells if id(c) not in traced_cells}.values()
    entries = programs.table.setdefault(key, [])
    program.reason = (
        entries[-1].change()
        if entries
        else ("new input signature" if any(k[0] == key[0] for k in programs.table if k != key) else "first call")
    )
    entries[:] = entries[-3:]  # keep a few variants of one signature, such as training on and off
    if len(programs.table) > _MAX_SIGNATURES:
        programs.table.pop(next(iter(programs.table)))
    if programs.earlier_calls:
        program.continue_from(programs.earlier_calls.get(program.signature, 0))
    entries.append(_CacheEntry(program, reads, static_leaves))
    if (hint := unroll_hint.format_hint(program)) is not None:
        log.once(hint)
    return program


def _count_compilation(programs, program, fn, args, kwargs):
    """Count a compilation, and warn of a network that is compiled again and again."""
    programs.compiled += 1
    _log_varying_argument_hint(programs, program, fn, args, kwargs)
    if programs.compiled >= 12 and not programs.warned:
        programs.warned = True
        log.warning(
            f"{program.name} has been compiled {programs.compiled} times, the last time because: {program.reason}. A "
            f"Python number that changes in each call, or inputs of ever new shapes, cause this; pass changing "
            f"numbers as Tensors, or keep them as Parameters."
        )


def _log_varying_argument_hint(programs, program, fn, args, kwargs):
    """Log once the argument that causes repeated compilation, and a remedy."""
    described = recompile_hints.describe_arguments(fn, args, kwargs, program.constants)
    if programs.warned or described in programs.argument_history:
        return
    programs.argument_history.append(described)
    hint = (
        recompile_hints.format_hint(program.title, programs.argument_history)
        if len(programs.argument_history) >= recompile_hints.HINT_AFTER
        else None
    )
    if hint is not None:
        programs.warned = True
        programs.argument_history.clear()
        log.once(hint)


def _append_to_signature(value, key, arrays, boxes):
    """Append the contribution of the argument `value` to the signature `key`, and its traced values to `arrays` and
    `boxes`.
    """
    leaves, _ = flatten(value)
    if len(leaves) != 1 or leaves[0] is not value:
        key.append(structure(value))
    for leaf in leaves:
        if isinstance(leaf, Tensor) and not isinstance(leaf, Parameter):
            array = leaf._array
            key += (array.shape, array.dtype, placement(array))
            arrays.append(array)
            boxes.append(leaf)
        elif type(leaf) is float:
            key.append(float)
            arrays.append(leaf)
            boxes.append(None)
        elif isinstance(leaf, (bool, int, str, bytes, type(None), mstype.Type, complex)):
            key += (type(leaf), leaf)
        elif _is_constant_array(leaf):
            key += (leaf.shape, leaf.dtype.str, leaf.tobytes())
        elif isinstance(leaf, (np.ndarray, np.generic, jax.Array)):
            raise TypeError(f"The inputs of a graph should be Tensors, but got {_describe_array(leaf)}.")
        else:
            key.append(id(leaf))  # the entry keeps `leaf` alive, so that no other object gets this id


def _is_constant_array(value):
    """Return True for a small numpy array of numbers, which graphs of MindSpore 2 take as a constant."""
    return (
        api_generations.shared == 2
        and isinstance(value, (np.ndarray, np.generic))
        and value.dtype.kind in "biufc"
        and value.nbytes <= _MAX_CONSTANT_BYTES
    )


def _describe_array(array):
    """Describe an array that is not a Tensor, and how to wrap it."""
    kind = "a JAX array" if isinstance(array, jax.Array) else "a numpy array"
    if array.dtype.kind in "OSUMm":
        return f"{kind} of {array.dtype} and shape {array.shape}, which no Tensor holds: take numbers or bool"
    noun = f"numpy's {array.dtype} {array}" if isinstance(array, np.generic) else f"{kind} of shape {array.shape}"
    return f"{noun}; wrap it: Tensor(x)"


_jit_decorator: list[Callable[..., Any]] = []


def set_jit_decorator(jit: Callable[..., Any]) -> None:
    """Register the decorator that compiles plain functions, which a higher level defines."""
    _jit_decorator[:] = [jit]


def program_of(root: Any, *args: Any, anew: bool = False, **kwargs: Any) -> Program:
    """Return the program that a call of a Cell or function with these arguments runs in GRAPH mode, without running it.

    Args:
        root (Union[Cell, Callable]): The Cell or function.
        args: Arguments of the call.
        anew (bool): Trace even if a program is cached, and do not cache the new one. Default: False.
        kwargs: Keyword arguments of the call.

    Raises:
        TypeError: If `root` is neither a Cell nor a function.
    """
    if hasattr(root, "_graph_call") and not isinstance(root, type):
        programs = new_programs() if anew else None
        return find(root, *root._graph_call(args, kwargs), for_inspection=True, programs=programs)[0]
    if isinstance(root, type):
        raise TypeError(f"A graph is made of a Cell or a function, but got {uncalled(root) or describe(root)}.")
    if callable(root):
        return program_of(_jit_decorator[0](root), *args, anew=anew, **kwargs)
    raise TypeError(f"A graph is made of a Cell or a function, but got {describe(root)}.")
