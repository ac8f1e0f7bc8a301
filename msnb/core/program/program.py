"""One traced program of GRAPH mode: a `jax.jit` call over flat lists of arrays.

The arrays of written Parameters are a donated input list and a new output list. The arrays of Parameters that are only
read are a second input list. A call passes these lists without a loop over Parameters, and rebinds the written ones.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from msnb import context, log
from msnb._util import gc_pause
from msnb.core.compat.jax_private import argument_signature, clear_compiled, clear_effect_tokens, remove_debug_callbacks
from msnb.core.eager import tape
from msnb.core.eager.kernel import Kernel
from msnb.core.jaxpr import sown_values
from msnb.core.operator.operator_types import copy_if_aliased
from msnb.core.program import background_compile, persistent_cache
from msnb.core.program.error_report import NO_ERROR
from msnb.core.program.executable import to_identifier
from msnb.core.program.placement import Placement
from msnb.core.program.program_forms import ProgramForms
from msnb.core.program.staging import Staged
from msnb.core.program.tiered_compilation import full_form
from msnb.core.state import deferred_errors, events, random_stream, stop_flag, trace_state
from msnb.core.support import interrupts
from msnb.core.support.weak_identity import weakly
from msnb.core.tensor.parameter_store import ParameterArrays, are_identical, copy_shared
from msnb.core.tensor.tensor import Tensor, box

_subscribers = events.subscribers
_clock = time.perf_counter_ns
_lock = trace_state.donation_lock.lock
_thread = trace_state.thread
_state = context._state
_storage_epoch = trace_state.storage_epoch

context.on_change("mode", lambda _: _storage_epoch.bump() if trace_state.donation_lock.contended else None)
_GRAPH = context.GRAPH_MODE


class Program(Staged):
    """A function traced for one signature of its arguments, ready to run.

    Attributes:
        reason (str): Reason of the compilation.
        calls (int): Number of runs.
        seconds (dict): "trace" and "compile" time; "observed" is the compile time of a form with extra outputs.
    """

    def __init__(
        self,
        name: str,
        root: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        params: Sequence[Any],
        constants: Sequence[int] = (),
    ) -> None:
        self.root: Callable[..., Any] = weakly(root)
        self.seconds: dict[Any, Any] = {}
        self.reason = "first call"
        self.calls: int = 0
        started = time.perf_counter()
        super().__init__(name, fn, args, kwargs, params, constants)
        self.seconds["trace"] = time.perf_counter() - started
        self._must_finish = bool(self.errors) or self.prints
        self._stores = ParameterArrays(self.written, self.read)
        self._placement = Placement(self)
        frozen = [p._get_stored_array() for p in self.read] if getattr(root, "_freezes", False) else None
        self._forms = ProgramForms(self, frozen, self._placement.shardings)
        self._kernel: Kernel | None = None  # the form that runs as one node of the tape
        if self._forms.is_stoppable:
            self.__class__ = _StoppableProgram  # a subclass, so that other programs need no test per call
            # If a run changes Parameters or draws a random number, the call waits until its loops have ended.
            self._must_finish = self._must_finish or self.random or bool(self.written)
        elif self._forms.has_loops:
            self.__class__ = _UnstoppableProgram
        elif self._forms.continues_error:
            self.__class__ = _CheckedProgram
            self._must_finish = self.prints  # a step queues its error code itself

    @property
    def title(self) -> str:
        """Return the name for messages: "train step of LeNet5" for a Cell that defines a title, else `name`."""
        get_title = getattr(type(self.root()), "_title", None)
        return self.name if get_title is None else get_title(self.root())

    @property
    def next_call(self) -> int:
        """Return the number of the next run, from 0. It selects between a quick and a full executable."""
        return self.calls + self._forms.tiers.earlier_calls

    def continue_from(self, call: int) -> None:
        """Let the next run have the number `call`: a training that began in another process goes on."""
        self._forms.continue_from(call, self.calls)

    @property
    def signature(self) -> str:
        """Return a text with the name of the program, and the shapes and dtypes of its arguments."""
        return " ".join([self.name, *(f"{a.dtype}{list(a.shape)}" for a in self._arguments)])

    @property
    def run(self) -> Callable[..., Any]:
        """Return the form that the next call runs."""
        return self._forms.current

    # ------------------------------------------------------------------ running
    def __call__(self, arrays: list[Any]) -> Any:
        """Run on the arrays of the dynamic arguments. Returns boxed results and rebinds written Parameters."""
        if _thread.pending_verdicts:
            self._report_earlier_errors()
        with _lock:
            is_steady = self._forms.steady_epoch == _storage_epoch.value and not _subscribers.ran
            if is_steady:
                rest = [(random_stream.next_number(),), *zip(arrays)] if self.random else zip(arrays)
                outs = self._run_step(self._stores.arrays_read(), rest)
                self.calls += 1
        if not is_steady:
            outs = self._select_form_and_run(arrays)
        if self._must_finish:
            self._finish_run(outs, self.prints)
        results = self.results
        return box(outs[0]) if results.is_single else results.build(map(box, outs))

    def _select_form_and_run(self, arrays):
        """Run the form that observers, threads and the number of the call need. Return its results."""
        start = _clock() if _subscribers.ran else None
        forms, shardings = self._forms, self._placement.shardings
        rest = [(random_stream.next_number(),)] if self.random else []
        if shardings is not None and shardings.calling is None:
            arrays = [
                jax.device_put(a, sharding) for a, sharding in zip(arrays, shardings.rest[len(rest) :], strict=True)
            ]
        rest += [(a,) for a in arrays]
        if forms.frozen is not None:
            self._update_frozen_parameters()
        if forms.is_selective or forms.current is not forms.ready or self._stores.epoch != _storage_epoch.value:
            self._select_and_compile_form()
        with _lock:
            if self._stores.epoch != _storage_epoch.value:
                self._update_form_and_arrays()
            read = self._stores.arrays_read() if forms.frozen is None else []
            before = [p._get_stored_array() for p in self.written] if forms.receivers else None
            is_first, call = not self.calls, self.calls + forms.tiers.earlier_calls
            outs = (
                self._run_step(read, rest)
                if forms.current is forms.ready
                else interrupts.uninterruptible(lambda: self._run_first_step(read, rest))
            )
            self.calls += 1
            if before is not None:
                inputs = forms.inputs_of(before, read, [r[0] for r in rest])
                after = [p._get_stored_array() for p in self.written]
            is_steady = forms.is_steady() and shardings is None and not self.sown
            forms.steady_epoch = self._stores.epoch if is_steady else -1
        if start is not None:
            events.notify("ran", self, arrays, outs[: self.results.count], start, _clock())
        if is_first:
            events.notify("compiled", self)
        if before is not None:
            outs = forms.send_to_observers(self, call, inputs, after, outs)
        if self.sown:
            sown_values.deliver(self.sown, outs[self.results.count :])
        return outs

    def _report_earlier_errors(self):
        deferred_errors.poll(finishes_loops=not self._forms.is_stoppable)

    def _run_step(self, read, rest, outcome=None):
        """Run the current form and rebind the written Parameters. Return the results and extra outputs.

        The outputs of the form are appended to the list `outcome`, even if an interrupt follows.
        """
        run = self._forms.current
        if not self.written and outcome is None:
            return run([], read, *[r[0] for r in rest])[1]
        # `extend` runs in C: if an interrupt arrives, the list has either all old arrays or all new ones.
        store = self._stores.shared
        if store is not None and outcome is None:
            results = store.results
            arrays = results[-1][0]
            if _state.mode != _GRAPH and full_form(run) is self._forms.own:
                arrays = copy_shared(arrays)
            results.extend(map(run, (arrays,), (read,), *rest))
            outs = results[-1][1]  # type: ignore[misc] - a finished step is (arrays, results)
            results.append((results[-1][0],))
            return outs
        arrays = copy_shared([p._get_stored_array() for p in self.written], 1) if self.written else []
        outcome = [] if outcome is None else outcome
        try:
            outcome.extend(map(run, (arrays,), (read,), *rest))
        finally:
            for new, _ in outcome:
                self._stores.replace(new)
        return outcome[0][1]

    def _update_frozen_parameters(self):
        """Update the Parameters that are constants; if one has changed, XLA compiles again, which is logged."""
        arrays = [p._get_stored_array() for p in self.read]
        if not are_identical(arrays, self._forms.frozen):
            self._forms.freeze(arrays)
            self._stores.epoch = -1
            log.once(f"{self.title} is frozen, and its weights have changed: it is compiled anew each time they do.")

    def _select_and_compile_form(self):
        """Select the form that observers and threads need now, and compile it if it has not run yet."""
        with _lock:
            if self._stores.epoch != _storage_epoch.value:
                self._update_form_and_arrays()
        if self._forms.is_selective:
            self._forms.select_for_run(self)
            if self._forms.tiers.compiles_full(self.next_call):
                background_compile.start(self, full_form(self._forms.current), self._describe_form_arguments())
        if self._forms.current is not self._forms.ready:
            self._compile_form()

    def _compile_form(self):
        """Compile the current form for its current arguments."""
        started = time.perf_counter()
        form = self._forms.current
        try:
            background_compile.compile_ahead(self, form, self._describe_form_arguments())
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt):
                clear_compiled(form, error)
            raise
        is_observed = bool(self._forms.receivers) and full_form(form) is not self._forms.own
        self.seconds.setdefault("observed" if is_observed else "compile", time.perf_counter() - started)

    @gc_pause.without_gc
    def _run_first_step(self, read, rest):
        """Run the first step, in which the program compiles. If it fails, discard the compiled function."""
        form, arguments = self._forms.current, self._describe_current_arguments()
        try:
            with persistent_cache.compiling(self.jaxpr.jaxpr):
                outs = self._run_step(read, rest)
        except BaseException as error:
            clear_compiled(self._forms.current, error)
            raise
        self._forms.compiled = form, arguments
        # If XLA has moved Parameters, the next call has other arguments and compiles for them.
        if self._describe_current_arguments() == arguments:
            self._forms.ready = form
        return outs

    def _finish_run(self, outs, prints):
        """Wait for loops that may be stopped and for prints, and check the error code, the last result."""
        if self._forms.is_stoppable:
            deferred_errors.poll(finishes_loops=True)
        if prints:
            try:
                jax.effects_barrier()
            except BaseException:
                clear_effect_tokens()
                raise
        if self.errors:
            self.errors.report(outs[self.results.count - 1])

    def _update_form_and_arrays(self):
        """Select the form that observers and threads need now, and look up the arrays of Parameters."""
        self._forms.select(self)
        self._stores.find()
        if self.spread is not None:
            self._placement.place_parameters(self.written, self.read)
        self._stores.epoch = _storage_epoch.value

    def run_recorded(self, arrays: list[Any], boxes: list[Any]) -> Any:
        """Run as one node of the tape: PYNATIVE mode under a gradient. `boxes` hold the `arrays`."""
        if self._kernel is None:
            self._kernel = self._make_kernel_from_form(self._forms.flatten([self.calling]))
            if self.calling.effects:
                quiet = self.calling.replace(jaxpr=remove_debug_callbacks(self.calling.jaxpr))
                self._kernel.quiet = self._make_kernel_from_form(self._forms.flatten([quiet]))
        number = [random_stream.next_number()] if self.random else []
        boxes = self.params + [None] * len(number) + boxes
        with _lock:
            values = [p._array for p in self.params] + number + list(arrays)
            outs = [box(copy_if_aliased(o, values)) for o in self._kernel.call(*values)]
        self.calls += 1
        tape.record(self._kernel, [b._node if isinstance(b, Tensor) else None for b in boxes], values, outs)
        for p, new in zip(self.written, outs[self.results.count :]):
            p._rebind_array(new._array)
            p._node = new._node
        if self._must_finish or self.errors or self.sown:
            self._finish_run([out._array for out in outs], bool(self.calling.effects))
        return self.results.build(outs)

    def _make_kernel_from_form(self, form):
        """Return `form` as a kernel of Parameters, random number and arguments."""
        count, use_random = len(self.params), self.random
        integers = [index for index, aval in enumerate(self.jaxpr.in_avals) if aval.dtype.kind in "iu"]

        def fn(*args):
            # A gradient with respect to integers tries real numbers, but the graph is traced for the integers.
            if any(jax.dtypes.result_type(args[index]).kind not in "iu" for index in integers):
                raise TypeError(f"{self.name} was traced for integers.")
            params, rest = args[:count], args[count:]
            extra, values = (rest[:1], rest[1:]) if use_random else ((), rest)
            new, outs = form(params, extra, values)
            return tuple(outs) + tuple(new)

        kernel = Kernel(to_identifier(self.name), fn)
        shardings = self._placement.shardings
        if shardings is not None and shardings.bring is None:
            kernel.join()
        elif self._forms.is_stoppable:
            kernel.make_stoppable()
        return kernel

    def control_arguments(self) -> list[Any]:
        """Return the arguments of `run` that are no inputs of the graph; see `ProgramForms`."""
        return self._forms.control_arguments()

    def apply_settings(self) -> None:
        """Set the attributes of Cells that `construct` sets in Python."""
        for cell, name, value in self.settings:
            if vars(cell).get(name, trace_state.ABSENT) is not value:
                setattr(cell, name, value)

    # ------------------------------------------------------------------ inspection
    def example_arguments(self) -> Any:
        """Return shapes, dtypes and shardings of the arguments of the last run, or of a first call."""
        return self._find_form_to_inspect()[1]

    def _find_form_to_inspect(self):
        """Return (form, its arguments) of the last run, or of the first call if there was none."""
        # The current arguments are described, because Parameters may have moved to other devices since compilation.
        forms = self._forms
        if forms.ready is not None:
            return full_form(forms.ready), self._describe_current_arguments()
        form, arguments = forms.compiled or (forms.own, self._describe_current_arguments())
        return full_form(form), arguments

    def _describe_form_arguments(self):
        """Return shapes, dtypes and shardings of the arguments of a form, the stop flag included."""
        flag = [argument_signature(stop_flag.array_on(self._forms.device))] if self._forms.is_stoppable else []
        return *self._describe_current_arguments(), *flag

    def _describe_current_arguments(self):
        """Return shapes, dtypes and shardings of the arguments that a call passes now."""
        passed = self.read if self._forms.frozen is None else []
        written, read = ([p._get_argument_signature() for p in params] for params in (self.written, passed))
        number = [argument_signature(0)] if self.random else []
        described = written, read, *number, *self._arguments
        if not self._forms.continues_error:
            return described
        sharding = next((a.sharding for a in jax.tree.leaves(described) if a.sharding is not None), None)
        return *described, jax.ShapeDtypeStruct(NO_ERROR.shape, NO_ERROR.dtype, sharding=sharding)

    def lowered(self, with_stop_flag: bool = False) -> Any:
        """Return the program that ran last, or the one that will run, as StableHLO (`jax.stages.Lowered`).

        Args:
            with_stop_flag (bool): True for the form that runs. If its loops can be stopped, it has the stop flag as an
                additional input; False gives the same program without the flag. Default: False.
        """
        form, arguments = self._find_form_to_inspect()
        if self._forms.is_stoppable:
            if with_stop_flag:
                arguments = (*arguments, *self._describe_form_arguments()[len(arguments) :])
            else:
                form = self._forms.without_stop_flag()
        with jax.default_device(self.device):
            return form.lower(*arguments)

    def compiled(self, with_stop_flag: bool = False) -> Any:
        """Return the optimized program (`jax.stages.Compiled`): the executable that ran, if it has run.

        Args:
            with_stop_flag (bool): As for `lowered`. Default: False.
        """
        lowered = self.lowered(with_stop_flag)
        with jax.default_device(self.device), persistent_cache.compiling(self.jaxpr.jaxpr):
            return lowered.compile()

    def repeat_run(self, inputs: list[Any], call: int) -> list[Any]:
        """Return the outputs for `inputs`, both in the order of `jaxpr`, without effects; see `ProgramForms`."""
        return self._forms.repeat_run(inputs, call)

    def memory(self) -> dict[str, int] | None:
        """Return the memory of a run in bytes: ``{"arguments": ..., "results": ..., "temporary": ...}``.

        A donated argument counts as a result only. Returns None if the backend has no such statistics. Compiles the
        program if it has not run yet.
        """
        stats = self.compiled(with_stop_flag=True).memory_analysis()
        if stats is None:
            return None
        return {
            "arguments": stats.argument_size_in_bytes - stats.alias_size_in_bytes,
            "results": stats.output_size_in_bytes,
            "temporary": stats.temp_size_in_bytes,
        }

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.jaxpr.jaxpr.eqns)} nodes, {len(self.params)} Parameters>"


_RUNS_PER_READ = 64  # a read waits for the device and takes as long as a fifth of a small run


class _CheckedProgram(Program):
    """A program with checks of data that writes Parameters. The error code of a run is the input of the next one: after
    an error, no run writes a Parameter until the error has been raised.
    """

    def _report_earlier_errors(self):
        pending = _thread.pending_verdicts
        if self.calls and not self.calls % _RUNS_PER_READ:
            deferred_errors.wait_and_report()
        elif len(pending) > 1 or pending[0][1] is not self.errors:
            super()._report_earlier_errors()

    def _run_step(self, read, rest, outcome=None):
        report, pending = self.errors, _thread.pending_verdicts
        assert report is not None
        is_only = len(pending) == 1 and pending[0][1] is report
        earlier = pending.pop()[0] if is_only else deferred_errors.take_result_of(report)
        code = self._make_first_code() if earlier is None else earlier
        try:
            outs = Program._run_step(self, read, [*rest, (code,)], outcome)
        except BaseException:
            if earlier is not None and not earlier.is_deleted():
                deferred_errors.defer(earlier, report)
            raise
        deferred_errors.defer(outs[self.results.count - 1], report)
        return outs

    def _make_first_code(self):
        """Return the error code of a run that follows no other one: 0."""
        assert self.errors is not None
        code, self.errors.unused_code = self.errors.unused_code, None
        if code is None:
            code = jax.device_put(NO_ERROR, self._describe_current_arguments()[-1].sharding)
        return code


class _StoppableProgram(Program):
    """A program with loops that a Ctrl-C ends; its Parameters then keep their values."""

    def _run_step(self, read, rest, outcome=None):
        outcome = []
        arguments = [*rest, (stop_flag.array_on(self._forms.device),)]
        number = rest[0][0] if self.random else None

        def run():
            try:
                Program._run_step(self, read, arguments, outcome)
            finally:  # needed even if an interrupt arrives after the start
                for _, (*results, verdict) in outcome:
                    if not verdict.is_ready() or stop_flag.may_have_stopped():  # otherwise the program has completed
                        deferred_errors.defer(verdict, stop_flag.Results(results, number))

        stop_flag.run(run)  # XLA may run a short program synchronously
        if self.sown or self._forms.receivers:  # observers must not read results that may be discarded
            deferred_errors.poll(finishes_loops=True)
        return outcome[0][1]


class _UnstoppableProgram(Program):
    """A program with loops that cannot be stopped.

    If a Ctrl-C arrives while the main thread waits for a result, a message says that the loops go on.
    """

    def _run_step(self, read, rest, outcome=None):
        outs = stop_flag.run(lambda: Program._run_step(self, read, rest), self.title)  # a GPU may run loops at once
        if outs and threading.current_thread() is threading.main_thread():
            deferred_errors.defer(outs[0], stop_flag.Results((), running=self.title))
        return outs
