"""How JAX lowers, compiles and keeps programs: its private API for that. Each use says what it falls back to."""

# What JAX does not have here is None, and whoever uses it has looked.
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
except ImportError:  # pragma: no cover - everything is then compiled with JAX's own options, and no artefact is opened
    _compiler = _mlir = None

try:
    from jax._src import config as _config
except ImportError:  # pragma: no cover
    _config = None

try:
    from jax._src import cache_key as _cache_key
    from jax._src import compilation_cache as _compilation_cache
except ImportError:  # pragma: no cover - what is compiled is then kept by JAX's own rules
    _compilation_cache = None

try:
    from jax._src.interpreters import pxla as _pxla
except ImportError:  # pragma: no cover - a Stop at an unlucky moment of a first call is then forgotten
    _pxla = None


class _Kept:
    """What JAX takes for its persistent cache: `cache`, until the user names a folder of their own."""

    def __init__(self, cache):
        self.cache = cache
        self.folder = jax.config.jax_compilation_cache_dir

    def _current(self):
        if jax.config.jax_compilation_cache_dir != self.folder:
            _compilation_cache.reset_cache()
            _compilation_cache._initialize_cache()
            return _compilation_cache._cache
        return self.cache

    def get(self, key):
        cache, _asked.key = self._current(), key
        return None if cache is None else cache.get(key)

    def put(self, key, value):
        cache = self._current()
        if cache is not None:
            cache.put(key, value)

    @property
    def _path(self):
        return self.cache._path


def keep_compiled_in(cache, further_key):
    """Let JAX keep compiled programs in `cache` (get and put of bytes); None: nowhere.

    Args:
        cache (object): It has `_path`, its folder, too.
        further_key (Callable): Gives a text that becomes part of the key of what is being compiled.
    """
    jax.config.update("jax_compilation_cache_dir", None if cache is None else str(cache._path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0 if cache is None else 0.0)
    if _compilation_cache is None:
        return
    _compilation_cache.reset_cache()
    if cache is not None:
        _compilation_cache._cache, _compilation_cache._cache_initialized = _Kept(cache), True
        _cache_key.custom_hook = further_key


def keeps_compiled_in(cache):
    """Whether JAX still keeps compiled programs in `cache`."""
    kept = getattr(_compilation_cache, "_cache", None)
    return isinstance(kept, _Kept) and kept.cache is cache and kept.folder == jax.config.jax_compilation_cache_dir


def settings_of_thread():
    """What of JAX's settings a thread may have to itself and programs depend on, to be compared; None where unknown."""
    return None if _config is None else _config.trace_context()


def settings_of_lowering():
    """The same without what is being traced, which lowering does not see; None where unknown."""
    if _config is None:
        return None
    return [value for value in _config.trace_context() if type(value).__name__ != "AxisEnv"]


def hear_while_compiling(heard):
    """Run through `heard` what JAX asks of each new executable with a bare ``except`` around it."""
    for name in ("get_out_shardings_from_executable", "_get_layouts_from_executable"):
        asked = getattr(_pxla, name, None)
        if asked is not None:
            setattr(_pxla, name, _through(heard, asked))


def _through(heard, asked):
    @functools.wraps(asked)
    def ask(*args, **kwargs):
        return heard(lambda: asked(*args, **kwargs))

    return ask


# ------------------------------------------------------------------ first calls
_MLIR_USES = 10  # what is lowered into one context stays in it, so that none is used for ever; JAX 0.12's own number


def share_contexts():
    """Lower several programs of a thread into one MLIR context, as JAX does from 0.12 on: a new one takes 5 ms."""
    if not hasattr(_mlir, "make_ir_context") or hasattr(_mlir, "_thread_local_context"):
        return
    make, mine = _mlir.make_ir_context, threading.local()

    @functools.wraps(make)
    def shared():
        if getattr(mine, "left", 0) <= 0:
            mine.context, mine.left = make(), _MLIR_USES
        mine.left -= 1
        return mine.context

    _mlir.make_ir_context = shared


_option_rules: list[Any] = []  # functions that `compile_with` was given


def compile_with(options):
    """Let `options` add to the options that XLA compiles a program with on CPU.

    Args:
        options (Callable): Takes the program's name in XLA and a function that gives (how often each operation stands
            in it by name, number of elements of its largest array), or None for one of more operations than it is
            given; returns a dict. What the user has set in XLA_FLAGS stays as it is.
    """
    _option_rules.append(options)


def _apply_option_rules():
    """Wrap JAX's compilation so that the rules of `compile_with` apply to each module that XLA compiles.

    This wrapper goes in when this module is imported. The one of `lower_when_needed` then always lies around it,
    whichever module asks first: it replaces the empty modules of known programs, and those have no name.
    """
    if not hasattr(_compiler, "compile_or_get_cached"):
        return
    compiled = _compiler.compile_or_get_cached

    @functools.wraps(compiled)
    def compile_or_get_cached(backend, computation, devices, given, *rest, **more):
        if backend.platform == "cpu" and _option_rules:
            name = _ir.StringAttr(computation.operation.attributes["sym_name"]).value
            flags = os.environ.get("XLA_FLAGS", "")
            overrides = dict(given.env_option_overrides)
            for options in _option_rules:
                added = options(name, lambda most: _about(computation, most))
                overrides.update((k, v) for k, v in added.items() if k not in overrides and k not in flags)
            given.env_option_overrides = list(overrides.items())
        return compiled(backend, computation, devices, given, *rest, **more)

    _compiler.compile_or_get_cached = compile_or_get_cached


_apply_option_rules()


def _about(module, most):
    names, largest, count = Counter(), 0, 0

    def see(op):
        nonlocal largest, count
        count += 1
        names[op.name] += 1
        for value in (*op.results, *(a for region in op.regions for block in region for a in block.arguments)):
            if isinstance(value.type, _ir.RankedTensorType):
                largest = max(largest, prod(_ir.RankedTensorType(value.type).shape))
        return _ir.WalkResult.ADVANCE if count < most else _ir.WalkResult.INTERRUPT

    module.operation.walk(see)
    return (names, largest) if count < most else None


# ------------------------------------------------------------------ programs that are known
def lowering_rules(primitive):
    """The functions that may lower a primitive on CPU; empty where unknown."""
    tables = getattr(_mlir, "_platform_specific_lowerings", {}).get("cpu", {}), getattr(_mlir, "_lowerings", {})
    return [getattr(table[primitive], "rule", table[primitive]) for table in tables if primitive in table]


class _Unlowered:
    """The StableHLO of a graph whose executable is known, until somebody wants to read it."""

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


_unlowered = weakref.WeakKeyDictionary()  # empty module that stands for one -> the _Unlowered


@functools.cache
def _nowhere():
    context = _ir.Context()
    context.enable_multithreading(False)
    return _ir.Location.unknown(context)


_keys = weakref.WeakKeyDictionary()  # StableHLO that was made for a graph with a key -> the key
_asked = threading.local()  # `key`: what JAX last looked for in its cache


def lower_when_needed(known):
    """Spare JAX the lowering of graphs whose executables `known` has.

    Args:
        known (object): It has ``key(name, graph, settings)``, a text or None for a graph that is always lowered;
            ``has(key)``; ``find(key, state)``, what ``remember(key, state, kept)`` was given or None.
    """
    needed = ("_hash_platform", "_hash_xla_flags", "get_flag_prefixes", "_hash_serialized_compile_options")
    needed += ("_hash_accelerator_config", "custom_hook")
    if (
        not all(hasattr(_cache_key, name) for name in needed)
        or not hasattr(_compiler, "_cache_read")
        or not hasattr(_compiler, "use_detailed_logging")
        or not hasattr(_mlir, "LoweringResult")
        or not hasattr(_pxla, "MeshComputation")
    ):  # pragma: no cover - a JAX of another shape: everything is lowered
        return
    lower, compiled = _mlir.lower_jaxpr_to_module, _compiler.compile_or_get_cached
    stablehlo, reads = _pxla.MeshComputation.stablehlo, inspect.signature(_compiler._cache_read).parameters

    @functools.wraps(lower)
    def lower_jaxpr_to_module(name, graph, *rest, **settings):
        key = None if rest else known.key(name, graph, settings)
        if key is not None and known.has(key):
            stand_in = _ir.Module.create(_nowhere())
            # JAX keeps what it lowered for as long as this object lives, so that another one has to be held here.
            same = jex_core.ClosedJaxpr(graph.jaxpr, graph.consts)
            _unlowered[stand_in] = _Unlowered(key, lambda: lower(name, same, **settings))
            unread: Any = None  # what nobody asks of a program for one device
            return _mlir.LoweringResult(stand_in, None, [], unread)
        result = lower(name, graph, *rest, **settings)
        if key is not None and not result.host_callbacks and not _calls_out(result.module):
            _keys[result.module] = key
        return result

    @functools.wraps(compiled)
    def compile_or_get_cached(backend, computation, devices, given, callbacks, on, profiler=None):
        later = _unlowered.get(computation)
        key = _keys.pop(computation, None) if later is None else later.key
        if key is None or profiler is not None:
            return compiled(backend, _whole(computation), devices, given, callbacks, on, profiler)
        state, own = _state(backend, devices, given), list(given.env_option_overrides)
        if later is not None:
            kept = known.find(key, state)
            if kept is not None:
                given.env_option_overrides = [*own, *((k, v) for k, v in kept["options"])]
                more = (callbacks,) if "host_callbacks" in reads else ()  # JAX 0.12 on
                executable, _ = _compiler._cache_read(kept["file"], kept["file"], given, backend, on, *more)
                if executable is not None:
                    return executable
                given.env_option_overrides = own
            computation = later.module()
            _count(computation, given)
        _asked.key = None
        executable = compiled(backend, computation, devices, given, callbacks, on)
        if _asked.key is not None:
            added = [option for option in given.env_option_overrides if option not in own]
            known.remember(key, state, {"file": _asked.key, "options": added})
        return executable

    _mlir.lower_jaxpr_to_module = lower_jaxpr_to_module
    _compiler.compile_or_get_cached = compile_or_get_cached
    _pxla.MeshComputation.stablehlo = functools.wraps(stablehlo)(lambda self: _whole(stablehlo(self)))


def _calls_out(module):
    """Whether a program calls what is not XLA's own, such as LAPACK, which only its lowering makes ready."""
    found = False

    def see(op):
        nonlocal found
        found = op.name == "stablehlo.custom_call"
        return _ir.WalkResult.INTERRUPT if found else _ir.WalkResult.ADVANCE

    module.operation.walk(see)
    return found


def _whole(module):
    later = _unlowered.get(module)
    return module if later is None else later.module()


def _count(module, options):
    """Set what JAX derives from the number of operations."""
    options.executable_build_options.debug_options.xla_detailed_logging = _compiler.use_detailed_logging(module)


def _state(backend, devices, options):
    """What an executable depends on besides its program, as JAX's own key has it."""
    debug, state = options.executable_build_options.debug_options, hashlib.sha256()
    counted, debug.xla_detailed_logging = debug.xla_detailed_logging, False
    _cache_key._hash_platform(state, backend)
    _cache_key._hash_xla_flags(state, _cache_key.get_flag_prefixes())
    _cache_key._hash_serialized_compile_options(state, options)
    debug.xla_detailed_logging = counted
    _cache_key._hash_accelerator_config(state, devices)
    state.update(_cache_key.custom_hook().encode())
    return state.hexdigest()


def opened_module(artefact):
    """The MLIR module in the bytes of a portable StableHLO artefact."""
    with _mlir.make_ir_context() as context:
        return _hlo.deserialize_portable_artifact(context, artefact)
