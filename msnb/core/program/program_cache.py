"""GRAPH mode: which compiled program a call runs.

The first call with a new signature traces a `Program`. Later calls find it by an epoch check and a look-up of the
argument signature. What the trace depended on is checked: attributes of Cells when the epoch has moved, other Python
values (`script.reads`) in each call.
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
from msnb.core.compat.jax_private import placement
from msnb.core.eager import matmul_precision
from msnb.core.errors.data_dependent_shape import DataDependentShape, can_run_eagerly, report_eager_run
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.program import recompile_hints, static_floats, unroll_hint
from msnb.core.program.argument_names import parameter_names
from msnb.core.program.program import Program
from msnb.core.program.staging import dynamic
from msnb.core.sharding import partitioner
from msnb.core.state import trace_state
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
    "find",
    "forget",
    "functions_by",
    "parameter_names",
    "program_of",
    "programs_of",
]

_thread = trace_state.thread

for _key in ("device_target", "device_id", "check_bprop", "compile_effort", "gpu_config"):
    context.on_change(_key, lambda _: trace_state.epoch.bump())


class Programs:
    """The programs of one Cell or function, by signature of the arguments."""

    __slots__ = ("table", "compiled", "warned", "extras", "seen", "plain", "constants", "__weakref__")

    def __init__(self):
        self.table: dict[Any, Any] = {}  # signature -> list of (dependencies, Program)
        self.extras: dict[Any, Any] = {}  # what tools make for this Cell or function, to find it again in the next call
        self.compiled: int = 0
        self.warned: bool = False
        self.plain: dict[Any, Any] = {}  # signature -> (epoch, why it cannot be compiled, arguments in the signature)
        self.constants: dict[Any, tuple[int, ...]] = {}  # signature -> which floats its program needs as constants
        self.seen: list[dict[str, Any]] = []  # `varying.arguments` of what has been compiled for new signatures

    def __deepcopy__(self, memo: dict[int, Any]) -> "Programs":
        return Programs()

    def __reduce__(self) -> tuple[Any, ...]:
        return Programs, ()


class _Entry:
    """A program with what it depended on when it was traced.

    Args:
        program (Program): The program.
        reads (Reads): The Python values that it was built from, besides the attributes of its Cells.
        keep (list): Arguments whose id() is part of its key.
    """

    __slots__ = ("program", "state", "reads", "same", "epoch", "keep", "checked")

    def __init__(self, program, reads, keep):
        self.program = program
        self.reads = reads
        self.same = reads.same if reads.seal(program.name, program.cells) else None
        self.keep = keep
        self.checked = _checks()
        self.epoch = trace_state.epoch.value
        self.state = self.current_state()

    def current_state(self):
        return [cell._fingerprint() for cell in self.program.cells]

    def valid(self):
        """Whether no Cell has changed since the trace; cheap while the epoch stands still."""
        now = trace_state.epoch.value
        if self.epoch == now:
            return True
        if (
            self.checked == _checks()
            and self.program.device == jax.config.jax_default_device
            and self.reads.same_code()
            and self.reads.same_primitives()
            and self.state == self.current_state()
        ):
            self.epoch = now
            return True
        return False

    def change(self):
        """In words, what has changed since the trace; empty if nothing did."""
        if self.checked != _checks():
            changed = [name for name, old, new in zip(_CHECKED, self.checked, _checks(), strict=True) if old != new]
            return f"{', '.join(changed)} changed"
        if self.program.device != jax.config.jax_default_device:
            return "the device is another"
        for cell, before, now in zip(self.program.cells, self.state, self.current_state()):
            if before != now:
                old, new = before[1], now[1]
                names = [n for n in {**old, **new} if n not in old or n not in new or old[n] != new[n]]
                return f"{', '.join(names) or 'construct'} of {type(cell).__name__} changed"
        return self.reads.change() or "the arguments are other objects"


_CHECKED = (
    "check_indices",
    "check_bprop",
    "compile_effort",
    "the generation that Tensors follow",
    "hooks of Parameters",
    "the devices that work is spread over",
    "gpu_config",
)


def _checks():
    state, hooks = context._state, trace_state.hook_epoch.value
    effort, spread = state.compile_effort, partitioner.state()
    return (
        state.check_indices,
        state.check_bprop,
        effort,
        api_generations.shared,
        hooks,
        spread,
        matmul_precision.allowed(),
    )


_MOST_SIGNATURES = 256  # of one Cell or function; the oldest goes, with what it keeps alive
_by_object = WeakIdentityDict()  # any object that is no Cell and no function -> Programs
_by_stubborn = OrderedDict()  # id -> (object that cannot be referenced weakly either, Programs); the last 64
_all_programs = weakref.WeakSet()


def programs_of(root: Any) -> Programs:
    """The `Programs` of a Cell, a function or any other object."""
    if hasattr(root, "_programs") and not isinstance(root, type):
        programs = root._programs
        if programs is None:
            programs = _new_programs()
            object.__setattr__(root, "_programs", programs)
    elif type(root) is types.FunctionType:
        programs = attached(root, "__msnb_programs__") or attach(root, "__msnb_programs__", _new_programs())
    else:
        programs = _by_object.get(root)
        if programs is None and id(root) in _by_stubborn:
            programs = _by_stubborn[id(root)][1]  # its object is alive: the table holds it
        if programs is None:
            programs = _new_programs()
            try:
                _by_object[root] = programs
            except TypeError:
                _by_stubborn[id(root)] = root, programs
                if len(_by_stubborn) > 64:
                    _by_stubborn.popitem(last=False)
    return programs


def _new_programs():
    programs = Programs()
    _all_programs.add(programs)
    return programs


def all_programs() -> list[Program]:
    """Every live program of this process, newest signature last."""
    return [
        entry.program for programs in list(_all_programs) for entries in programs.table.values() for entry in entries
    ]


def forget() -> int:
    """Drop every compiled program; returns how many there were."""
    count = 0
    for programs in list(_all_programs):
        count += sum(map(len, programs.table.values()))
        programs.table.clear()
    return count


def call(
    root: Any,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    extra: tuple[Any, ...] = (),
) -> Any:
    """Run `fn(*args, **kwargs)` as a compiled program that is kept with `root`.

    Args:
        root (Union[Cell, Callable]): Owner of the program; its Parameters are the first candidates for inputs.
        fn (Callable): What is traced.
        args (tuple): Positional arguments; Tensors and floats are traced, everything else is part of the key. So is a
            float that the program needs as a constant, see `core.constant_numbers`.
        kwargs (dict): Keyword arguments.
        name (str): Name of the program.
        extra (tuple): Further parts of the key; no id() of anything.
    """
    try:
        program, arrays, boxes = find(root, fn, args, kwargs, name, extra)
    except DataDependentShape as error:
        if _thread.frame is not None or not can_run_eagerly(fn):
            raise
        report_eager_run(name, error)
        return fn(*args, **kwargs)
    out = program.run_recorded(arrays, boxes) if _thread.recording else program(arrays)
    if program.settings:
        program.apply_settings()
    return out


def find(
    root: Any,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    extra: tuple[Any, ...] = (),
    looking: bool = False,
    programs: Programs | None = None,
) -> tuple[Program, list[Any], list[Any]]:
    """(program, arrays, boxes of the dynamic arguments) for a call; traces when there is none yet.

    Who is `looking`, and does not run it, is not told how often it has been compiled. The programs are those of `root`
    unless others are given.
    """
    if programs is None and hasattr(root, "_programs"):
        programs = root._programs
    if programs is None:
        programs = programs_of(root)
    key, arrays, boxes = [extra], [], []
    if kwargs:
        _sign((args, kwargs), key, arrays, boxes)
    else:
        for arg in args:
            if type(arg) is Tensor:
                array = arg._array
                key += (array.shape, array.dtype)
                if getattr(array, "_committed", False):  # where it is, for an array that was put there
                    key.append(array.sharding)
                arrays.append(array)
                boxes.append(arg)
            else:
                _sign(arg, key, arrays, boxes)
    key = tuple(key)
    entries = programs.table.get(key)
    if entries is not None:
        for entry in entries:
            if (entry.epoch == trace_state.epoch.value or entry.valid()) and (entry.same is None or entry.same()):
                return entry.program, arrays, boxes
    wide, constants = key, programs.constants.get(key, ())
    if constants:
        key, arrays, boxes = static_floats.narrowed(key, arrays, boxes, constants)
        for entry in programs.table.get(key, ()):
            if entry.valid() and (entry.same is None or entry.same()):
                return entry.program, arrays, boxes
    failed = False
    try:
        program = _compile(programs, root, fn, args, kwargs, name, key, constants)
    except DataDependentShape:
        raise
    except Exception:
        failed = not constants and any(type(a) is float for a in arrays)
        if not failed:
            raise
    if failed:
        again = functools.partial(find, root, fn, args, kwargs, name, extra, True, programs)
        program, arrays, boxes = static_floats.found(again, programs.constants, wide, arrays)
    if not looking:
        _say_how_often(programs, program, fn, args, kwargs)
    return program, arrays, boxes


def _compile(programs, root, fn, args, kwargs, name, key, constants=()):
    before = programs.plain.get(key)
    if before is not None and before[0] == trace_state.epoch.value:
        raise DataDependentShape(*before[1])
    params = list(root.get_parameters()) if hasattr(root, "get_parameters") else []
    leaves = flatten((args, kwargs))[0]
    for leaf in leaves:
        if isinstance(leaf, Tensor) and isinstance(leaf._array, UnknownShape):
            raise TypeError(f"For '{name}', {leaf._array.refusal}")
    held = [leaf for leaf in leaves if not dynamic(leaf)]

    def traced():
        with script.collecting() as reads:
            return Program(name, root, fn, args, kwargs, params, constants), reads

    try:
        program, reads = trace_with_cell_state(traced)
    except DataDependentShape as error:
        if len(programs.plain) >= _MOST_SIGNATURES:
            programs.plain.clear()
        programs.plain[key] = trace_state.epoch.value, error.given, held
        raise
    known = {id(c) for c in program.cells}
    more = [cell for cell, *_ in program.settings]
    if hasattr(root, "cells_and_names"):
        more += [c for _, c in root.cells_and_names()]
    program.cells += {id(c): c for c in more if id(c) not in known}.values()
    entries = programs.table.setdefault(key, [])
    program.reason = (
        entries[-1].change()
        if entries
        else ("new input signature" if any(k[0] == key[0] for k in programs.table if k != key) else "first call")
    )
    entries[:] = entries[-3:]  # variants of one signature: training on and off, a flag or two
    if len(programs.table) > _MOST_SIGNATURES:
        programs.table.pop(next(iter(programs.table)))
    entries.append(_Entry(program, reads, held))
    if (long := unroll_hint.sentence(program)) is not None:
        log.once(long)
    return program


def _say_how_often(programs, program, fn, args, kwargs):
    """Count what was compiled for a call, and warn of a network that is compiled again and again."""
    programs.compiled += 1
    _say_what_varies(programs, program, fn, args, kwargs)
    if programs.compiled >= 12 and not programs.warned:
        programs.warned = True
        log.warning(
            f"{program.name} has been compiled {programs.compiled} times, the last time because: {program.reason}. A "
            f"Python number that changes in each call, or inputs of ever new shapes, cause this; pass changing "
            f"numbers as Tensors, or keep them as Parameters."
        )


def _say_what_varies(programs, program, fn, args, kwargs):
    """Say once which argument makes each call a new one, and what helps."""
    given = recompile_hints.arguments(fn, args, kwargs, program.constants)
    if programs.warned or given in programs.seen:
        return
    programs.seen.append(given)
    said = (
        recompile_hints.sentence(program.title, programs.seen)
        if len(programs.seen) >= recompile_hints.TOLD_AT
        else None
    )
    if said is not None:
        programs.warned = True
        programs.seen.clear()
        log.once(said)


def _sign(value, key, arrays, boxes):
    """Append to `key` what `value` contributes to the signature, to `arrays` what is traced of it."""
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
        elif isinstance(leaf, (np.ndarray, np.generic, jax.Array)):
            raise TypeError(f"The inputs of a graph should be Tensors, but got {_unwrapped(leaf)}.")
        else:
            key.append(id(leaf))  # no other object's meanwhile: the entries under this key keep `leaf` alive


def _unwrapped(array):
    """What an array is that is no Tensor, and how one is made of it."""
    kind = "a JAX array" if isinstance(array, jax.Array) else "a numpy array"
    if array.dtype.kind in "OSUMm":
        return f"{kind} of {array.dtype} and shape {array.shape}, which no Tensor holds: take numbers or bool"
    held = f"numpy's {array.dtype} {array}" if isinstance(array, np.generic) else f"{kind} of shape {array.shape}"
    return f"{held}; wrap it: Tensor(x)"


_compiled_by: list[Callable[..., Any]] = []


def functions_by(jit: Callable[..., Any]) -> None:
    """Name the decorator that compiles a plain function; it stands above this module and says so itself."""
    _compiled_by[:] = [jit]


def program_of(root: Any, *args: Any, anew: bool = False, **kwargs: Any) -> Program:
    """The program that a call of a Cell or function with these arguments runs in GRAPH mode, without running it.

    Args:
        root (Union[Cell, Callable]): What is called.
        args: Its arguments.
        anew (bool): Whether to trace even what is known, and to remember nothing. Default: False.
        kwargs: Its arguments by name.

    Raises:
        TypeError: If `root` is neither.
    """
    if hasattr(root, "_graph_call") and not isinstance(root, type):
        programs = _new_programs() if anew else None
        return find(root, *root._graph_call(args, kwargs), looking=True, programs=programs)[0]
    if isinstance(root, type):
        raise TypeError(f"A graph is made of a Cell or a function, but got {uncalled(root) or describe(root)}.")
    if callable(root):
        return program_of(_compiled_by[0](root), *args, anew=anew, **kwargs)
    raise TypeError(f"A graph is made of a Cell or a function, but got {describe(root)}.")
