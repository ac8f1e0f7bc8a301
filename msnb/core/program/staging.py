"""Trace a Python function into a jaxpr with Parameters as inputs and outputs.

A Parameter that the function reads becomes an input. The function is traced again until every Parameter that it reads
is an input. Written Parameters become outputs after the function's own results. Unused inputs are dropped. Results that
are not Tensors, and attributes of Cells that the function sets in Python, are stored with the jaxpr.
"""

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, MappingView, Sequence
from typing import Any, NamedTuple

import jax
import jax.extend

from msnb._util import gc_pause
from msnb.core.compat.jax_private import (
    argument_signature,
    is_tracer,
    restore_trace_state,
    trace_state,
    weak_float32,
    without_argument_names,
)
from msnb.core.eager import tape
from msnb.core.errors.data_dependent_shape import ObjectReturned, ValueNeeded
from msnb.core.errors.messages import remove_jax_note, user_line
from msnb.core.jaxpr import partial_trace, sown_values
from msnb.core.jaxpr.inline_calls import inline_calls
from msnb.core.jaxpr.op_names import number_names
from msnb.core.operator import api_generations
from msnb.core.program.argument_names import argument_name
from msnb.core.program.error_report import ErrorReport
from msnb.core.script.strings import Text
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
_ITERABLE_RESULTS: Any = (range, reversed, MappingView, type(iter(())), type(iter([])))


def _convert_to_tuples(value):
    """Return a result as a graph returns it: views and iterators of Python become tuples, and generator expressions
    lists."""
    if inspect.isgenerator(value) and value.gi_code.co_name == "<genexpr>":
        return list(value)
    return (
        tuple([_convert_to_tuples(v) for v in value])
        if type(value) is tuple or isinstance(value, _ITERABLE_RESULTS)
        else value
    )


def _holds_traced_tensor(result):
    """Return True for an object with fields or keys, such as a dataclass, that has Tensors of this trace."""
    if isinstance(result, Mapping):
        values = result.values()
    elif dataclasses.is_dataclass(result) and not isinstance(result, type):
        values = vars(result).values()
    else:
        return False
    return any(isinstance(leaf, Tensor) and is_tracer(leaf._array) for leaf in flatten(tuple(values))[0])


def _contains_new_state(values, new_cells, first_key):
    """Return True if `values`, which a trace assigned to attributes, hold a Parameter newer than `first_key` or a Cell
    in `new_cells`.
    """
    leaves = flatten(values)[0]
    return any(
        leaf.key > first_key if isinstance(leaf, Parameter) else any(leaf is cell for cell in new_cells)
        for leaf in leaves
    )


class ResultTree(NamedTuple):
    """The results of a traced function, and the function that rebuilds their structure from the outputs of the graph.

    Attributes:
        count (int): Number of outputs that are results, including the error code.
        rebuild (Callable): Restores the structure of the results from their leaves.
        static (list): Per leaf None for a Tensor, else (the value,).
        is_single (bool): True if the result is one Tensor.
        copied (set): Indices of outputs that have to be copies, because another object holds the array.
    """

    count: int
    rebuild: Callable[[list[Any]], Any]
    static: list[Any]
    is_single: bool
    copied: set[int]

    def build(self, boxes: Iterable[Tensor]) -> Any:
        """Return the results of a call whose first outputs are `boxes`."""
        boxes = iter(boxes)
        return self.rebuild([next(boxes) if s is None else s[0] for s in self.static])


class Staged:
    """One function, traced for one signature of its arguments.

    Args:
        name (str): Name of the Cell class or function.
        fn (Callable): The function to trace.
        args (tuple), kwargs (dict): Arguments of the call; Tensors and floats among them become inputs.
        params (Sequence): Parameters that it is expected to read; others are discovered.
        constants (Sequence): Indices of Tensors and floats among the arguments that are constants instead. Default: ().

    Attributes:
        jaxpr (ClosedJaxpr): The traced graph; inputs are described by `inputs`.
        names (dict): Name in `jaxpr` -> `core.jaxpr.op_names.OpInfo`, the operator with its attributes, strategy and
            stage.
        inputs (list): Per jaxpr input ("param", name, requires_grad), ("arg", name) or ("random", "number").
        params (list): Parameters among the inputs. The `written` ones have new values, which the graph returns after
            the results; the `read` ones have none.
        cells (list): Cells that were called.
        prints (bool): True if the program prints or calls Python while it runs; a call then waits for these effects.
        sown (tuple[SownValue]): Values for observers inside the function, see `core.jaxpr.sown_values`.
        returning (ClosedJaxpr): `jaxpr` with the sown values as last outputs; `jaxpr` itself if there are none.
        calling (ClosedJaxpr): The graph to differentiate. It passes sown values to Python by callbacks; it is `jaxpr`
            itself if there are none.
        settings (list): (Cell, name, value) of attributes that construct sets; each call sets them after its run.
        errors (Union[ErrorReport, None]): Possible run-time errors; the last result is then the error code. None if
            there are none.
        results (ResultTree): Number and structure of the results.
        first_line (Union[tuple, None]): (file, line, text) of the user's line that caused the trace.
        device (jax.Device): Device of the trace, None for JAX's default.
        spread (Union[Partitioner, None]): Partitioner for several devices; None for one device.

    Raises:
        RecursionError: If Cells are nested too deeply.
        RuntimeError: If `fn` creates Parameters and stores them: each trace would create other ones.
        Exception: An error of `fn`.
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
        interrupts.deliver_pending(lambda: with_headroom(lambda: self._trace_to_fixpoint(fn, args, kwargs, params)))

    def select_inputs(self, values: Iterable[Any], leaves: Sequence[Any]) -> list[Any]:
        """Select from `values`, one per leaf of the arguments, those whose leaves are inputs of the graph."""
        candidates = [value for value, leaf in zip(values, leaves, strict=True) if is_dynamic(leaf)]
        return [value for index, value in enumerate(candidates) if index not in self.constants]

    @property
    def n_results(self) -> int:
        """Return the number of results, including the error code."""
        return self.results.count

    @property
    def outputs(self) -> list[tuple[str, Any]]:
        """Return [("result", index)] and then [("param", name)] of the written ones, one per jaxpr output."""
        return [("result", i) for i in range(self.n_results)] + [("param", p.name) for p in self.written]

    @gc_pause.without_gc
    def _trace_to_fixpoint(self, fn, args, kwargs, params):
        leaves, rebuild = flatten((args, kwargs))
        state, frame, outer_partitioner = trace_state(), _thread.frame, _thread.spread
        recording, dtype, forward = _thread.recording, _thread.compute_dtype, _thread.forward_mode
        try:
            if self.spread is not None:
                _thread.spread = self.spread
                trace.update_results_observed()
            excludes_new = False
            for _ in range(_MAX_DISCOVERY):
                first_key = next_key()
                missing = self._trace_once(fn, leaves, rebuild, params, first_key if excludes_new else None)
                if not missing:
                    return
                # new in one trace: lazily initialized; new in two traces: created in each call
                excludes_new = all(p.key > first_key for p in missing)
                params = params + missing
        except RecursionError:
            raise RecursionError(
                f"Building the graph of {self.name} needs more than Python's {sys.getrecursionlimit()} nested calls: "
                f"its Cells stand too deep in one another, or one calls itself. Nest less, or raise the limit with "
                f"sys.setrecursionlimit()."
            ) from None
        except Exception as error:
            remove_jax_note(error)
            raise
        finally:  # an interrupt may have arrived before a context manager restored its state
            _thread.frame, _thread.recording, _thread.spread = frame, recording, outer_partitioner
            _thread.compute_dtype, _thread.forward_mode = dtype, forward
            trace.update_results_observed()
            restore_trace_state(state)
        raise RuntimeError(
            f"Each trace of {self.name} read Parameters that those before it did not. "
            f"Make them before, outside of the graph, as in the __init__ of the Cell that holds them."
        )

    def _trace_once(self, fn, leaves, rebuild, params, first_key):
        """Trace the function. Return the Parameters that it read and that are not inputs yet; with them the caller
        traces again.

        Parameters with a key from `first_key` on, if it is not None, were created by this trace and are values of the
        graph.
        """

        def existing(params):
            return [p for p in params if first_key is None or p.key < first_key]

        positions = self.select_inputs(range(len(leaves)), leaves)
        note = {}

        def traced(param_arrays, number, arrays):
            full = list(leaves)
            for i, array in zip(positions, arrays):
                full[i] = box(weak_float32(array) if isinstance(leaves[i], float) else array)
            call_args, call_kwargs = rebuild(full)
            frame = trace.TraceFrame(params, param_arrays, None)
            frame.trace.number = number
            note["frame"] = frame
            with frame, tape.paused():
                out = fn(*call_args, **call_kwargs)
                is_list = type(out) is list and api_generations.shared == 1  # r1.1's graphs return tuples
                results, note["rebuild"] = flatten(tuple(out) if is_list else _convert_to_tuples(out))
                if frame.trace.errors.refusal is not None:
                    raise frame.trace.errors.refusal
                for result in results:
                    self._check_result(result)
                written_params = existing(frame.written.values())
                arrays = [r._array for r in results if isinstance(r, Tensor)]
                written = [frame.values[id(p)] for p in written_params]
                if frame.error is not None:
                    arrays.append(frame.error)
            note["static"] = [None if isinstance(r, Tensor) else (r,) for r in results]
            note["written"] = written_params
            return arrays, written

        avals = [p._get_argument_signature() for p in params]
        values = [leaves[i]._array if isinstance(leaves[i], Tensor) else leaves[i] for i in positions]
        partitioner = self.spread
        local_values = values if partitioner is None else [partitioner.within(value) for value in values]
        arg_names = [argument_name(fn, rebuild, leaves, i) for i in positions]

        def describe_trace():
            inputs = [("param", p.name, p.requires_grad) for p in params]
            inputs += [("random", "number"), *(("arg", n) for n in arg_names)]
            return self.name, inputs, list(note["frame"].trace.missing.values())

        try:
            staged = partial_trace.store_on_error(traced, describe_trace)
            closed = jax.make_jaxpr(staged, axis_env=partitioner.axes if partitioner else None)(avals, 0, local_values)
        finally:
            self.settings: list[Any] = note["frame"].trace.cell_changes.take_settings() if "frame" in note else []
        frame = note["frame"]
        changes = frame.trace.cell_changes
        missing = list(frame.trace.missing.values())
        if existing(missing):
            return missing
        if missing and _contains_new_state(
            [changes.new_members, [value for _, _, value in self.settings]], changes.created, first_key
        ):
            raise RuntimeError(
                f"{self.name} makes a Parameter and keeps it, so that each of its graphs would have another one. "
                f"Make it once, outside of the graph, as in the __init__ of the Cell that holds it."
            )
        if frame.trace.has_shared_calls:
            closed = inline_calls(closed)
        self.cells: list[Any] = list(frame.cells.values())
        title = getattr(self, "title", self.name)
        entries = frame.trace.errors.entries
        self.errors = ErrorReport(entries, title, self.first_line) if frame.error is not None else None
        self._arguments = [argument_signature(value) for value in values]
        self._sort_inputs(closed, params, note, arg_names, frame.trace.key_used)
        return []

    def _check_result(self, result):
        """Raise an error if a graph cannot return the leaf `result`."""
        if isinstance(result, Undefined):
            result.complain()
        if isinstance(result, Text) and api_generations.shared == 2:
            raise ValueNeeded("a returned string", "the string contains it")
        if _holds_traced_tensor(result):
            raise ObjectReturned(type(result).__name__)
        if inspect.isgenerator(result) or inspect.isawaitable(result):
            raise TypeError(
                f"{self.name} is a generator or async: a graph returns its results at once. "
                f"Collect them in a list and return it."
            )

    def _sort_inputs(self, closed, params, note, arg_names, random_used):
        """Drop unused inputs and sort the rest into written, read and arguments."""
        jaxpr = closed.jaxpr
        used = {v for eqn in jaxpr.eqns for v in eqn.invars if isinstance(v, jax.extend.core.Var)}
        used.update(v for v in jaxpr.outvars if isinstance(v, jax.extend.core.Var))
        n_params, n_results = len(params), sum(s is None for s in note["static"]) + bool(self.errors)
        written = note["written"]
        own_input = {id(p): v for p, v in zip(params, jaxpr.invars)}
        changed = [i for i, p in enumerate(written) if jaxpr.outvars[n_results + i] is not own_input.get(id(p))]
        written_ids = {id(written[i]) for i in changed}
        # A failed call returns old values of written Parameters, so these are inputs too.
        if self.errors:
            used.update(own_input[i] for i in written_ids)
        order = sorted(changed, key=lambda i: written[i].key)
        self.written: list[Any] = [written[i] for i in order]
        self.read: list[Any] = [p for p, v in zip(params, jaxpr.invars) if v in used and id(p) not in written_ids]
        used_params = [(p, v) for p, v in zip(params, jaxpr.invars) if v in used]
        arg_vars = jaxpr.invars[n_params + 1 :]
        self.random: bool = random_used
        invars = [v for _, v in used_params] + ([jaxpr.invars[n_params]] if random_used else []) + list(arg_vars)
        outvars = list(jaxpr.outvars[:n_results]) + [jaxpr.outvars[n_results + i] for i in order]
        self.jaxpr, self.names = number_names(
            jax.extend.core.ClosedJaxpr(
                jaxpr.replace(invars=invars, outvars=outvars, debug_info=without_argument_names(jaxpr)), closed.consts
            )
        )
        self.calling = self.jaxpr
        self.jaxpr = sown_values.remove_callbacks(self.calling)
        self.prints = bool(self.jaxpr.effects)
        sown = sown_values.return_sown(self.jaxpr) if self.jaxpr is not self.calling else None
        self.returning: jax.extend.core.ClosedJaxpr = self.jaxpr if sown is None else sown.jaxpr
        self.sown: tuple[sown_values.SownValue, ...] = () if sown is None else sown.values
        self.params: list[Any] = [p for p, _ in used_params]
        self.inputs: list[tuple[Any, ...]] = (
            [("param", p.name, p.requires_grad) for p in self.params]
            + ([("random", "number")] if random_used else [])
            + [("arg", n) for n in arg_names]
        )
        rebuild, static = note["rebuild"], note["static"]
        is_single = static == [None] and structure(rebuild([0])) == 0
        computed = {v for eqn in jaxpr.eqns for v in eqn.outvars}
        returned, copied = set(), set()
        for position, var in enumerate(outvars):
            is_literal = not isinstance(var, jax.extend.core.Var)
            is_fresh = not is_literal and var in computed and var not in returned
            if not is_fresh and (position >= n_results or is_literal or var not in arg_vars):
                copied.add(position)  # a returned array must not be one that a Parameter holds
            if not is_literal:
                returned.add(var)
        self.results = ResultTree(n_results, rebuild, static, is_single, copied)


def is_dynamic(leaf: Any) -> bool:
    """Return True if an argument is traced by default. A graph may need it as a constant, see `static_floats`.

    Other arguments are part of a program's signature.
    """
    return type(leaf) is float or (isinstance(leaf, Tensor) and not isinstance(leaf, Parameter))
