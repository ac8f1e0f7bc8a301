"""One traced program of GRAPH mode: a `jax.jit` call over flat lists of arrays.

Written Parameters are a donated input list and a new output list. Parameters that are only read are a second input
list. A call passes these lists without looking at any Parameter, and rebinds the written ones.
"""

import copy
import functools
import itertools
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from msnb import context, log
from msnb._util import gc_pause
from msnb.core.compat.jax_private import argument_signature, clear_compiled, clear_effect_tokens, remove_debug_callbacks
from msnb.core.eager import tape
from msnb.core.eager.kernel import Kernel
from msnb.core.errors.messages import format_location as format_location
from msnb.core.errors.messages import raise_at
from msnb.core.jaxpr import sown_values
from msnb.core.operator.operator_types import copy_if_aliased
from msnb.core.operator.value_checks import Finding
from msnb.core.program import background_compile, extra_outputs, persistent_cache
from msnb.core.program.executable import flatten_call, jit_call, to_identifier, undonated_indices
from msnb.core.program.staging import Staged
from msnb.core.state import deferred_errors, events, random_stream, trace_state
from msnb.core.support import interrupts
from msnb.core.support.weak_identity import weakly
from msnb.core.tensor.parameter_store import ParameterArrays, are_identical, copy_shared
from msnb.core.tensor.tensor import Tensor, box

_listeners = events.subscribers
_clock = time.perf_counter_ns
_lock = trace_state.donation_lock.lock
_thread = trace_state.thread
_state = context._state
_storage_epoch = trace_state.storage_epoch

context.on_change("mode", lambda _: _storage_epoch.bump() if trace_state.donation_lock.contended else None)
_GRAPH = context.GRAPH_MODE


_BATCH_BYTES = 256 << 20  # bytes of Parameters that are moved to their devices at once


def _count_in_batch(params):
    """Return how many of the first Parameters are moved at once: at least one."""
    sizes = itertools.accumulate(p.size * p.itemsize for p in params)
    return max(1, sum(size <= _BATCH_BYTES for size in sizes))


class Program(Staged):
    """A function staged for one signature, ready to run.

    Attributes:
        reason (str): Reason of the compilation.
        calls (int): Number of runs.
        frozen (Union[list, None]): Arrays of read-only Parameters if they are constants of the program; None if they
            are arguments, the default.
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
        self.frozen: list[Any] | None = [] if getattr(root, "_freezes", False) else None
        started = time.perf_counter()
        super().__init__(name, fn, args, kwargs, params, constants)
        self.seconds["trace"] = time.perf_counter() - started
        self._prepare()

    @property
    def title(self) -> str:
        """Return the name for messages: "train step of LeNet5" for a Cell that defines a title, else `name`."""
        get_title = getattr(type(self.root()), "_title", None)
        return self.name if get_title is None else get_title(self.root())

    # ------------------------------------------------------------------ preparation
    def _prepare(self):
        self._stores, self._storage_epoch = ParameterArrays(self.written, self.read), -1
        self._must_finish = bool(self.errors) or self.prints
        from_written = {id(p): i for i, p in enumerate(self.written)}
        from_read = {id(p): i for i, p in enumerate(self.read)}
        plan = [(0, from_written[id(p)]) if id(p) in from_written else (1, from_read[id(p)]) for p in self.params]
        if self.frozen is not None:
            self.frozen = [p._stored() for p in self.read]
        self._shardings, self._sharding_error = self._find_shardings()
        self._jitted = functools.partial(
            jit_call, to_identifier(self.name), plan, self.random, self.frozen, self._shardings
        )
        self._inputs_of = lambda written, read, rest: [(written, read)[which][i] for which, i in plan] + rest
        position = {id(p): i for i, p in enumerate(self.params)}
        self._rollback = (
            [position[id(p)] for p in self.written] if self.errors else []
        )  # indices of inputs that a failed call restores
        self._flat = self._form_of([self.returning])
        self.run = self._own_run = self._donating_run()
        self._undonated_run = None  # the form without donation, compiled once threads contend for Parameters
        self._ready = None  # `run` of the last call, which is compiled
        self._last_compiled = None  # (form, its arguments) of the last call that compiled
        self._observers = ()  # weak, because recordings are large; `extra_outputs` holds the current ones
        self._observed = ()  # (observer, number of its arrays) while this program runs in a form with extra outputs
        self._form = (), [], self._own_run, ()  # (observers, their graphs, `run`, `_observed`) of the last time
        self._kernel = None

    def _donating_run(self):
        return self._jitted(self._flat, donate=bool(self.written), undonated=undonated_indices(self.written))

    def _find_shardings(self):
        """Return (shardings of the arrays, error). The error is raised by the first run: a program for other devices
        can be viewed.
        """
        no_error: Any = None
        try:
            return None if self.spread is None else self.spread.places(self), no_error
        except RuntimeError as error:
            return None, error

    def _place_parameters(self):
        """Move the Parameters to their shardings."""
        shardings = self._shardings
        if shardings is None:
            if self._sharding_error is not None:
                raise copy.copy(self._sharding_error)
            return
        if shardings.bring is None:
            return
        pairs = list(zip([*self.written, *self.read], [*shardings.written, *shardings.read], strict=True))
        while pairs:
            # Bounds the memory of unsharded copies.
            count = _count_in_batch([p for p, _ in pairs])
            misplaced = [(p, sharding) for p, sharding in pairs[:count] if p._stored().sharding != sharding]
            if misplaced:
                moved = shardings.bring([p._stored() for p, _ in misplaced], [sharding for _, sharding in misplaced])
                for (p, _), array in zip(misplaced, moved, strict=True):
                    p._assign(array)
            del pairs[:count]

    def _form_of(self, graphs):
        """Return the call of one or several graphs; outputs beyond the program's own are extra outputs."""
        n_own = len(self.jaxpr.jaxpr.outvars)
        return flatten_call(graphs, self.n_results, self.copied, self._rollback, n_own)

    def _adopt_observers(self, observers):
        """Select the form that `observers` ask for, or the program's own form."""
        self._observers = tuple(map(weakref.ref, observers))
        if not observers:
            self._observed = ()
            return
        last_observers, graphs, self.run, self._observed = self._form
        if last_observers == self._observers:  # an observer that returns is not asked again
            return
        rewritten = [(o, extra_outputs.rewrite_program(o, self)) for o in observers]
        rewritten = [(o, graph) for o, graph in rewritten if graph is not None]
        n_own = len(self.jaxpr.jaxpr.outvars)
        self._observed = tuple((weakref.ref(o), len(graph.jaxpr.outvars) - n_own) for o, graph in rewritten)
        if not are_identical(
            graphs, [graph for _, graph in rewritten]
        ):  # observers that ask for equal graphs share one compiled form
            graphs = [graph for _, graph in rewritten]
            sown_form = [self.returning] if self.sown else []
            self.run = self._own_run if not graphs else self._jitted(self._form_of([*graphs, *sown_form]))
        self._form = self._observers, graphs, self.run, self._observed

    def _unobserved_run(self):
        """Return the program's own form, or the one without donation if threads contend for Parameters."""
        if not (self.written and trace_state.donation_lock.contended and _state.mode != _GRAPH):
            return self._own_run
        self._undonated_run = self._undonated_run or self._jitted(self._flat)
        return self._undonated_run

    def _send_to_observers(self, inputs, new, outs):
        """Send a run to the observers; returns the program's own results."""
        offset = self.n_results
        for observer, count in self._observed:
            live_observer = observer()
            if live_observer is not None:
                run = extra_outputs.Run(inputs, [*outs[: self.n_results], *new], outs[offset : offset + count])
                extra_outputs.send_run(live_observer, self, run)
            offset += count
        return (*outs[: self.n_results], *outs[offset:])

    # ------------------------------------------------------------------ running
    def __call__(self, arrays: list[Any]) -> Any:
        """Run on the arrays of the dynamic arguments. Returns boxed results and rebinds written Parameters."""
        if _thread.pending_verdicts:
            deferred_errors.poll()
        start = _clock() if _listeners.ran else None
        rest = [(random_stream.next_number(),)] if self.random else []
        if self._shardings is not None and self._shardings.calling is None:
            arrays = [
                jax.device_put(a, sharding)
                for a, sharding in zip(arrays, self._shardings.rest[len(rest) :], strict=True)
            ]
        rest += [(a,) for a in arrays]
        if self.frozen is not None:
            self._refresh_constants()
        if self.run is not self._ready or self._storage_epoch != _storage_epoch.value:
            self._make_ready()
        with _lock:
            if self._storage_epoch != _storage_epoch.value:
                self._refresh_storage()
            read = self._stores.arrays_read() if self.frozen is None else []
            before = [p._stored() for p in self.written] if self._observed else None
            is_first = not self.calls
            is_ready = self.run is self._ready
            outs = (
                self._run_step(read, rest)
                if is_ready
                else interrupts.uninterruptible(lambda: self._run_first_step(read, rest))
            )
            self.calls += 1
            if before is not None:
                inputs, after = self._inputs_of(before, read, [r[0] for r in rest]), [p._stored() for p in self.written]
        if start is not None:
            events.notify("ran", self, arrays, outs[: self.n_results], start, _clock())
        if is_first:
            events.notify("compiled", self)
        if before is not None:
            outs = self._send_to_observers(inputs, after, outs)
        if self.sown:
            sown_values.deliver(self.sown, outs[self.n_results :])
        if self._must_finish:
            self._finish_run(outs, self.prints)
        return box(outs[0]) if self.single else self._box_results(outs)

    def _run_step(self, read, rest):
        """Run, and rebind the written Parameters; returns the results and extra outputs."""
        if not self.written:
            return self.run([], read, *[r[0] for r in rest])[1]
        # `extend` stores the result of the call in C: a Stop leaves either the old arrays or the new ones.
        store = self._stores.shared
        if store is not None:
            results = store.results
            arrays = results[-1][0]
            if _state.mode != _GRAPH and self.run is self._own_run:
                arrays = copy_shared(arrays)
            results.extend(map(self.run, (arrays,), (read,), *rest))
            outs = results[-1][1]  # type: ignore[misc] - a finished step is (arrays, results)
            results.append((results[-1][0],))
            return outs
        arrays, outcome = copy_shared([p._stored() for p in self.written], 1), []
        try:
            outcome.extend(map(self.run, (arrays,), (read,), *rest))
        finally:
            for new, _ in outcome:
                self._stores.replace(new)
        return outcome[0][1]

    def _refresh_constants(self):
        """Update the Parameters that are constants; if one has changed, XLA compiles again, which is logged."""
        arrays = [p._stored() for p in self.read]
        if self.frozen is not None and not are_identical(arrays, self.frozen):
            self.frozen[:] = arrays
            self.run = self._own_run = self._donating_run()
            self._ready = self._last_compiled = None
            log.once(f"{self.title} is frozen, and its weights have changed: it is compiled anew each time they do.")

    def _make_ready(self):
        """Select the form that observers and threads need now, and compile it if it has not run yet."""
        with _lock:
            if self._storage_epoch != _storage_epoch.value:
                self._refresh_storage()
        if self.run is not self._ready:
            self._compile_form()

    def _compile_form(self):
        """Compile the current form for its current arguments."""
        started = time.perf_counter()
        form = self.run
        try:
            background_compile.compile_ahead(self, form, self._current_arguments())
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt):
                clear_compiled(form, error)
            raise
        is_observed = bool(self._observed) and form is not self._own_run
        self.seconds.setdefault("observed" if is_observed else "compile", time.perf_counter() - started)

    @gc_pause.without_gc
    def _run_first_step(self, read, rest):
        """Run the step that compiles. If it fails, discard the compiled function."""
        form, arguments = self.run, self._current_arguments()
        try:
            with persistent_cache.compiling(self.jaxpr.jaxpr):
                outs = self._run_step(read, rest)
        except BaseException as error:
            clear_compiled(self.run, error)
            raise
        self._last_compiled = form, arguments
        if (
            self._current_arguments() == arguments
        ):  # else XLA has moved Parameters, and the next call compiles for their shardings
            self._ready = form
        return outs

    def _finish_run(self, outs, prints):
        """Wait for prints, and check the error code, the last result."""
        if prints:
            try:
                jax.effects_barrier()
            except BaseException:
                clear_effect_tokens()
                raise
        if self.errors:
            self._report_error(outs[self.n_results - 1])

    def _report_error(self, verdict):
        """Raise the error of the run, if any, now or at a later poll."""
        if self.waits:
            self._raise_error(np.asarray(verdict))
        else:
            deferred_errors.defer(verdict, self._raise_error)

    def _raise_error(self, verdict):
        code, value = verdict.tolist()
        if code:
            error, location = self.errors[code - 1]
            error = error.error(value) if isinstance(error, Finding) else copy.copy(error)
            if location is None:
                raise error
            file, line, function = location
            where = format_location(file, line)
            if self.first_line is not None and (file, line) == self.first_line[:2]:
                # only msnb's own Cells are in the graph, so no line of the user's code is that of the operator
                error.add_note(f"raised in the graph of {self.title}, first called at {where}")
                raise error
            error.add_note(f"raised in the graph at {where}")
            raise_at(error, file, line, function.rpartition(" ")[2].strip("'"))  # of "function 'f'", too

    def _box_results(self, outs):
        outs = iter(outs)
        return self.rebuild([box(next(outs)) if s is None else s[0] for s in self.static])

    def _refresh_storage(self):
        """Select the form that observers and threads need now, and look up the arrays of Parameters."""
        if [observer() for observer in self._observers] != list(extra_outputs.observers):
            self._adopt_observers(extra_outputs.observers)
        if not self._observers:
            self.run = self._unobserved_run()
        self._stores.find()
        if self.spread is not None:
            self._place_parameters()
        self._storage_epoch = _storage_epoch.value

    def run_recorded(self, arrays: list[Any], boxes: list[Any]) -> Any:
        """Run as one node of the tape: PYNATIVE mode under a gradient. `boxes` hold the `arrays`."""
        if self._kernel is None:
            self._kernel = self._as_kernel(self._form_of([self.calling]))
            if self.calling.effects:
                quiet = self.calling.replace(jaxpr=remove_debug_callbacks(self.calling.jaxpr))
                self._kernel.quiet = self._as_kernel(self._form_of([quiet]))
        number = [random_stream.next_number()] if self.random else []
        boxes = self.params + [None] * len(number) + boxes
        with _lock:
            values = [p._array for p in self.params] + number + list(arrays)
            outs = [box(copy_if_aliased(o, values)) for o in self._kernel.call(*values)]
        self.calls += 1
        tape.record(self._kernel, [b._node if isinstance(b, Tensor) else None for b in boxes], values, outs)
        for p, new in zip(self.written, outs[self.n_results :]):
            p._assign(new._array)
            p._node = new._node
        if self._must_finish or self.sown:
            self._finish_run([out._array for out in outs], bool(self.calling.effects))
        results = iter(outs[: self.n_results])
        return self.rebuild([next(results) if s is None else s[0] for s in self.static])

    def _as_kernel(self, form):
        """Return `form` as a kernel of the Parameters, the random number and the arguments."""
        count, use_random = len(self.params), self.random

        def fn(*args):
            params, rest = args[:count], args[count:]
            extra, values = (rest[:1], rest[1:]) if use_random else ((), rest)
            new, outs = form(params, extra, values)
            return tuple(outs) + tuple(new)

        kernel = Kernel(to_identifier(self.name), fn)
        if self._shardings is not None and self._shardings.bring is None:
            kernel.join()
        return kernel

    def apply_settings(self) -> None:
        """Set the attributes that construct sets in Python."""
        for cell, name, value in self.settings:
            if vars(cell).get(name, trace_state.ABSENT) is not value:
                setattr(cell, name, value)

    # ------------------------------------------------------------------ inspection
    def example_arguments(self) -> Any:
        """Return shapes, dtypes and shardings of the arguments of the form that ran last, or of a first call."""
        return self._inspected_form()[1]

    def _inspected_form(self):
        """Return (form, its arguments) of the last run, or of the first call if it has not run."""
        # Once compiled, arguments are described as they are now: Parameters may have been moved to other devices.
        if self._ready is not None:
            return self._ready, self._current_arguments()
        return self._last_compiled or (self._own_run, self._current_arguments())

    def _current_arguments(self):
        """Return shapes, dtypes and shardings of the arguments that a call passes now."""
        passed = self.read if self.frozen is None else []
        written, read = ([p._like() for p in params] for params in (self.written, passed))
        number = [argument_signature(0)] if self.random else []
        return written, read, *number, *self._arguments

    def lowered(self) -> Any:
        """Return the program that ran last, or the one that will run, as StableHLO (`jax.stages.Lowered`)."""
        form, arguments = self._inspected_form()
        with jax.default_device(self.device):
            return form.lower(*arguments)

    def compiled(self) -> Any:
        """Return the optimized program (`jax.stages.Compiled`): the executable that ran, if it has run."""
        lowered = self.lowered()
        with jax.default_device(self.device), persistent_cache.compiling(self.jaxpr.jaxpr):
            return lowered.compile()

    def memory(self) -> dict[str, int] | None:
        """Return bytes while it runs: ``{"arguments": ..., "results": ..., "temporary": ...}``.

        A donated argument counts as a result only. Returns None if the backend has no such statistics. Compiles the
        program if it has not run yet.
        """
        stats = self.compiled().memory_analysis()
        if stats is None:
            return None
        return {
            "arguments": stats.argument_size_in_bytes - stats.alias_size_in_bytes,
            "results": stats.output_size_in_bytes,
            "temporary": stats.temp_size_in_bytes,
        }

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.jaxpr.jaxpr.eqns)} nodes, {len(self.params)} Parameters>"
