"""Select few values of a program to test, by bounds of the magnitudes of the others.

If every tested value is below a bound, the values that are computed from it have bounds, too: a product of a number
below 2**32 and one below 2**16 is below 2**48. A value whose bound is far from the largest float32 can be neither
infinite nor NaN, so it needs no test. `select_bounded_points` walks a jaxpr once and tests a value where its bound gets
too large, or where there is none. Only a few tests are needed, most of them on small arrays.

A test is True if a magnitude is above the bound, which is not yet an overflow. A program with such values needs the
tests of `overflow_points`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from msnb.core.compat.jax_private import Literal, scan_counts
from msnb.core.jaxpr.instrument import TRANSPARENT

TESTED = 32  # log2 of the bound of a tested value
WEIGHT = 16  # log2 of the bound of a Parameter
_SAFE = 120  # log2 of the largest bound of a value that needs no test
_INF = math.inf


class Range(NamedTuple):
    """Bounds of the values of a variable. They are valid if no test is True.

    Attributes:
        log (float): log2 of a bound of the magnitude; infinite if there is none, and values may be NaN.
        low (float): a lower bound of the values; -inf if there is none.
    """

    log: float
    low: float = -_INF


_UNKNOWN = Range(_INF)
# Convolution primitives of JAX and of `msnb.ops.nn.conv.primitive`.
_CONVOLUTIONS = ("conv_general_dilated", "conv", "conv_input_grad", "conv_filter_grad")
_MOVES = frozenset(
    ("reshape", "transpose", "broadcast_in_dim", "squeeze", "expand_dims", "copy", "copy_p", "rev", "concatenate")
    + ("name", "slice", "dynamic_slice", "reduce_max", "reduce_min", "select_n", "pad", "stop_gradient", "real")
    + ("dynamic_update_slice", "cummax", "cummin", "reduce_window_max", "reduce_window_min", "all_gather", "sort")
)


class Selection(NamedTuple):
    """The values to test.

    Attributes:
        points (set): (key of an equation, index of its result).
        inputs (set[int]): indices of inputs of the program.
    """

    points: set[tuple[Any, int]]
    inputs: set[int]


def select_bounded_points(
    closed: ClosedJaxpr,
    nodes: Mapping[tuple[Any, ...], Any],
    input_logs: Sequence[float | None],
    tested_outputs: Sequence[int] = (),
) -> Selection:
    """Return the values to test against the bound 2**TESTED.

    Args:
        closed (ClosedJaxpr): the program.
        nodes (Mapping): key of an equation, as for `core.jaxpr.instrument` -> indices of the results that can be
            tested.
        input_logs (Sequence): log2 of a bound of each input; None for one that has to be tested.
        tested_outputs (Sequence[int]): indices of outputs that are tested in any case. Default: ().
    """
    outputs = [closed.jaxpr.outvars[index] for index in tested_outputs]
    walk = _Walk(nodes, {var for var in outputs if not isinstance(var, Literal)})
    inputs = {i for i, (v, log) in enumerate(zip(closed.jaxpr.invars, input_logs)) if log is None and _is_float(v)}
    ranges = [_make_input_range(var, log) for var, log in zip(closed.jaxpr.invars, input_logs, strict=True)]
    walk.run(closed.jaxpr, closed.consts, (), ranges)
    return Selection(walk.points, inputs)


def _make_input_range(var, log):
    if not _is_float(var):
        return _get_integer_range(var)
    return Range(TESTED if log is None else log)


class _Walk:
    def __init__(self, nodes, tested):
        self.nodes, self.tested, self.points = nodes, tested, set()

    def run(self, jaxpr: Jaxpr, consts: Sequence[Any], path: Any, inputs: Sequence[Range]) -> list[Range]:
        """Return the ranges of the outputs, and add the tests that they need.

        Args:
            jaxpr (Jaxpr): a graph.
            consts (Sequence): values of its constants.
            path (tuple): keys of the equations around it; None inside an operator, whose values can't be tested.
            inputs (Sequence[Range]): ranges of the inputs.
        """
        env = dict(zip(jaxpr.invars, inputs, strict=True))
        env |= {var: _compute_value_range(value) for var, value in zip(jaxpr.constvars, consts, strict=False)}

        def look_up(var):
            return _compute_value_range(var.val) if isinstance(var, Literal) else env.get(var, _UNKNOWN)

        for eqn in jaxpr.eqns:
            key = None if path is None else (*path, id(eqn))
            results = self._compute_result_ranges(eqn, path, [look_up(var) for var in eqn.invars])
            for slot, (var, result) in enumerate(zip(eqn.outvars, results, strict=True)):
                if not _is_float(var):
                    result = _get_integer_range(var) if result.log == _INF else result
                elif _may_overflow(var, result):
                    is_tested = var in self.tested and not path
                    is_testable = is_tested or slot in self.nodes.get(key, ())
                    if is_testable and not is_tested:
                        self.points.add((key, slot))
                    bound = min(TESTED, math.log2(_get_largest_float(var.aval.dtype)))
                    result = Range(bound, result.low) if is_testable else _UNKNOWN
                env[var] = result
        return [look_up(var) for var in jaxpr.outvars]

    def _compute_result_ranges(self, eqn, path, operands):
        kind = eqn.primitive.name
        if kind in TRANSPARENT:
            inner = eqn.params[TRANSPARENT[kind]]
            below = None if path is None else (*path, (id(eqn), 0))
            return self.run(_get_jaxpr(inner), _get_consts(inner), below, operands)
        if kind == "cond":
            outs = [
                self.run(_get_jaxpr(b), _get_consts(b), None if path is None else (*path, (id(eqn), i)), operands[1:])
                for i, b in enumerate(eqn.params["branches"])
            ]
            return [_unite_ranges(column) for column in zip(*outs, strict=True)]
        if kind == "scan":
            return self._walk_scan(eqn, path, operands)
        if kind == "while":
            body = eqn.params["body_jaxpr"]
            first, n = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
            below = None if path is None else (*path, (id(eqn), 1))
            inputs = [*operands[first : first + n], *[_UNKNOWN] * (len(operands) - first - n)]
            self.run(_get_jaxpr(body), _get_consts(body), below, inputs)
            return [_UNKNOWN] * len(eqn.outvars)
        if kind in ("sort", "optimization_barrier"):
            return operands
        if kind == "split":
            return [operands[0]] * len(eqn.outvars)
        if len(eqn.outvars) != 1:
            return [_UNKNOWN] * len(eqn.outvars)
        return [_compute_result_range(eqn, operands)]

    def _walk_scan(self, eqn, path, operands):
        n_consts, n_carry = scan_counts(eqn)
        body = eqn.params["jaxpr"]
        below = None if path is None else (*path, (id(eqn), 0))
        inputs = [_UNKNOWN if n_consts <= i < n_consts + n_carry else operand for i, operand in enumerate(operands)]
        results = self.run(_get_jaxpr(body), _get_consts(body), below, inputs)
        # the bound of a state holds in each iteration, because it is derived without a bound of the previous state
        carried = [_unite_ranges(pair) for pair in zip(results[:n_carry], operands[n_consts : n_consts + n_carry])]
        return [*carried, *results[n_carry:]]


def _may_overflow(var, result):
    limit = _SAFE if np.dtype(var.aval.dtype).itemsize >= 4 else math.log2(_get_largest_float(var.aval.dtype)) - 1
    return not result.log <= limit


def _get_largest_float(dtype):
    return float(jax.dtypes.finfo(dtype).max)


def _compute_result_range(eqn, operands):
    """Return the range of an equation with one result."""
    name, params = eqn.primitive.name, eqn.params
    if name in ("max", "min"):
        return _compute_extremum_range(name, eqn.invars, operands)
    if name == "select_n":
        return _unite_ranges(operands[1:])
    if name in ("slice", "dynamic_slice", "dynamic_update_slice"):
        return _unite_ranges([r for var, r in zip(eqn.invars, operands) if _is_float(var)] or [_UNKNOWN])
    if name in _MOVES:
        return _unite_ranges(operands)
    if name == "clamp":
        return Range(max(operands[0].log, operands[2].log), operands[0].low) if operands[1].log < _INF else _UNKNOWN
    if name == "convert_element_type":
        return operands[0]
    handler = _ARITHMETIC.get(name)
    return _UNKNOWN if handler is None else handler(eqn, operands, params)


def _compute_extremum_range(name, variables, operands):
    """Return the range of a maximum or minimum; an infinite constant is its neutral element."""
    neutral = -_INF if name == "max" else _INF
    rest = [r for v, r in zip(variables, operands) if not (isinstance(v, Literal) and v.val == neutral)]
    merged = _unite_ranges(rest)
    return Range(merged.log, max(r.low for r in rest)) if name == "max" else merged


def _unite_ranges(ranges):
    ranges = list(ranges)
    return Range(max(r.log for r in ranges), min(r.low for r in ranges))


def _bound_add(eqn, operands, params):
    first, second = operands
    return Range(max(first.log, second.log) + 1, first.low + second.low)


def _bound_subtract(eqn, operands, params):
    return Range(max(operands[0].log, operands[1].log) + 1)


def _bound_multiply(eqn, operands, params):
    first, second = operands
    if eqn.invars[0] is eqn.invars[1]:
        return Range(2 * first.log, 0.0)
    low = first.low * second.low if first.low >= 0 and second.low >= 0 and _INF > first.low * second.low else -_INF
    return Range(_compute_product_log(first.log, second.log), low)


def _compute_product_log(first, second):
    return _INF if _INF in (first, second) else max(first, -1000.0) + max(second, -1000.0)


def _bound_divide(eqn, operands, params):
    first, second = operands
    if second.low <= 0:
        return _UNKNOWN
    return Range(first.log - math.log2(second.low), 0.0 if first.low >= 0 else -_INF)


def _bound_power(eqn, operands, params):
    power, operand = params["y"], operands[0]
    if power < 0:
        if operand.low <= 0:
            return _UNKNOWN
        return Range(power * math.log2(operand.low), 0.0)
    return Range(max(power * operand.log, 0.0), 0.0 if power % 2 == 0 or operand.low >= 0 else -_INF)


def _bound_exponential(eqn, operands, params):
    operand = operands[0]
    if operand.log > 6:
        return _UNKNOWN
    return Range(2.0**operand.log * 1.5, math.exp(-(2.0**operand.log)))


def _bound_logarithm(eqn, operands, params):
    operand = operands[0]
    if operand.low <= 0 or operand.log == _INF:
        return _UNKNOWN
    largest = max(abs(math.log2(operand.low)), abs(operand.log)) + 1
    return Range(math.log2(largest))


def _bound_square_root(eqn, operands, params):
    operand = operands[0]
    if operand.low < 0:
        return _UNKNOWN
    return Range(max(operand.log, 0.0) / 2 + 1, math.sqrt(operand.low) if operand.low < _INF else 0.0)


def _bound_reciprocal_root(eqn, operands, params):
    low = operands[0].low
    return Range(max(0.0, -math.log2(low) / 2) + 1, 0.0) if low > 0 and operands[0].log < _INF else _UNKNOWN


def _bound_saturating_function(eqn, operands, params):
    low = 0.0 if eqn.primitive.name == "logistic" else -1.0
    return Range(0.0, low) if operands[0].log < _INF else _UNKNOWN


def _bound_magnitude(eqn, operands, params):
    return Range(operands[0].log, max(operands[0].low, 0.0))


def _bound_sum_of_terms(count, operand):
    low = operand.low * count if operand.low >= 0 and operand.low < _INF else -_INF
    return Range(operand.log + math.log2(max(count, 1)), low)


def _bound_reduce_sum(eqn, operands, params):
    count = max(1, eqn.invars[0].aval.size // max(1, eqn.outvars[0].aval.size))
    return _bound_sum_of_terms(count, operands[0])


def _bound_partial_sums(eqn, operands, params):
    return Range(operands[0].log + math.log2(max(1, eqn.invars[0].aval.size)))


def _bound_window_sum(eqn, operands, params):
    return Range(operands[0].log + math.log2(max(1, math.prod(params["window_dimensions"]))))


def _bound_dot_product(eqn, operands, params):
    (axes, _), _ = params["dimension_numbers"]
    count = math.prod(eqn.invars[0].aval.shape[axis] for axis in axes)
    return Range(_compute_product_log(operands[0].log, operands[1].log) + math.log2(max(1, count)))


def _bound_convolution(eqn, operands, params):
    count = min(eqn.invars[0].aval.size, eqn.invars[1].aval.size)
    return Range(_compute_product_log(operands[0].log, operands[1].log) + math.log2(max(1, count)))


def _bound_scatter_add(eqn, operands, params):
    count = max(1, eqn.invars[-1].aval.size)
    return Range(max(operands[0].log, operands[-1].log + math.log2(count)) + 1)


def _bound_negation(eqn, operands, params):
    return Range(operands[0].log)


_ARITHMETIC = {
    **dict.fromkeys(("add", "add_any"), _bound_add),
    "sub": _bound_subtract,
    "mul": _bound_multiply,
    "square": lambda eqn, operands, params: Range(2 * operands[0].log, 0.0),
    "div": _bound_divide,
    "neg": _bound_negation,
    "sign": lambda eqn, operands, params: Range(0.0) if operands[0].log < _INF else _UNKNOWN,
    "abs": _bound_magnitude,
    "integer_pow": _bound_power,
    "exp": _bound_exponential,
    "log": _bound_logarithm,
    "sqrt": _bound_square_root,
    "rsqrt": _bound_reciprocal_root,
    **dict.fromkeys(("tanh", "logistic", "erf", "sin", "cos"), _bound_saturating_function),
    "reduce_sum": _bound_reduce_sum,
    "cumsum": _bound_partial_sums,
    "reduce_window_sum": _bound_window_sum,
    "select_and_scatter_add": _bound_partial_sums,
    "dot_general": _bound_dot_product,
    **dict.fromkeys(_CONVOLUTIONS, _bound_convolution),
    **dict.fromkeys(("scatter-add", "scatter_add"), _bound_scatter_add),
    "iota": lambda eqn, operands, params: Range(math.log2(max(2, eqn.outvars[0].aval.size)), 0.0),
}


def _compute_value_range(value):
    try:
        array = np.asarray(value)
        if array.dtype == bool:
            return Range(0.0, 0.0)
        array = array.astype(np.float64)
    except (TypeError, ValueError):  # a random key
        return _UNKNOWN
    if not array.size:
        return Range(-1000.0, 0.0)
    if not np.isfinite(array).all():
        return _UNKNOWN
    top = float(np.abs(array).max())
    return Range(math.log2(top) if top else -1000.0, float(array.min()))


def _get_integer_range(var):
    dtype = getattr(var.aval, "dtype", None)
    if dtype is not None and jax.dtypes.issubdtype(dtype, np.bool_):
        return Range(0.0, 0.0)
    if dtype is not None and jax.dtypes.issubdtype(dtype, np.integer):
        return Range(float(np.iinfo(dtype).bits), 0.0 if jax.dtypes.issubdtype(dtype, np.unsignedinteger) else -_INF)
    return _UNKNOWN


def _is_float(var):
    dtype = getattr(var.aval, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, np.inexact)


def _get_jaxpr(inner):
    return inner.jaxpr if hasattr(inner, "consts") else inner


def _get_consts(inner):
    return getattr(inner, "consts", ())
