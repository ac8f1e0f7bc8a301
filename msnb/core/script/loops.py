"""`while` and `for` in lowered code.

A loop runs in plain Python, unrolled, while its condition is known. If the condition is a traced Tensor, the remaining
iterations become one `while` of the graph. The body is then traced with a tracer for each variable that it changes.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import drop_weak_type, enclosing_traces
from msnb.core.eager import integer_gradients
from msnb.core.errors.messages import describe
from msnb.core.errors.messages import format_location as format_location
from msnb.core.script.assertions import Raised
from msnb.core.script.builtin_overloads import DynamicRange, boolean, dynamic, to_tensor
from msnb.core.script.checkpointed_while import differentiable_while
from msnb.core.script.conditionals import if_
from msnb.core.script.merge_branches import (
    are_leaves_equal,
    check_written_type,
    copy_containers,
    join_error,
    list_tensors_written_in,
)
from msnb.core.script.undefined import Undefined
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import name as dtype_name
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread
_UNROLL_LIMIT = 100_000
_MAX_TRACES = 12


def while_(
    test: Callable[[], Any],
    body: Callable[[], Any],
    read: Callable[[], Any],
    write: Callable[..., None],
    names: tuple[str, ...],
    location: tuple[Any, ...],
    unrolled: bool = True,
) -> None:
    """Run a `while` statement over the variables `names`. If not `unrolled`, it is a graph loop from the first
    iteration on.
    """
    iterations = 0
    while unrolled:
        condition = test()
        if dynamic(condition):
            break
        if not condition:
            return
        body()
        iterations += 1
        if iterations > _UNROLL_LIMIT:
            raise RuntimeError(
                f"{format_location(*location)}: the loop was unrolled {iterations} times while the graph was built "
                f"and its condition is still known beforehand; make the counter a Tensor to get a loop "
                f"in the graph."
            )
    _GraphLoop(test, body, read, write, names, location).run()


def for_(
    iterable: Any,
    assign: Callable[[Any], None],
    body: Callable[[], Any],
    going: Callable[[], Any] | None,
    read: Callable[[], Any],
    write: Callable[..., None],
    names: tuple[str, ...],
    location: tuple[Any, ...],
) -> None:
    """Run a `for` statement. `assign(item)` sets its targets; `going()` is True until `break`, or None without one."""
    if isinstance(iterable, DynamicRange):
        _run_for_over_range(iterable, assign, body, going, read, write, names, location)
        return
    for item in iterable:
        if going is not None:
            on = going()
            if dynamic(on):
                _run_if_without_else(on, lambda item=item: (assign(item), body()), read, write, names, location)
                continue
            if not on:
                break
        assign(item)
        body()


def _run_if_without_else(condition, step, read, write, names, location):
    if_(condition, step, lambda: None, read, write, names, location)


def _run_for_over_range(bounds, assign, body, going, read, write, names, location):
    """Run ``for i in range(n)`` with a traced n as a `while` loop. Its first variable is the counter."""
    stop, step = bounds.stop, bounds.step
    dtype = jnp.result_type(*[b._array for b in (bounds.start, stop, step) if isinstance(b, Tensor)])
    start = to_tensor(bounds.start)
    counter = [box(drop_weak_type(start._array.reshape(()).astype(dtype)))]

    def value(bound):
        return bound._array.reshape(()) if isinstance(bound, Tensor) else bound

    def test():
        now = counter[0]._array
        if isinstance(step, Tensor):
            more = jnp.where(value(step) > 0, now < value(stop), now > value(stop))
        else:
            more = now < value(stop) if step > 0 else now > value(stop)
        if going is not None:
            on = going()
            if not dynamic(on) and not on:
                return False
            if dynamic(on):
                more = more & boolean(on, location)
        return box(more)

    def advance():
        assign(counter[0])
        body()
        counter[0] = box((counter[0]._array + value(step)).astype(dtype))

    def read_all():
        return (counter[0], *read())

    def write_all(values):
        counter[0] = values[0]
        write(values[1:])

    while_(test, advance, read_all, write_all, ("the loop counter", *names), location)


class _LoopHints(dict):
    """Dict (location, kind, name) -> types and Parameters of a loop, from an earlier trace of its body."""


class _GraphLoop:
    """Traces one `while` or `for` statement as a loop of the graph."""

    def __init__(self, test, body, read, write, names, location):
        self.test, self.body, self.read, self.write = test, body, read, write
        self.names, self.place = names, location
        self.outer = _thread.frame
        self.hints = self.outer.trace.state_of(_LoopHints)
        self.before = read()
        self.traces = enclosing_traces()
        self.tensors: list[Tensor] = []  # Tensors from outside that the body writes in place
        self.at = format_location(*location)

    def run(self):
        """Trace until types, written Parameters and hidden state (error code, random key, overflow status) are stable,
        then emit the loop.
        """
        try:
            for _ in range(_MAX_TRACES):
                self._collect_carry()
                if self._trace_body():
                    break
            else:
                raise TypeError(f"{self.at}: the variables of the loop change type in every round.")
            self._trace_condition()
        finally:
            self.write(self.before)
        with jax.named_scope(f"while({', '.join(self._list_carried_names())})"):
            results = differentiable_while(self.test_jaxpr, self.body_jaxpr, tuple(self.init))
        self._assign_results(list(results))

    # ------------------------------------------------------------------ the carry
    def _get_hint(self, kind, name):
        return self.hints.get((self.place, kind, name))

    def _collect_carry(self):
        """Collect the values that the loop carries: the variables that are Tensors or numbers, the Parameters, the
        Tensors written in place, the state that Cells hide, and float arrays that carry the gradients of integer
        variables.
        """
        self.carried_positions, self.init = [], []  # (variable, leaf)
        self.filled = list(self.before)
        self.variable_parts = []
        for v, (name, value) in enumerate(zip(self.names, self.before)):
            shape = self._get_hint("value", name)
            if isinstance(value, Undefined) and shape is not None:
                value = shape[0]([box(jnp.zeros(*s)) if isinstance(s, tuple) else s[0] for s in shape[1]])
                self.filled[v] = value
            leaves, rebuild = flatten(value)
            self.variable_parts.append((leaves, rebuild, structure(value)))
            for k, leaf in enumerate(leaves):
                if isinstance(leaf, (Tensor, bool, int, float)) and not self._get_hint("fixed", (name, k)):
                    self.carried_positions.append((v, k))
                    self.init.append(self._to_carried_array(leaf, self._get_hint("dtype", (name, k))))
        self.params = list(self._get_hint("params", None) or ())
        self.init += [drop_weak_type(p._array) for p in (*self.params, *self.tensors)]
        self.hidden = self._get_hint("hidden", None) or ()
        self.init += self.outer.hidden_arrays(self.hidden)
        leaves = [self.variable_parts[v][0][k] for v, k in self.carried_positions]
        self.carriers = [
            p for p, x in enumerate(leaves) if isinstance(x, Tensor) and integer_gradients.is_carried(x._array)
        ]
        self.init += self._get_gradient_carriers(self.init)

    def _get_gradient_carriers(self, arrays):
        """Return the carriers of the integer arrays: float64 arrays through which their gradients flow.

        See `core.eager.integer_gradients`.
        """
        return [integer_gradients.carrier_or_new(arrays[p]) for p in self.carriers]

    def _list_carried_names(self, most=12):
        """Return the first `most` names of the carry, for the name of the loop in the graph."""
        names = []
        for v, k in self.carried_positions[:most]:
            name = "item" if self.names[v].startswith("__") else self.names[v].replace("the loop counter", "counter")
            names.append(name if len(self.variable_parts[v][0]) == 1 else f"{name}.{k}")
        return names + [p.name for p in self.params[: most - len(names)]]

    def _to_carried_array(self, leaf, hinted):
        if isinstance(leaf, Tensor):
            return drop_weak_type(leaf._array)
        dtype = hinted or (bool if isinstance(leaf, bool) else np.int64 if isinstance(leaf, int) else np.float32)
        return jnp.asarray(leaf, dtype)

    def _load_carry(self, carry):
        """Assign the carried arrays to the variables; return a frame with the carried Parameters and hidden state."""
        boxes = [list(leaves) for leaves, _, _ in self.variable_parts]
        for (v, k), array in zip(self.carried_positions, carry):
            boxes[v][k] = box(array)
        self.write(copy_containers(tuple(rebuild(b) for b, (_, rebuild, _) in zip(boxes, self.variable_parts))))
        rest = self._list_carried_boxes(carry)
        frame = trace_state.TraceFrame(self.params, rest[: len(self.params)], self.outer)
        frame.branch = True
        frame.adopt_hidden(self.hidden, rest[len(self.params) + len(self.tensors) :])
        self._attach_integer_gradient_carriers(carry)
        return frame

    def _list_carried_boxes(self, carry):
        """Return the arrays after those of the variables: Parameters, Tensors written in place, hidden state."""
        return list(carry[len(self.carried_positions) :])

    def _load_written_tensors(self, carry):
        """Assign the carried arrays to the Tensors that the body writes in place, until the end of the frame."""
        for tensor, array in zip(self.tensors, self._list_carried_boxes(carry)[len(self.params) :]):
            tensor._rebind_array(array)

    def _attach_integer_gradient_carriers(self, carry):
        for position, carrier in zip(self.carriers, carry[len(carry) - len(self.carriers) :]):
            integer_gradients.set_carrier(carry[position], carrier)

    # ------------------------------------------------------------------ tracing
    def _trace_body(self):
        """Trace the body. Returns False if the set of carried arrays has to change."""
        note = {}

        def step(*carry):
            with self._load_carry(carry) as frame:
                self._load_written_tensors(carry)
                try:
                    self.body()
                except Raised:
                    note["raised"] = True
                after = self.read() if "raised" not in note else None
                note["written"] = {id(p): p for p, _ in frame.writes()}
                note["tensors"] = list_tensors_written_in(frame, self.traces)
                note["hidden"] = frame.hidden_names()
                if "raised" in note:
                    outs = list(carry[: len(self.carried_positions)])
                else:
                    outs = note["outs"] = self._collect_body_outputs(after, carry, note)
                if note.get("again"):
                    return []
                outs += [
                    drop_weak_type(p._array.astype(i.dtype))
                    for p, i in zip(self.params, self._list_carried_boxes(self.init))
                ]
                for tensor, before in zip(self.tensors, self._list_carried_boxes(self.init)[len(self.params) :]):
                    check_written_type(before, tensor._array)
                    outs.append(drop_weak_type(tensor._array))
                return outs + frame.hidden_arrays(self.hidden) + self._get_gradient_carriers(outs)

        jaxpr = jax.make_jaxpr(step)(*self.init)
        must_retrace = bool(note.get("again"))
        carried_ids = {id(p) for p in self.params}
        if set(note["written"]) - carried_ids:
            params = self.params + [p for i, p in note["written"].items() if i not in carried_ids]
            self.hints[(self.place, "params", None)] = tuple(params)
            must_retrace = True
        new_tensors = [t for t in note["tensors"] if not any(t is known for known in self.tensors)]
        if new_tensors:
            self.tensors += new_tensors
            must_retrace = True
        if set(note["hidden"]) - set(self.hidden):
            self.hints[(self.place, "hidden", None)] = tuple(sorted({*note["hidden"], *self.hidden}))
            must_retrace = True
        self.body_jaxpr, self.end = jaxpr, note.get("after")
        return not must_retrace

    def _collect_body_outputs(self, after, carry, note):
        """Return the arrays at the end of an iteration, checked against those at its start."""
        outs, undefined = [], {}
        note["after"] = undefined
        for v, (name, value) in enumerate(zip(self.names, after)):
            leaves, rebuild = flatten(value)
            first, _, shape = self.variable_parts[v]
            if len(first) == 1 and isinstance(first[0], Undefined):
                if name.startswith("__rv") and not any(isinstance(x, Undefined) for x in leaves):
                    self.hints[(self.place, "value", name)] = (
                        rebuild,
                        [(x._array.shape, x._array.dtype) if isinstance(x, Tensor) else [x] for x in leaves],
                    )
                    note["again"] = True
                undefined[v] = leaves
                continue
            if structure(value) != shape:
                raise join_error(
                    f"{self.at}: the variable '{name}' is {describe(self.before[v])} before the loop but "
                    f"{describe(value)} after a round; its structure has to stay the same."
                )
            for k, leaf in enumerate(leaves):
                outs += self._check_output_leaf(name, v, k, first[k], leaf, carry, note)
        return outs

    def _check_output_leaf(self, name, v, k, start, leaf, carry, note):
        if (v, k) not in self.carried_positions:
            if _is_unchanged(leaf, start):
                return []
            if self._get_hint("fixed", (name, k)):  # it changes now that other variables are traced
                self.hints[(self.place, "fixed", (name, k))] = False
                note["again"] = True
                return []
            raise join_error(
                f"{self.at}: the variable '{name}' is {describe(start)} before the loop but "
                f"{describe(leaf)} after a round; only Tensors and numbers can change in a loop of the "
                f"graph."
            )
        if not isinstance(leaf, (Tensor, bool, int, float)):
            raise join_error(
                f"{self.at}: the variable '{name}' is {describe(start)} before the loop but "
                f"{describe(leaf)} after a round; dtype and shape have to stay the same."
            )
        position = self.carried_positions.index((v, k))
        expected = self.init[position]
        if (
            not isinstance(start, Tensor)
            and self._get_hint("fixed", (name, k)) is None
            and (_is_unchanged(leaf, start) or isinstance(leaf, Tensor) and leaf._array is carry[position])
        ):
            # a number that the loop does not change stays a constant
            self.hints[(self.place, "fixed", (name, k))] = True
            note["again"] = True
            return [expected]
        array = (
            leaf._array
            if isinstance(leaf, Tensor)
            else jnp.asarray(
                leaf, expected.dtype if not (isinstance(leaf, float) and expected.dtype.kind in "iub") else np.float32
            )
        )
        same_shape = array.shape == expected.shape
        if same_shape and array.dtype == expected.dtype:
            return [drop_weak_type(array)]
        if same_shape and not isinstance(start, Tensor):
            self.hints[(self.place, "dtype", (name, k))] = np.dtype(jnp.promote_types(array.dtype, expected.dtype))
            note["again"] = True
            return [expected]
        raise (join_error if array.dtype == expected.dtype else TypeError)(
            f"{self.at}: the variable '{name}' is {describe(box(expected))} before the loop but {describe(box(array))} "
            f"after a round; dtype and shape have to stay the same. Use ops.cast or ops.reshape, or give it its "
            f"final {'dtype' if same_shape else 'shape'} ({dtype_name(array.dtype)} {tuple(array.shape)}) before the "
            f"loop."
        )

    def _trace_condition(self):
        def check(*carry):
            with self._load_carry(carry) as frame:
                self._load_written_tensors(carry)
                condition = self.test()
                going = boolean(to_tensor(condition), self.place)
                if frame.has_error():  # the loop ends at a `raise`
                    going = going & (frame.current_error()[0] == 0)
                return going

        self.test_jaxpr = jax.make_jaxpr(check)(*self.init)

    # ------------------------------------------------------------------ results
    def _assign_results(self, results):
        boxes = [list(leaves) for leaves, _, _ in self.variable_parts]
        for (v, k), array in zip(self.carried_positions, results):
            boxes[v][k] = box(array)
        values = [rebuild(b) for b, (_, rebuild, _) in zip(boxes, self.variable_parts)]
        for v, leaves in (self.end or {}).items():
            if not all(isinstance(x, Undefined) for x in leaves):
                values[v] = Undefined(
                    self.names[v],
                    f"is first assigned inside the loop at {self.at} and has no value "
                    f"if the loop does not run; assign it before the loop as well",
                    self.place,
                )
        self.write(tuple(values))
        self._attach_integer_gradient_carriers(results)
        rest = self._list_carried_boxes(results)
        for p in (*self.params, *self.tensors):
            p._rebind_array(rest.pop(0))
        self.outer.adopt_hidden(self.hidden, rest)


def _is_unchanged(leaf, start):
    return leaf is start or not isinstance(leaf, Tensor) and are_leaves_equal(leaf, start)
