"""A Cell as it runs: compiled or operator by operator, under its scope, with mixed precision, hooks and bprop."""

import inspect
from typing import Any, ParamSpec, Protocol, TypeVar

import jax

from msnb import context
from msnb.core import script
from msnb.core.errors.cell_path import attribute_name
from msnb.core.errors.data_dependent_shape import runs_eagerly
from msnb.core.jaxpr import partial_trace
from msnb.core.operator import api_generations
from msnb.core.operator.autocast import cast_tensor, leaving
from msnb.core.program import program_cache
from msnb.core.sharding import constraints
from msnb.core.state import events, trace_state
from msnb.core.transforms import custom_bprop, recompute
from msnb.nn._cell import deduplication, error_notes, hooks, missing_return
from msnb.nn._cell.fingerprint import INTERNAL, IdentityKey, comparable_form
from msnb.nn._cell.tree import scope_name

_asked = events.asked
_thread = trace_state.thread
_state = context._state
_GRAPH = context.GRAPH_MODE


_Inputs = ParamSpec("_Inputs")
_Output = TypeVar("_Output", covariant=True)


class _Constructs(Protocol[_Inputs, _Output]):
    """What a type checker has to know of a Cell: a call takes and gives what `construct` does."""

    def construct(self, *args: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output: ...


def _dispatch_call(cell, args, kwargs):
    """What `__call__` does once who listens is told."""
    if _thread.frame is not None:
        return cell._traced_call(args, kwargs)
    if _state.mode == _GRAPH or cell._compile_always:
        return program_cache.call(cell, *cell._graph_call(args, kwargs))
    return cell._run(args, kwargs)


def _scope_segment(cell):
    """Part of the scope path that a Cell is; the outermost one goes by its class."""
    around = events.current()
    while around is not None and around.step is None:
        around = around.around
    return cell._scope_in(around.net if around is not None else None)


class CallMixin:
    """A Cell as something to call; `msnb.nn.Cell` is this, `Tree`, and its settings."""

    _compile_always = False  # compiled at top level in PYNATIVE mode as well; built-in optimizers are
    _programs = None
    _pipeline_stage = None  # of a pipeline
    _shard_strategies = None  # how what goes in and out lies on devices, see core.holding
    _recomputed = False  # whether a gradient computes what is inside again
    _layouts: dict[str, Any] | None = None  # what `parameter_layout_dict` was set to

    # ------------------------------------------------------------------ calling
    def __call__(self: _Constructs[_Inputs, _Output], *args: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output:
        try:
            if _asked.entered:
                return events.called(self, _scope_segment(self), _dispatch_call, args, kwargs)
            if _thread.frame is not None:
                return self._traced_call(args, kwargs)
            if _state.mode == _GRAPH or self._compile_always:
                return program_cache.call(self, *self._graph_call(args, kwargs))
            return self._run(args, kwargs)
        except Exception as error:
            other = error_notes.tensor_expected_error(self, args, kwargs, error)
            error_notes.add_note(self, args, other or error)
            if other is not None:
                raise other from None
            raise

    def _graph_call(self, args, kwargs):
        """(fn, args, kwargs, name, extra) for core.compile."""
        if kwargs:
            args, kwargs = self._positional(args, kwargs)
        return self._trace_root, args, kwargs, type(self).__name__, ()

    @runs_eagerly
    def _trace_root(self, *args, **kwargs):
        """What is traced for a whole program: this Cell under the scope "Default"."""
        if _thread.frame is None:
            return self._run(args, kwargs)
        self.check_names()
        _thread.frame.cells[id(self)] = self
        outer, _thread.cell = _thread.cell, self
        try:
            with jax.named_scope("Default"):
                return self._run_noted(args, kwargs)
        finally:
            _thread.cell = outer

    @property
    def parameter_layout_dict(self) -> dict[str, Any]:
        """How Parameters and arguments lie on the devices by the program that this Cell was compiled to last: for each
        name (device matrix, tensor map, shape of a slice, 0, True, group); {} where one device computes all."""
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
        """Names of construct's parameters; a Cell around a network passes them on to what that one calls them."""
        names = program_cache.parameter_names(self.construct)
        if self._holds is not None and names[:1] == ["*inputs"]:
            return getattr(self, self._holds).argument_names
        return names

    def _traced_call(self, args, kwargs):
        """Within a graph: under a scope named after where the calling Cell holds this one."""
        _thread.frame.cells[id(self)] = self
        outer = _thread.cell
        scope = self._scope_in(outer) if outer is not None else scope_name(self._attr_name, type(self).__name__)
        try:
            _thread.cell = self
            with jax.named_scope(scope):
                return self._run_noted(args, kwargs)
        finally:
            _thread.cell = outer

    def _run_noted(self, args, kwargs):
        """What a graph gets of `construct`; an error remembers that it passed by here."""
        try:
            if _thread.pipeline is not None:
                pipeline_output = _thread.pipeline.catch(self, args, kwargs)
                if pipeline_output is not None:
                    return pipeline_output
            if self._shard_strategies is not None and _thread.spread is not None:
                if kwargs:
                    args, kwargs = self._positional(args, kwargs)
                run = lambda *inputs: deduplication.call(self, inputs, kwargs)  # noqa: E731 - named for the line below
                return constraints.call(
                    type(self).__name__, self._shard_strategies, run, args, self.parameters_and_names()
                )
            return deduplication.call(self, args, kwargs)
        except Exception as error:
            partial_trace.note(error)
            raise

    def _scope_in(self, holder):
        """Segment of the scope path that this Cell is where the Cell `holder` calls it; None for an outermost one."""
        return scope_name(attribute_name(holder, self) if holder is not None else "", type(self).__name__)

    def _run(self, args, kwargs):
        """`construct` with mixed precision, hooks and custom gradients around it."""
        if self._compute is not _thread.compute_dtype:
            return self._run_cast(args, kwargs)
        return self._run_plain(args, kwargs)

    def _run_cast(self, args, kwargs):
        dtype = self._compute
        if dtype is not None:
            args = cast_tensor(tuple(args), dtype)
            kwargs = cast_tensor(kwargs, dtype)
        before = _thread.compute_dtype
        try:  # not a context manager: a Stop on the way out of one would leave it set
            _thread.compute_dtype = dtype
            out = self._run_plain(args, kwargs)
        finally:
            _thread.compute_dtype = before
        return out if _thread.frame is None else leaving(out, dtype)

    def _run_plain(self, args, kwargs, hooked=False):
        if self._hooks is not None and not hooked:
            return hooks.run(self, args, kwargs)
        if self._has_bprop is None:  # the first call
            missing_return.check(type(self).__name__, self.construct, args)
            self.__dict__["_has_bprop"] = callable(getattr(self, "bprop", None))
        if self._has_bprop and (_thread.recording or _thread.frame is not None):
            if kwargs:
                args, kwargs = self._positional(args, kwargs)
                if kwargs:  # no gradient would belong to it
                    raise ValueError(
                        f"construct of {type(self).__name__} takes '{next(iter(kwargs))}' by keyword alone, but its "
                        f"bprop gets inputs by position. Make it a positional parameter."
                    )
            return custom_bprop.call_with_bprop(self, args)
        return self._construct(args, kwargs)

    def _construct(self, args, kwargs):
        if _thread.frame is not None:
            if self._recomputed:
                return recompute.call(self, args, kwargs)
            return script.call(self.construct)(*args, **kwargs)
        return self.construct(*args, **kwargs)

    def _positional(self, args, kwargs):
        """(args, kwargs) with keyword arguments moved to the positions that construct gives them.

        Raises:
            ValueError: If construct takes one of them by keyword only, which r1.1 has not.
        """
        bound = inspect.signature(self.construct).bind(*args, **kwargs)
        bound.apply_defaults()
        keyword_only = {name: value for name, value in bound.kwargs.items() if name in kwargs}
        if keyword_only and api_generations.shared == 1:
            raise ValueError(
                f"In GRAPH mode construct of {type(self).__name__} takes positional arguments; '{next(iter(keyword_only))}' "
                f"can only be given by keyword. Make it a positional parameter, or run the program with --api 2."
            )
        return bound.args, keyword_only

    def run_construct(self, cast_inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `construct` gives for these inputs, with hooks and gradients of the Cell's own around it.

        Args:
            cast_inputs (tuple): The inputs.
            kwargs (dict): Those by name.
        """
        return self._run_plain(cast_inputs, kwargs)

    def compile(self, *inputs: Any) -> None:
        """Trace the graph for these inputs without running it."""
        program_cache.find(self, *self._graph_call(inputs, {}))

    def compile_and_run(self, *inputs: Any) -> Any:
        """Run as a compiled graph whatever the mode is."""
        return program_cache.call(self, *self._graph_call(inputs, {}))

    # ------------------------------------------------------------------ does a compiled program still fit?
    def _fingerprint(self):
        """What a graph of this Cell alone (not its sub-Cells) depends on, comparable by ==."""
        construct = getattr(type(self).construct, "__code__", None)
        attributes = {k: comparable_form(v) for k, v in self._own_attributes()}
        if self._pipeline_stage is not None:  # in no likeness of Cells, but part of this
            attributes["pipeline_stage"] = self._pipeline_stage
        return IdentityKey(construct), attributes

    def _own_attributes(self):
        """(name, value) of the attributes that a graph may depend on."""
        return [(k, v) for k, v in self.__dict__.items() if k not in INTERNAL]
