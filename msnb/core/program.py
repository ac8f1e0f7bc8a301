"""One traced program of GRAPH mode: a `jax.jit` call over flat lists of arrays.

Tracing Python once gives a jaxpr (`program.jaxpr`, which msnb.ir reads). Parameters that were written become a donated
list in and a new list out; those that were only read are a second list. Running it hands these lists over without
looking at any Parameter, and rebinds what was written.
"""

import copy
import functools
import inspect
import operator
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np

from msnb import context, log
from msnb.core import (
    compiled_files,
    compiling,
    events,
    further_outputs,
    garbage,
    interrupts,
    late,
    random,
    tape,
    trace,
    unfinished,
)
from msnb.core._jax_private import (
    argument_like,
    copied,
    eval_jaxpr,
    forget_compiled,
    forget_effects,
    restore_trace_state,
    trace_state,
    unnamed,
    weak_float32,
    without_prints,
)
from msnb.core.argument_names import argument_name
from msnb.core.checks import Finding
from msnb.core.errors import place as show_place
from msnb.core.errors import user_line
from msnb.core.identity import weakly
from msnb.core.inlining import inlined
from msnb.core.keeping import keeping
from msnb.core.kernel import Kernel
from msnb.core.names import named
from msnb.core.operator import own
from msnb.core.parameter import Parameter, Store
from msnb.core.script.merge import Undefined
from msnb.core.tensor import Tensor, box
from msnb.core.tree import flatten, structure

_asked = events.asked
_clock = time.perf_counter_ns
_lock = trace.taking.lock
_thread = trace.thread
_state = context._state
_moves = trace.moves
_MAX_DISCOVERY = 8

context.on_change("mode", lambda _: _moves.bump() if trace.taking.contended else None)
_GRAPH = context.GRAPH_MODE


class Program:
    """One traced function for one signature.

    Attributes:
        name (str): Name of the Cell class or function.
        jaxpr (ClosedJaxpr): The traced graph; inputs are described by `inputs`.
        names (dict): What the names in `jaxpr` stand for: text -> `msnb.core.names.Meaning`, the operator with its
            attributes, strategy and stage.
        inputs (list): Per jaxpr input ("param", name, requires_grad), ("arg", name) or ("random", "number").
        written (list): Parameters whose new values the graph returns, after the results.
        prints (bool): Whether it prints, or calls Python otherwise, while it runs; a call then waits for that.
        settings (list): (Cell, name, value) of the attributes that construct sets, which a call sets when it has run.
        reason (str): Why it was compiled.
        first_line (Union[tuple, None]): (file, line, text) of the user's line that it was traced for.
        device (jax.Device): Where it was traced for, None for JAX's default.
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
    ) -> None:
        self.name = name
        self.root: Callable[..., Any] = weakly(root)
        self.seconds: dict[Any, Any] = {}
        self.reason = "first call"
        self.calls: int = 0
        self.first_line: tuple[str, int, str] | None = user_line()
        self.device: Any = jax.config.jax_default_device
        self.frozen: list[Any] | None = [] if getattr(root, "_freezes", False) else None
        started = time.perf_counter()
        interrupts.heard(lambda: self._trace(fn, args, kwargs, params))
        self.seconds["trace"] = time.perf_counter() - started
        self._prepare()

    @property
    def title(self) -> str:
        """What a person calls it: "train step of LeNet5" for a Cell that says so, else its name."""
        say = getattr(type(self.root()), "_title", None)
        return self.name if say is None else say(self.root())

    # ------------------------------------------------------------------ tracing
    @garbage.later
    def _trace(self, fn, args, kwargs, params):
        leaves, rebuild = flatten((args, kwargs))
        state, frame = trace_state(), _thread.frame
        recording, dtype, forward = _thread.recording, _thread.compute_dtype, _thread.forward_mode
        try:
            for _ in range(_MAX_DISCOVERY):
                found = self._trace_once(fn, leaves, rebuild, params)
                if not found:
                    return
                params = params + found
        except RecursionError:
            raise RecursionError(
                f"Building the graph of {self.name} needs more than Python's {sys.getrecursionlimit()} nested calls: "
                f"its Cells stand too deep in one another, or one calls itself. Nest less, or raise the limit with "
                f"sys.setrecursionlimit()."
            ) from None
        finally:  # a Stop may have come when a context manager was about to put back what it had set
            _thread.frame, _thread.recording = frame, recording
            _thread.compute_dtype, _thread.forward_mode = dtype, forward
            trace.settle()
            restore_trace_state(state)
        raise RuntimeError(
            f"Tracing {self.name} reads other Parameters each time; give it the Cell that holds them as an attribute."
        )

    def _trace_once(self, fn, leaves, rebuild, params):
        """Trace; return Parameters that were read without being inputs yet (then trace again)."""
        spots = [i for i, leaf in enumerate(leaves) if dynamic(leaf)]
        note = {}

        def traced(param_arrays, number, arrays):
            full = list(leaves)
            for i, array in zip(spots, arrays):
                full[i] = box(weak_float32(array) if isinstance(leaves[i], float) else array)
            call_args, call_kwargs = rebuild(full)
            frame = trace.Frame(params, param_arrays, None)
            frame.number = number
            note["frame"] = frame
            with frame, tape.paused():
                out = fn(*call_args, **call_kwargs)
                results, note["rebuild"] = flatten(tuple(out) if type(out) is list else out)
                if frame.refused is not None:
                    raise frame.refused
                for result in results:
                    if isinstance(result, Undefined):
                        result.complain()
                    if inspect.isgenerator(result) or inspect.isawaitable(result):
                        raise TypeError(
                            f"{self.name} is a generator or async: a graph returns its results at once. "
                            f"Collect them in a list and return it."
                        )
                writes = frame.writes()
                arrays = [r._array for r in results if isinstance(r, Tensor)]
                written = [a for _, a in writes]
                if frame.error is not None:
                    arrays.append(frame.error)
            note["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            note["written"] = [p for p, _ in writes]
            return arrays, written

        avals = [argument_like(p._stored()) for p in params]
        values = [leaves[i]._array if isinstance(leaves[i], Tensor) else leaves[i] for i in spots]
        arg_names = [argument_name(fn, rebuild, leaves, i) for i in spots]

        def described():
            inputs = [("param", p.name, p.requires_grad) for p in params]
            inputs += [("random", "number"), *(("arg", n) for n in arg_names)]
            return self.name, inputs, list(note["frame"].missing.values())

        try:
            closed = inlined(jax.make_jaxpr(unfinished.keeping(traced, described))(avals, 0, values))
        finally:
            self.settings: list[Any] = note["frame"].take_settings() if "frame" in note else []
        frame = note["frame"]
        if frame.missing:
            return list(frame.missing.values())
        self.cells: list[Any] = list(frame.cells.values())
        self.errors: list[Any] = frame.errors if frame.error is not None else []
        self.waits = not all(isinstance(e, Finding) and e.late for e, _ in self.errors)  # for its error
        self.prints = bool(closed.effects)
        self._ends = bool(self.errors) or self.prints
        self._arguments = [argument_like(value) for value in values]
        self._shape(closed, params, note, arg_names, frame.key_used)
        return []

    def _shape(self, closed, params, note, arg_names, random_used):
        """Drop unused inputs and sort the rest into written, read and arguments."""
        jaxpr = closed.jaxpr
        used = {v for eqn in jaxpr.eqns for v in eqn.invars if isinstance(v, jax.extend.core.Var)}
        used.update(v for v in jaxpr.outvars if isinstance(v, jax.extend.core.Var))
        n_params, n_results = len(params), sum(s is None for s in note["static"]) + bool(self.errors)
        written = note["written"]
        own_input = {id(p): v for p, v in zip(params, jaxpr.invars)}
        kept = [i for i, p in enumerate(written) if jaxpr.outvars[n_results + i] is not own_input.get(id(p))]
        written_ids = {id(written[i]) for i in kept}
        if self.errors:  # what a failed call leaves as it was goes in as well
            used.update(own_input[i] for i in written_ids)
        order = sorted(kept, key=lambda i: written[i].key)
        self.written: list[Any] = [written[i] for i in order]
        self.read: list[Any] = [p for p, v in zip(params, jaxpr.invars) if v in used and id(p) not in written_ids]
        keep_params = [(p, v) for p, v in zip(params, jaxpr.invars) if v in used]
        arg_vars = jaxpr.invars[n_params + 1 :]
        self.random: bool = random_used
        invars = [v for _, v in keep_params] + ([jaxpr.invars[n_params]] if random_used else []) + list(arg_vars)
        outvars = list(jaxpr.outvars[:n_results]) + [jaxpr.outvars[n_results + i] for i in order]
        self.jaxpr, self.names = named(
            jax.extend.core.ClosedJaxpr(
                jaxpr.replace(invars=invars, outvars=outvars, debug_info=unnamed(jaxpr)), closed.consts
            )
        )
        self.params: list[Any] = [p for p, _ in keep_params]
        self.inputs: list[tuple[Any, ...]] = (
            [("param", p.name, p.requires_grad) for p in self.params]
            + ([("random", "number")] if random_used else [])
            + [("arg", n) for n in arg_names]
        )
        self.n_results = n_results
        self.rebuild: Callable[[list[Any]], Any] = note["rebuild"]
        self.static: list[Any] = note["static"]
        self.single: bool = self.static == [None] and structure(self.rebuild([0])) == 0
        made = {v for eqn in jaxpr.eqns for v in eqn.outvars}
        seen, self.copied = set(), set()
        for position, var in enumerate(outvars):
            literal = not isinstance(var, jax.extend.core.Var)
            fresh = not literal and var in made and var not in seen
            if not fresh and (position >= n_results or literal or var not in arg_vars):
                self.copied.add(position)  # nothing may be handed through that a Parameter holds
            if not literal:
                seen.add(var)

    # ------------------------------------------------------------------ preparing to run
    def _prepare(self):
        self._moved = -1
        from_written = {id(p): i for i, p in enumerate(self.written)}
        from_read = {id(p): i for i, p in enumerate(self.read)}
        plan = [(0, from_written[id(p)]) if id(p) in from_written else (1, from_read[id(p)]) for p in self.params]
        if self.frozen is not None:
            self.frozen = [p._stored() for p in self.read]
        self._jitted = functools.partial(_jitted, _safe(self.name), plan, self.random, self.frozen)
        self._inputs_of = lambda written, read, rest: [(written, read)[which][i] for which, i in plan] + rest
        place = {id(p): i for i, p in enumerate(self.params)}
        self._kept = [place[id(p)] for p in self.written] if self.errors else []  # by a call that fails
        self._flat = _flat([self.jaxpr], self.n_results, self.copied, self._kept)
        self.run = self._own_run = self._jitted(self._flat, donate=bool(self.written))
        self._careful = None  # the form that leaves the old arrays of Parameters alone, once threads contend for them
        self._ready = None  # what `run` was when it was last called: it is compiled
        self._ran = None  # (form, its arguments) of the last call that compiled
        self._observers = ()  # weak, as recordings are large: `further_outputs` holds those that look on now
        self._observed = ()  # (observer, number of its arrays) while this program runs in a form with further outputs
        self._form = (), [], self._own_run, ()  # (observers, their graphs, `run`, `_observed`) of the last time
        self._kernel = None

    def _follow(self, observers):
        """Run in the form that `observers` ask for; in the program's own where none does."""
        self._observers = tuple(map(weakref.ref, observers))
        if not observers:
            self._observed = ()
            return
        known, graphs, self.run, self._observed = self._form
        if known == self._observers:  # who comes again is not asked again
            return
        asked = [(o, further_outputs.rewritten(o, self)) for o in observers]
        asked = [(o, graph) for o, graph in asked if graph is not None]
        own = len(self.jaxpr.jaxpr.outvars)
        self._observed = tuple((weakref.ref(o), len(graph.jaxpr.outvars) - own) for o, graph in asked)
        if not _same(graphs, [graph for _, graph in asked]):  # who asks for the same finds it compiled
            graphs = [graph for _, graph in asked]
            self.run = (
                self._own_run
                if not graphs
                else self._jitted(_flat(graphs, self.n_results, self.copied, self._kept, own))
            )
        self._form = self._observers, graphs, self.run, self._observed

    def _unobserved(self):
        """The program's own form, or the one for threads that contend for Parameters."""
        if not (self.written and trace.taking.contended and _state.mode != _GRAPH):
            return self._own_run
        self._careful = self._careful or self._jitted(self._flat)
        return self._careful

    def _show(self, inputs, new, outs):
        """Give the observers what they see of a run; returns the program's own results."""
        at = self.n_results
        for observer, count in self._observed:
            looking = observer()
            if looking is not None:
                run = further_outputs.Run(inputs, [*outs[: self.n_results], *new], outs[at : at + count])
                further_outputs.hand(looking, self, run)
            at += count
        return outs[: self.n_results]

    # ------------------------------------------------------------------ running
    def __call__(self, arrays: list[Any]) -> Any:
        """Run on the arrays of the dynamic arguments; returns boxed results and rebinds what was written."""
        if _thread.late:
            late.poll()
        start = _clock() if _asked.ran else None
        rest = [(random.next_number(),)] if self.random else []
        rest += [(a,) for a in arrays]
        if self.frozen is not None:
            self._freeze_anew()
        if self.run is not self._ready or self._moved != _moves.value:
            self._make_ready()
        with _lock:
            if self._moved != _moves.value:
                self._attach()
            read = self._gather() if self.frozen is None else []
            before = [p._stored() for p in self.written] if self._observed else None
            first = not self.calls
            ready = self.run is self._ready
            outs = self._step(read, rest) if ready else interrupts.whole(lambda: self._first(read, rest))
            self.calls += 1
            if before is not None:
                inputs, now = self._inputs_of(before, read, [r[0] for r in rest]), [p._stored() for p in self.written]
        if start is not None:
            events.tell("ran", self, arrays, outs[: self.n_results], start, _clock())
        if first:
            events.tell("compiled", self)
        if before is not None:
            outs = self._show(inputs, now, outs)
        if self._ends:
            self._end(outs)
        return box(outs[0]) if self.single else self._box(outs)

    def _step(self, read, rest):
        """Run, and rebind the written Parameters; returns the further outputs.

        Lists take over what the call returns in C: a Stop finds either the old arrays or the new ones.
        """
        if not self.written:
            return self.run([], read, *[r[0] for r in rest])[1]
        if self._store is not None:
            results = self._store.results
            arrays = results[-1][0]
            if _state.mode != _GRAPH and self.run is self._own_run:
                arrays = _unshared(arrays)
            results.extend(map(self.run, (arrays,), (read,), *rest))
            outs = results[-1][1]  # type: ignore[misc] - a finished step is (arrays, results)
            results.append((results[-1][0],))
            return outs
        arrays, taken = _unshared([p._stored() for p in self.written], 1), []
        try:
            taken.extend(map(self.run, (arrays,), (read,), *rest))
        finally:
            for new, _ in taken:
                self._scatter(new)
        return taken[0][1]

    def _freeze_anew(self):
        """Take the Parameters that are constants as they are now; XLA then compiles anew, which is said."""
        read = [p._stored() for p in self.read]
        if self.frozen is not None and not _same(read, self.frozen):
            self.frozen[:] = read
            self.run = self._own_run = self._jitted(self._flat, donate=bool(self.written))
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
            compiling.ahead(self, form, self._placed())
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt):
                forget_compiled(form, error)
            raise
        observed = bool(self._observed) and form is not self._own_run
        self.seconds.setdefault("observed" if observed else "compile", time.perf_counter() - started)

    @garbage.later
    def _first(self, read, rest):
        """The step that compiles. When it fails, what was compiled is thrown away."""
        form, arguments = self.run, self._placed()
        try:
            with compiled_files.scoped(self.jaxpr.jaxpr):
                outs = self._step(read, rest)
        except BaseException as error:
            forget_compiled(self.run, error)
            raise
        self._ran = form, arguments
        if self._placed() == arguments:  # else XLA has put Parameters elsewhere, and the next call compiles for that
            self._ready = form
        return outs

    def _end(self, outs):
        """Wait until everything is printed, and see whether something went wrong: the last of the results tells."""
        if self.prints:
            try:
                jax.effects_barrier()
            except BaseException:
                forget_effects()
                raise
        if self.errors:
            self._report(outs[self.n_results - 1])

    def _report(self, verdict):
        """Raise what went wrong as the graph ran, if something did; later, where that is to be."""
        if self.waits:
            self._raise(np.asarray(verdict))
        else:
            late.defer(verdict, self._raise)

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
        """Bring the written Parameters together in one store, unless another program writes only part of them."""
        if [observer() for observer in self._observers] != list(further_outputs.observers):
            self._follow(further_outputs.observers)
        if not self._observers:
            self.run = self._unobserved()
        self._store = self._together()
        by_store = {}
        self._read_groups = None
        for position, p in enumerate(self.read):
            store, index = p._slot
            by_store.setdefault(id(store), (store, [], []))
            by_store[id(store)][1].append(index)
            by_store[id(store)][2].append(position)
        groups = list(by_store.values())
        if len(groups) == 1 and len(self.read) > 1:
            self._read_groups = groups[0][0], operator.itemgetter(*groups[0][1])
        self._moved = _moves.value

    def _together(self):
        if not self.written:
            return None
        stores = {id(p._slot[0]): p._slot[0] for p in self.written}
        if len(stores) == 1:
            store = next(iter(stores.values()))
            if store.writer is not None and _same(store.writer, self.written):
                return store
        mine = {id(p) for p in self.written}
        for store in stores.values():
            if store.writer is not None and not all(id(p) in mine for p in store.writer):
                return None
        merged = Store([p._stored() for p in self.written], tuple(self.written))
        for index, p in enumerate(self.written):
            p._slot = (merged, index)
        _moves.bump()
        return merged

    def _gather(self):
        if self._read_groups is not None:
            store, pick = self._read_groups
            return list(pick(store.results[-1][0]))
        return [p._stored() for p in self.read]

    def _scatter(self, new):
        try:
            for p, array in zip(self.written, new):
                p._assign(array)
        except KeyboardInterrupt:
            for p, array in zip(self.written, new):
                p._assign(array)
            raise

    def run_recorded(self, arrays: list[Any], boxes: list[Any]) -> Any:
        """In PYNATIVE mode under a gradient the whole program is one node on the tape; `boxes` hold the `arrays`."""
        if self._kernel is None:
            self._kernel = self._recorded(self._flat)
            if self.prints:
                quiet = self.jaxpr.replace(jaxpr=without_prints(self.jaxpr.jaxpr))
                self._kernel.quiet = self._recorded(_flat([quiet], self.n_results, self.copied, self._kept))
        number = [random.next_number()] if self.random else []
        boxes = self.params + [None] * len(number) + boxes
        with _lock:
            values = [p._array for p in self.params] + number + list(arrays)
            outs = [box(own(o, values)) for o in self._kernel.call(*values)]
        self.calls += 1
        tape.record(self._kernel, [b._node if isinstance(b, Tensor) else None for b in boxes], values, outs)
        for p, new in zip(self.written, outs[self.n_results :]):
            p._assign(new._array)
            p._node = new._node
        if self._ends:
            self._end([out._array for out in outs])
        results = iter(outs[: self.n_results])
        return self.rebuild([next(results) if s is None else s[0] for s in self.static])

    def _recorded(self, flat):
        """`flat` as a kernel of the Parameters, the random number and the arguments."""
        count, use_random = len(self.params), self.random

        def fn(*args):
            params, rest = args[:count], args[count:]
            extra, values = (rest[:1], rest[1:]) if use_random else ((), rest)
            new, outs = flat(params, extra, values)
            return tuple(outs) + tuple(new)

        return Kernel(_safe(self.name), fn)

    def apply_settings(self) -> None:
        """Set what construct sets in Python."""
        for cell, name, value in self.settings:
            if vars(cell).get(name, trace.ABSENT) is not value:
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
        written, read = ([argument_like(p._stored()) for p in params] for params in (self.written, taken))
        number = [argument_like(0)] if self.random else []
        return written, read, *number, *self._arguments

    def lowered(self) -> Any:
        """The program that ran last, or the one that will, as StableHLO (`jax.stages.Lowered`)."""
        form, arguments = self._form_shown()
        with jax.default_device(self.device):
            return form.lower(*arguments)

    def compiled(self) -> Any:
        """The same as XLA has optimised it (`jax.stages.Compiled`): if it has run, that very executable."""
        lowered = self.lowered()
        with jax.default_device(self.device), compiled_files.scoped(self.jaxpr.jaxpr):
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

    @property
    def outputs(self) -> list[tuple[str, Any]]:
        """[("result", index)] then [("param", name)] for the written ones, one per jaxpr output."""
        return [("result", i) for i in range(self.n_results)] + [("param", p.name) for p in self.written]

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.jaxpr.jaxpr.eqns)} nodes, {len(self.params)} Parameters>"


def dynamic(leaf: Any) -> bool:
    """Whether an argument is traced; the others are part of a program's signature."""
    return type(leaf) is float or (isinstance(leaf, Tensor) and not isinstance(leaf, Parameter))


def _flat(graphs, n_results, copied, kept, own=None):
    """(parameters, random number, arguments) -> (new arrays of the written Parameters, results) of a graph.

    Where the error, the last result, is not 0, the parameters at `kept` are the new arrays of the written ones.
    Of several graphs, each with the same outputs and then further ones, the further outputs follow the results: they
    compute the same things, which XLA finds out, and only the first may print.
    """
    graphs = [graphs[0], *(g.replace(jaxpr=without_prints(g.jaxpr)) for g in graphs[1:])]
    if kept:
        graphs = [keeping(g, n_results, kept) for g in graphs]

    def flat(params, extra, arrays):
        forms = [eval_jaxpr(g.jaxpr, g.consts, *params, *extra, *arrays) for g in graphs]
        outs = [jnp.copy(o) if i in copied else o for i, o in enumerate(forms[0][:own])]
        further = [] if own is None else [o for form in forms for o in form[own:]]
        return outs[n_results:], (*outs[:n_results], *further)

    return flat


def _jitted(name, plan, use_random, frozen, flat, donate=False):
    """`flat` as one compiled call over the list of written Parameters, that of the others, and the arguments.

    A call that donates writes the new Parameters where the old ones were. Arrays that are `frozen` stand in the program
    instead of the list of the others.
    """

    def step(written, read, *rest):
        extra, arrays = (rest[:1], rest[1:]) if use_random else ((), rest)
        lists = (written, read if frozen is None else frozen)
        return flat([lists[which][i] for which, i in plan], extra, arrays)

    step.__name__ = step.__qualname__ = name
    return jax.jit(step, donate_argnums=(0,) if donate else ())


_HELD = next(map(sys.getrefcount, [object()]))  # by a list alone


def _unshared(arrays, held=0):
    """`arrays`, with a copy in place of each that something beyond `held` lists still refers to: in PYNATIVE mode
    another thread may be computing with it, or hold it for a gradient, and a donated array is gone."""
    counts = list(map(sys.getrefcount, arrays))
    if max(counts) <= _HELD + held:
        return arrays
    return [copied(a) if count > _HELD + held else a for a, count in zip(arrays, counts)]


def _same(some, others):
    """Whether two tuples hold the same objects."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


@functools.lru_cache(maxsize=1024)
def _safe(name):
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "program"
