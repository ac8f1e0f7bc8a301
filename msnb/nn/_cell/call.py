"""Calls of Cells, as compiled programs or operator by operator, with scope, mixed precision, hooks and bprop."""

import inspect
from typing import Any, ParamSpec, Protocol, TypeVar

import jax

from msnb import context
from msnb.core import script
from msnb.core.errors.cell_path import attribute_name
from msnb.core.errors.data_dependent_shape import runs_eagerly
from msnb.core.jaxpr import partial_trace
from msnb.core.operator import api_generations
from msnb.core.operator.autocast import cast_result, cast_tensor
from msnb.core.program import program_cache
from msnb.core.sharding import constraints
from msnb.core.state import events, interventions, trace_state
from msnb.core.transforms import custom_bprop, recompute
from msnb.core.transforms.recorded_forward import run_recorded
from msnb.nn._cell import deduplication, error_notes, hooks, missing_return
from msnb.nn._cell.fingerprint import INTERNAL, IdentityKey, comparable_form
from msnb.nn._cell.tree import CellTree, scope_name

_subscribers = events.subscribers
_thread = trace_state.thread
_state = context._state
_GRAPH = context.GRAPH_MODE


_Inputs = ParamSpec("_Inputs")
_Output = TypeVar("_Output", covariant=True)


class _Constructs(Protocol[_Inputs, _Output]):
    """A callable with the signature of `construct`, for type checkers."""

    def construct(self, *args: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output: ...


def _dispatch_call(cell, args, kwargs):
    """Run a Cell as `__call__` does, without notifying observers again."""
    if _thread.frame is not None:
        return cell._call_in_trace(args, kwargs)
    if _state.mode == _GRAPH or cell._compile_always:
        return program_cache.call(cell, *cell._graph_call(args, kwargs))
    return cell._run_eagerly(args, kwargs)


def _get_scope_segment(cell):
    """Return the segment of the scope path for a Cell. For the outermost Cell it is the class name."""
    around = events.current()
    while around is not None and around.step is None:
        around = around.around
    return cell._get_scope_under_caller(around.net if around is not None else None)


class CallMixin(CellTree):
    """Base class of `Cell` for calling and compiling. The package `core` calls the methods that begin with an
    underscore."""

    _compile_always = False  # True: compiled in PYNATIVE mode as well, as built-in optimizers are
    _programs = None
    _pipeline_stage = None  # stage of a pipeline, see `nn.PipelineCell`
    _shard_strategies = None  # sharding of inputs and outputs, see core.sharding.constraints
    _recomputed = False  # True if a gradient recomputes the intermediate values
    _may_return_input: bool = False  # True for a Cell of msnb that may return its input, or runs Cells of the user
    _layouts: dict[str, Any] | None = None  # the value assigned to `parameter_layout_dict`

    # ------------------------------------------------------------------ calling
    def __call__(self: _Constructs[_Inputs, _Output], *args: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output:
        try:
            if _subscribers.entered:
                return events.run_with_events(self, _get_scope_segment(self), _dispatch_call, args, kwargs)
            if _thread.frame is not None:
                return self._call_in_trace(args, kwargs)
            if _state.mode == _GRAPH or self._compile_always:
                if kwargs:
                    args, kwargs = self._bind_keywords_to_positions(args, kwargs)
                return program_cache.call(self, None, args, kwargs, type(self).__name__)
            if self.requires_grad:
                return self._run_eagerly(args, kwargs)
            return self._run_with_precision_and_hooks(args, kwargs)
        except Exception as error:
            other = error_notes.tensor_expected_error(self, args, kwargs, error)
            error_notes.add_note(self, args, other or error)
            if other is not None:
                raise other from None
            raise

    def _graph_call(self, args, kwargs):
        """Return (fn, args, kwargs, name, extra) for `program_cache.call`."""
        if kwargs:
            args, kwargs = self._bind_keywords_to_positions(args, kwargs)
        return self._run_in_root_scope, args, kwargs, type(self).__name__, ()

    @runs_eagerly
    def _run_in_root_scope(self, *args, **kwargs):
        """Run this Cell under the scope "Default". This is the root function of a trace."""
        if _thread.frame is None:
            return self._run_with_precision_and_hooks(args, kwargs)
        self.check_names()
        _thread.frame.cells[id(self)] = self
        outer, _thread.cell = _thread.cell, self
        try:
            with jax.named_scope("Default"):
                return self._run_and_attach_partial_trace(args, kwargs)
        finally:
            _thread.cell = outer

    @property
    def parameter_layout_dict(self) -> dict[str, Any]:
        """The layouts of Parameters and arguments in the last program of this Cell. Each name maps to (device matrix,
        tensor map, shape of a slice, 0, True, group). The dict is empty on one device."""
        if self._layouts is not None:
            return self._layouts
        entries = [*self._programs.table.values()] if self._programs else ()
        partitioner = entries[-1][-1].program.spread if entries else None
        return {} if partitioner is None else partitioner.layouts(entries[-1][-1].program)

    @parameter_layout_dict.setter
    def parameter_layout_dict(self, value: dict[str, Any]) -> None:
        self.__dict__["_layouts"] = value

    @property
    def argument_names(self) -> list[str]:
        """Names of construct's parameters. A Cell that wraps a network returns the names of that network."""
        names = program_cache.parameter_names(self.construct)
        if self._holds is not None and names[:1] == ["*inputs"]:
            return getattr(self, self._holds).argument_names
        return names

    def _call_in_trace(self, args, kwargs):
        """Run inside a trace, under a scope named by the attribute of the calling Cell."""
        frame = _thread.frame
        frame.cells[id(self)] = self
        outer, begin = _thread.cell, len(frame.log)
        scope = (
            self._get_scope_under_caller(outer)
            if outer is not None
            else scope_name(self._attr_name, type(self).__name__)
        )
        try:
            _thread.cell = self
            with jax.named_scope(scope):
                out = self._run_and_attach_partial_trace(args, kwargs)
        finally:
            _thread.cell = outer
        if len(frame.log) > begin and not kwargs:
            frame.calls[id(self)] = (self, args, begin, len(frame.log))
        return out

    def _run_and_attach_partial_trace(self, args, kwargs):
        """Run inside a trace. Attach the partial trace to an error, so that a view can draw it."""
        try:
            if _thread.pipeline is not None:
                pipeline_output = _thread.pipeline.catch(self, args, kwargs)
                if pipeline_output is not None:
                    return pipeline_output
            if self._shard_strategies is not None and _thread.spread is not None:
                if kwargs:
                    args, kwargs = self._bind_keywords_to_positions(args, kwargs)
                run = lambda *inputs: self._run_with_interventions(inputs, kwargs)  # noqa: E731
                return constraints.call_constrained(
                    type(self).__name__, self._shard_strategies, run, args, self.parameters_and_names()
                )
            return self._run_with_interventions(args, kwargs)
        except Exception as error:
            partial_trace.record_error(error)
            raise

    def _run_with_interventions(self, args, kwargs):
        if interventions.active:  # equal Cells are traced one by one, because values of one of them may change
            return interventions.run(self, lambda *a, **k: self._run_with_precision_and_hooks(a, k), args, kwargs)
        return deduplication.call(self, args, kwargs)

    def _get_scope_under_caller(self, holder):
        """Return the segment of the scope path for this Cell when it is called by the Cell `holder` (None for the
        outermost call)."""
        return scope_name(attribute_name(holder, self) if holder is not None else "", type(self).__name__)

    def _run_eagerly(self, args, kwargs):
        """Run in PYNATIVE mode. The outermost call of a network in training is recorded for its gradient."""
        if self.requires_grad and self.training and _thread.recording == 0 and _thread.paused is None and not kwargs:
            return run_recorded(self, args, lambda *inputs: self._run_with_precision_and_hooks(inputs, {}))
        return self._run_with_precision_and_hooks(args, kwargs)

    def _run_with_precision_and_hooks(self, args, kwargs):
        """Run `construct` with mixed precision, hooks and custom gradients."""
        # A Cell inside one of the same precision casts its inputs, too: a third one may have computed them in another.
        if self._compute is not None or _thread.compute_dtype is not None:
            return self._run_with_cast_inputs(args, kwargs)
        return self._run_hooks_and_construct(args, kwargs)

    def _run_with_cast_inputs(self, args, kwargs):
        dtype = self._compute
        if dtype is None and _thread.casts_all and _thread.frame is None:
            dtype = _thread.compute_dtype
        casts_all = dtype is not None and self._leaves_casts_to_operators()
        if dtype is not None and not casts_all:
            args = cast_tensor(tuple(args), dtype)
            kwargs = cast_tensor(kwargs, dtype)
        before = _thread.compute_dtype, _thread.casts_all
        # Not a context manager: an interrupt while one exits would leave the dtype set.
        try:
            _thread.compute_dtype, _thread.casts_all = dtype, casts_all
            out = self._run_hooks_and_construct(args, kwargs)
        finally:
            _thread.compute_dtype, _thread.casts_all = before
        return out if _thread.frame is None else cast_result(out, dtype)

    def _leaves_casts_to_operators(self):
        """Return True for a Cell of the user in PYNATIVE mode of MindSpore 2: `to_float` leaves its inputs as they are,
        and the operators of its `construct` cast theirs. Layers of msnb cast their inputs, which is equal for them."""
        return (
            api_generations.shared == 2
            and _thread.frame is None
            and not _thread.runs_as_graph
            and (self._may_return_input or self._holds is not None or not type(self).__module__.startswith("msnb."))
        )

    def _run_hooks_and_construct(self, args, kwargs, hooked=False):
        if self._hooks is not None and not hooked:
            return hooks.run(self, args, kwargs)
        if self._has_bprop is None:
            return self._run_first_call(args, kwargs)
        if self._has_bprop and (_thread.recording or _thread.frame is not None):
            if kwargs:
                args, kwargs = self._bind_keywords_to_positions(args, kwargs)
                if kwargs:  # bprop returns gradients for positional inputs only
                    raise ValueError(
                        f"construct of {type(self).__name__} takes '{next(iter(kwargs))}' by keyword alone, but its "
                        f"bprop gets inputs by position. Make it a positional parameter."
                    )
            return custom_bprop.call_with_bprop(self, args)
        return self._construct(args, kwargs)

    def _run_first_call(self, args, kwargs):
        """Run the first call of this Cell: find out whether it has a bprop, and warn if `construct` lacks a
        `return`."""
        self.__dict__["_has_bprop"] = callable(getattr(self, "bprop", None))
        out = self._run_hooks_and_construct(args, kwargs, hooked=True)
        if out is None:
            missing_return.warn_missing_return(type(self).__name__, self.construct, args)
        return out

    def _construct(self, args, kwargs):
        if _thread.frame is not None:
            if self._recomputed:
                return recompute.call_recomputed(self, args, kwargs)
            return script.call(self.construct)(*args, **kwargs)
        construct = script.call(self.construct) if _thread.runs_as_graph else self.construct
        return construct(*args, **kwargs)

    def _bind_keywords_to_positions(self, args, kwargs):
        """Return (args, kwargs) with keyword arguments moved to their positions in `construct`.

        Raises:
            ValueError: If construct takes one of them by keyword only. r1.1 does not support that.
        """
        bound = inspect.signature(self.construct).bind(*args, **kwargs)
        bound.apply_defaults()
        keyword_only = {name: value for name, value in bound.kwargs.items() if name in kwargs}
        if keyword_only and api_generations.shared == 1:
            raise ValueError(
                f"In GRAPH mode construct of {type(self).__name__} takes positional arguments; "
                f"'{next(iter(keyword_only))}' can only be given by keyword. Make it a positional "
                f"parameter, or run the program with --api 2."
            )
        return bound.args, keyword_only

    def run_construct(self, cast_inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run `construct` with the hooks and the custom gradient of this Cell.

        Args:
            cast_inputs (tuple): The inputs.
            kwargs (dict): The keyword inputs.
        """
        return self._run_hooks_and_construct(cast_inputs, kwargs)

    def compile(self, *inputs: Any) -> None:
        """Trace the graph for these inputs without running it."""
        program_cache.find(self, *self._graph_call(inputs, {}))

    def compile_and_run(self, *inputs: Any) -> Any:
        """Run as a compiled graph, also in PYNATIVE mode."""
        return program_cache.call(self, *self._graph_call(inputs, {}))

    # ------------------------------------------------------------------ validity of compiled programs
    def _fingerprint(self):
        """Return everything that a graph of this Cell, without sub-Cells, depends on. It is comparable by ==."""
        construct = getattr(type(self).construct, "__code__", None)
        attributes = {k: comparable_form(v) for k, v in self._iterate_own_attributes()}
        # INTERNAL omits the stage, so that equal Cells of different stages compare equal, but it changes the program.
        if self._pipeline_stage is not None:
            attributes["pipeline_stage"] = self._pipeline_stage
        return IdentityKey(construct), attributes

    def _iterate_own_attributes(self):
        """Return (name, value) of the attributes that a graph may depend on."""
        return [(k, v) for k, v in self.__dict__.items() if k not in INTERNAL]
