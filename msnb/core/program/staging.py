"""A Python function as a graph: traced, until each Parameter that it reads is an input, and sorted out.

Tracing Python once gives a jaxpr (`jaxpr`, which msnb.ir reads). Parameters that were written become results beside
the function's own, inputs that nothing uses go, and what the function did in Python stands beside the graph: which of
its results are no Tensors, and which attributes of Cells it set.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, MappingView, Sequence
from typing import Any

import jax
import jax.extend

from msnb._util import gc_pause
from msnb.core.compat.jax_private import (
    argument_signature,
    restore_trace_state,
    trace_state,
    weak_float32,
    without_argument_names,
)
from msnb.core.eager import tape
from msnb.core.errors.messages import remove_jax_note, user_line
from msnb.core.jaxpr import partial_trace, sown_values
from msnb.core.jaxpr.inline_calls import inline_calls
from msnb.core.jaxpr.op_names import number_names
from msnb.core.operator.value_checks import Finding
from msnb.core.program.argument_names import argument_name
from msnb.core.script.undefined import Undefined
from msnb.core.sharding import partitioner
from msnb.core.state import trace_state as trace
from msnb.core.support import interrupts
from msnb.core.support.stack_headroom import with_headroom
from msnb.core.tensor.parameter import Parameter, next_key
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.tensor import Tensor, box

_thread = trace.thread
_MAX_DISCOVERY = 8
_SERIES: Any = (range, reversed, MappingView, type(iter(())), type(iter([])))


def _given_back(value):
    """What a function returns as a graph does: a tuple for what Python has views and iterators for."""
    return tuple([_given_back(v) for v in value]) if type(value) is tuple or isinstance(value, _SERIES) else value


def _keeps(values, made, begun):
    """Whether among what a trace has made attributes is a Parameter newer than `begun`, or a Cell that it made."""
    leaves = flatten(values)[0]
    return any(
        leaf.key > begun if isinstance(leaf, Parameter) else any(leaf is cell for cell in made) for leaf in leaves
    )


class Staged:
    """One traced function for one signature.

    Args:
        name (str): Name of the Cell class or function.
        fn (Callable): What is traced.
        args (tuple), kwargs (dict): What it is called with; Tensors and floats among them become inputs.
        params (Sequence): Parameters that it is known to read; others are found.
        constants (Sequence): Which of these Tensors and floats are constants instead, by number. Default: ().

    Attributes:
        jaxpr (ClosedJaxpr): The traced graph; inputs are described by `inputs`.
        names (dict): What the names in `jaxpr` stand for: text -> `core.jaxpr.op_names.Meaning`, the operator with its
            attributes, strategy and stage.
        inputs (list): Per jaxpr input ("param", name, requires_grad), ("arg", name) or ("random", "number").
        params (list): Parameters among the inputs; of them `written` have new values, which the graph returns after
            the results, and `read` have none.
        cells (list): Cells that took part.
        prints (bool): Whether it prints, or calls Python otherwise, while it runs; a call then waits for that.
        handed (tuple[Handed]): What it hands over when it has run, see `core.handed`.
        returning (ClosedJaxpr): The form that returns that, too, behind its other outputs; `jaxpr` where it is nothing.
        calling (ClosedJaxpr): The form that can be differentiated, and calls Python for it; likewise.
        settings (list): (Cell, name, value) of the attributes that construct sets, which a call sets when it has run.
        errors (list): (error, place) of what may go wrong while it runs; the last result says which did, by number.
        n_results (int): How many results there are, the one for `errors` included.
        copied (set): Places of outputs that have to be copies, as they are arrays that somebody holds.
        first_line (Union[tuple, None]): (file, line, text) of the user's line that it was traced for.
        device (jax.Device): Where it was traced for, None for JAX's default.
        spread (Union[Spread, None]): How it is spread over several devices; None where one computes all.

    Raises:
        RecursionError: If Cells stand too deep in one another.
        RuntimeError: If `fn` makes Parameters and keeps them, so that each graph would have others.
        Exception: What `fn` raises.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        params: Sequence[Any],
        constants: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.constants = constants
        self.first_line: tuple[str, int, str] | None = user_line()
        self.device: Any = jax.config.jax_default_device
        self.spread: partitioner.Partitioner | None = None if _thread.frame is not None else partitioner.begin()
        interrupts.deliver_pending(lambda: with_headroom(lambda: self._trace(fn, args, kwargs, params)))

    def taken(self, values: Iterable[Any], leaves: Sequence[Any]) -> list[Any]:
        """Of `values`, one for each of the arguments' leaves, those whose leaves are inputs of the graph."""
        among = [value for value, leaf in zip(values, leaves, strict=True) if dynamic(leaf)]
        return [value for place, value in enumerate(among) if place not in self.constants]

    @property
    def outputs(self) -> list[tuple[str, Any]]:
        """[("result", index)] then [("param", name)] for the written ones, one per jaxpr output."""
        return [("result", i) for i in range(self.n_results)] + [("param", p.name) for p in self.written]

    @gc_pause.without_gc
    def _trace(self, fn, args, kwargs, params):
        leaves, rebuild = flatten((args, kwargs))
        state, frame, spread = trace_state(), _thread.frame, _thread.spread
        recording, dtype, forward = _thread.recording, _thread.compute_dtype, _thread.forward_mode
        try:
            if self.spread is not None:
                _thread.spread = self.spread
                trace.update_results_observed()
            anew = False
            for _ in range(_MAX_DISCOVERY):
                begun = next_key()
                found = self._trace_once(fn, leaves, rebuild, params, begun if anew else None)
                if not found:
                    return
                anew = all(p.key > begun for p in found)  # once may be for good, twice is each time
                params = params + found
        except RecursionError:
            raise RecursionError(
                f"Building the graph of {self.name} needs more than Python's {sys.getrecursionlimit()} nested calls: "
                f"its Cells stand too deep in one another, or one calls itself. Nest less, or raise the limit with "
                f"sys.setrecursionlimit()."
            ) from None
        except Exception as error:
            remove_jax_note(error)
            raise
        finally:  # a Stop may have come when a context manager was about to put back what it had set
            _thread.frame, _thread.recording, _thread.spread = frame, recording, spread
            _thread.compute_dtype, _thread.forward_mode = dtype, forward
            trace.update_results_observed()
            restore_trace_state(state)
        raise RuntimeError(
            f"Each trace of {self.name} read Parameters that those before it did not. "
            f"Make them before, outside of the graph, as in the __init__ of the Cell that holds them."
        )

    def _trace_once(self, fn, leaves, rebuild, params, begun):
        """Trace; return Parameters that were read without being inputs yet (then trace again).

        Those with a key above `begun`, if it is given, this trace has made for itself: they are values of the graph.
        """

        def given(params):
            return [p for p in params if begun is None or p.key < begun]

        spots = self.taken(range(len(leaves)), leaves)
        note = {}

        def traced(param_arrays, number, arrays):
            full = list(leaves)
            for i, array in zip(spots, arrays):
                full[i] = box(weak_float32(array) if isinstance(leaves[i], float) else array)
            call_args, call_kwargs = rebuild(full)
            frame = trace.TraceFrame(params, param_arrays, None)
            frame.number = number
            note["frame"] = frame
            with frame, tape.paused():
                out = fn(*call_args, **call_kwargs)
                results, note["rebuild"] = flatten(tuple(out) if type(out) is list else _given_back(out))
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
                into = given(frame.written.values())
                arrays = [r._array for r in results if isinstance(r, Tensor)]
                written = [frame.values[id(p)] for p in into]
                if frame.error is not None:
                    arrays.append(frame.error)
            note["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            note["written"] = into
            return arrays, written

        avals = [p._like() for p in params]
        values = [leaves[i]._array if isinstance(leaves[i], Tensor) else leaves[i] for i in spots]
        spread = self.spread
        within = values if spread is None else [spread.within(value) for value in values]
        arg_names = [argument_name(fn, rebuild, leaves, i) for i in spots]

        def described():
            inputs = [("param", p.name, p.requires_grad) for p in params]
            inputs += [("random", "number"), *(("arg", n) for n in arg_names)]
            return self.name, inputs, list(note["frame"].missing.values())

        try:
            staged = partial_trace.store_on_error(traced, described)
            closed = jax.make_jaxpr(staged, axis_env=spread.axes if spread else None)(avals, 0, within)
        finally:
            self.settings: list[Any] = note["frame"].take_settings() if "frame" in note else []
        frame = note["frame"]
        missing = list(frame.missing.values())
        if given(missing):
            return missing
        if missing and _keeps(
            [frame.new_attributes, [value for _, _, value in self.settings]], frame.created_cells, begun
        ):
            raise RuntimeError(
                f"{self.name} makes a Parameter and keeps it, so that each of its graphs would have another one. "
                f"Make it once, outside of the graph, as in the __init__ of the Cell that holds it."
            )
        if frame.repeats is not None and frame.repeats.called:
            closed = inline_calls(closed)
        self.cells: list[Any] = list(frame.cells.values())
        self.errors: list[Any] = frame.errors if frame.error is not None else []
        self.waits = not all(isinstance(e, Finding) and e.late for e, _ in self.errors)  # for its error
        self._arguments = [argument_signature(value) for value in values]
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
        self.jaxpr, self.names = number_names(
            jax.extend.core.ClosedJaxpr(
                jaxpr.replace(invars=invars, outvars=outvars, debug_info=without_argument_names(jaxpr)), closed.consts
            )
        )
        self.calling = self.jaxpr
        self.jaxpr = sown_values.remove_callbacks(self.calling)
        self.prints = bool(self.jaxpr.effects)
        found = sown_values.return_sown(self.jaxpr) if self.jaxpr is not self.calling else None
        self.returning: jax.extend.core.ClosedJaxpr = self.jaxpr if found is None else found.jaxpr
        self.handed: tuple[sown_values.SownValue, ...] = () if found is None else found.values
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


def dynamic(leaf: Any) -> bool:
    """Whether an argument is traced, unless the graph needs it as a constant; the others are part of a program's
    signature."""
    return type(leaf) is float or (isinstance(leaf, Tensor) and not isinstance(leaf, Parameter))
