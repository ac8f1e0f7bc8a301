"""Gradients of tables: a table that is read by looking up rows alone gets a RowTensor, the rows and their numbers.

An operator that says in its declaration how its gradient falls into rows (`rows=`) has it so in both modes: on the tape
as what its node gives, in a graph by a gradient of its own that puts the rows aside for the `Tables` of the innermost
gradient. What anything else reads has a dense gradient, and so has what is looked up within a loop, a branch or
another part of a graph that JAX differentiates by itself.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from msnb import log
from msnb.core.compat.jax_private import current_trace
from msnb.core.eager.kernel import Kernel
from msnb.core.operator.autocast import cast_tensor, is_constant
from msnb.core.operator.operator_types import Operator
from msnb.core.operator.value_checks import Checked
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.sparse import RowTensor, add_rows
from msnb.core.tensor.tensor import Tensor, box

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.state.trace_state import TraceFrame

_thread = trace_state.thread


class LookupTables:
    """Which of the Parameters that a gradient in a graph is taken by are tables, and the rows that were found.

    Args:
        params (Sequence[Parameter]): What the gradient is taken by.
        arrays (Sequence[jax.Array]): Their stand-ins.
    """

    def __init__(self, params: Sequence[Parameter], arrays: Sequence[Any]) -> None:
        self.arrays: dict[int, Any] = {id(p): a for p, a in zip(params, arrays, strict=True)}
        self.reads: dict[int, int] = {}  # how often a Parameter was read, but for its rows
        self.found: dict[int, list[Any]] = {}  # its rows: pairs (indices, values)
        self.hidden: set[int] = set()  # those that were looked up where JAX differentiates by itself
        self.trace: Any = current_trace()

    def gradient(self, param: Parameter, gradient: Any) -> Tensor | RowTensor:
        """The gradient of `param`, where JAX gave `gradient` for it."""
        found = self.found.get(id(param))
        if found is None:
            if id(param) in self.hidden:
                log.once(
                    f"The gradient of '{param.name}' is dense, and optimizers update all of its rows: it is looked up "
                    f"within a loop, a branch or a recomputed Cell of the graph."
                )
            return box(gradient)
        indices, values = (parts[0] if len(parts) == 1 else jnp.concatenate(parts) for parts in zip(*found))
        return RowTensor(box(indices), box(values), tuple(gradient.shape))


def _tables_of(param: Any, array: Any) -> "LookupTables | None":
    """The `Tables` that `param` is looked up for, None where the gradient has to be dense."""
    passed: list[TraceFrame] = []
    frame = _thread.frame
    while frame is not None:
        tables = frame.tables
        if tables is not None and id(param) in tables.arrays:
            if tables.trace is current_trace() and tables.arrays[id(param)] is array:
                return tables
            tables.hidden.add(id(param))
            for inner in passed:
                inner.looked_up = True
            return None
        passed.append(frame)
        frame = frame.parent
    return None


class LooksUp:
    """What an operator whose gradient falls into rows does besides; stands before the class of the operator.

    Its first input is the table.

    Attributes:
        rows (Callable): Of the static inputs: None where the gradient is dense, else a function of (table, indices,
            cotangent) that gives (indices, values), one number and one slice for each row.
    """

    rows: Any = None

    def _build(self, attributes: Any, layout: Any, statics: Any) -> Kernel:
        kernel = super()._build(attributes, layout, statics)
        rows = self.rows(*statics)
        if rows is not None:
            kernel.rows = Kernel(kernel.name.gradient, rows)
        return kernel

    def __call__(self, attributes: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
        """See `Operator.__call__`; where a lower precision is asked for, the rows have it and not the table."""
        dtype = _thread.compute_dtype
        if dtype is None or not (args and is_constant(args[0])):
            return super().__call__(attributes, args, kwargs)
        _thread.compute_dtype = None
        try:
            out = super().__call__(attributes, args, kwargs)
        finally:
            _thread.compute_dtype = dtype
        return cast_tensor(out, dtype)

    def run(self, kernel: Kernel, boxes: Sequence[Any], arrays: Sequence[Any], targets: Sequence[Any] = ()) -> Any:
        """See `Operator.run`; in a graph the gradient is put aside as rows where that is possible."""
        table = boxes[0]
        if _thread.frame is None or kernel.rows is None or not isinstance(table, Parameter):
            return super().run(kernel, boxes, arrays, targets)
        tables = _tables_of(table, arrays[0])
        if tables is None:
            return super().run(kernel, boxes, arrays, targets)
        tables.reads[id(table)] -= 1  # the one by which `arrays` were made
        return super().run(_RowsAside(kernel, tables, table), boxes, arrays, targets)


class _RowsAside:
    """A kernel whose gradient by its first input goes to `tables`; used once."""

    def __init__(self, kernel, tables, param):
        self.kernel, self.tables, self.param = kernel, tables, param
        self.name, self.checked = kernel.name, kernel.checked
        self.call, self.pullback, self.real = kernel.call, kernel.pullback, kernel.real

    def recover(self, error):
        self.kernel.recover(error)

    def run(self, *arrays):
        kernel, tables, ident = self.kernel, self.tables, id(self.param)

        def back(saved, cotangent):
            rows = kernel.rows.run(*saved, cotangent)
            if tables.reads[ident]:  # something else reads it, and was traced before the way back
                return add_rows(jnp.zeros_like(saved[0]), *rows), None
            tables.found.setdefault(ident, []).append(rows)
            # What stands here is dropped for the rows: the table itself, since zeros would be an operator.
            return saved[0] if len(tables.found[ident]) == 1 else None, None

        look_up = jax.custom_vjp(kernel.run)
        look_up.defvjp(lambda *arrays: (kernel.run(*arrays), arrays), back)
        return look_up(*arrays)


class LooksUpOperator(LooksUp, Operator):
    """An `Operator` whose gradient falls into rows."""


class CheckedLooksUpOperator(Checked, LooksUp, Operator):
    """A `LooksUpOperator` with checks."""


def lookup_operator(fn: Callable[..., Any], *rest: Any, checks: Sequence[Any], rows: Callable[..., Any]) -> Operator:
    """The `Operator` that `fn` declares, with its checks and rows; see there for the other arguments."""
    op = (CheckedLooksUpOperator if checks else LooksUpOperator)(fn, *rest)
    op.rows = rows
    if isinstance(op, Checked):
        op.checks = tuple(checks)
    return op
