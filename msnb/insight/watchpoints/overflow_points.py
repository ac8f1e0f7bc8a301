"""Select values of a program to test. The tests detect every NaN and infinity in the program.

A NaN or an infinity usually propagates: a sum, a product or a convolution passes it to its result. A value needs no
test if every NaN and infinity in it reaches a value that is tested. `select_overflow_points` walks a jaxpr from its end
to its start and returns the values where a NaN or an infinity could get lost: outputs of the program, and operands of
comparisons, selections, slices, integer casts and bounded functions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from msnb.core.compat.jax_private import Literal, scan_counts
from msnb.core.jaxpr.instrument import TRANSPARENT

# Kinds of values that are not finite. A set of them is a sum of bits.
NAN, POSITIVE, NEGATIVE = 1, 2, 4
_ANY = NAN | POSITIVE | NEGATIVE
_KINDS = (NAN, POSITIVE, NEGATIVE)

# Kind of an operand -> kinds that the result has then. A kind that is missing does not reach the result.
_SAME = {NAN: NAN, POSITIVE: POSITIVE, NEGATIVE: NEGATIVE}
_OPPOSITE = {NAN: NAN, POSITIVE: NEGATIVE, NEGATIVE: POSITIVE}
_SUM = {NAN: NAN, POSITIVE: POSITIVE | NAN, NEGATIVE: NEGATIVE | NAN}
_DIFFERENCE = {NAN: NAN, POSITIVE: NEGATIVE | NAN, NEGATIVE: POSITIVE | NAN}
_PRODUCT = {NAN: NAN, POSITIVE: _ANY, NEGATIVE: _ANY}
_MAGNITUDE = {NAN: NAN, POSITIVE: POSITIVE, NEGATIVE: POSITIVE}
_EXPONENTIAL = {NAN: NAN, POSITIVE: POSITIVE}
_LOGARITHM = {NAN: NAN, POSITIVE: POSITIVE, NEGATIVE: NAN}
_PERIODIC = {NAN: NAN, POSITIVE: NAN, NEGATIVE: NAN}
_BOUNDED = {NAN: NAN}
_MAXIMUM = {NAN: NAN, POSITIVE: POSITIVE}
_MINIMUM = {NAN: NAN, NEGATIVE: NEGATIVE}
_LOST: dict[int, int] = {}

_UNARY = {
    **dict.fromkeys(
        ("convert_element_type", "reshape", "transpose", "broadcast_in_dim", "squeeze", "expand_dims", "copy", "copy_p")
        + ("rev", "concatenate", "name", "reduce_precision", "cbrt", "sort", "all_gather", "real", "pad"),
        _SAME,
    ),
    "neg": _OPPOSITE,
    **dict.fromkeys(("add", "add_any", "reduce_sum", "cumsum", "psum", "reduce_window_sum"), _SUM),
    "select_and_scatter_add": _SUM,
    **dict.fromkeys(("mul", "dot_general", "conv_general_dilated", "reduce_prod", "cumprod"), _PRODUCT),
    **dict.fromkeys(("abs", "square"), _MAGNITUDE),
    **dict.fromkeys(("exp", "exp2", "expm1"), _EXPONENTIAL),
    **dict.fromkeys(("log", "log1p", "sqrt"), _LOGARITHM),
    "rsqrt": {NAN: NAN, NEGATIVE: NAN},
    **dict.fromkeys(("sin", "cos", "tan"), _PERIODIC),
    **dict.fromkeys(("tanh", "logistic", "erf", "erfc", "atan"), _BOUNDED),
    **dict.fromkeys(("max", "reduce_max", "reduce_window_max", "cummax"), _MAXIMUM),
    **dict.fromkeys(("min", "reduce_min", "reduce_window_min", "cummin"), _MINIMUM),
}
_BOUNDED_RESULTS = frozenset(("tanh", "logistic", "sin", "cos", "erf", "erfc", "atan", "sign"))
_MOVES = frozenset(name for name, transfer in _UNARY.items() if transfer is _SAME) - {"cbrt"}


def select_overflow_points(closed: ClosedJaxpr, nodes: Mapping[tuple[Any, ...], Any]) -> set[tuple[Any, int]]:
    """Return {(key of an equation, index of its result)} of the values to test.

    Args:
        closed (ClosedJaxpr): the program.
        nodes (Mapping): key of an equation, as for `core.jaxpr.instrument` -> indices of the results that can be
            tested.
    """
    walk = _Walk(nodes)
    walk.run(closed.jaxpr, (), [0] * len(closed.jaxpr.outvars), [_ANY] * len(closed.jaxpr.invars))
    return walk.points


class _Walk:
    def __init__(self, nodes):
        self.nodes, self.points = nodes, set()
        # (path, id) of the equations with a node inside
        self._inside = {(key[: end - 1], key[end - 1][0]) for key in nodes for end in range(1, len(key))}
        self._cache = {}  # results of `run` inside operators, whose inner values are not tested

    def run(self, jaxpr: Jaxpr, path: Any, covered_outputs: Sequence[int], input_kinds: Sequence[int]) -> list[int]:
        """Return, per input, the kinds that certainly reach a test. Add the tests inside the graph.

        Args:
            jaxpr (Jaxpr): a graph.
            path (tuple): keys of the equations around it; None inside an operator, whose values are not tested.
            covered_outputs (Sequence[int]): kinds of each output that certainly reach a test.
            input_kinds (Sequence[int]): kinds that each input can have.
        """
        kinds = self._compute_possible_kinds(jaxpr, input_kinds)
        covered: dict[Any, int] = {}

        def cover(var, mask):
            if not isinstance(var, Literal):
                covered[var] = covered.get(var, 0) | mask

        for var, mask in zip(jaxpr.outvars, covered_outputs, strict=True):
            cover(var, mask)
        for eqn in reversed(jaxpr.eqns):
            key = None if path is None else (*path, id(eqn))
            for slot, var in enumerate(eqn.outvars):
                missing = _get_kinds(var, kinds) & ~covered.get(var, 0)
                if missing and slot in self.nodes.get(key, ()):
                    self.points.add((key, slot))
                    covered[var] = _ANY
            outputs = [covered.get(var, 0) | (~_get_kinds(var, kinds) & _ANY) for var in eqn.outvars]
            operands = [_get_kinds(var, kinds) for var in eqn.invars]
            for var, mask in zip(eqn.invars, self._compute_covered_kinds(eqn, path, outputs, operands), strict=True):
                cover(var, mask)
        return [covered.get(var, 0) for var in jaxpr.invars]

    def _compute_covered_kinds(self, eqn, path, outputs, operands):
        """Return, per operand, the kinds that certainly reach a test. `outputs` has these kinds for the results."""
        kind = eqn.primitive.name
        if kind in TRANSPARENT:
            return self._walk_call(eqn, path, outputs, operands)
        if kind == "cond":
            return self._walk_cond(eqn, path, outputs, operands)
        if kind == "scan":
            return self._walk_scan(eqn, path, outputs, operands)
        if kind == "while":
            return self._walk_while(eqn, path, operands)
        if kind in ("sort", "optimization_barrier"):
            return outputs
        if kind == "split":
            return [_intersect_masks(outputs)]
        if len(outputs) != 1:
            return [0] * len(eqn.invars)
        transfers = _list_kind_transfers(eqn)
        return [_select_covered_kinds(transfer, outputs[0]) for transfer in transfers]

    def _walk_call(self, eqn, path, outputs, operands):
        inner = _get_jaxpr(eqn.params[TRANSPARENT[eqn.primitive.name]])
        below = None if path is None else (*path, (id(eqn), 0))
        if (path, id(eqn)) not in self._inside:
            below = None
        if below is not None:
            return self.run(inner, below, outputs, operands)
        key = id(inner), tuple(outputs), tuple(operands)
        if key not in self._cache:
            # `inner` is stored, so its id stays unique
            self._cache[key] = inner, self.run(inner, None, outputs, operands)
        return self._cache[key][1]

    def _walk_cond(self, eqn, path, outputs, operands):
        masks = []
        for index, branch in enumerate(eqn.params["branches"]):
            below = None if path is None else (*path, (id(eqn), index))
            masks.append(self.run(_get_jaxpr(branch), below, outputs, operands[1:]))
        return [0, *(_intersect_masks(column) for column in zip(*masks, strict=True))]

    def _walk_scan(self, eqn, path, outputs, operands):
        n_consts, n_carry = scan_counts(eqn)
        n_carried = n_consts + n_carry
        kinds = [_ANY if n_consts <= i < n_carried else mask for i, mask in enumerate(operands)]
        below = None if path is None else (*path, (id(eqn), 0))
        # the state of one iteration may not reach the end of the loop, so it is tested in each iteration
        inner = self.run(_get_jaxpr(eqn.params["jaxpr"]), below, [0] * n_carry + outputs[n_carry:], kinds)
        return inner if eqn.params["length"] else [0] * len(inner)

    def _walk_while(self, eqn, path, operands):
        body = _get_jaxpr(eqn.params["body_jaxpr"])
        below = None if path is None else (*path, (id(eqn), 1))
        self.run(body, below, [0] * len(body.outvars), [_ANY] * len(body.invars))
        return [0] * len(operands)  # the loop may have no iteration

    # ------------------------------------------------------------------ values that a variable can have
    def _compute_possible_kinds(self, jaxpr, input_kinds):
        """Return {variable: kinds of values that it can have}."""
        kinds = dict(zip(jaxpr.invars, input_kinds, strict=True))
        kinds |= dict.fromkeys(jaxpr.constvars, _ANY)
        for eqn in jaxpr.eqns:
            results = self._compute_result_kinds(eqn, [_get_kinds(var, kinds) for var in eqn.invars])
            kinds.update(zip(eqn.outvars, results, strict=True))
        return kinds

    def _compute_result_kinds(self, eqn, operands):
        name = eqn.primitive.name
        if name in TRANSPARENT:
            inner = _get_jaxpr(eqn.params[TRANSPARENT[name]])
            kinds = self._compute_possible_kinds(inner, operands)
            return [_get_kinds(var, kinds) for var in inner.outvars]
        if len(eqn.outvars) != 1:
            return [_ANY] * len(eqn.outvars)
        union = _unite_masks(operands)
        if name in ("convert_element_type", "reduce_precision"):
            return [_ANY if _is_narrowing(eqn) else union]
        if name in _MOVES or name in ("select_n", "reduce_max", "reduce_window_max", "slice", "dynamic_slice"):
            return [union]  # these operations create no infinity
        if name in _BOUNDED_RESULTS:
            return [NAN if union else 0]
        if name in ("exp", "exp2", "abs", "square", "sqrt"):
            return [NAN | POSITIVE]
        if name == "integer_pow" and eqn.params["y"] % 2 == 0:
            return [NAN | POSITIVE]
        if name == "max":
            is_bounded_below = any(not mask & NEGATIVE for mask in operands)
            return [union & ~NEGATIVE if is_bounded_below else union]
        if name == "min":
            return [union & ~POSITIVE if any(not mask & POSITIVE for mask in operands) else union]
        return [_ANY]


def _list_kind_transfers(eqn):
    """Return, per operand of an equation with one result, {kind of the operand: kinds of the result}."""
    name, n = eqn.primitive.name, len(eqn.invars)
    if name == "sub":
        return [_SUM, _DIFFERENCE]
    if name == "div":
        return [_PRODUCT, _BOUNDED]
    if name == "clamp":
        return [_LOST, _BOUNDED, _LOST]
    if name == "integer_pow":
        power = eqn.params["y"]
        return [_BOUNDED if power < 0 else _MAGNITUDE if power % 2 == 0 else _SAME if power else _LOST]
    if name == "select_and_scatter_add":
        return [_SUM, _LOST]
    if name == "pad":
        keeps = all(low >= 0 and high >= 0 for low, high, _ in eqn.params["padding_config"])
        return [_SAME if keeps else _LOST, _LOST]
    if name in ("scatter-add", "scatter_add"):
        return [_SUM, *[_LOST] * (n - 1)]
    if name == "convert_element_type" and not _is_float(eqn.outvars[0]):
        return [_LOST]
    if name == "conv_general_dilated":
        return [_PRODUCT if used else _LOST for used in _convolution_reads_all(eqn)]
    if name in ("reduce_window_sum", "reduce_window_max", "reduce_window_min"):
        return [_UNARY[name] if _window_reads_all(eqn) else _LOST, *[_LOST] * (n - 1)]
    if not getattr(eqn.outvars[0].aval, "size", 0):
        return [_LOST] * n
    return [_UNARY.get(name, _LOST)] * n


def _select_covered_kinds(transfer, reached):
    """Return the kinds of an operand for which all kinds of the result are in `reached`."""
    return _unite_masks(kind for kind in _KINDS if kind in transfer and not transfer[kind] & ~reached)


def _convolution_reads_all(eqn):
    """Return (True if every element of the image is read, the same for the filter)."""
    params = eqn.params
    image, kernel = (var.aval.shape for var in eqn.invars[:2])
    dims = params["dimension_numbers"]
    reads_image = reads_kernel = bool(eqn.outvars[0].aval.size)
    for axis in range(len(params["window_strides"])):
        low, _ = params["padding"][axis]
        size, width = image[dims.lhs_spec[axis + 2]], kernel[dims.rhs_spec[axis + 2]]
        outputs = eqn.outvars[0].aval.shape[dims.out_spec[axis + 2]]
        at = np.arange(outputs)[:, None] * params["window_strides"][axis]
        at = at + np.arange(width) * params["rhs_dilation"][axis] - low
        index, rest = np.divmod(at, params["lhs_dilation"][axis])
        is_read = (rest == 0) & (index >= 0) & (index < size)
        reads_image &= len(np.unique(index[is_read])) == size
        reads_kernel &= bool(is_read.any(axis=0).all())
    return reads_image, reads_kernel


def _window_reads_all(eqn):
    params, is_complete = eqn.params, bool(eqn.outvars[0].aval.size)
    for axis, size in enumerate(eqn.invars[0].aval.shape):
        if params["base_dilation"][axis] != 1:
            return False
        at = np.arange(eqn.outvars[0].aval.shape[axis])[:, None] * params["window_strides"][axis]
        at = at + np.arange(params["window_dimensions"][axis]) * params["window_dilation"][axis]
        index = at - params["padding"][axis][0]
        is_complete &= len(np.unique(index[(index >= 0) & (index < size)])) == size
    return is_complete


def _get_kinds(var, kinds):
    if not _is_float(var):
        return 0
    if isinstance(var, Literal):
        value = np.asarray(var.val, np.float64)
        return (NAN if np.isnan(value).any() else 0) | (
            (POSITIVE if (value == np.inf).any() else 0) | (NEGATIVE if (value == -np.inf).any() else 0)
        )
    return kinds.get(var, _ANY)


def _is_float(var):
    dtype = getattr(var.aval, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, np.inexact)


def _is_narrowing(eqn):
    """Return True if a finite operand can be too large for the type of the result."""
    if eqn.primitive.name == "reduce_precision":
        return True
    old, new = eqn.invars[0].aval.dtype, eqn.outvars[0].aval.dtype
    return _is_float(eqn.invars[0]) and jax.dtypes.finfo(new).max < jax.dtypes.finfo(old).max


def _unite_masks(masks):
    union = 0
    for mask in masks:
        union |= mask
    return union


def _intersect_masks(masks):
    common = _ANY
    for mask in masks:
        common &= mask
    return common


def _get_jaxpr(inner):
    return inner.jaxpr if hasattr(inner, "consts") else inner
