"""GRAPH mode: a Cell or function becomes one `jax.jit` call over flat lists of arrays.

The first call with a new signature traces Python once into a jaxpr (`program.jaxpr`, which msnb.ir reads). Parameters
that were written become a donated list in and a new list out; those that were only read are a second list. Later
calls find the program by an epoch check and a look-up of the argument signature.
"""
import copy
import functools
import inspect
import operator
import threading
import time
import weakref

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np

from msnb import context
from msnb.common import dtype as mstype
from msnb.core import random, script, tape, trace
from msnb.core._jax_private import eval_jaxpr, weak_float32
from msnb.core.errors import describe
from msnb.core.errors import place as show_place
from msnb.core.kernel import Kernel
from msnb.core.operator import own
from msnb.core.parameter import Parameter, Store
from msnb.core.script.merge import Undefined
from msnb.core.tensor import Tensor, box
from msnb.core.tree import flatten, structure

_thread = trace.thread
_lock = threading.RLock()  # a donated list must not be read by another thread meanwhile
_listeners = []
_layouts = {}
_moves = trace.Epoch()  # bumped whenever Parameters move to another store
_MAX_DISCOVERY = 8

for _key in ("device_target", "device_id"):
    context.on_change(_key, lambda _: trace.epoch.bump())


def on_compile(listener):
    """Call `listener(program)` after each first compilation. Returns `listener`."""
    _listeners.append(listener)
    return listener


def off_compile(listener):
    """Undo `on_compile`."""
    if listener in _listeners:
        _listeners.remove(listener)


class Program:
    """One traced function for one signature.

    Attributes:
        name (str): Name of the Cell class or function.
        jaxpr (ClosedJaxpr): The traced graph; inputs are described by `inputs`.
        inputs (list): Per jaxpr input ("param", name, requires_grad), ("arg", name) or ("random", "number").
        written (list): Parameters whose new values the graph returns, after the results.
        reason (str): Why it was compiled.
        seconds (dict): "trace" and "compile" time.
    """

    def __init__(self, name, root, fn, args, kwargs, params):
        self.name = name
        self.root = weakref.ref(root) if _weakable(root) else (lambda: root)
        self.seconds = {}
        self.reason = "first call"
        self.calls = 0
        started = time.perf_counter()
        self._trace(fn, args, kwargs, params)
        self.seconds["trace"] = time.perf_counter() - started
        self._prepare()

    # ------------------------------------------------------------------ tracing
    def _trace(self, fn, args, kwargs, params):
        leaves, rebuild = flatten((args, kwargs))
        for _ in range(_MAX_DISCOVERY):
            found = self._trace_once(fn, leaves, rebuild, params)
            if not found:
                return
            params = params + found
        raise RuntimeError(f"Tracing {self.name} reads other Parameters each time; "
                           f"give it the Cell that holds them as an attribute.")

    def _trace_once(self, fn, leaves, rebuild, params):
        """Trace; return Parameters that were read without being inputs yet (then trace again)."""
        spots = [i for i, leaf in enumerate(leaves) if _dynamic(leaf)]
        note = {}

        def traced(param_arrays, number, arrays):
            full = list(leaves)
            for i, array in zip(spots, arrays):
                full[i] = box(weak_float32(array) if isinstance(leaves[i], float) else array)
            call_args, call_kwargs = rebuild(full)
            frame = trace.Frame(params, param_arrays, None)
            frame.number = number
            before = {id(p): a for p, a in zip(params, param_arrays)}
            note["frame"] = frame
            with frame, _not_recording():
                out = fn(*call_args, **call_kwargs)
                results, note["rebuild"] = flatten(tuple(out) if type(out) is list else out)
                for result in results:
                    if isinstance(result, Undefined):
                        result.complain()
                writes = frame.writes()
                arrays = [r._array for r in results if isinstance(r, Tensor)]
                written = [a for _, a in writes]
                if frame.error is not None:  # a failed call leaves every Parameter as it was
                    written = [jnp.where(frame.error == 0, a, o) for a, o in
                               zip(written, [before.get(id(p), p._array) for p, _ in writes])]
                    arrays.append(frame.error)
            note["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            note["written"] = [p for p, _ in writes]
            return arrays, written

        avals = [jax.ShapeDtypeStruct(p._stored().shape, p._stored().dtype) for p in params]
        values = [leaves[i]._array if isinstance(leaves[i], Tensor) else leaves[i] for i in spots]
        closed = jax.make_jaxpr(traced)(avals, 0, values)
        frame = note["frame"]
        if frame.missing:
            return list(frame.missing.values())
        self.cells = list(frame.cells.values())
        self.errors = frame.errors
        self._shape(closed, params, note, [_argument_name(fn, rebuild, leaves, i) for i in spots], frame.key_used)
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
        order = sorted(kept, key=lambda i: written[i].key)
        self.written = [written[i] for i in order]
        self.read = [p for p, v in zip(params, jaxpr.invars) if v in used and id(p) not in written_ids]
        keep_params = [(p, v) for p, v in zip(params, jaxpr.invars) if v in used]
        arg_vars = jaxpr.invars[n_params + 1:]
        self.random = random_used
        invars = [v for _, v in keep_params] + ([jaxpr.invars[n_params]] if random_used else []) + list(arg_vars)
        outvars = list(jaxpr.outvars[:n_results]) + [jaxpr.outvars[n_results + i] for i in order]
        debug = jaxpr.debug_info.with_unknown_names() if hasattr(jaxpr.debug_info, "with_unknown_names") else None
        self.jaxpr = jax.extend.core.ClosedJaxpr(jaxpr.replace(invars=invars, outvars=outvars, debug_info=debug),
                                                 closed.consts)
        self.params = [p for p, _ in keep_params]
        self.inputs = ([("param", p.name, p.requires_grad) for p in self.params]
                       + ([("random", "number")] if random_used else []) + [("arg", n) for n in arg_names])
        self.n_results = n_results
        self.rebuild, self.static = note["rebuild"], note["static"]
        self.single = self.static == [None] and structure(self.rebuild([0])) == 0
        made = {v for eqn in jaxpr.eqns for v in eqn.outvars}
        seen, self.copied = set(), set()
        for position, var in enumerate(outvars):
            literal = not isinstance(var, jax.extend.core.Var)
            fresh = not literal and var in made and var not in seen
            if not fresh and (position >= n_results or literal or var not in arg_vars):
                self.copied.add(position)  # nothing may be handed through that a Parameter holds
            if not literal:
                seen.add(var)

    # ------------------------------------------------------------------ running
    def _prepare(self):
        self.layout = _layouts.setdefault(tuple(id(p) for p in self.written), tuple(self.written))
        self._moved = -1
        from_written = {id(p): i for i, p in enumerate(self.written)}
        from_read = {id(p): i for i, p in enumerate(self.read)}
        plan = [(0, from_written[id(p)]) if id(p) in from_written else (1, from_read[id(p)]) for p in self.params]
        graph, copied, n_results, use_random = self.jaxpr, self.copied, self.n_results, self.random

        def flat(params, extra, arrays):
            outs = eval_jaxpr(graph.jaxpr, graph.consts, *params, *extra, *arrays)
            outs = [jnp.copy(o) if i in copied else o for i, o in enumerate(outs)]
            return outs[n_results:], tuple(outs[:n_results])

        def step(written, read, *rest):
            extra, arrays = (rest[:1], rest[1:]) if use_random else ((), rest)
            lists = (written, read)
            return flat([lists[which][i] for which, i in plan], extra, arrays)

        step.__name__ = step.__qualname__ = _safe(self.name)
        self._flat = flat
        self.run = jax.jit(step, donate_argnums=(0,) if self.written else ())
        self._kernel = None

    def __call__(self, arrays):
        """Run on the arrays of the dynamic arguments; returns boxed results and rebinds what was written."""
        rest = [(random.next_number(),)] if self.random else []
        rest += [(a,) for a in arrays]
        with _lock:
            first = not self.calls
            started = time.perf_counter() if first else 0.0
            self.calls += 1
            if self._moved != _moves.value:
                self._attach()
            read = self._gather()
            if not self.written:
                outs = self.run([], read, *[r[0] for r in rest])[1]
            elif self._store is not None:
                results = self._store.results
                # Taking the result over in C: an interrupt finds either the old lists or the new ones.
                results.extend(map(self.run, (results[-1][0],), (read,), *rest))
                outs = results[-1][1]  # type: ignore[misc] - a finished step is (arrays, results)
                results.append((results[-1][0],))
            else:
                new, outs = self.run([p._stored() for p in self.written], read, *[r[0] for r in rest])
                self._scatter(new)
            if first:
                self.seconds["compile"] = time.perf_counter() - started
        if first:
            for listener in list(_listeners):
                listener(self)
        if self.errors:
            self._raise(outs[-1])
        return box(outs[0]) if self.single else self._box(outs)

    def _raise(self, code):
        """Raise what a `raise` under a dynamic condition reached, if one did."""
        code = int(code)
        if code:
            error, place = self.errors[code - 1]
            error = copy.copy(error)
            error.add_note(f"raised in the graph at {show_place(*place)}")
            raise error

    def _box(self, outs):
        outs = iter(outs)
        return self.rebuild([box(next(outs)) if s is None else s[0] for s in self.static])

    def _attach(self):
        """Bring the written Parameters together in one store, unless another program writes only part of them."""
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
            if store.writer is self.layout:
                return store
        mine = {id(p) for p in self.written}
        for store in stores.values():
            if store.writer is not None and not all(id(p) in mine for p in store.writer):
                return None
        merged = Store([p._stored() for p in self.written], self.layout)
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

    def run_recorded(self, arrays, boxes):
        """In PYNATIVE mode under a gradient the whole program is one node on the tape; `boxes` hold the `arrays`."""
        if self._kernel is None:
            count, flat, use_random = len(self.params), self._flat, self.random

            def fn(*args):
                params, rest = args[:count], args[count:]
                extra, values = (rest[:1], rest[1:]) if use_random else ((), rest)
                new, outs = flat(params, extra, values)
                return tuple(outs) + tuple(new)

            self._kernel = Kernel(_safe(self.name), fn)
        number = [random.next_number()] if self.random else []
        boxes = self.params + [None] * len(number) + boxes
        values = [p._array for p in self.params] + number + list(arrays)
        outs = [box(own(o, values)) for o in self._kernel.run(*values)]
        self.calls += 1
        tape.record(self._kernel, [b._node if isinstance(b, Tensor) else None for b in boxes], values, outs)
        for p, new in zip(self.written, outs[self.n_results:]):
            p._assign(new._array)
            p._node = new._node
        if self.errors:
            self._raise(outs[self.n_results - 1]._array)
        results = iter(outs[:self.n_results])
        return self.rebuild([next(results) if s is None else s[0] for s in self.static])

    # ------------------------------------------------------------------ looking at it
    def example_arguments(self):
        """Shapes and dtypes of the arguments of `run`."""
        def spec(v):
            return jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype)
        by_param = dict(zip(map(id, self.params), self.jaxpr.jaxpr.invars))
        written = [jax.ShapeDtypeStruct(p._stored().shape, p._stored().dtype) for p in self.written]
        read = [spec(by_param[id(p)]) for p in self.read]
        return written, read, *[spec(v) for v in self.jaxpr.jaxpr.invars[len(self.params):]]

    def lowered(self):
        """The program as StableHLO (`jax.stages.Lowered`)."""
        return self.run.lower(*self.example_arguments())

    def compiled(self):
        """The program as XLA has optimised it (`jax.stages.Compiled`)."""
        return self.lowered().compile()

    @property
    def outputs(self):
        """[("result", index)] then [("param", name)] for the written ones, one per jaxpr output."""
        return [("result", i) for i in range(self.n_results)] + [("param", p.name) for p in self.written]

    def __repr__(self):
        return f"<Program {self.name}: {len(self.jaxpr.jaxpr.eqns)} nodes, {len(self.params)} Parameters>"


# ---------------------------------------------------------------------- finding the program
class Programs:
    """The programs of one Cell or function, by signature of the arguments."""

    __slots__ = ("table", "epoch", "compiled", "warned", "__weakref__")

    def __init__(self):
        self.table = {}  # signature -> list of (dependencies, Program)
        self.epoch = -1
        self.compiled = 0
        self.warned = False

    def __deepcopy__(self, memo):
        return Programs()

    def __reduce__(self):
        return Programs, ()


class _Entry:
    """A program with what it depended on when it was traced."""

    __slots__ = ("program", "state", "guards", "epoch", "keep")

    def __init__(self, program, guards, keep):
        self.program = program
        self.guards = guards
        self.keep = keep
        self.epoch = trace.epoch.value
        self.state = self.current_state()

    def current_state(self):
        return [cell._fingerprint() for cell in self.program.cells]

    def valid(self):
        """Whether nothing that the trace saw has changed; cheap while the epoch stands still."""
        now = trace.epoch.value
        if self.epoch == now:
            return True
        if all(space.get(name, _GONE) is value for space, name, value in self.guards) \
                and self.state == self.current_state():
            self.epoch = now
            return True
        return False


    def change(self):
        """In words, what has changed since the trace; empty if nothing did."""
        for space, name, value in self.guards:
            if space.get(name, _GONE) is not value:
                return f"'{name}' was redefined"
        for cell, before, now in zip(self.program.cells, self.state, self.current_state()):
            if before != now:
                old, new = (dict(s[1]) for s in (before, now))
                names = [n for n in {**old, **new} if n not in old or n not in new or old[n] != new[n]]
                return f"{', '.join(names) or 'construct'} of {type(cell).__name__} changed"
        return "the arguments are other objects"


_GONE = object()
_by_function = weakref.WeakKeyDictionary()
_all_programs = weakref.WeakSet()


def programs_of(root):
    """The `Programs` of a Cell or function."""
    if hasattr(root, "_programs"):
        programs = root._programs
        if programs is None:
            programs = Programs()
            object.__setattr__(root, "_programs", programs)
            _all_programs.add(programs)
        return programs
    programs = _by_function.get(root)
    if programs is None:
        programs = _by_function[root] = Programs()
        _all_programs.add(programs)
    return programs


def all_programs():
    """Every live program of this process, newest signature last."""
    return [entry.program for programs in list(_all_programs) for entries in programs.table.values()
            for entry in entries]


def forget():
    """Drop every compiled program; returns how many there were."""
    count = 0
    for programs in list(_all_programs):
        count += sum(map(len, programs.table.values()))
        programs.table.clear()
    return count


def call(root, fn, args, kwargs, name, extra=()):
    """Run `fn(*args, **kwargs)` as a compiled program that is kept with `root`.

    Args:
        root (Union[Cell, Callable]): Owner of the program; its Parameters are the first candidates for inputs.
        fn (Callable): What is traced.
        args (tuple): Positional arguments; Tensors and floats are traced, everything else is part of the key.
        kwargs (dict): Keyword arguments.
        name (str): Name of the program.
        extra (tuple): Further parts of the key.
    """
    program, arrays, boxes = find(root, fn, args, kwargs, name, extra)
    if _thread.recording:
        return program.run_recorded(arrays, boxes)
    return program(arrays)


def find(root, fn, args, kwargs, name, extra=()):
    """(program, arrays, boxes of the dynamic arguments) for a call; traces when there is none yet."""
    programs = root._programs if hasattr(root, "_programs") else None
    if programs is None:
        programs = programs_of(root)
    key, arrays, boxes = [extra], [], []
    if kwargs:
        _sign((args, kwargs), key, arrays, boxes)
    else:
        for arg in args:
            if type(arg) is Tensor:
                array = arg._array
                key += (array.shape, array.dtype)
                arrays.append(array)
                boxes.append(arg)
            else:
                _sign(arg, key, arrays, boxes)
    key = tuple(key)
    entries = programs.table.get(key)
    if entries is not None:
        for entry in entries:
            if entry.epoch == trace.epoch.value or entry.valid():
                return entry.program, arrays, boxes
    return _compile(programs, root, fn, args, kwargs, name, key), arrays, boxes


def _compile(programs, root, fn, args, kwargs, name, key):
    params = list(root.get_parameters()) if hasattr(root, "get_parameters") else []
    with script.collecting() as guards:
        program = Program(name, root, fn, args, kwargs, params)
    if hasattr(root, "cells_and_names"):
        known = {id(c) for c in program.cells}
        program.cells += [c for _, c in root.cells_and_names() if id(c) not in known]
    entries = programs.table.setdefault(key, [])
    program.reason = entries[-1].change() if entries else (
        "new input signature" if any(k[0] == key[0] for k in programs.table if k != key) else "first call")
    entries[:] = entries[-3:]  # variants of one signature: training on and off, a flag or two
    entries.append(_Entry(program, guards, [leaf for leaf in flatten((args, kwargs))[0] if not _dynamic(leaf)]))
    programs.compiled += 1
    if programs.compiled >= 12 and not programs.warned:
        programs.warned = True
        from msnb import log
        log.warning(f"{name} has been compiled {programs.compiled} times. A Python number that changes in each call, "
                    f"or inputs of ever new shapes, cause this; pass changing numbers as Tensors.")
    return program


def _sign(value, key, arrays, boxes):
    """Append to `key` what `value` contributes to the signature, to `arrays` what is traced of it."""
    leaves, _ = flatten(value)
    if len(leaves) != 1 or leaves[0] is not value:
        key.append(structure(value))
    for leaf in leaves:
        if isinstance(leaf, Tensor) and not isinstance(leaf, Parameter):
            array = leaf._array
            key += (array.shape, array.dtype)
            arrays.append(array)
            boxes.append(leaf)
        elif type(leaf) is float:
            key.append(float)
            arrays.append(leaf)
            boxes.append(None)
        elif isinstance(leaf, (bool, int, str, bytes, type(None), mstype.Type, complex)):
            key += (type(leaf), leaf)
        elif isinstance(leaf, np.ndarray):
            raise TypeError(f"The inputs of a graph should be Tensors, but got a numpy array of shape {leaf.shape}; "
                            f"wrap it: Tensor(x).")
        elif isinstance(leaf, (jax.Array, np.generic)):
            raise TypeError(f"The inputs of a graph should be Tensors, but got {describe(leaf)}; wrap it: Tensor(x).")
        else:
            key.append(id(leaf))  # kept alive by the entry


def _dynamic(leaf):
    return type(leaf) is float or (isinstance(leaf, Tensor) and not isinstance(leaf, Parameter))


def _not_recording():
    return tape.paused()


def _weakable(root):
    try:
        weakref.ref(root)
    except TypeError:
        return False
    return True


@functools.lru_cache(maxsize=1024)
def _safe(name):
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "program"


def _argument_name(fn, rebuild, leaves, spot):
    """Name of the dynamic leaf at `spot` after the parameter of `fn` that it is passed for."""
    marks = [None] * len(leaves)
    marks[spot] = _MARK
    args, kwargs = rebuild(marks)
    names = getattr(getattr(fn, "__self__", fn), "argument_names", None) or parameter_names(fn)
    for i, arg in enumerate(args):
        found = [n for n, leaf in enumerate(flatten(arg)[0]) if leaf is _MARK]
        if found:
            name = _name_at(names, i)
            return name if flatten(arg)[0] == [_MARK] else f"{name}.{found[0]}"
    for name, arg in kwargs.items():
        if any(leaf is _MARK for leaf in flatten(arg)[0]):
            return name
    return f"x{spot}"


_MARK = object()


def _name_at(names, position):
    """Name of the argument at `position`; those that ``*inputs`` takes are ``inputs0``, ``inputs1``, ..."""
    if position < len(names) and not names[position].startswith("*"):
        return names[position]
    rest = next((n for n in names if n.startswith("*")), None)
    return f"x{position}" if rest is None else f"{rest[1:]}{position - names.index(rest)}"


def parameter_names(fn):
    """Names of the positional parameters of a function, a star before one that takes the rest."""
    try:
        parameters = inspect.signature(fn).parameters.values()
        return [f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name for p in parameters
                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    except (TypeError, ValueError):
        return []


def program_of(root, *args, **kwargs):
    """The program that a call of a Cell or function with these arguments runs in GRAPH mode, without running it.

    Raises:
        TypeError: If `root` is neither.
    """
    if hasattr(root, "_graph_call"):
        return find(root, *root._graph_call(args, kwargs))[0]
    if callable(root):
        from msnb.core.api import jit
        return program_of(jit(root), *args, **kwargs)
    raise TypeError(f"A graph is made of a Cell or a function, but got {describe(root)}.")
