"""Private API of JAX for lowering, compilation and the compilation cache. The comment at each import states the
fallback.
"""

# A name that the installed JAX lacks is None; the code that uses it checks for None.
# pyright: reportOptionalMemberAccess=false

import functools
import hashlib
import inspect
import os
import threading
import weakref
from collections import Counter
from math import prod
from typing import Any

import jax
from jax.extend import core as jex_core

try:
    from jax._src import compiler as _compiler
    from jax._src.interpreters import mlir as _mlir
    from jax._src.lib.mlir import ir as _ir  # pyright: ignore[reportPrivateImportUsage] - a module of JAX's own
    from jax._src.lib.mlir.dialects import hlo as _hlo  # pyright: ignore[reportPrivateImportUsage]
except ImportError:  # pragma: no cover - without it JAX's own options compile everything, and no artifact is read
    _compiler = _mlir = None

try:
    from jax._src import config as _config
except ImportError:  # pragma: no cover
    _config = None

try:
    from jax._src import cache_key as _cache_key
    from jax._src import compilation_cache as _compilation_cache
except ImportError:  # pragma: no cover - without it JAX's own rules select the cached programs
    _compilation_cache = None

try:
    from jax._src.interpreters import pxla as _pxla
except ImportError:  # pragma: no cover - without it an interrupt in a first call may be lost
    _pxla = None


class _CacheAdapter:
    """Replacement of JAX's persistent cache. It reads and writes `cache`. Once the user has set a cache directory, it
    uses JAX's own cache there.
    """

    def __init__(self, cache):
        self.cache = cache
        self.folder = jax.config.jax_compilation_cache_dir

    def _get_current_cache(self):
        if jax.config.jax_compilation_cache_dir != self.folder:
            _compilation_cache.reset_cache()
            _compilation_cache._initialize_cache()
            return _compilation_cache._cache
        return self.cache

    def get(self, key):
        cache, _last_lookup.key = self._get_current_cache(), key
        return None if cache is None else cache.get(key)

    def put(self, key, value):
        cache = self._get_current_cache()
        if cache is not None:
            cache.put(key, value)

    @property
    def _path(self):
        return self.cache._path


def install_cache(cache, extra_key):
    """Make JAX store compiled programs in `cache` (get and put of bytes); None disables the cache.

    Args:
        cache (object): Has ``get``, ``put`` and the attribute `_path`, the folder.
        extra_key (Callable): Returns a text that becomes part of the key of the program being compiled.
    """
    jax.config.update("jax_compilation_cache_dir", None if cache is None else str(cache._path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0 if cache is None else 0.0)
    if _compilation_cache is None:
        return
    _compilation_cache.reset_cache()
    if cache is not None:
        _compilation_cache._cache, _compilation_cache._cache_initialized = _CacheAdapter(cache), True
        _cache_key.custom_hook = extra_key


def is_cache_installed(cache):
    """Return True if JAX still stores compiled programs in `cache`."""
    installed = getattr(_compilation_cache, "_cache", None)
    return (
        isinstance(installed, _CacheAdapter)
        and installed.cache is cache
        and installed.folder == jax.config.jax_compilation_cache_dir
    )


def thread_settings():
    """Return JAX's thread-local settings on which compiled programs depend, as a comparable object; None if unknown."""
    return None if _config is None else _config.trace_context()


def lowering_settings():
    """Return the settings of `thread_settings` without the axes of the current trace, which lowering does not read;
    None if unknown.
    """
    if _config is None:
        return None
    return [value for value in _config.trace_context() if type(value).__name__ != "AxisEnv"]


def deliver_interrupts_with(deliver):
    """Make JAX run two of its functions through `deliver`, which raises an interrupt that they have caught.

    JAX calls them for each new executable, inside a bare ``except``.
    """
    for name in ("get_out_shardings_from_executable", "_get_layouts_from_executable"):
        original = getattr(_pxla, name, None)
        if original is not None:
            setattr(_pxla, name, _wrap_with_deliver(deliver, original))


def _wrap_with_deliver(deliver, original):
    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        return deliver(lambda: original(*args, **kwargs))

    return wrapper


# ---------------------------------------------------------------- first calls
_MLIR_USES = 10  # programs per context, as in JAX 0.12: a context keeps everything that was lowered into it


def share_contexts():
    """Make JAX lower several programs of a thread into one MLIR context, as JAX 0.12 does: a new context takes 5 ms."""
    if not hasattr(_mlir, "make_ir_context") or hasattr(_mlir, "_thread_local_context"):
        return
    original, local = _mlir.make_ir_context, threading.local()

    @functools.wraps(original)
    def shared():
        if getattr(local, "left", 0) <= 0:
            local.context, local.left = original(), _MLIR_USES
        local.left -= 1
        return local.context

    _mlir.make_ir_context = shared


def add_compile_options(options):
    """Register `options`, which returns additional XLA compile options for each program on CPU.

    Args:
        options (Callable): Takes the program's name in XLA and a function ``count(limit)``. The function returns
            (number of operations by name, number of elements of the largest array), or None for a program with more
            than `limit` operations. Returns a dict of options. Options in XLA_FLAGS are not changed.
    """
    if not hasattr(_compiler, "compile_or_get_cached"):
        return
    original = _compiler.compile_or_get_cached

    @functools.wraps(original)
    def compile_or_get_cached(backend, computation, devices, compile_options, *rest, **more):
        if backend.platform == "cpu":
            name = _ir.StringAttr(computation.operation.attributes["sym_name"]).value
            added = options(name, lambda limit: _count_operations(computation, limit))
            flags = os.environ.get("XLA_FLAGS", "")
            overrides = dict(compile_options.env_option_overrides)
            overrides.update((k, v) for k, v in added.items() if k not in overrides and k not in flags)
            compile_options.env_option_overrides = list(overrides.items())
        return original(backend, computation, devices, compile_options, *rest, **more)

    _compiler.compile_or_get_cached = compile_or_get_cached


def _count_operations(module, limit):
    names, largest, count = Counter(), 0, 0

    def visit(op):
        nonlocal largest, count
        count += 1
        names[op.name] += 1
        for value in (*op.results, *(a for region in op.regions for block in region for a in block.arguments)):
            if isinstance(value.type, _ir.RankedTensorType):
                largest = max(largest, prod(_ir.RankedTensorType(value.type).shape))
        return _ir.WalkResult.ADVANCE if count < limit else _ir.WalkResult.INTERRUPT

    module.operation.walk(visit)
    return (names, largest) if count < limit else None


# ---------------------------------------------------------------- programs with cached executables
def lowering_rules(primitive):
    """Return the functions that may lower a primitive on CPU; empty if unknown."""
    tables = getattr(_mlir, "_platform_specific_lowerings", {}).get("cpu", {}), getattr(_mlir, "_lowerings", {})
    return [getattr(table[primitive], "rule", table[primitive]) for table in tables if primitive in table]


class _Unlowered:
    """The StableHLO of a graph whose executable is cached. The graph is lowered only when the text is needed."""

    def __init__(self, key, lower):
        self.key, self._lock = key, threading.Lock()
        self._lower: Any = lower
        self._module, self._wide = None, jax.config.jax_enable_x64

    def module(self):
        with self._lock:
            if self._module is None:
                with jax.enable_x64(self._wide):
                    self._module, self._lower = self._lower().module, None
            return self._module


_unlowered_modules = weakref.WeakKeyDictionary()  # empty module that JAX gets -> its _Unlowered


@functools.cache
def _make_unknown_location():
    context = _ir.Context()
    context.enable_multithreading(False)
    return _ir.Location.unknown(context)


_keys_of_modules = weakref.WeakKeyDictionary()  # StableHLO of a graph with a key -> the key
_last_lookup = threading.local()  # `key`: key of JAX's last cache lookup


def lower_when_needed(cache):
    """Make JAX skip the lowering of graphs whose executables are in `cache`.

    Args:
        cache (object): Has these methods: ``key(name, graph, settings)`` returns a text, or None for a graph that is
            always lowered; ``has(key)`` returns a bool; ``remember(key, state, record)`` stores a record;
            ``find(key, state)`` returns the record or None.
    """
    needed = ("_hash_platform", "_hash_xla_flags", "get_flag_prefixes", "_hash_serialized_compile_options")
    needed += ("_hash_accelerator_config", "custom_hook")
    if (
        not all(hasattr(_cache_key, name) for name in needed)
        or not hasattr(_compiler, "_cache_read")
        or not hasattr(_compiler, "use_detailed_logging")
        or not hasattr(_mlir, "LoweringResult")
        or not hasattr(_pxla, "MeshComputation")
    ):  # pragma: no cover - another version of JAX: everything is lowered
        return
    original_lower, original_compile = _mlir.lower_jaxpr_to_module, _compiler.compile_or_get_cached
    stablehlo, reads = _pxla.MeshComputation.stablehlo, inspect.signature(_compiler._cache_read).parameters

    @functools.wraps(original_lower)
    def lower_jaxpr_to_module(name, graph, *rest, **settings):
        key = None if rest else cache.key(name, graph, settings)
        if key is not None and cache.has(key):
            stand_in = _ir.Module.create(_make_unknown_location())
            # JAX keeps `stand_in` as long as `graph` lives. If the closure referred to `graph`, neither would be freed.
            copied_graph = jex_core.ClosedJaxpr(graph.jaxpr, graph.consts)
            _unlowered_modules[stand_in] = _Unlowered(key, lambda: original_lower(name, copied_graph, **settings))
            unused: Any = None  # JAX does not read these fields of a program for one device
            return _mlir.LoweringResult(stand_in, None, [], unused)
        result = original_lower(name, graph, *rest, **settings)
        if key is not None and not result.host_callbacks and not _has_custom_call(result.module):
            _keys_of_modules[result.module] = key
        return result

    @functools.wraps(original_compile)
    def compile_or_get_cached(backend, computation, devices, options, callbacks, executable_devices, profiler=None):
        unlowered = _unlowered_modules.get(computation)
        key = _keys_of_modules.pop(computation, None) if unlowered is None else unlowered.key
        if key is None or profiler is not None:
            module = _lower_if_needed(computation)
            return original_compile(backend, module, devices, options, callbacks, executable_devices, profiler)
        state, overrides = _hash_compile_dependencies(backend, devices, options), list(options.env_option_overrides)
        if unlowered is not None:
            record = cache.find(key, state)
            if record is not None:
                options.env_option_overrides = [*overrides, *((k, v) for k, v in record["options"])]
                more = (callbacks,) if "host_callbacks" in reads else ()  # JAX 0.12 and later
                executable, _ = _compiler._cache_read(
                    record["file"], record["file"], options, backend, executable_devices, *more
                )
                if executable is not None:
                    return executable
                options.env_option_overrides = overrides
            computation = unlowered.module()
            _set_detailed_logging(computation, options)
        _last_lookup.key = None
        executable = original_compile(backend, computation, devices, options, callbacks, executable_devices)
        if _last_lookup.key is not None:
            added = [option for option in options.env_option_overrides if option not in overrides]
            cache.remember(key, state, {"file": _last_lookup.key, "options": added})
        return executable

    _mlir.lower_jaxpr_to_module = lower_jaxpr_to_module
    _compiler.compile_or_get_cached = compile_or_get_cached
    _pxla.MeshComputation.stablehlo = functools.wraps(stablehlo)(lambda self: _lower_if_needed(stablehlo(self)))


def _has_custom_call(module):
    """Return True if a program has custom calls, such as LAPACK. Only their lowering initializes them."""
    has_custom_call = False

    def visit(op):
        nonlocal has_custom_call
        has_custom_call = op.name == "stablehlo.custom_call"
        return _ir.WalkResult.INTERRUPT if has_custom_call else _ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return has_custom_call


def _lower_if_needed(module):
    unlowered = _unlowered_modules.get(module)
    return module if unlowered is None else unlowered.module()


def _set_detailed_logging(module, options):
    """Set XLA's option for detailed logging, which JAX derives from the number of operations."""
    options.executable_build_options.debug_options.xla_detailed_logging = _compiler.use_detailed_logging(module)


def _hash_compile_dependencies(backend, devices, options):
    """Return a hash of everything that an executable depends on besides its program, as in JAX's own key."""
    debug, state = options.executable_build_options.debug_options, hashlib.sha256()
    logging, debug.xla_detailed_logging = debug.xla_detailed_logging, False
    _cache_key._hash_platform(state, backend)
    _cache_key._hash_xla_flags(state, _cache_key.get_flag_prefixes())
    _cache_key._hash_serialized_compile_options(state, options)
    debug.xla_detailed_logging = logging
    _cache_key._hash_accelerator_config(state, devices)
    state.update(_cache_key.custom_hook().encode())
    return state.hexdigest()


def opened_module(artefact):
    """Return the MLIR module that the bytes of a portable StableHLO artifact contain."""
    with _mlir.make_ir_context() as context:
        return _hlo.deserialize_portable_artifact(context, artefact)
