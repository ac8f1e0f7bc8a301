"""Loop operators: while, for and scan. If the end of a loop depends on a Tensor of the graph, the graph contains the
loop. Otherwise the iterations are unrolled."""

from collections.abc import Callable, Sequence
from typing import Any

from msnb import log
from msnb.common.kinds import Bool, check
from msnb.core import script
from msnb.core.errors.messages import describe
from msnb.core.script.builtin_overloads import to_tensor
from msnb.core.script.loops import while_
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor
from msnb.ops._host import HostPrimitive, host_operator


def _check_callable(op, name, value):
    if not callable(value):
        raise TypeError(f"For '{op}', '{name}' should be a function, but got {describe(value)}.")
    return script.call(value) if trace_state.thread.frame is not None else value


def _run_while_loop(op, test, body, start, unrolled=True):
    """Set value = body(value) while test(value) is true, beginning with `start`. Return the last value."""
    state = [start]

    def write(values):
        (state[0],) = values

    def step():
        state[0] = body(state[0])

    while_(lambda: test(state[0]), step, lambda: (state[0],), write, (op,), (op, 0), unrolled)
    return state[0]


@host_operator()
class WhileLoop(HostPrimitive):
    """While loop: sets value = loop_func(value) as long as cond_func(value) is true.

    Inputs:
        - **cond_func** (function) - Function of the value that returns True to continue the loop.
        - **loop_func** (function) - Function of the value that returns the next value, of the same shapes and element
          types.
        - **init_val** (Any) - The first value.

    Outputs:
        The first value for which `cond_func` is false.

    Raises:
        TypeError: If `cond_func` or `loop_func` is no function.

    Examples:
        >>> print(ops.WhileLoop()(lambda x: x < 40, lambda x: x * 2, Tensor(5)))
        40
    """

    def __call__(self, cond_func: Callable[[Any], Any], loop_func: Callable[[Any], Any], init_val: Any) -> Any:
        test, body = (
            _check_callable("WhileLoop", "cond_func", cond_func),
            _check_callable("WhileLoop", "loop_func", loop_func),
        )
        return _run_while_loop("WhileLoop", test, body, init_val)


@host_operator()
class ForiLoop(HostPrimitive):
    """For loop: sets value = loop_func(i, value) for i from `lower` to `upper` - 1.

    Inputs:
        - **lower** (Union[int, Tensor]) - The first number.
        - **upper** (Union[int, Tensor]) - The end of the numbers, exclusive.
        - **loop_func** (function) - Function of the number and the value that returns the next value, of the same
          shapes and types.
        - **init_val** (Any) - The first value.
        - **unroll** (bool) - True to unroll the loop in a graph if `lower` and `upper` are Python numbers. A loop that
          is not unrolled is smaller and compiles faster. Default: True.

    Outputs:
        The last value.

    Raises:
        TypeError: If `loop_func` is no function, or its result changes shape or element type between iterations.

    Examples:
        >>> print(ops.ForiLoop()(0, 4, lambda i, x: x + i, Tensor(0)))
        6
    """

    def __call__(
        self,
        lower: int | Tensor,
        upper: int | Tensor,
        loop_func: Callable[[Any, Any], Any],
        init_val: Any,
        unroll: bool = True,
    ) -> Any:
        body = _check_callable("ForiLoop", "loop_func", loop_func)
        check(Bool, unroll, "unroll", "ForiLoop")
        is_static = isinstance(lower, int) and isinstance(upper, int)
        if is_static and (unroll or trace_state.thread.frame is None or lower >= upper):
            for i in range(lower, upper):
                init_val = body(i, init_val)
            return init_val
        end = to_tensor(upper)
        start = to_tensor(lower).astype(end.dtype)
        state = _run_while_loop(
            "ForiLoop",
            lambda at: at[0] < end,
            lambda at: (at[0] + 1, body(at[0], at[1])),
            (start, init_val),
            unrolled=unroll or not is_static,
        )
        return state[1]


@host_operator()
class Scan(HostPrimitive):
    """Loops over a sequence with a carried value and collects one result per element.

    Inputs:
        - **loop_func** (function) - Function of the value and an element that returns the next value and a result to
          collect.
        - **init** (Any) - The first value.
        - **xs** (Union[tuple, list, None]) - The elements; None stands for `length` elements that are None.
        - **length** (int) - Number of elements. Default: None, the length of `xs`.
        - **unroll** (bool) - False has no effect in a graph, because a loop over a Python sequence is always unrolled.
          A message is logged once. Default: True.

    Outputs:
        The last value, and the list of results.

    Raises:
        TypeError: If `loop_func` is no function, or `xs` no tuple or list.
        ValueError: If `length` is not the length of `xs`, or neither is given.

    Examples:
        >>> print(ops.Scan()(lambda total, x: (total + x, total * x), 0, [1, 2, 3]))
        (6, [0, 2, 9])
    """

    def __call__(
        self,
        loop_func: Callable[[Any, Any], tuple[Any, Any]],
        init: Any,
        xs: Sequence[Any] | None,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list[Any]]:
        body = _check_callable("Scan", "loop_func", loop_func)
        check(Bool, unroll, "unroll", "Scan")
        stays = trace_state.thread.frame is not None and not unroll
        log.unused("Scan", "a sequence of Python's is gone through one by one", unroll=stays)
        if xs is None and length is None:
            raise ValueError("For 'Scan', 'xs' or 'length' should be given.")
        if xs is not None and not isinstance(xs, (tuple, list)):
            raise TypeError(f"For 'Scan', 'xs' should be a tuple, a list or None, but got {describe(xs)}.")
        items = [None] * int(length or 0) if xs is None else list(xs)
        if length is not None and len(items) != length:
            raise ValueError(f"For 'Scan', 'length' should be {len(items)}, as 'xs' has, but got {length}.")
        results = []
        for item in items:
            init, result = body(init, item)
            results.append(result)
        return init, results
