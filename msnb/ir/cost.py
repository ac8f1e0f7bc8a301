"""Count FLOPs and memory traffic of an equation from its shapes (not by a compiler's cost model).

The count of an operator is the sum over its JAX primitives, so every operator has a count, including a user's own
operators. `FLOPS` is therefore a rule table of primitives. Its keys are names, because JAX does not export every
primitive as an object.
"""

import math
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from msnb.core.operator.rule_table import RuleTable

_GRAPHS = (ClosedJaxpr, Jaxpr)


def _count_elements(var):
    return math.prod(getattr(var.aval, "shape", ()))


def nbytes(eqn: JaxprEqn) -> int:
    """Return the number of bytes read and written if every operand is transferred once."""
    total = 0
    for var in (*eqn.invars, *eqn.outvars):
        dtype = getattr(var.aval, "dtype", None)
        total += _count_elements(var) * getattr(dtype, "itemsize", 0)
    return total


def inner_jaxprs(eqn: JaxprEqn) -> list[ClosedJaxpr]:
    """Return the jaxprs, closed or open, in the parameters of an equation."""
    jaxprs = []
    for value in eqn.params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, _GRAPHS):
                jaxprs.append(item)
    return jaxprs


def open_jaxpr(jaxpr: Any) -> Jaxpr:
    """Return the open form of a jaxpr that may be closed."""
    return getattr(jaxpr, "jaxpr", jaxpr)


FLOPS = RuleTable(
    "a count of operations",
    "One per element of the results is taken; say better in msnb/ir/cost.py: @FLOPS.register('{name}').",
    key=lambda primitive: getattr(primitive, "name", primitive),
)


def flops(eqn: JaxprEqn, memo: dict[int, Any]) -> int:
    """Return the number of floating-point or integer operations of one equation. `memo` caches the counts of nested
    jaxprs.
    """
    name = eqn.primitive.name
    rule = FLOPS.get(name)
    if rule is not None:
        return rule(eqn)
    inner = inner_jaxprs(eqn)
    if inner:
        counts = [_count_jaxpr_flops(open_jaxpr(jaxpr), memo) for jaxpr in inner]
        if name == "cond":
            return max(counts)
        return sum(counts) * (eqn.params.get("length", 1) if name == "scan" else 1)
    if name.startswith(("reduce_", "arg", "cum")):
        return _count_elements(eqn.invars[0])
    return sum(_count_elements(var) for var in eqn.outvars)


def _count_jaxpr_flops(jaxpr, memo):
    cached = memo.get(id(jaxpr))
    if cached is None:
        # the jaxpr is stored with its count, since an id is unique only while its object is alive
        cached = memo[id(jaxpr)] = (sum(flops(eqn, memo) for eqn in jaxpr.eqns), jaxpr)
    return cached[0]


@FLOPS.register("dot_general")
def _count_dot_flops(eqn):
    (contracted, _), _ = eqn.params["dimension_numbers"]
    return 2 * _count_elements(eqn.outvars[0]) * math.prod(eqn.invars[0].aval.shape[axis] for axis in contracted)


@FLOPS.register("conv_general_dilated")
def _count_conv_flops(eqn):
    kernel = eqn.invars[1].aval.shape
    out_features = kernel[eqn.params["dimension_numbers"].rhs_spec[0]]
    dense = 2 * _count_elements(eqn.outvars[0]) * math.prod(kernel) // max(1, out_features)
    # dilating the input inserts zeros; multiplications by them are not counted
    return dense // max(1, math.prod(eqn.params["lhs_dilation"]))


def _make_msnb_conv_rule(operand):
    """Return a rule that counts the operations of msnb's convolution or of one of its gradients; each takes the same
    number of operations. `operand` is the index of the input that has the shape of the convolution's output, or None if
    the result has it.
    """

    def rule(eqn):
        var = eqn.outvars[0] if operand is None else eqn.invars[operand]
        return 2 * _count_elements(var) * math.prod(eqn.params["kernel"][1:])

    return rule


FLOPS.register("conv")(_make_msnb_conv_rule(None))
FLOPS.register("conv_input_grad")(_make_msnb_conv_rule(0))
FLOPS.register("conv_filter_grad")(_make_msnb_conv_rule(1))


@FLOPS.register("reduce_window", "reduce_window_sum", "reduce_window_max", "reduce_window_min", "select_and_gather_add")
def _count_window_flops(eqn):
    window = eqn.params.get("window_dimensions", ())
    return _count_elements(eqn.outvars[0]) * math.prod(window)


@FLOPS.register("select_and_scatter_add")
def _count_window_scatter_flops(eqn):
    return _count_elements(eqn.invars[0]) * math.prod(eqn.params.get("window_dimensions", ()))


@FLOPS.register("sort")
def _count_sort_flops(eqn):
    size = _count_elements(eqn.invars[0])
    return int(size * max(1.0, math.log2(max(size, 2))))


@FLOPS.register("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max")
def _count_scatter_flops(eqn):
    return _count_elements(eqn.invars[-1])


@FLOPS.register(
    "reshape",
    "broadcast_in_dim",
    "transpose",
    "squeeze",
    "expand_dims",
    "slice",
    "dynamic_slice",
    "concatenate",
    "pad",
    "rev",
    "gather",
    "dynamic_update_slice",
    "copy",
    "copy_p",
    "convert_element_type",
    "bitcast_convert_type",
    "iota",
    "stop_gradient",
    "select_n",
    "device_put",
    "empty",
    "empty2",
    "split",
    "pvary",
    "optimization_barrier",
    "sharding_constraint",
    "name",
    "random_wrap",
    "random_unwrap",
    "mesh_cast",
    "layout_constraint",
)
def _count_zero_flops(eqn):
    """Return 0 for a primitive that only moves values."""
    return 0
