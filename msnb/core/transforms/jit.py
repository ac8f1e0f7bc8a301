"""`ms_function` / `jit`: a Python function that runs as a compiled graph in both modes."""

import functools
import types
from collections.abc import Callable
from typing import Any

import jax

from msnb import log
from msnb._util.placeholders import derivable
from msnb.core import script
from msnb.core.compat.jax_private import live_arrays
from msnb.core.eager import no_grad
from msnb.core.errors.data_dependent_shape import DataDependentShape, ValueNeeded, report_eager_run, runs_eagerly
from msnb.core.errors.messages import describe
from msnb.core.program import program_cache
from msnb.core.state import deferred_errors, events, interventions, trace_state
from msnb.core.support.unknown_shape import UnknownShape
from msnb.core.support.weak_identity import ObjectKey
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.tensor import Tensor

_thread = trace_state.thread
_subscribers = events.subscribers


def _call_jitted(jitted, args, kwargs):
    """Call a `JitFunction`, and notify listeners of the call."""
    if _thread.frame is not None:
        return jitted._run_traced(args, kwargs)
    return program_cache.call(jitted, *jitted._graph_call(args, kwargs))


class JitFunction:
    """A compiled function, returned by `ms_function` and `jit`.

    Args:
        fn (Callable): The function, or the plain function of a method.
        input_signature (tuple): Tensors or MetaTensors that the arguments must match; None for no check.
    """

    _programs = None

    def __init__(self, fn: Callable[..., Any], input_signature: tuple[Any, ...] | None = None) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.name: Any = _get_function_name(fn)
        self.input_signature: tuple[Tensor | MetaTensor, ...] | None = _to_signature_tuple(input_signature)
        self.key: ObjectKey = ObjectKey(fn)
        self._programs = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _subscribers.entered:
            return events.run_with_events(self, None, _call_jitted, args, kwargs)
        if _thread.frame is not None:
            return self._run_traced(args, kwargs)
        return program_cache.call(self, *self._graph_call(args, kwargs))

    def _run_traced(self, args, kwargs):
        return interventions.run(self, script.call(self.fn), args, kwargs)

    def _graph_call(self, args, kwargs):
        """Return (fn, args, kwargs, name, extra) for `program_cache`."""
        if self.input_signature is not None:
            self._check_input_signature(args)
        return self._run_in_root_scope, args, kwargs, self.name, ()

    @runs_eagerly
    def _run_in_root_scope(self, *args, **kwargs):
        if _thread.frame is None:
            fn = script.call(self.fn) if _thread.runs_as_graph else self.fn
            return fn(*args, **kwargs)
        with jax.named_scope("Default"):
            return self._run_traced(args, kwargs)

    @property
    def argument_names(self) -> list[str]:
        """Names of the function's parameters."""
        return program_cache.parameter_names(self.fn)

    def _check_input_signature(self, args):
        expected = self.input_signature or ()
        if len(args) != len(expected):
            raise ValueError(
                f"{self.name} has an input_signature of {len(expected)} inputs, but was called with {len(args)}."
            )
        for i, (arg, spec) in enumerate(zip(args, expected)):
            if not isinstance(arg, Tensor) or not _shape_matches(arg.shape, spec) or arg.dtype != spec.dtype:
                raise ValueError(
                    f"Input {i} of {self.name} should be Tensor[{spec.dtype}]{tuple(spec.shape)} "
                    f"by its input_signature, but got {describe(arg)}."
                )

    def __get__(self, instance: Any, owner: type | None = None) -> "JitFunction | BoundJit":
        if instance is None:
            return self
        return BoundJit(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {self.fn!r}>"


def _shape_matches(shape, spec):
    """Return True if a shape matches a Tensor or MetaTensor, whose axes may be unknown."""
    array = getattr(spec, "_array", None)
    return array.fits(shape) if isinstance(array, UnknownShape) else shape == tuple(spec.shape)


class BoundJit:
    """A compiled method, bound to its object."""

    def __init__(self, jitted: JitFunction, instance: Any) -> None:
        self._jitted, self._instance = jitted, instance
        self.fn = types.MethodType(jitted.fn, instance)
        self.__name__: Any = jitted.name

    @property
    def __self__(self) -> Any:
        return self._instance

    @property
    def __func__(self) -> Callable[..., Any]:
        return self._jitted.fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _thread.frame is not None:
            return script.call(self.fn)(*args, **kwargs)
        if self._jitted.input_signature is not None:
            self._jitted._check_input_signature(args)
        return program_cache.call(
            self._instance, self._run_in_root_scope, args, kwargs, self.__name__, (self._jitted.key,)
        )

    @runs_eagerly
    def _run_in_root_scope(self, *args, **kwargs):
        if _thread.frame is None:
            fn = script.call(self.fn) if _thread.runs_as_graph else self.fn
            return fn(*args, **kwargs)
        outer_cell = _thread.cell
        try:
            _thread.cell = self._instance if hasattr(self._instance, "_cells") else None
            with jax.named_scope("Default"):
                return script.call(self.fn)(*args, **kwargs)
        finally:
            _thread.cell = outer_cell


def _get_function_name(fn):
    """Return the name of a function, of the function in a `functools.partial`, or of the class of another callable."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__name__", type(fn).__name__)


def _to_signature_tuple(signature):
    if signature is None:
        return None
    if isinstance(signature, (Tensor, MetaTensor)):
        signature = (signature,)
    signature = tuple(signature)
    for item in signature:
        if not isinstance(item, (Tensor, MetaTensor)):
            raise TypeError(f"'input_signature' should hold Tensors or MetaTensors, but got {describe(item)}.")
    return signature


def ms_function(fn: Callable[..., Any] | None = None, obj: object = None, input_signature: Any = None) -> Any:
    """Compile a Python function or method into one graph. Works in both modes, also as a decorator.

    Args:
        fn (Callable): The function. Default: None, returns a decorator.
        obj (object): Accepted for MindSpore's interface; the object of a method is known from the call.
        input_signature (Union[Tensor, MetaTensor, tuple]): Required shapes and dtypes of the inputs. Default: None.

    Returns:
        Callable that runs the compiled graph.

    Raises:
        TypeError: If `fn` is not callable.

    Examples:
        >>> @ms_function
        ... def cube(x):
        ...     return x * x * x
        >>> print(cube(Tensor(2, mindspore.float32)))
        8.0
    """
    if fn is None:
        return functools.partial(ms_function, obj=obj, input_signature=input_signature)
    if isinstance(fn, (JitFunction, BoundJit)):
        return fn
    if not callable(fn):
        raise TypeError(f"For 'ms_function', 'fn' should be callable, but got {describe(fn)}.")
    if hasattr(fn, "_graph_call"):  # a Cell
        return _CompiledCell(fn)
    if isinstance(fn, types.MethodType):
        return BoundJit(JitFunction(fn.__func__, input_signature), fn.__self__)
    return JitFunction(fn, input_signature)


class _CompiledCell:
    """A Cell that runs compiled in both modes."""

    def __init__(self, cell):
        self.cell = cell
        self.__wrapped__ = cell

    def __call__(self, *args, **kwargs):
        if _thread.frame is not None:
            return self.cell(*args, **kwargs)
        return program_cache.call(self.cell, *self.cell._graph_call(args, kwargs))

    def __getattr__(self, name):
        return getattr(self.__dict__["cell"], name)


def jit(
    fn: Callable[..., Any] | None = None,
    input_signature: Any = None,
    hash_args: object = None,
    jit_config: object = None,
    mode: str = "PSJit",
    *,
    function: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Compile a function; MindSpore 2's name of `ms_function`.

    Args:
        fn (Callable): The function. Default: None, returns a decorator.
        input_signature (Union[Tensor, tuple]): See `ms_function`.
        hash_args (object): Part of MindSpore's cache key; has no effect here, because guards check values that a graph
            has read.
        jit_config (object): Settings of MindSpore's backends; has no effect here.
        mode (str): MindSpore's front end; has no effect here.
        function (Callable): Name of `fn` in MindSpore 2.5 and newer. Default: None.
        kwargs: Further settings of MindSpore's compiler, without effect here.
    """
    if hash_args is not None or jit_config is not None or mode != "PSJit" or kwargs:
        log.once("jit(hash_args, jit_config, ...) have no effect: XLA compiles the whole function.")
    fn = function if fn is None else fn
    if fn is None:
        return functools.partial(ms_function, input_signature=input_signature)
    return ms_function(fn, input_signature=input_signature)


def _find_last_program(obj):
    """Return the last program of `obj`."""
    programs = [*program_cache.programs_of(obj).table.values()]
    if not programs:
        raise RuntimeError(f"There is no program of {type(obj).__name__} yet: call it, or compile it, first.")
    return programs[-1][-1].program


class _Executor:
    """r1.1's interface to trace a Cell without running it, or to run it as a graph in both modes."""

    def __call__(self, obj, *args, phase="predict"):
        return obj.compile_and_run(*args)

    @staticmethod
    def compile(obj, *args, phase="predict", do_convert=True, auto_parallel_mode=False):
        """Trace the graph of `obj` for these inputs. Return (phase, True if it was compiled).

        Strategies are checked for the number of devices in the context, even if the devices do not exist. If a shape
        depends on values, the call runs eagerly: nothing is compiled, and a message is logged. With
        `auto_parallel_mode` the layouts of the Parameters and arguments are stored in the Cell's
        `parameter_layout_dict`.

        Raises:
            RuntimeError: If a strategy does not fit, or a Parameter has two different layouts.
        """
        log.unused("_executor.compile", "there is no other engine to convert for", do_convert=not do_convert)
        try:
            program = program_cache.program_of(obj, *args)
        except (DataDependentShape, ValueNeeded) as error:
            if not program_cache.can_replace_program(error, getattr(obj, "_run_in_root_scope", obj)):
                raise
            report_eager_run(type(obj).__name__, error)
            return phase, False
        layouts = {} if program.spread is None else program.spread.layouts(program)
        if auto_parallel_mode:
            obj.parameter_layout_dict = layouts
        return phase, True

    @staticmethod
    def _get_shard_strategy(obj):
        """Return the strategies of the operators in the last program of `obj`: {name: [[shards of each axis], ...]}.

        In "auto_parallel" mode these are the strategies that the search has chosen.

        Raises:
            RuntimeError: If it has not been compiled.
        """
        program = _find_last_program(obj)
        return {} if program.spread is None else program.spread.shards(program)

    @staticmethod
    def _get_num_parallel_ops(obj):
        """Return the number of operators in the last program of `obj` for which "auto_parallel" mode searched
        strategies.

        Operators of equal Cells in a CellList count once, and an input that several operators read counts as one. In
        other modes the result is 0.

        Raises:
            RuntimeError: If it has not been compiled.
        """
        program = _find_last_program(obj)
        return 0 if program.spread is None else program.spread.operators(program)

    @staticmethod
    def _get_allreduce_fusion(obj):
        """Return the fusion group of each Parameter's gradient: {}, because XLA fuses communication when it compiles.

        Raises:
            RuntimeError: If `obj` has not been compiled.
        """
        _find_last_program(obj)
        log.once(
            "_get_allreduce_fusion: there are no groups of Parameters, XLA joins communication as it compiles; "
            "msnb.parallel.communication_of says what is sent."
        )
        return {}


_executor = _Executor()


class _PynativeExecutor:
    """MindSpore's interface to the operators of PYNATIVE mode: waits for them, and switches their recording."""

    enable_grad = staticmethod(no_grad.is_grad_enabled)
    set_enable_grad = staticmethod(no_grad.enable_grad)

    def sync(self):
        """Wait until all arrays are computed."""
        deferred_errors.poll(finishes_loops=True)
        jax.block_until_ready([array for array in live_arrays() if not array.is_deleted()])


_pynative_executor = _PynativeExecutor()
_MindsporeFunctionExecutor = derivable(  # libraries for MindSpore 1.8 to 2.0 derive from it
    "_MindsporeFunctionExecutor", "mindspore.common.api", "mindspore.jit compiles a function and returns one"
)


program_cache.set_jit_decorator(jit)
