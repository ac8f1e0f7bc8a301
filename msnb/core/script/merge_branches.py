"""Merge two traced branches into one conditional: their results are compared and merged variable by variable."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import drop_weak_type, enclosing_traces, eval_jaxpr, is_known_in
from msnb.core.eager import integer_gradients
from msnb.core.errors.data_dependent_shape import PathsDiffer
from msnb.core.errors.messages import describe
from msnb.core.errors.messages import format_location as format_location
from msnb.core.operator import api_generations
from msnb.core.script.assertions import Raised
from msnb.core.script.calls import scoped_call
from msnb.core.script.jump_flags import FLAGS
from msnb.core.script.undefined import MISSING, Undefined
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import name as dtype_name
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread
_NUMBERS = (bool, int, float, np.generic)


class TensorChoice:
    """A choice between several functions by a Tensor at run time. A call runs the selected function.

    Args:
        functions (Sequence): The functions or Cells.
        index (jax.Array): Index of the selected function, 0-D int32.
        location (tuple): File and line of the choice.
    """

    def __init__(
        self, functions: Sequence[Callable[..., Any]], index: jax.Array, location: tuple[Any, ...] | None
    ) -> None:
        self.functions = functions
        self.index: Any = index
        self.place: tuple[Any, ...] | None = location

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def run(i):
            call_function = lambda: scoped_call(self.functions[i])(*args, **kwargs)  # noqa: E731
            if i == len(self.functions) - 1:
                return call_function()
            branches = Branch(lambda: (call_function(),)), Branch(lambda: (run(i + 1),))
            return select(self.index == i, *branches, ("expression",), self.place)[0]

        return run(0)


def copy_containers(values: Any) -> Any:
    """Return the values with lists, dicts and NumPy arrays copied, so that a branch mutates its own copies."""
    leaves, rebuild = flatten(values)
    return rebuild([leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves])


def list_tensors_written_in(frame: trace_state.TraceFrame, traces: Sequence[Any]) -> list[Tensor]:
    """Return the Tensors that operators have written in place in a branch or loop and that exist outside of it.

    Args:
        frame (TraceFrame): The frame of the branch or loop.
        traces (Sequence): JAX's traces around it. A Tensor of another trace was created in the branch or loop.
    """
    return [tensor for tensor, before in frame.rebound_tensors() if is_known_in(before, traces)]


class Branch:
    """One branch of a conditional, traced once.

    Args:
        run (Callable): Returns the values of the variables after the branch. Writes of Parameters, and of Tensors in
            place, are recorded.
    """

    def __init__(self, run: Callable[..., Any]) -> None:
        outer, traces = _thread.frame, enclosing_traces()
        self.raised = False
        self.leaves: list[Any] = []
        self.rebuild: Any = None
        self.carried: list[int] = []  # positions of leaves with a carrier, see core.eager.integer_gradients

        def traced():
            with trace_state.TraceFrame((), (), outer) as frame:
                frame.branch = True
                try:
                    self.leaves, self.rebuild = flatten(run())
                except Raised:
                    self.raised = True
                arrays = [leaf._array for leaf in self.leaves if isinstance(leaf, Tensor)]
                writes = frame.writes() + [(t, t._array) for t in list_tensors_written_in(frame, traces)]
                self.hidden = frame.hidden_names()
                hidden = frame.hidden_arrays(self.hidden)
                carriers = [
                    integer_gradients.carrier(leaf._array) if isinstance(leaf, Tensor) else None for leaf in self.leaves
                ]
            self.boxes = [p for p, _ in writes]
            self.carried = [i for i, carrier in enumerate(carriers) if carrier is not None]
            return arrays, [a for _, a in writes], hidden, [carriers[i] for i in self.carried]

        self.jaxpr: Any = jax.make_jaxpr(traced)()
        tensor_positions = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, Tensor)]
        avals = [v.aval for v in self.jaxpr.jaxpr.outvars]
        self.output_of: dict[int, int] = {leaf: i for i, leaf in enumerate(tensor_positions)}
        self.avals: dict[int, Any] = {leaf: avals[i] for i, leaf in enumerate(tensor_positions)}
        self.count: int = len(tensor_positions)
        self.avals_of_boxes: dict[int, Any] = {id(p): aval for p, aval in zip(self.boxes, avals[self.count :])}

    def variables(self) -> list[Any]:
        """Return per variable (leaf positions, structure)."""
        parts = self.rebuild(list(range(len(self.leaves))))
        return [(flatten(p)[0], structure(p)) for p in parts]

    def replay(self) -> Any:
        """Evaluate the branch; return (arrays by leaf, written arrays by id of Tensor, hidden state by name)."""
        outs = eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts)
        tensors, rest = outs[: self.count], outs[self.count :]
        values: dict[Any, Any] = {leaf: tensors[i] for leaf, i in self.output_of.items()}
        written = {id(p): a for p, a in zip(self.boxes, rest)}
        hidden, carriers = rest[len(self.boxes) :][: len(self.hidden)], rest[len(self.boxes) + len(self.hidden) :]
        values.update({("carrier", i): c for i, c in zip(self.carried, carriers)})
        return values, written, dict(zip(self.hidden, hidden))


class _Output:
    """One output of the conditional: its source in each branch, its shape and dtype."""

    __slots__ = ("sides", "shape", "dtype")

    def __init__(self, sides, shape, dtype):
        self.sides, self.shape, self.dtype = sides, shape, dtype

    def array(self, side, values):
        """Return the array in branch `side`; zeros if only the other branch has a value."""
        kind, what = self.sides[side]
        if kind == "leaf":
            return drop_weak_type(jnp.asarray(values[what], self.dtype))
        if kind == "constant":
            return jnp.asarray(what, self.dtype)
        return jnp.zeros(self.shape, self.dtype)


def select(
    predicate: jax.Array,
    yes: "Branch",
    no: "Branch",
    names: Sequence[str],
    location: tuple[Any, ...] | None,
    guards: bool = False,
) -> Any:
    """Return the variables after the conditional, a tuple in the order of `names`. With `guards`, the branch `no` ends
    in a jump.
    """
    if yes.raised and no.raised:
        _emit_conditional(predicate, yes, no, [])
        raise Raised()
    if yes.raised or no.raised:
        alive = 1 if yes.raised else 0
        plan, outs = _plan_single_branch(no if yes.raised else yes, alive)
    else:
        plan, outs = _plan_outputs(predicate, yes, no, names, location, guards)
    carriers = _add_carrier_outputs(yes, no, outs)
    results = _emit_conditional(predicate, yes, no, outs)
    for out, carrier in carriers.items():
        integer_gradients.set_carrier(results[out], results[carrier])
    values = []
    for rebuild, entries in plan:
        values.append(rebuild([box(results[e]) if type(e) is int else e[0] for e in entries]))
    return tuple(values)


def _add_carrier_outputs(yes, no, outs):
    """Add the carriers, through which gradients of integers flow, to the outputs; return {output: its carrier}. See
    core.eager.integer_gradients.
    """
    carrier_outputs = {}
    for i, out in enumerate(list(outs)):
        sides = [
            ("leaf", ("carrier", what)) if kind == "leaf" and what in branch.carried else ("zero", None)
            for branch, (kind, what) in zip((yes, no), out.sides)
        ]
        if any(kind == "leaf" for kind, _ in sides):
            carrier_outputs[i] = len(outs)
            outs.append(_Output(sides, out.shape, np.dtype(np.float64)))
    return carrier_outputs


def _plan_single_branch(branch, side):
    """Plan the outputs if the other branch raises: values of this branch, zeros in the other."""
    plan, outs = [], []
    variables = branch.rebuild(list(range(len(branch.leaves))))
    for variable in variables:
        positions, rebuild = flatten(variable)
        entries = []
        for position in positions:
            if position in branch.output_of:
                aval = branch.avals[position]
                sides = [("zero", None), ("zero", None)]
                sides[side] = ("leaf", position)
                entries.append(len(outs))
                outs.append(_Output(sides, aval.shape, aval.dtype))
            else:
                entries.append((branch.leaves[position],))
        plan.append((rebuild, entries))
    return plan, outs


def _plan_outputs(predicate, yes, no, names, location, guards):
    """Return (plan, outputs). The plan has for each variable (function that rebuilds it, entries of its leaves)."""
    plan, outs = [], []
    yes_parts = yes.rebuild(list(range(len(yes.leaves))))
    no_parts = no.rebuild(list(range(len(no.leaves))))
    has_jumped = _ends_in_jump(names, yes, yes_parts), guards or _ends_in_jump(names, no, no_parts)
    for name, a, b in zip(names, yes_parts, no_parts):
        ia, rebuild_a = flatten(a)
        ib, rebuild_b = flatten(b)
        la, lb = [yes.leaves[i] for i in ia], [no.leaves[i] for i in ib]
        undefined = [v for v in la + lb if isinstance(v, Undefined)]
        if undefined:
            plan.append(
                _plan_undefined_variable(
                    name, yes, no, (ia, la, rebuild_a), (ib, lb, rebuild_b), outs, location, has_jumped
                )
            )
            continue
        if structure(a) != structure(b):
            if any(v is MISSING for v in la + lb):
                raise join_error(_format_missing_return(location, la if lb[0] is MISSING else lb))
            raise join_error(
                _format_branch_mismatch(
                    name,
                    location,
                    _describe_value(la, a),
                    _describe_value(lb, b),
                    "Both branches have to give the same number and nesting of values.",
                )
            )
        entries = [
            _plan_leaf_merge(predicate, name, location, yes, no, i, j, u, v, outs) for i, j, u, v in zip(ia, ib, la, lb)
        ]
        plan.append((rebuild_a, entries))
    return plan, outs


def _ends_in_jump(names, branch, parts):
    """Return True if a branch ends by return, break or continue, so that a flag guards the following statements."""
    flags = [part for name, part in zip(names, parts) if name.startswith(FLAGS)]
    return any(type(part) is int and branch.leaves[part] is True for part in flags)


def _plan_undefined_variable(name, yes, no, first, second, outs, location, has_jumped):
    """Plan a variable that one branch does not assign: `Undefined`, or zeros if a flag guards its use."""
    (ia, la, rebuild_a), (ib, lb, rebuild_b) = first, second
    missing_a, missing_b = (any(isinstance(v, Undefined) for v in x) for x in (la, lb))
    if missing_a and missing_b:
        return rebuild_a, [(v,) for v in la]
    if not name.startswith("__rv") and not has_jumped[0 if missing_a else 1]:
        why = (
            f"is assigned in only one branch of the 'if' at {_describe_location(location)}; "
            f"assign it before the 'if' as well"
        )
        return (lambda values: values[0]), [(Undefined(name, why, location),)]
    branch, side, positions, rebuild = (no, 1, ib, rebuild_b) if missing_a else (yes, 0, ia, rebuild_a)
    entries = []
    for position in positions:
        leaf = branch.leaves[position]
        sides = [("zero", None), ("zero", None)]
        if position in branch.output_of:
            aval = branch.avals[position]
            sides[side] = ("leaf", position)
            entries.append(len(outs))
            outs.append(_Output(sides, aval.shape, aval.dtype))
        else:
            entries.append((leaf,))
    return rebuild, entries


def _plan_leaf_merge(predicate, name, location, yes, no, i, j, u, v, outs):
    """Plan one leaf: an index of an output, or a constant if it is equal in both branches."""
    if not isinstance(u, Tensor) and not isinstance(v, Tensor):
        if are_leaves_equal(u, v):
            return (u,)
        if callable(u) and callable(v):
            return (TensorChoice((v, u), predicate.astype(jnp.int32), location),)
    if u is MISSING or v is MISSING:
        raise join_error(_format_missing_return(location, [v if u is MISSING else u]))
    if not (_is_tensor_or_number(u) and _is_tensor_or_number(v)):
        raise join_error(
            _format_branch_mismatch(
                name,
                location,
                describe(u),
                describe(v),
                "Both branches have to give a Tensor or number of the same dtype and shape.",
            )
        )
    a, b = _get_shape_and_dtype(yes, i, u), _get_shape_and_dtype(no, j, v)
    weak_a, weak_b = not isinstance(u, Tensor), not isinstance(v, Tensor)
    if weak_a and weak_b:
        dtype = jnp.promote_types(a[1], b[1])
    elif weak_a or weak_b:
        dtype = b[1] if weak_a else a[1]
        if jnp.issubdtype(a[1] if weak_a else b[1], jnp.floating) and not jnp.issubdtype(dtype, jnp.floating):
            dtype = None
    else:
        dtype = a[1] if a[1] == b[1] else None
    if a[0] != b[0] or dtype is None:
        raise (TypeError if dtype is None else join_error)(
            _format_branch_mismatch(
                name,
                location,
                _describe_type(a),
                _describe_type(b),
                "Both branches have to give the same dtype and shape, for which XLA compiles; use ops.cast, "
                "ops.reshape or ops.broadcast_to in one of them.",
            )
        )
    outs.append(
        _Output(
            [
                ("leaf", i) if isinstance(u, Tensor) else ("constant", u),
                ("leaf", j) if isinstance(v, Tensor) else ("constant", v),
            ],
            a[0],
            dtype,
        )
    )
    return len(outs) - 1


def _emit_conditional(predicate, yes, no, outs):
    """Emit the conditional. Parameters, random stream and error code are carried through it."""
    frame = _thread.frame
    boxes = {id(p): p for p in yes.boxes + no.boxes}
    names = tuple(sorted({*yes.hidden, *no.hidden}))
    if not outs and not boxes and not names and not yes.jaxpr.effects and not no.jaxpr.effects:
        return []  # both branches have equal results and no effects
    start = frame.hidden_arrays(names)
    for branch in (yes, no):
        for box_id, aval in branch.avals_of_boxes.items():
            check_written_type(boxes[box_id]._array, aval)

    def side(branch, which):
        def run():
            values, written, hidden = branch.replay()
            outputs = [o.array(which, values) for o in outs]
            outputs += [drop_weak_type(written.get(i, p._array)) for i, p in boxes.items()]
            return outputs + [hidden.get(n, s) for n, s in zip(names, start)]

        return run

    results = jax.lax.cond(predicate, side(yes, 0), side(no, 1))
    rest = results[len(outs) :]
    for p in boxes.values():
        p._rebind_array(rest.pop(0))
    frame.adopt_hidden(names, rest)
    return results[: len(outs)]


def check_written_type(before: Any, after: Any) -> None:
    """Raise an error if a branch or loop has written an array of another dtype or shape into a Tensor.

    Args:
        before (jax.Array): The array of the Tensor before the branch or loop.
        after (Union[jax.Array, ShapedArray]): The array that was written.
    """
    if (before.shape, before.dtype) != (after.shape, after.dtype):
        raise join_error(
            f"A branch or loop of the graph writes {_describe_type((after.shape, after.dtype))} into "
            f"{_describe_type((before.shape, before.dtype))}; dtype and shape have to stay the same."
        )


def join_error(text: str) -> TypeError:
    """Return the error for paths whose values differ in shape or structure. In MindSpore 2 a graph may have such paths,
    so there the function runs operator by operator.
    """
    return PathsDiffer(text) if api_generations.shared == 2 else TypeError(text)


def _get_shape_and_dtype(branch, position, value):
    if isinstance(value, Tensor):
        aval = branch.avals[position]
        return aval.shape, np.dtype(aval.dtype)
    if isinstance(value, bool):
        return (), np.dtype(bool)
    return (), np.dtype(np.float32 if isinstance(value, float) else np.asarray(value).dtype)


def _is_tensor_or_number(value):
    return isinstance(value, (Tensor, *_NUMBERS))


def are_leaves_equal(a: Any, b: Any) -> bool:
    """Return True if two values that are no Tensors are equal; NumPy arrays also need the same shape and type."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def _describe_value(leaves, part):
    return describe(leaves[0]) if len(leaves) == 1 and not isinstance(part, (tuple, list, dict)) else describe(part)


def _describe_type(aval):
    return f"Tensor[{dtype_name(aval[1])}]{tuple(aval[0])}"


def _describe_location(location):
    return format_location(*location) if location else "an expression"


def _format_missing_return(location, leaves):
    return (
        f"Missing return statement in {location[2]} at {_describe_location(location)}: one path returns "
        f"{describe(leaves[0]) if leaves else 'a value'}, another one falls off the end. Return a value of the "
        f"same dtype and shape on every path."
    )


def _format_branch_mismatch(name, location, yes, no, advice):
    what = {
        "return": "the returned value",
        "expression": "the value",
        "and": "the value of 'and'",
        "or": "the value of 'or'",
    }.get(name, f"the variable '{name}'")
    if name.startswith("__rv"):
        what = "the returned value"
    return (
        f"{_describe_location(location)}: {what} is {yes} in the true branch but {no} in the false branch of a "
        f"condition on a Tensor. {advice}"
    )
