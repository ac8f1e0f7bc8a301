"""Private API of JAX for arrays, tracing and errors. The comment at each import states the fallback."""

# A name that the installed JAX lacks is None; the code that uses it checks for None.
# pyright: reportOptionalMemberAccess=false

import atexit
import collections
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
except ImportError:  # pragma: no cover - without it nodes have no source links
    _source_info = None

try:
    from jax._src.lax.lax import _convert_element_type
except ImportError:  # pragma: no cover
    _convert_element_type = None

try:
    from jax._src import dispatch as _dispatch
except ImportError:  # pragma: no cover - without it every later barrier reports a failed side effect again
    _dispatch = None

try:
    from jax._src.core import trace_ctx as _trace_context
except ImportError:  # pragma: no cover - without it an interrupt in a trace may leave JAX tracing
    _trace_context = None

try:
    from jax._src import pjit as _pjit
except ImportError:  # pragma: no cover - without it JAX's own message reports refused computations
    _pjit = None

try:
    from jax._src import config as _config
except ImportError:  # pragma: no cover - without it up to 8,192 compiled functions of JAX use memory
    _config = None

try:
    from jax._src.interpreters import ad as _autodiff
    from jax._src.interpreters import partial_eval as _partial_eval
except ImportError:  # pragma: no cover - without it the traces of networks that are gone use memory
    _autodiff = _partial_eval = None

try:
    from jax._src import xla_bridge as _bridge
except ImportError:  # pragma: no cover - without it JAX counts as initialized from the beginning
    _bridge = None

try:
    from jax._src.distributed import global_state as _processes
except ImportError:  # pragma: no cover - without it processes do not exchange values
    _processes = None

try:
    from jaxlib.xla_client import make_cpu_client as _make_cpu_client
except ImportError:  # pragma: no cover - without it the number of CPU devices must be set before the first computation
    _make_cpu_client = None

try:
    from jax._src.core import trace_state_clean as _outside_of_traces
    from jaxlib.xla_client import HostBufferSemantics as _Semantics
    from jaxlib.xla_client import batched_device_put as _put
except ImportError:  # pragma: no cover - without it jnp.array creates arrays, which takes five times as long
    _put = None


def from_numpy(array):
    """Return a copy of a numpy array as `jnp.array` does: on the default device, uncommitted."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if _put is None:
        return jnp.array(array)
    device = jax.config.jax_default_device
    if device is None:
        device = jax.local_devices()[0]
    if not isinstance(device, jax.Device):  # the setting is the name of a platform
        return jnp.array(array)
    return _put(
        _make_aval(array.shape, array.dtype),
        _single_device(device),
        [array],
        [device],
        False,
        False,
        _Semantics.IMMUTABLE_ONLY_DURING_CALL,
    )


def compute_outside_trace(compute, array):
    """Return ``compute()``. If `array` is not a tracer, compute concrete values, even during a trace."""
    if isinstance(array, jax.core.Tracer) or _put is None or _outside_of_traces():
        return compute()
    with jax.ensure_compile_time_eval():
        return compute()


def share_memory(array, device):
    """Return a jax.Array on a CPU device that reads the memory of a numpy array, uncommitted; None if JAX copies it.

    Running programs see later writes to the numpy array. The caller must keep it alive as long as the result.
    """
    if _put is None:
        return None
    aval = _make_aval(array.shape, array.dtype)
    shared = _put(aval, _single_device(device), [array], [device], False, False, _Semantics.ZERO_COPY)
    return shared if shared.unsafe_buffer_pointer() == array.ctypes.data else None


def copy_array(array):
    """Return a copy of an array as `jnp.array` does, without compiling a program for each new shape."""
    if _put is None or not _outside_of_traces():
        return jnp.array(array, copy=True)
    sharding = getattr(array, "sharding", None)  # a numpy array has none
    if sharding is not None and not sharding.is_fully_addressable and sharding.is_fully_replicated:
        array = array.addressable_data(0)  # each of several processes has a full copy
        sharding = array.sharding
    if jax.config.jax_default_device is not None or sharding is not None and not sharding.is_fully_addressable:
        return jnp.array(array, copy=True)
    if not isinstance(sharding, jax.sharding.SingleDeviceSharding) or array.weak_type:
        return jax.device_put(array, may_alias=False)
    (device,) = sharding.device_set  # the same call as in `device_put`, in a quarter of its time
    aval = _make_aval(array.shape, array.dtype)
    return _put(aval, sharding, [array], [device], array.committed, True, _Semantics.IMMUTABLE_ONLY_DURING_CALL)


_make_aval = functools.lru_cache(maxsize=1024)(jax.core.ShapedArray)
_single_device = functools.lru_cache(maxsize=64)(jax.sharding.SingleDeviceSharding)


def from_float(number):
    """Return a Python float as the array that a jit makes of it, a float64 of weak type; None while JAX traces."""
    if _put is None or not _outside_of_traces():
        return None
    device = jax.config.jax_default_device or jax.local_devices()[0]
    if not isinstance(device, jax.Device):
        return None
    return _put(
        _make_aval((), np.dtype("float64"), weak_type=True),
        _single_device(device),
        [np.float64(number)],
        [device],
        False,
        False,
        _Semantics.IMMUTABLE_ONLY_DURING_CALL,
    )


def placement(array):
    """Return the sharding of a committed array; None for an uncommitted one."""
    return array.sharding if getattr(array, "_committed", False) else None


def argument_signature(value):
    """Return the properties by which `jax.jit` distinguishes arguments: shape, dtype, weak type and sharding."""
    kind = jax.typeof(value)
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=placement(value), weak_type=kind.weak_type)


def drop_weak_type(array: Any) -> Any:
    """Return `array` without JAX's weak type, so that it promotes as every other Tensor does."""
    if not getattr(array, "weak_type", False):
        return array
    if _convert_element_type is not None:
        return _convert_element_type(array, array.dtype, weak_type=False)
    return jax.lax.convert_element_type(array, array.dtype)


if _source_info is not None:  # JAX ignores frames of msnb when it searches for the user's line of an operator
    _source_info.register_exclusion(PACKAGE)


def user_frame(traceback):
    """Return (file, line, function) of the user's innermost frame of an equation's traceback, None if unknown."""
    if _source_info is None or traceback is None:
        return None
    frame = _source_info.user_frame(traceback)
    return None if frame is None else (frame.file_name, frame.start_line, frame.function_name)


def user_frames(traceback):
    """Return [(file, line, function)] of all the user's frames of an equation's traceback, innermost first."""
    if _source_info is None or traceback is None:
        return []
    frames = _source_info.user_frames(traceback)
    return [(frame.file_name, frame.start_line, frame.function_name) for frame in frames]


def name_stack():
    """Return the text of JAX's current name stack, "" if unknown."""
    return "" if _source_info is None else str(_source_info.current_name_stack())


def get_partial_jaxpr(values, constants):
    """Return the jaxpr of the current trace of this thread up to now.

    Args:
        values (Sequence): Values of the trace that become the results.
        constants (Sequence): Arrays; those that the trace uses become additional inputs of the jaxpr.

    Returns:
        tuple, the ClosedJaxpr, the index among the results for each value (None for one that is not a tracer of this
        trace), and for each constant True if it is an input.
    """
    tracing = _trace_context.trace
    frame = tracing.frame
    constants_by_var = dict(frame.constvar_to_val)  # before `get_eqns`: equations keep constants alive
    eqns = frame.get_eqns()
    atoms = [_find_jaxpr_variable(value, tracing) for value in values]
    results = [atom for atom in atoms if isinstance(atom, jex_core.Var)]
    variables = {id(value): var for var, value in constants_by_var.items()}
    constant_vars = [variables.get(id(array)) for array in constants]
    rest = [var for var in constants_by_var if not any(var is other for other in constant_vars)]
    jaxpr = jex_core.Jaxpr(
        rest,
        [*frame.invars, *(var for var in constant_vars if var is not None)],
        results,
        eqns,
        set().union(*(eqn.effects for eqn in eqns)),
        frame.debug_info.with_unknown_names(),
    )
    counter = iter(range(len(results)))
    indices = [next(counter) if isinstance(atom, jex_core.Var) else None for atom in atoms]
    return (
        jex_core.ClosedJaxpr(jaxpr, [constants_by_var[var] for var in rest]),
        indices,
        [var is not None for var in constant_vars],
    )


def _find_jaxpr_variable(value, tracing):
    """Return the variable of `value` in a trace, None if it has none. Tracers of derivatives around it are removed."""
    while is_tracer(value):
        if value._trace is tracing:
            return value.val
        value = getattr(value, "primal", None)
    return None


def eval_jaxpr(jaxpr, consts, *args):
    """Evaluate a jaxpr with its name stacks and source locations."""
    return jax.core.eval_jaxpr(jaxpr, consts, *args)


def clear_effect_tokens():
    """Drop the tokens of side effects; the token of a failed effect would raise its error at every barrier."""
    if _dispatch is not None:
        _dispatch.runtime_tokens.clear()


def is_runtime_error(error):
    """Return True for errors of XLA's compiler or runtime, such as exhausted memory."""
    return isinstance(error, jax.errors.JaxRuntimeError)


def trace_state():
    """Return JAX's trace and source context of this thread, for `restore_trace_state`."""
    context = None if _source_info is None else _source_info._source_info_context.context
    return context, None if _trace_context is None else (_trace_context.trace, _trace_context.axis_env)


def current_trace():
    """Return JAX's current trace, a separate object for each traced function; None if unknown.

    Sparse gradients of tables need it; if it is unknown, these gradients are dense.
    """
    return None if _trace_context is None else _trace_context.trace


def enclosing_traces():
    """Return JAX's current trace and the traces around it, innermost first."""
    traces, trace = [], current_trace()
    while trace is not None:
        traces.append(trace)
        trace = getattr(trace, "parent_trace", None)
    return traces


def is_known_in(array, traces):
    """Return True for an array that is not traced, or is traced by one of `traces`."""
    return not is_tracer(array) or any(array._trace is trace for trace in traces)


def run_in_trace_of(value, fn):
    """Return ``fn(value)``, traced as part of the trace of `value`, also inside a nested trace."""
    if _trace_context is None or not is_tracer(value):
        return fn(value)
    inner = _trace_context.trace
    _trace_context.set_trace(value._trace)
    try:
        return fn(value)
    finally:
        _trace_context.set_trace(inner)


def restore_trace_state(state):
    """Set JAX's trace and source context back to `state`: an interrupt may have skipped the clean-up of a context."""
    context, tracing = state
    if context is not None:
        _source_info._source_info_context.context = context
    if tracing is not None and _trace_context.trace is not tracing[0]:
        _trace_context.set_trace(tracing[0])
        _trace_context.set_axis_env(tracing[1])


def clear_compiled(compiled, error):
    """Clear the cache of a `jax.jit` function whose first call was interrupted by `error`.

    JAX's entry for the interrupted call would make all later calls take a slow path. The caches of primitives in the
    traceback are cleared, too.
    """
    compiled.clear_cache()
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == "apply_primitive":
            forget = getattr(frame.f_locals.get("fun"), "clear_cache", None)
            if forget is not None:
                forget()
        traceback = traceback.tb_next


def limit_traces():
    """If JAX has many new traces of functions, drop those of functions with many signatures.

    JAX has a trace of each function for each signature, without a limit: of operators and of functions of `jax.numpy`,
    which live as long as the process, with their lowered and differentiated graphs. Compiled functions stay, also those
    whose side effects make JAX look at their trace in each call: they have few signatures.
    """
    global _remaining_traces
    traces = getattr(_partial_eval, "trace_to_jaxpr", None)
    if traces is None or traces.cache_info().currsize <= _remaining_traces + _MAX_TRACES:
        return
    counts = collections.Counter(key[0] for key in traces.cache_keys())  # weak references to functions
    for reference, count in counts.items():
        fn = reference()
        if fn is not None and count > _FEW_SIGNATURES:
            traces.evict_weakref(fn)
            _pjit._infer_params_cached.evict_weakref(fn)  # refers to the traces
    for module, name in _DERIVED_GRAPHS:
        clear = getattr(getattr(module, name, None), "cache_clear", None)
        if clear is not None:
            clear()
    _remaining_traces = traces.cache_info().currsize


_remaining_traces = 0  # after the last call of `limit_traces` that dropped some
_MAX_TRACES = 512  # new ones; each has 20 to 40 kB, and 110 kB of a lowered graph if its function was compiled
_FEW_SIGNATURES = 4
_DERIVED_GRAPHS = [  # caches of what follows from a trace; a result that is the trace itself keeps it alive
    (_partial_eval, "_cached_abstract_eval"),
    (_partial_eval, "_dce_jaxpr"),
    (_partial_eval, "_prune_closed_jaxpr_outputs"),
    (_pjit, "_dce_jaxpr_pjit"),
    (_pjit, "_transpose_jaxpr_fancy"),
    (_pjit, "_process_in_axis_resources"),
    (_pjit, "_check_and_canonicalize_out_shardings"),
    (_autodiff, "_linearize_jaxpr"),
]
_MAX_KERNELS = 2048  # compiled kernels of 0.2 MB each; a step of a large network has about 1,000
_kernel_cache = _pjit.make_jit_cpp_cache(_MAX_KERNELS) if hasattr(_pjit, "make_jit_cpp_cache") else None


def jit_kernel(fn):
    """Return `jax.jit(fn)`. All functions from here share the least recently used `_MAX_KERNELS` compiled ones."""
    own_cache = getattr(_config, "jax_jit_cpp_cache_obj", None)
    if own_cache is None or _kernel_cache is None:
        return jax.jit(fn)
    with own_cache(_kernel_cache):
        return jax.jit(fn)


def is_initialized():
    """Return True if JAX has initialized its devices."""
    # No lock is taken: another thread may have held it before a fork.
    return bool(getattr(_bridge, "_backends", True))


_cpu_clients: list[Any] = []  # additional clients of the CPU, besides JAX's first one


def create_cpu_devices(number: int) -> list[Any] | None:
    """Create `number` more devices of this CPU; return None if JAX cannot."""
    if _make_cpu_client is None:  # pragma: no cover
        return None
    client = _make_cpu_client(num_devices=number)
    _cpu_clients.append(client)
    return client.devices()


def live_arrays() -> list[Any]:
    """Return all live arrays, including those on devices of `create_cpu_devices`."""
    return [*jax.live_arrays(), *(array for client in _cpu_clients for array in client.live_arrays())]


def coordinator() -> Any:
    """Return the key-value client by which the processes of a program communicate; None if there is one process."""
    return _processes and _processes.client


_exit_status: list[int] = []  # exit status of this process, once an error is reported


@atexit.register  # handlers run in reverse order: this one after msnb's, and before JAX's, which waits for processes
def _exit_with_stored_status():
    if _exit_status:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_exit_status[0])


def exit_without_waiting(status: int = 1) -> None:
    """Make this process exit with `status` at its end, without waiting for the other processes.

    The other processes may be waiting for this one.
    """
    _exit_status.append(status)


def refuse_computations(sentence):
    """Make every later computation of this process raise RuntimeError(sentence), even of programs already compiled."""
    # This setting is part of the key of compiled functions: all lookups miss, and every call is traced, which fails.
    jax.config.update("jax_random_seed_offset", jax.config.jax_random_seed_offset + 1)
    if not hasattr(_pjit, "_infer_params"):  # pragma: no cover
        jax.config.update("jax_no_tracing", True)
        return

    def refuse(*_, **__):
        raise RuntimeError(sentence)

    _pjit._infer_params = refuse


def is_tracer(value):
    """Return True if `value` is a tracer."""
    return isinstance(value, jax.core.Tracer)


def is_deleted(array: object) -> bool:
    """Return True if the buffer of an array is deleted, for example because a compiled step has donated it."""
    return isinstance(array, jax.Array) and not is_tracer(array) and array.is_deleted()


def is_differentiated(value):
    """Return True if `value` is a tracer of a differentiated function and depends on its inputs."""
    return is_tracer(value) and hasattr(value, "tangent")


def is_available(value):
    """Return True if reading `value` needs neither waiting nor a copy from a device."""
    return not isinstance(value, jax.Array) or value.platform() == "cpu" and value.is_ready()


def new_variable(var):
    """Return a new variable of the type of `var`."""
    return type(var)(var.aval)


def without_argument_names(jaxpr):
    """Return the debug info of a jaxpr without argument names, for a jaxpr with other inputs and outputs."""
    debug = jaxpr.debug_info
    return debug.with_unknown_names() if hasattr(debug, "with_unknown_names") else None


def nest_source_info(inner, outer, cache):
    """Return the source info of an equation of an inlined call: its own line, and its scope nested in that of the call.

    `cache` is a dict for one call.
    """
    stack = inner.name_stack
    entry = cache.get(id(stack))
    if entry is None:
        entry = cache[id(stack)] = outer.name_stack + stack, stack  # the reference keeps the id unique
    return inner.replace(name_stack=entry[0]) if inner.traceback is not None else outer.replace(name_stack=entry[0])


def inside_call(call, name):
    """Return the source info around the equations of a called graph, which XLA shows as `jit(name)`.

    `name` is None for a call without a scope.
    """
    return call if name is None else call.replace(name_stack=call.name_stack.extend(f"jit({name})"))


def source_context(source_info):
    """Return a context in which equations are traced with the line and scope of another one."""
    if source_info is None or _source_info is None:
        return contextlib.nullcontext()
    # The scope of an equation in a nested graph is relative to that graph.
    name_stack = _source_info.current_name_stack() + source_info.name_stack
    return _source_info.user_context(source_info.traceback, name_stack=name_stack)


UNSPECIFIED = getattr(_pjit, "UNSPECIFIED", None)  # JAX's default for a sharding
Literal = jex_core.Literal
Var = jex_core.Var


def weak_float32(array: Any) -> Any:
    """Return a traced Python float as a float32 of weak type."""
    if _convert_element_type is not None:
        return _convert_element_type(array, np.dtype("float32"), weak_type=True)
    return array


def weak_scalar(value):
    """Return a traced number with a weak type, as a Python float has."""
    if getattr(value, "weak_type", True) or _convert_element_type is None:
        return value
    return _convert_element_type(
        value, value.dtype if value.dtype.kind not in "iu" else np.dtype("float64"), weak_type=True
    )


def is_partitioned(lowering: Any) -> bool:
    """Return True if XLA partitions the program being lowered; False if this cannot be determined."""
    axis_context = getattr(getattr(lowering, "module_context", None), "axis_context", None)
    return getattr(axis_context, "num_devices", 1) > 1


def scan_counts(eqn):
    """Return (constants, carried): the numbers of leading inputs of a scan; its other inputs are scanned."""
    if "num_carry" in eqn.params:
        return eqn.params["num_consts"], eqn.params["num_carry"]
    constants, carried, _ = eqn.params["ft_in"].unpack()  # JAX 0.12 and later
    return len(constants), len(carried)


_GRAPHS = frozenset((jex_core.ClosedJaxpr, jex_core.Jaxpr))


def map_nested_graphs(params, change):
    """Apply `change` to each graph among the parameters of an equation, also in tuples of graphs.

    Return {name: new value} of the parameters that changed. For others `change` returns the same object.
    """
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


_DEBUG_CALLBACKS = frozenset(("debug_callback", "debug_print"))


def is_debug_callback(eqn):
    """Return True if an equation is a debug callback or print without results."""
    return eqn.primitive.name in _DEBUG_CALLBACKS and not eqn.outvars


def remove_debug_callbacks(jaxpr):
    """Return a jaxpr, and those nested in it, without debug callbacks."""
    eqns, changed = [], False
    for eqn in jaxpr.eqns:
        if is_debug_callback(eqn):
            changed = True
            continue
        new = map_nested_graphs(eqn.params, _remove_nested_callbacks)
        if new:
            params = {**eqn.params, **new}
            eqn, changed = eqn.replace(params=params, effects=effects_of(params, eqn)), True
        eqns.append(eqn)
    if not changed:
        return jaxpr
    effects = set().union(*[e.effects for e in eqns]) if eqns else set()
    return jaxpr.replace(eqns=eqns, effects=effects)


def _remove_nested_callbacks(graph):
    if isinstance(graph, jex_core.Jaxpr):
        return remove_debug_callbacks(graph)
    inner = remove_debug_callbacks(graph.jaxpr)
    return graph if inner is graph.jaxpr else graph.replace(jaxpr=inner)


def effects_of(params, eqn):
    """Return the effects of an equation whose graphs are replaced by those in `params`."""
    effects = set()
    for value in params.values():
        for graph in value if isinstance(value, tuple) else (value,):
            effects |= set(getattr(graph, "effects", ()))
    return effects if eqn.effects else eqn.effects
