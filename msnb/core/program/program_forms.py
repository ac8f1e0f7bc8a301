"""The forms of one program, and the selection of the form that the next call runs.

A form is a compiled variant. A program has up to five: its own, which donates the arrays of written Parameters; one
without donation, for threads that contend for Parameters; one with extra outputs for observers; one that repeats a run
without effects; and one as a kernel of the tape, which `Program` makes itself. The first calls of a large program run a
`QuickForm` of them.
"""

import contextlib
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from msnb import context
from msnb._util import gc_pause
from msnb.core.compat.jax_private import remove_debug_callbacks
from msnb.core.jaxpr.stoppable_loops import StoppableLoops
from msnb.core.program import extra_outputs, persistent_cache
from msnb.core.program.error_report import NO_ERROR
from msnb.core.program.executable import flatten_call, jit_call, to_identifier, undonated_indices
from msnb.core.program.staging import Staged
from msnb.core.program.tiered_compilation import Tiers, plan_tiers
from msnb.core.sharding.partitioner import ArrayShardings
from msnb.core.state import stop_flag, trace_state
from msnb.core.tensor.parameter_store import are_identical

_state = context._state
_GRAPH = context.GRAPH_MODE


def device_of(program: Staged) -> Any:
    """Return the device that runs a program which is not sharded."""
    device = program.device
    return device if isinstance(device, jax.Device) else jax.local_devices(backend=device)[0]


class _ObservedForm(NamedTuple):
    """The form of a program with the extra outputs of some observers."""

    observers: tuple[Any, ...]  # weak, because recordings are large; `extra_outputs` holds the current ones
    graphs: list[Any]
    form: Callable[..., Any]
    receivers: tuple[tuple[Any, int], ...]  # (weak observer, number of its extra outputs)


class ProgramForms:
    """The compiled forms of one program. It holds no reference to the program.

    Args:
        program (Staged): The traced function.
        frozen (Union[list, None]): See the attribute.
        shardings (Union[ArrayShardings, None]): Shardings of its arrays; None for one device.

    Attributes:
        own (Callable): The program's own form.
        current (Callable): The form that the next call runs.
        ready (Union[Callable, None]): The form of the last call, which is compiled.
        compiled (Union[tuple, None]): (form, its arguments) of the last call that compiled.
        receivers (tuple): (weak observer, number of its extra outputs) while `current` has extra outputs.
        steady_epoch (int): Value of `trace_state.storage_epoch` until which each call runs `current`, and no observer
            receives it; -1 if there is no such value.
        is_selective (bool): True if the form depends on the run: an observer chooses the runs that it receives, or the
            full executable has not taken over.
        tiers (Tiers): The calls that run a quick executable of their form.
        has_loops (bool): True if the program has loops that may run long.
        is_stoppable (bool): True if the program has loops that a Ctrl-C ends: its forms take the stop flag as the last
            argument, and their last result is the verdict.
        continues_error (bool): True if the last argument of the forms is the error code of the previous run. It stays
            the error code until it is reported, so that no later run writes a Parameter.
        device (Union[jax.Device, None]): Device of a program with loops that runs on one device; None for others.
        frozen (Union[list, None]): Arrays of read-only Parameters if they are constants of the program; None if they
            are arguments, the default.
    """

    __slots__ = (
        "own",
        "current",
        "ready",
        "compiled",
        "receivers",
        "steady_epoch",
        "is_selective",
        "tiers",
        "frozen",
        "_plan",
        "_observers",
        "_observed_form",
        "_partial_forms",
        "_undonated_form",
        "_repeating_form",
        "_repeated",
        "_n_results",
        "_ready_forms",
        "_flatten",
        "_compile_call",
        "_compile_unsharded",
        "_flat",
        "_flatten_form",
        "_written",
        "_plain",
        "_returning",
        "has_loops",
        "is_stoppable",
        "continues_error",
        "device",
    )

    def __init__(self, program: Staged, frozen: list[Any] | None, shardings: ArrayShardings | None) -> None:
        # For each Parameter among the inputs (0, index among the written ones) or (1, index among the read ones).
        from_written = {id(p): (0, i) for i, p in enumerate(program.written)}
        from_read = {id(p): (1, i) for i, p in enumerate(program.read)}
        self._plan: list[tuple[int, int]] = [from_written.get(id(p)) or from_read[id(p)] for p in program.params]
        self.frozen: list[Any] | None = frozen
        self._written: Sequence[Any] = program.written
        position = {id(p): i for i, p in enumerate(program.params)}
        self._flatten = functools.partial(
            flatten_call,
            n_results=program.results.count,
            copied=program.results.copied,
            # If a call fails, the program returns these inputs instead of new values.
            rollback=[position[id(p)] for p in program.written] if program.errors else [],
            n_own=len(program.jaxpr.jaxpr.outvars),
        )
        self.has_loops: bool = StoppableLoops(program.jaxpr.jaxpr).exist
        self.continues_error: bool = (
            program.errors is not None
            and program.errors.is_deferred
            and bool(program.written)
            and program.spread is None
            and frozen is None
            and not self.has_loops
        )
        error_index = program.random + len(program._arguments) if self.continues_error else None
        call = functools.partial(
            jit_call, to_identifier(program.name), self._plan, program.random, frozen, error_index=error_index
        )
        self._compile_call = functools.partial(call, shardings)
        self._compile_unsharded = functools.partial(call, None)
        # XLA may run the devices of a sharded program at different speeds: their loops must end in the same round.
        self.device: Any = device_of(program) if self.has_loops and shardings is None else None
        self.is_stoppable: bool = self.device is not None and stop_flag.is_supported(self.device)
        self._flatten_form = functools.partial(self._flatten, continues_error=self.continues_error)
        if self.is_stoppable:
            stoppable = [position[id(p)] for p in program.written]
            self._flatten_form = functools.partial(self._flatten, stoppable=stoppable)
        self._plain: Callable[..., Any] | None = None
        self._returning = program.returning
        self._n_results: int = program.results.count
        self._repeating_form: Callable[..., Any] | None = None
        self._repeated: weakref.WeakSet[Any] = weakref.WeakSet()  # forms that have repeated a run
        self._flat = self._flatten_form([program.returning])
        self.own: Callable[..., Any] = self._make_donating_form()
        self.current: Callable[..., Any] = self.own
        self.ready: Callable[..., Any] | None = None
        self.compiled: tuple[Any, Any] | None = None
        self.receivers: tuple[tuple[Any, int], ...] = ()
        self.steady_epoch: int = -1
        # A sharded program computes on several devices, and one with frozen weights compiles anew when they change.
        is_plain = shardings is None and frozen is None
        plan = plan_tiers(program.jaxpr, device_of(program)) if is_plain else None
        self.tiers: Tiers = Tiers(plan)
        self.is_selective: bool = not self.tiers.is_over
        self._ready_forms: list[Callable[..., Any]] = []  # compiled since observers or Parameters have changed
        self._observers: tuple[Any, ...] = ()
        self._observed_form = _ObservedForm((), [], self.own, ())  # the form of the last observers
        self._partial_forms: dict[tuple[int, ...], _ObservedForm] = {}  # indices of receivers -> form for these only
        self._undonated_form: Callable[..., Any] | None = None  # compiled when threads first contend for Parameters

    def flatten(self, graphs: list[Any]) -> Callable[..., Any]:
        """Return one or several graphs as a function without stop flag, see `executable.flatten_call`."""
        return self._flatten(graphs)

    def without_stop_flag(self) -> Callable[..., Any]:
        """Return the program without stop flag, for views. This form never runs."""
        self._plain = self._plain or self._compile_call(self.flatten([self._returning]), donate=bool(self._written))
        return self._plain

    def _make_donating_form(self):
        return self._compile_call(self._flat, donate=bool(self._written), undonated=undonated_indices(self._written))

    def freeze(self, arrays: list[Any]) -> None:
        """Make `arrays` the constants of the program, which then compiles again."""
        assert self.frozen is not None
        self.frozen[:] = arrays
        self.current = self.own = self._make_donating_form()
        self.ready = self.compiled = self._plain = None
        self.steady_epoch = -1
        self._undonated_form = self._repeating_form = None  # they have the old constants
        self._observers = self.receivers = ()  # `select` asks the observers again
        self._observed_form = _ObservedForm((), [], self.own, ())
        self._partial_forms.clear()

    def select(self, program: Any) -> None:
        """Select the form of `program` that observers and threads need now."""
        self._ready_forms.clear()
        if [observer() for observer in self._observers] != list(extra_outputs.observers):
            self._select_form_for_observers(program, extra_outputs.observers)
        if not self._observers:
            self.current = self.tiers.select(self._select_unobserved_form(), program.next_call)

    def continue_from(self, call: int, calls: int) -> None:
        """Let the next run have the number `call`, after `calls` runs in this process."""
        self.tiers.continue_from(call - calls)
        self.steady_epoch = -1
        self._update_selectivity()

    def is_steady(self) -> bool:
        """Return True if the next calls run the same form as the last one, as long as nothing changes."""
        return self.current is self.ready and self.frozen is None and not (self.is_selective or self.receivers)

    def _update_selectivity(self):
        receivers = self._observed_form.receivers if self._observers else ()
        self.is_selective = not self.tiers.is_over or any(hasattr(weak(), "wants") for weak, _ in receivers)

    def select_for_run(self, program: Any) -> None:
        """Select the form with extra outputs if an observer wants the next run, else the one without, and the
        quick executable until the full one takes over.
        """
        if self.tiers.end_if_due(program.next_call):
            self._update_selectivity()
        observed = self._observed_form
        receivers = observed.receivers if self._observers else ()
        wanting = tuple(
            i
            for i, (weak, _) in enumerate(receivers)
            if (o := weak()) is not None and extra_outputs.is_wanted(o, program)
        )
        if wanting and len(wanting) < len(receivers):
            observed = self._make_partially_observed_form(program, wanting)
        form = observed.form if wanting else self._select_unobserved_form()
        form = self.tiers.select(form, program.next_call)
        if form is not self.current:
            if self.ready is not None and self.ready not in self._ready_forms:
                self._ready_forms.append(self.ready)
            self.current = form
            self.ready = form if form in self._ready_forms else self.ready
        self.receivers = observed.receivers if wanting else ()

    def _make_partially_observed_form(self, program, indices):
        """Return the form with the extra outputs of the observers at `indices` only, which want the next run."""
        if indices not in self._partial_forms:
            observed = self._observed_form
            graphs = [observed.graphs[i] for i in indices]
            receivers = tuple(observed.receivers[i] for i in indices)
            form = self._compile_observed_form(program, graphs)
            self._partial_forms[indices] = _ObservedForm(observed.observers, graphs, form, receivers)
        return self._partial_forms[indices]

    def _select_unobserved_form(self):
        """Return the program's own form, or the one without donation if threads contend for Parameters."""
        if not (self._written and trace_state.donation_lock.contended and _state.mode != _GRAPH):
            return self.own
        self._undonated_form = self._undonated_form or self._compile_call(self._flat)
        return self._undonated_form

    def _select_form_for_observers(self, program, observers):
        """Select the form with the outputs of `observers`, or the program's own form."""
        self._observers = tuple(map(weakref.ref, observers))
        if not observers:
            self.receivers = ()
            self._update_selectivity()
            return
        last = self._observed_form
        if last.observers != self._observers:  # equal observers are not asked to rewrite the program again
            self._partial_forms.clear()
            self._observed_form = self._make_observed_form(program, observers, last)
        self.current, self.receivers = self._observed_form.form, self._observed_form.receivers
        self._update_selectivity()

    @gc_pause.without_gc
    def _make_observed_form(self, program, observers, last):
        """Return the form with the extra outputs of `observers`.

        `last` is the form of the previous observers. Its compiled function is used again if the graphs are equal.
        """
        rewritten = [(o, extra_outputs.rewrite_program(o, program)) for o in observers]
        rewritten = [(o, graph) for o, graph in rewritten if graph is not None]
        n_own = len(program.jaxpr.jaxpr.outvars)
        receivers = tuple((weakref.ref(o), len(graph.jaxpr.outvars) - n_own) for o, graph in rewritten)
        graphs, form = [graph for _, graph in rewritten], last.form
        if not graphs:
            form = self.own
        elif not are_identical(last.graphs, graphs):  # observers that ask for equal graphs share one compiled form
            form = self._compile_observed_form(program, graphs)
        return _ObservedForm(self._observers, graphs, form, receivers)

    def _compile_observed_form(self, program, graphs):
        sown_graph = [program.returning] if program.sown else []
        return self._compile_call(self._flatten_form([*graphs, *sown_graph]))

    def repeat_run(self, inputs: list[Any], call: int) -> list[Any]:
        """Run the program again on `inputs`, and return its outputs in the order of the graph.

        Nothing is printed, donated or written. On one device the results equal those of an observed run bit by bit. For
        this the form has the same outputs and XLA options as the program in that call: with others, XLA may round
        differently. On several devices the inputs determine the shardings.

        Args:
            inputs (list): Parameters, random number and arguments, in the order of the graph.
            call (int): Number of the call among those of the program, from 0.
        """
        lists: tuple[list[Any], list[Any]] = [None] * len(self._written), [None] * sum(which for which, _ in self._plan)
        for (which, i), array in zip(self._plan, inputs, strict=False):
            lists[which][i] = array
        rest = *inputs[len(self._plan) :], *self.control_arguments()
        arguments = lists[0], lists[1] if self.frozen is None else [], *rest
        if self._repeating_form is None:
            quiet = self._returning.replace(jaxpr=remove_debug_callbacks(self._returning.jaxpr))
            self._repeating_form = self._compile_unsharded(self._flatten_form([quiet]))
        form = self.tiers.select(self._repeating_form, call)
        compiling = contextlib.nullcontext()
        if form not in self._repeated:
            compiling = persistent_cache.compiling(self._returning.jaxpr)  # selects XLA's options for programs
        with compiling:
            new, outs = form(*arguments)
        self._repeated.add(form)  # only now: a first call that is interrupted compiles again, with these options
        return [*outs[: self._n_results], *new]

    def control_arguments(self) -> list[Any]:
        """Return the arguments of a form that are no inputs of the graph: the stop flag, or the error code of
        a first run.
        """
        return [stop_flag.array_on(self.device)] if self.is_stoppable else [NO_ERROR] if self.continues_error else []

    def inputs_of(self, written: list[Any], read: list[Any], rest: list[Any]) -> list[Any]:
        """Return the arrays of Parameters and the other inputs in the order of the graph.

        Args:
            written (list): Arrays of written Parameters.
            read (list): Arrays of read Parameters that were passed.
            rest (list): The random number, if there is one, and the arguments.
        """
        lists = (written, read if self.frozen is None else self.frozen)
        return [lists[which][i] for which, i in self._plan] + rest

    def send_to_observers(self, program: Any, call: int, inputs: list[Any], new: list[Any], outs: Sequence[Any]) -> Any:
        """Send the run with the number `call` to the observers; return the program's own results."""
        offset = n_results = program.results.count
        for observer, count in self.receivers:
            live_observer = observer()
            if live_observer is not None:
                run = extra_outputs.Run(inputs, [*outs[:n_results], *new], list(outs[offset : offset + count]), call)
                extra_outputs.send_run(live_observer, program, run)
            offset += count
        return (*outs[:n_results], *outs[offset:])
