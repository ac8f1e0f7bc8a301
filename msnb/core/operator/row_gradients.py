"""Sparse gradients of embedding tables: a table that is only read by look-ups gets a RowTensor.

An operator whose declaration has `rows=` has a sparse gradient in both modes. The table is the first input. `rows` is a
function of the static inputs. It returns a function of (table, indices, cotangent), or None for a dense gradient. That
function returns (indices, values): one index and one slice for each row.

On the tape the node of the look-up returns the rows. In a graph a custom gradient stores the rows in the `LookupTables`
of the innermost gradient. The gradient is dense if another operator reads the table, and for look-ups inside a loop, a
branch or another part of a graph that JAX differentiates separately.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from msnb import log
from msnb.core.compat.jax_private import current_trace
from msnb.core.eager.kernel import Kernel
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.sparse import RowTensor, add_rows
from msnb.core.tensor.tensor import Tensor, box

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.state.trace_state import TraceFrame

_thread = trace_state.thread


class LookupTables:
    """The Parameters of a gradient in a graph that are embedding tables, and the rows of their sparse gradients.

    Args:
        params (Sequence[Parameter]): Variables of the gradient.
        arrays (Sequence[jax.Array]): Arrays that represent them in the trace.
    """

    def __init__(self, params: Sequence[Parameter], arrays: Sequence[Any]) -> None:
        self.arrays: dict[int, Any] = {id(p): a for p, a in zip(params, arrays, strict=True)}
        self.reads: dict[int, int] = {}  # number of reads of a Parameter other than look-ups
        self.rows_by_param: dict[int, list[Any]] = {}  # pairs (indices, values)
        self.dense_params: set[int] = set()  # Parameters that were looked up where JAX differentiates separately
        self.trace: Any = current_trace()

    def gradient(self, param: Parameter, gradient: Any) -> Tensor | RowTensor:
        """Return the gradient of `param`, sparse if possible; `gradient` is JAX's dense one."""
        rows = self.rows_by_param.get(id(param))
        if rows is None:
            if id(param) in self.dense_params:
                log.once(
                    f"The gradient of '{param.name}' is dense, and optimizers update all of its rows: it is looked up "
                    f"within a loop, a branch or a recomputed Cell of the graph."
                )
            return box(gradient)
        indices, values = (parts[0] if len(parts) == 1 else jnp.concatenate(parts) for parts in zip(*rows))
        return RowTensor(box(indices), box(values), tuple(gradient.shape))


def _find_lookup_tables(param: Any, array: Any) -> "LookupTables | None":
    """Return the `LookupTables` that collect rows for `param`, None if its gradient has to be dense."""
    passed: list[TraceFrame] = []
    frame = _thread.frame
    while frame is not None:
        tables = frame.tables
        if tables is not None and id(param) in tables.arrays:
            if tables.trace is current_trace() and tables.arrays[id(param)] is array:
                return tables
            tables.dense_params.add(id(param))
            for inner in passed:
                inner.looked_up = True
            return None
        passed.append(frame)
        frame = frame.parent
    return None


def collecting_kernel(kernel: Kernel, table: Any, array: Any) -> Any:
    """Return the kernel of a look-up in a graph: one that collects rows if `table` (with `array`) is a Parameter whose
    gradient can be sparse, else `kernel`.
    """
    tables = _find_lookup_tables(table, array) if isinstance(table, Parameter) else None
    if tables is None:
        return kernel
    tables.reads[id(table)] -= 1  # the look-up itself does not count
    return _RowCollectingKernel(kernel, tables, table)


class _RowCollectingKernel:
    """A kernel whose gradient with respect to its first input is stored in `tables`; used once."""

    def __init__(self, kernel, tables, param):
        self.kernel, self.tables, self.param = kernel, tables, param
        self.name, self.checked = kernel.name, kernel.checked
        self.call, self.pullback, self.real, self.rows = kernel.call, kernel.pullback, kernel.real, None

    def recover(self, error):
        self.kernel.recover(error)

    def run(self, *arrays):
        kernel, tables, ident = self.kernel, self.tables, id(self.param)

        def back(saved, cotangent):
            rows = kernel.rows.run(*saved, cotangent)
            if tables.reads[ident]:  # another operator reads it, and was traced before the backward pass
                return add_rows(jnp.zeros_like(saved[0]), *rows), None
            tables.rows_by_param.setdefault(ident, []).append(rows)
            # JAX needs a cotangent of the table's shape, but the gradient is taken from the rows. The table itself is
            # returned as this cotangent, because an array of zeros would add an operator.
            return saved[0] if len(tables.rows_by_param[ident]) == 1 else None, None

        look_up = jax.custom_vjp(kernel.run)
        look_up.defvjp(lambda *arrays: (kernel.run(*arrays), arrays), back)
        return look_up(*arrays)
