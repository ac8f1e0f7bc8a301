"""Where JAX's private API is touched, with `_jax_compiling`; each use says what it falls back to."""

# What JAX does not have here is None, and whoever uses it has looked.
# pyright: reportOptionalMemberAccess=false

import atexit
import contextlib
import functools
import operator
import os
import sys
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jex_core

from msnb._util.package_path import PACKAGE

try:
    from jax._src import source_info_util as _source_info
except ImportError:  # pragma: no cover - source links are then missing, nothing else
    _source_info = None

try:
    from jax._src.lax.lax import _convert_element_type
except ImportError:  # pragma: no cover
    _convert_element_type = None

try:
    from jax._src import dispatch as _dispatch
except ImportError:  # pragma: no cover - a failed side effect is then reported by every later barrier
    _dispatch = None

try:
    from jax._src.core import trace_ctx as _trace_context
except ImportError:  # pragma: no cover - a Stop at an unlucky moment of a trace then leaves JAX tracing
    _trace_context = None

try:
    from jax._src import pjit as _pjit
except ImportError:  # pragma: no cover - what is refused is then refused in JAX's words
    _pjit = None

try:
    from jax._src import xla_bridge as _bridge
except ImportError:  # pragma: no cover - JAX then counts as used from the beginning
    _bridge = None

try:
    from jax._src.distributed import global_state as _processes
except ImportError:  # pragma: no cover - what processes agree about is then not said to the others
    _processes = None

try:
    from jaxlib.xla_client import make_cpu_client as _make_cpu_client
except ImportError:  # pragma: no cover - a CPU then counts as several only if that is said before anything is computed
    _make_cpu_client = None

try:
    from jax._src.core import trace_state_clean as _outside_of_traces
    from jaxlib.xla_client import HostBufferSemantics as _Semantics
    from jaxlib.xla_client import batched_device_put as _put
except ImportError:  # pragma: no cover - arrays are then made by jnp.array, which takes five times as long
    _put = None


def from_numpy(array):
    """A copy of a numpy array as `jnp.array` makes it, on the default device but free to leave it."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if _put is None:
        return jnp.array(array)
    device = jax.config.jax_default_device
    if device is None:
        device = jax.local_devices()[0]
    if not isinstance(device, jax.Device):  # the name of a platform
        return jnp.array(array)
    return _put(
        _shaped(array.shape, array.dtype),
        _only_on(device),
        [array],
        [device],
        False,
        False,
        _Semantics.IMMUTABLE_ONLY_DURING_CALL,
    )


def known(compute, array):
    """What `compute` makes of `array`: at once where that is known, although a graph may be being traced."""
    if isinstance(array, jax.core.Tracer) or _put is None or _outside_of_traces():
        return compute()
    with jax.ensure_compile_time_eval():
        return compute()


def copied(array):
    """A copy of an array as `jnp.array` makes it, without a program that has to be compiled for each new shape."""
    if _put is None or not _outside_of_traces():
        return jnp.array(array, copy=True)
    where = getattr(array, "sharding", None)  # a numpy array has none
    if where is not None and not where.is_fully_addressable and where.is_fully_replicated:
        array = array.addressable_data(0)  # of what each of several processes has the whole of
        where = array.sharding
    if jax.config.jax_default_device is not None or where is not None and not where.is_fully_addressable:
        return jnp.array(array, copy=True)
    if not isinstance(where, jax.sharding.SingleDeviceSharding) or array.weak_type:
        return jax.device_put(array, may_alias=False)
    (device,) = where.device_set  # what `device_put` does in the end, in a quarter of its time
    aval = _shaped(array.shape, array.dtype)
    return _put(aval, where, [array], [device], array.committed, True, _Semantics.IMMUTABLE_ONLY_DURING_CALL)


_shaped = functools.lru_cache(maxsize=1024)(jax.core.ShapedArray)
_only_on = functools.lru_cache(maxsize=64)(jax.sharding.SingleDeviceSharding)


def from_float(number):
    """A Python float as the device has it when a jit is given one, float64 of weak type; None while JAX traces."""
    if _put is None or not _outside_of_traces():
        return None
    device = jax.config.jax_default_device or jax.local_devices()[0]
    if not isinstance(device, jax.Device):
        return None
    return _put(
        _shaped((), np.dtype("float64"), weak_type=True),
        _only_on(device),
        [np.float64(number)],
        [device],
        False,
        False,
        _Semantics.IMMUTABLE_ONLY_DURING_CALL,
    )


def placement(array):
    """The sharding of an array that was put where it is; None for one that may be moved."""
    return array.sharding if getattr(array, "_committed", False) else None


def argument_like(value):
    """An array or number as `jax.jit` tells its arguments apart: shape, dtype, weak type and placement."""
    kind = jax.typeof(value)
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=placement(value), weak_type=kind.weak_type)


def drop_weak_type(array: Any) -> Any:
    """`array` without JAX's weak type, so that it promotes as every other Tensor does."""
    if not getattr(array, "weak_type", False):
        return array
    if _convert_element_type is not None:
        return _convert_element_type(array, array.dtype, weak_type=False)
    return jax.lax.convert_element_type(array, array.dtype)


if _source_info is not None:  # an operator's line is the user's, not that of the layer they called
    _source_info.register_exclusion(PACKAGE)


def user_frame(traceback):
    """(file, line, function) of the user's innermost frame of an equation's traceback, None where unknown."""
    if _source_info is None or traceback is None:
        return None
    frame = _source_info.user_frame(traceback)
    return None if frame is None else (frame.file_name, frame.start_line, frame.function_name)


def user_frames(traceback):
    """[(file, line, function)] of all the user's frames of an equation's traceback, innermost first."""
    if _source_info is None or traceback is None:
        return []
    frames = _source_info.user_frames(traceback)
    return [(frame.file_name, frame.start_line, frame.function_name) for frame in frames]


def name_stack():
    """The text of JAX's name stack where this is called, "" where unknown."""
    return "" if _source_info is None else str(_source_info.current_name_stack())


def traced_so_far(values, constants):
    """What JAX is tracing in this thread, as far as it has come.

    Args:
        values (Sequence): What the trace computes with: they become the results.
        constants (Sequence): Arrays; those that the trace has met become further inputs of the jaxpr.

    Returns:
        tuple, the ClosedJaxpr, per value its place among the results (None for one that stands for nothing in this
        trace), and per constant whether it is an input.
    """
    tracing = _trace_context.trace
    frame = tracing.frame
    known = dict(frame.constvar_to_val)  # before the equations, which keep what they use alive
    eqns = frame.get_eqns()
    atoms = [_atom(value, tracing) for value in values]
    results = [atom for atom in atoms if isinstance(atom, jex_core.Var)]
    own = {id(held): var for var, held in known.items()}
    further = [own.get(id(array)) for array in constants]
    rest = [var for var in known if not any(var is taken for taken in further)]
    jaxpr = jex_core.Jaxpr(
        rest,
        [*frame.invars, *(var for var in further if var is not None)],
        results,
        eqns,
        set().union(*(eqn.effects for eqn in eqns)),
        frame.debug_info.with_unknown_names(),
    )
    places = iter(range(len(results)))
    found = [next(places) if isinstance(atom, jex_core.Var) else None for atom in atoms]
    return jex_core.ClosedJaxpr(jaxpr, [known[var] for var in rest]), found, [var is not None for var in further]


def _atom(value, tracing):
    """The variable of a trace that `value` is in it, through the derivatives around; None for any other value."""
    while is_tracer(value):
        if value._trace is tracing:
            return value.val
        value = getattr(value, "primal", None)
    return None


def eval_jaxpr(jaxpr, consts, *args):
    """Evaluate a jaxpr, keeping name stacks and source lines."""
    return jax.core.eval_jaxpr(jaxpr, consts, *args)


def forget_effects():
    """Drop the tokens of computations with side effects; that of a failed one fails again at every barrier."""
    if _dispatch is not None:
        _dispatch.runtime_tokens.clear()


def is_runtime_error(error):
    """Whether `error` comes of XLA's compiler or runtime, such as memory that ran out."""
    return isinstance(error, jax.errors.JaxRuntimeError)


def trace_state():
    """What JAX is tracing in this thread, and where in the program, for `restore_trace_state`."""
    context = None if _source_info is None else _source_info._source_info_context.context
    return context, None if _trace_context is None else (_trace_context.trace, _trace_context.axis_env)


def current_trace():
    """What JAX is tracing just now, an object of its own for each function that it traces; None where that is unknown,
    and gradients are dense."""
    return None if _trace_context is None else _trace_context.trace


def where_traced(value, fn):
    """``fn(value)``, as part of what traces `value`, also where something is traced now that stands within that."""
    if _trace_context is None or not is_tracer(value):
        return fn(value)
    inner = _trace_context.trace
    _trace_context.set_trace(value._trace)
    try:
        return fn(value)
    finally:
        _trace_context.set_trace(inner)


def restore_trace_state(state):
    """Put back what `trace_state` gave: a Stop may have come between a context's end and its clean-up."""
    context, tracing = state
    if context is not None:
        _source_info._source_info_context.context = context
    if tracing is not None and _trace_context.trace is not tracing[0]:
        _trace_context.set_trace(tracing[0])
        _trace_context.set_axis_env(tracing[1])


def forget_compiled(compiled, error):
    """Drop what a `jax.jit` function has compiled after `error` broke off a first call: its entry is left marked so
    that all later calls take the slow path. The same for single primitives on the way of the error."""
    compiled.clear_cache()
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == "apply_primitive":
            forget = getattr(frame.f_locals.get("fun"), "clear_cache", None)
            if forget is not None:
                forget()
        traceback = traceback.tb_next


def in_use():
    """Whether JAX has devices already; it takes no lock, as somebody else may have held it before a fork."""
    return bool(getattr(_bridge, "_backends", True))


_further_clients: list[Any] = []  # of the CPU, beside the one that JAX began with


def further_cpus(number: int) -> list[Any] | None:
    """So many devices of this CPU, besides those that it has counted as so far; None where JAX cannot say."""
    if _make_cpu_client is None:  # pragma: no cover
        return None
    client = _make_cpu_client(num_devices=number)
    _further_clients.append(client)
    return client.devices()


def live_arrays() -> list[Any]:
    """The arrays that there are, on the devices of `further_cpus` too."""
    return [*jax.live_arrays(), *(array for client in _further_clients for array in client.live_arrays())]


def coordinator() -> Any:
    """Where the processes of a program tell each other what they know; None where there is one process."""
    return _processes and _processes.client


_failed: list[int] = []  # the status with which this process is to end


@atexit.register  # after `import jax`, whose own end waits for the other processes, and before all else of msnb
def _leave():
    if _failed:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_failed[0])


def end_alone(status: int = 1) -> None:
    """When this process ends, it does not wait for the others: they may be waiting for what it will not do."""
    _failed.append(status)


def refuse_computations(sentence):
    """From here on every computation of this process raises RuntimeError(sentence), compiled before or not."""
    # This setting is part of what compiled functions are looked up by: none is found any more, and all take the way
    # on which JAX traces.
    jax.config.update("jax_random_seed_offset", jax.config.jax_random_seed_offset + 1)
    if not hasattr(_pjit, "_infer_params"):  # pragma: no cover
        jax.config.update("jax_no_tracing", True)
        return

    def refuse(*_, **__):
        raise RuntimeError(sentence)

    _pjit._infer_params = refuse


def is_tracer(value):
    """Whether `value` stands for a value that is not known yet."""
    return isinstance(value, jax.core.Tracer)


def is_differentiated(value):
    """Whether `value` is the stand-in of an array in a function that is being differentiated, and depends on what it is
    differentiated by."""
    return is_tracer(value) and hasattr(value, "tangent")


def at_hand(value):
    """Whether a look at `value` costs neither waiting for it nor a copy from a device."""
    return not isinstance(value, jax.Array) or value.platform() == "cpu" and value.is_ready()


def fresh(var):
    """A new variable for values of the same kind."""
    return type(var)(var.aval)


def unnamed(jaxpr):
    """What JAX is told of a graph whose inputs and outputs are no longer those that it has names for."""
    debug = jaxpr.debug_info
    return debug.with_unknown_names() if hasattr(debug, "with_unknown_names") else None


def under(inner, outer, known):
    """The source information of an equation that stood in a call, when the call is dissolved: its own line, and its
    scope within that of the call. `known` is a dict of one call that this adds to."""
    stack = inner.name_stack
    found = known.get(id(stack))
    if found is None:
        found = known[id(stack)] = outer.name_stack + stack, stack  # its id is its own while it is kept
    return inner.replace(name_stack=found[0]) if inner.traceback is not None else outer.replace(name_stack=found[0])


def inside_call(call, name):
    """The source information around the equations of a graph that stands in a call, which XLA is told as `jit(name)`;
    `name` is None for a call that says nothing of itself."""
    return call if name is None else call.replace(name_stack=call.name_stack.extend(f"jit({name})"))


def written_at(where):
    """A context in which what is traced stands at the line and in the scope of an equation's source information."""
    if where is None or _source_info is None:
        return contextlib.nullcontext()
    return _source_info.user_context(where.traceback, name_stack=where.name_stack)


UNSPECIFIED = getattr(_pjit, "UNSPECIFIED", None)  # what is said of the placement of an array where nothing is
Literal = jex_core.Literal
Var = jex_core.Var


def weak_float32(array: Any) -> Any:
    """A traced Python float as a float32 that does not widen what it meets."""
    if _convert_element_type is not None:
        return _convert_element_type(array, np.dtype("float32"), weak_type=True)
    return array


def weak_scalar(value):
    """A traced number as one that does not widen what it meets, as a Python float does not."""
    if getattr(value, "weak_type", True) or _convert_element_type is None:
        return value
    return _convert_element_type(
        value, value.dtype if value.dtype.kind not in "iu" else np.dtype("float64"), weak_type=True
    )


def partitioned(lowering: Any) -> bool:
    """Whether XLA cuts over several devices what is lowered in this context; no, if JAX does not say."""
    around = getattr(getattr(lowering, "module_context", None), "axis_context", None)
    return getattr(around, "num_devices", 1) > 1


def scan_counts(eqn):
    """(constants, carried): how many inputs of a scan are which, in this order; the others are its rows."""
    if "num_carry" in eqn.params:
        return eqn.params["num_consts"], eqn.params["num_carry"]
    constants, carried, _ = eqn.params["ft_in"].unpack()  # JAX 0.12 on
    return len(constants), len(carried)


_GRAPHS = frozenset((jex_core.ClosedJaxpr, jex_core.Jaxpr))


def other_graphs(params, change):
    """{name: value} of the parameters of an equation in which `change` makes another graph of a graph: of one, or of
    some in a tuple. What it leaves alone it gives back as the same object."""
    new = {}
    for name, value in params.items():
        kind = type(value)
        if kind in _GRAPHS:
            other = change(value)
        elif kind is tuple and value and type(value[0]) in _GRAPHS:
            other = tuple(map(change, value))
            other = value if all(map(operator.is_, other, value)) else other
        else:
            continue
        if other is not value:
            new[name] = other
    return new


_PRINTS = frozenset(("debug_callback", "debug_print"))


def is_debug_callback(eqn):
    """Whether an equation does nothing but call Python."""
    return eqn.primitive.name in _PRINTS and not eqn.outvars


def without_prints(jaxpr):
    """A jaxpr, and those nested in it, without debug callbacks."""
    eqns, changed = [], False
    for eqn in jaxpr.eqns:
        if is_debug_callback(eqn):
            changed = True
            continue
        new = other_graphs(eqn.params, _quiet)
        if new:
            params = {**eqn.params, **new}
            eqn, changed = eqn.replace(params=params, effects=effects_of(params, eqn)), True
        eqns.append(eqn)
    if not changed:
        return jaxpr
    effects = set().union(*[e.effects for e in eqns]) if eqns else set()
    return jaxpr.replace(eqns=eqns, effects=effects)


def _quiet(graph):
    if isinstance(graph, jex_core.Jaxpr):
        return without_prints(graph)
    inner = without_prints(graph.jaxpr)
    return graph if inner is graph.jaxpr else graph.replace(jaxpr=inner)


def effects_of(params, eqn):
    """The effects of an equation whose graphs have become those in `params`."""
    found = set()
    for value in params.values():
        for part in value if isinstance(value, tuple) else (value,):
            found |= set(getattr(part, "effects", ()))
    return found if eqn.effects else eqn.effects
