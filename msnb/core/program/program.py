"""One traced program of GRAPH mode: a `jax.jit` call over flat lists of arrays.

Parameters that were written become a donated list in and a new list out; those that were only read are a second list.
Running it hands these lists over without looking at any Parameter, and rebinds what was written.
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
from msnb.core.errors.messages import format_location as show_place
from msnb.core.jaxpr import sown_values
from msnb.core.operator.operator_types import copy_if_aliased
from msnb.core.operator.value_checks import Finding
from msnb.core.program import background_compile, extra_outputs, persistent_cache
from msnb.core.program.executable import flat, identifier, jitted, undonated
from msnb.core.program.staging import Staged
from msnb.core.state import deferred_errors, events, random_stream, trace_state
from msnb.core.support import interrupts
from msnb.core.support.weak_identity import weakly
from msnb.core.tensor.parameter_store import ParameterArrays, are_identical, copy_shared
from msnb.core.tensor.tensor import Tensor, box

_asked = events.subscribers
_clock = time.perf_counter_ns
_lock = trace_state.donation_lock.lock
_thread = trace_state.thread
_state = context._state
_moves = trace_state.storage_epoch

context.on_change("mode", lambda _: _moves.bump() if trace_state.donation_lock.contended else None)
_GRAPH = context.GRAPH_MODE


_TOGETHER = 256 << 20  # bytes of Parameters that are brought to their places at once


def _at_once(params):
    """How many of the first of these Parameters are brought at once: at least one."""
    sizes = itertools.accumulate(p.size * p.itemsize for p in params)
    return max(1, sum(size <= _TOGETHER for size in sizes))


class Program(Staged):
    """A function staged for one signature, ready to run.

    Attributes:
        reason (str): Why it was compiled.
        calls (int): How often it has run.
        frozen (Union[list, None]): Arrays of the Parameters that are only read, where they are constants of what XLA
            compiles; None where they are arguments, as usual.
        seconds (dict): "trace" and "compile" time; "observed" is that of compiling a form with further outputs.
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
        """What a person calls it: "train step of LeNet5" for a Cell that says so, else its name."""
        say = getattr(type(self.root()), "_title", None)
        return self.name if say is None else say(self.root())

    # ------------------------------------------------------------------ preparing to run
    def _prepare(self):
        self._stores, self._moved = ParameterArrays(self.written, self.read), -1
        self._ends = bool(self.errors) or self.prints
        from_written = {id(p): i for i, p in enumerate(self.written)}
        from_read = {id(p): i for i, p in enumerate(self.read)}
        plan = [(0, from_written[id(p)]) if id(p) in from_written else (1, from_read[id(p)]) for p in self.params]
        if self.frozen is not None:
            self.frozen = [p._stored() for p in self.read]
        self._places, self._spread_wrong = self._find_places()
        self._jitted = functools.partial(jitted, identifier(self.name), plan, self.random, self.frozen, self._places)
        self._inputs_of = lambda written, read, rest: [(written, read)[which][i] for which, i in plan] + rest
        place = {id(p): i for i, p in enumerate(self.params)}
        self._kept = [place[id(p)] for p in self.written] if self.errors else []  # by a call that fails
        self._flat = self._form_of([self.returning])
        self.run = self._own_run = self._donating()
        self._careful = None  # the form that leaves the old arrays of Parameters alone, once threads contend for them
        self._ready = None  # what `run` was when it was last called: it is compiled
        self._ran = None  # (form, its arguments) of the last call that compiled
        self._observers = ()  # weak, as recordings are large: `further_outputs` holds those that look on now
        self._observed = ()  # (observer, number of its arrays) while this program runs in a form with further outputs
        self._form = (), [], self._own_run, ()  # (observers, their graphs, `run`, `_observed`) of the last time
        self._kernel = None

    def _donating(self):
        return self._jitted(self._flat, donate=bool(self.written), lent=undonated(self.written))

    def _find_places(self):
        """(where its arrays are to be, why they cannot be there): a program may be looked at on any machine."""
        wrong: Any = None
        try:
            return None if self.spread is None else self.spread.places(self), wrong
        except RuntimeError as error:
            return None, error

    def _take_places(self):
        """Bring the Parameters to where they are to be."""
        places = self._places
        if places is None:
            if self._spread_wrong is not None:
                raise copy.copy(self._spread_wrong)
            return
        if places.bring is None:
            return
        pairs = list(zip([*self.written, *self.read], [*places.written, *places.read], strict=True))
        while pairs:
            count = _at_once([p for p, _ in pairs])  # whole ones, which are then cut, need not all be there at once
            away = [(p, place) for p, place in pairs[:count] if p._stored().sharding != place]
            if away:
                brought = places.bring([p._stored() for p, _ in away], [place for _, place in away])
                for (p, _), array in zip(away, brought, strict=True):
                    p._assign(array)
            del pairs[:count]

    def _form_of(self, graphs):
        """The call of one or several graphs, whose outputs beyond the program's own are further ones."""
        own = len(self.jaxpr.jaxpr.outvars)
        return flat(graphs, self.n_results, self.copied, self._kept, own)

    def _follow(self, observers):
        """Run in the form that `observers` ask for; in the program's own where none does."""
        self._observers = tuple(map(weakref.ref, observers))
        if not observers:
            self._observed = ()
            return
        known, graphs, self.run, self._observed = self._form
        if known == self._observers:  # who comes again is not asked again
            return
        asked = [(o, extra_outputs.rewritten(o, self)) for o in observers]
        asked = [(o, graph) for o, graph in asked if graph is not None]
        own = len(self.jaxpr.jaxpr.outvars)
        self._observed = tuple((weakref.ref(o), len(graph.jaxpr.outvars) - own) for o, graph in asked)
        if not are_identical(graphs, [graph for _, graph in asked]):  # who asks for the same finds it compiled
            graphs = [graph for _, graph in asked]
            last = [self.returning] if self.handed else []
            self.run = self._own_run if not graphs else self._jitted(self._form_of([*graphs, *last]))
        self._form = self._observers, graphs, self.run, self._observed

    def _unobserved(self):
        """The program's own form, or the one for threads that contend for Parameters."""
        if not (self.written and trace_state.donation_lock.contended and _state.mode != _GRAPH):
            return self._own_run
        self._careful = self._careful or self._jitted(self._flat)
        return self._careful

    def _show(self, inputs, new, outs):
        """Give the observers what they see of a run; returns the program's own results."""
        at = self.n_results
        for observer, count in self._observed:
            looking = observer()
            if looking is not None:
                run = extra_outputs.Run(inputs, [*outs[: self.n_results], *new], outs[at : at + count])
                extra_outputs.hand(looking, self, run)
            at += count
        return (*outs[: self.n_results], *outs[at:])

    # ------------------------------------------------------------------ running
    def __call__(self, arrays: list[Any]) -> Any:
        """Run on the arrays of the dynamic arguments; returns boxed results and rebinds what was written."""
        if _thread.pending_verdicts:
            deferred_errors.poll()
        start = _clock() if _asked.ran else None
        rest = [(random_stream.next_number(),)] if self.random else []
        if self._places is not None and self._places.calling is None:
            arrays = [jax.device_put(a, place) for a, place in zip(arrays, self._places.rest[len(rest) :], strict=True)]
        rest += [(a,) for a in arrays]
        if self.frozen is not None:
            self._freeze_anew()
        if self.run is not self._ready or self._moved != _moves.value:
            self._make_ready()
        with _lock:
            if self._moved != _moves.value:
                self._attach()
            read = self._stores.arrays_read() if self.frozen is None else []
            before = [p._stored() for p in self.written] if self._observed else None
            first = not self.calls
            ready = self.run is self._ready
            outs = self._step(read, rest) if ready else interrupts.uninterruptible(lambda: self._first(read, rest))
            self.calls += 1
            if before is not None:
                inputs, now = self._inputs_of(before, read, [r[0] for r in rest]), [p._stored() for p in self.written]
        if start is not None:
            events.notify("ran", self, arrays, outs[: self.n_results], start, _clock())
        if first:
            events.notify("compiled", self)
        if before is not None:
            outs = self._show(inputs, now, outs)
        if self.handed:
            sown_values.deliver(self.handed, outs[self.n_results :])
        if self._ends:
            self._end(outs, self.prints)
        return box(outs[0]) if self.single else self._box(outs)

    def _step(self, read, rest):
        """Run, and rebind the written Parameters; returns the further outputs.

        Lists take over what the call returns in C: a Stop finds either the old arrays or the new ones.
        """
        if not self.written:
            return self.run([], read, *[r[0] for r in rest])[1]
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
        arrays, taken = copy_shared([p._stored() for p in self.written], 1), []
        try:
            taken.extend(map(self.run, (arrays,), (read,), *rest))
        finally:
            for new, _ in taken:
                self._stores.replace(new)
        return taken[0][1]

    def _freeze_anew(self):
        """Take the Parameters that are constants as they are now; XLA then compiles anew, which is said."""
        read = [p._stored() for p in self.read]
        if self.frozen is not None and not are_identical(read, self.frozen):
            self.frozen[:] = read
            self.run = self._own_run = self._donating()
            self._ready = self._ran = None
            log.once(f"{self.title} is frozen, and its weights have changed: it is compiled anew each time they do.")

    def _make_ready(self):
        """Find the form that observers and threads ask for now, and compile that one, unless it has run before."""
        with _lock:
            if self._moved != _moves.value:
                self._attach()
        if self.run is not self._ready:
            self._compile()

    def _compile(self):
        """Compile the form that is about to run for what it will be given."""
        started = time.perf_counter()
        form = self.run
        try:
            background_compile.ahead(self, form, self._placed())
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt):
                clear_compiled(form, error)
            raise
        observed = bool(self._observed) and form is not self._own_run
        self.seconds.setdefault("observed" if observed else "compile", time.perf_counter() - started)

    @gc_pause.without_gc
    def _first(self, read, rest):
        """The step that compiles. When it fails, what was compiled is thrown away."""
        form, arguments = self.run, self._placed()
        try:
            with persistent_cache.scoped(self.jaxpr.jaxpr):
                outs = self._step(read, rest)
        except BaseException as error:
            clear_compiled(self.run, error)
            raise
        self._ran = form, arguments
        if self._placed() == arguments:  # else XLA has put Parameters elsewhere, and the next call compiles for that
            self._ready = form
        return outs

    def _end(self, outs, prints):
        """Wait until everything is printed, and see whether something went wrong: the last of the results tells."""
        if prints:
            try:
                jax.effects_barrier()
            except BaseException:
                clear_effect_tokens()
                raise
        if self.errors:
            self._report(outs[self.n_results - 1])

    def _report(self, verdict):
        """Raise what went wrong as the graph ran, if something did; later, where that is to be."""
        if self.waits:
            self._raise(np.asarray(verdict))
        else:
            deferred_errors.defer(verdict, self._raise)

    def _raise(self, verdict):
        code, value = verdict.tolist()
        if code:
            error, place = self.errors[code - 1]
            error = error.error(value) if isinstance(error, Finding) else copy.copy(error)
            error.add_note(f"raised in the graph at {show_place(*place)}")
            raise error

    def _box(self, outs):
        outs = iter(outs)
        return self.rebuild([box(next(outs)) if s is None else s[0] for s in self.static])

    def _attach(self):
        """Find the form that observers and threads ask for now, and where the Parameters are."""
        if [observer() for observer in self._observers] != list(extra_outputs.observers):
            self._follow(extra_outputs.observers)
        if not self._observers:
            self.run = self._unobserved()
        self._stores.find()
        if self.spread is not None:
            self._take_places()
        self._moved = _moves.value

    def run_recorded(self, arrays: list[Any], boxes: list[Any]) -> Any:
        """In PYNATIVE mode under a gradient the whole program is one node on the tape; `boxes` hold the `arrays`."""
        if self._kernel is None:
            self._kernel = self._recorded(self._form_of([self.calling]))
            if self.calling.effects:
                quiet = self.calling.replace(jaxpr=remove_debug_callbacks(self.calling.jaxpr))
                self._kernel.quiet = self._recorded(self._form_of([quiet]))
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
        if self._ends or self.handed:
            self._end([out._array for out in outs], bool(self.calling.effects))
        results = iter(outs[: self.n_results])
        return self.rebuild([next(results) if s is None else s[0] for s in self.static])

    def _recorded(self, form):
        """`form` as a kernel of the Parameters, the random number and the arguments."""
        count, use_random = len(self.params), self.random

        def fn(*args):
            params, rest = args[:count], args[count:]
            extra, values = (rest[:1], rest[1:]) if use_random else ((), rest)
            new, outs = form(params, extra, values)
            return tuple(outs) + tuple(new)

        kernel = Kernel(identifier(self.name), fn)
        if self._places is not None and self._places.bring is None:
            kernel.join()
        return kernel

    def apply_settings(self) -> None:
        """Set what construct sets in Python."""
        for cell, name, value in self.settings:
            if vars(cell).get(name, trace_state.ABSENT) is not value:
                setattr(cell, name, value)

    # ------------------------------------------------------------------ looking at it
    def example_arguments(self) -> Any:
        """Shapes, dtypes and shardings of the arguments of the form that ran last, or of a first call."""
        return self._form_shown()[1]

    def _form_shown(self):
        """(form, its arguments): what ran last; before that, what will. A settled program takes Parameters wherever
        somebody has put them since."""
        if self._ready is not None:
            return self._ready, self._placed()
        return self._ran or (self._own_run, self._placed())

    def _placed(self):
        """What a call hands over now, for the shapes, dtypes and shardings."""
        taken = self.read if self.frozen is None else []
        written, read = ([p._like() for p in params] for params in (self.written, taken))
        number = [argument_signature(0)] if self.random else []
        return written, read, *number, *self._arguments

    def lowered(self) -> Any:
        """The program that ran last, or the one that will, as StableHLO (`jax.stages.Lowered`)."""
        form, arguments = self._form_shown()
        with jax.default_device(self.device):
            return form.lower(*arguments)

    def compiled(self) -> Any:
        """The same as XLA has optimised it (`jax.stages.Compiled`): if it has run, that very executable."""
        lowered = self.lowered()
        with jax.default_device(self.device), persistent_cache.scoped(self.jaxpr.jaxpr):
            return lowered.compile()

    def memory(self) -> dict[str, int] | None:
        """Bytes while it runs: ``{"arguments": ..., "results": ..., "temporary": ...}``, a donated argument counted as
        a result only; None where the backend does not tell. Compiles, if the program has not run yet."""
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
