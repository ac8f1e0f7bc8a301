"""Read a jaxpr as a FuncGraph.

An operator of msnb is one named ``jax.jit`` in the jaxpr, and becomes one CNode. Other nested jits, rematerialised
blocks and functions with a custom gradient are inlined; branches and loops become CNodes with sub-graphs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb._util import gc_pause
from msnb._util.package_path import PACKAGE
from msnb.core.compat.jax_private import Literal, scan_counts, user_frame

from . import cost
from .anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from .scope import is_backward, is_recomputed, parse

_TITLES = {"bool": "Bool", "bfloat16": "BFloat16", "float0": "Zero"}
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "remat2": "jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_lin": "call_jaxpr",
}
_BRANCHES = {"cond": "branches", "while": ("cond_jaxpr", "body_jaxpr"), "scan": ("jaxpr",)}
# a sum of gradients is AddN in MindSpore's graphs
_NAMES = {"cond": "Switch", "while": "While", "scan": "Scan", "add_any": "AddN"}
# parameters of XLA's operations that affect the compilation, but not the result
_NOISE = frozenset(
    (
        "accuracy",
        "out_sharding",
        "sharding",
        "weak_type",
        "precision",
        "preferred_element_type",
        "mode",
        "fill_value",
        "donated_invars",
        "ctx_mesh",
        "keep_unused",
        "inline",
        "linear",
        "cond_nconsts",
        "body_nconsts",
        "num_consts",
        "num_carry",
        "ft_in",
        "ft_out",
        "_split_transpose",
        "memory_space",
        "effects",
    )
)

_KEY_CASTS = frozenset(("random_wrap", "random_unwrap"))  # conversions between a random key and its integers


def is_library(file: str) -> bool:
    """Return whether a source file belongs to msnb."""
    return file.startswith(PACKAGE)


def dtype_name(dtype: Any) -> str:
    """Return MindSpore's name of a numpy or JAX dtype: float32 is Float32."""
    name = getattr(dtype, "name", str(dtype))
    if name.startswith("key<"):
        return "Key"
    return _TITLES.get(name) or (f"UInt{name[4:]}" if name.startswith("uint") else name.capitalize())


def default_operator_of(name: str) -> Any:
    """Return (operator, attributes) for the name of a jitted function; None if the function is not an operator."""
    op_info = getattr(name, "meaning", None)  # names of msnb's operators carry their OpInfo
    if op_info is not None:
        return op_info.operator, op_info.settings
    # other operators are in CamelCase; functions of jax.numpy are not
    return (name, {}) if name[:1].isupper() else None


@gc_pause.without_gc
def read(
    closed: ClosedJaxpr,
    name: str = "main",
    inputs: list[tuple[Any, ...]] | None = None,
    operator_of: Callable[..., Any] = default_operator_of,
    expand: bool = False,
    visit: Callable[..., Any] | None = None,
) -> FuncGraph:
    """Read a jaxpr.

    Args:
        closed (ClosedJaxpr): as `jax.make_jaxpr` returns it.
        name (str): name of the graph. Default: "main".
        inputs (list[tuple]): per input variable ``("param", name, requires_grad)`` or ``("arg", name)``. Default: None,
            inputs are called ``x0``, ``x1``, ...
        operator_of (Callable): maps the name of a jit to (operator, attributes), or to None if it is not an operator.
        expand (bool): whether to expand operators: each becomes a scope with JAX's primitives. Default: False.
        visit (Callable): called as ``visit(node, equation, path)`` for each CNode, and with None as the node for each
            label that `checkpoint_name` put on a value. `path` holds a pair for each surrounding equation: its id, and
            the index of the jaxpr in it. Default: None.

    Returns:
        FuncGraph.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> from msnb import ir
        >>> ir.read(jax.make_jaxpr(jnp.sin)(1.0))
        FuncGraph(main: 1 parameters, 1 nodes)
    """
    if not hasattr(closed, "jaxpr") or not hasattr(closed, "consts"):
        raise TypeError(
            f"For 'ir.read', 'closed' should be a ClosedJaxpr (what jax.make_jaxpr returns), but got "
            f"{type(closed).__name__}."
        )
    return _Reader(operator_of, expand, visit).graph(closed, name, inputs)


class _Reader:
    def __init__(self, operator_of, expand, visit=None):
        self.operator_of = operator_of
        self.expand = expand
        self.visit = visit
        self.path = ()  # (id, index of the jaxpr) of each surrounding equation
        self.memo = {}  # costs of inner jaxprs
        self.types = {}  # aval -> TensorType
        self.frames = {}  # id of a traceback -> (source, the traceback, kept alive so that its id stays unique)
        self.count = 0

    def graph(self, closed, name, inputs=None):
        jaxpr, consts = _unwrap_jit(closed, self)
        if inputs is not None and len(inputs) != len(jaxpr.invars):
            raise ValueError(
                f"For 'ir.read', 'inputs' should have one entry per input of the jaxpr "
                f"({len(jaxpr.invars)}), but got {len(inputs)}."
            )
        parameters = []
        for index, var in enumerate(jaxpr.invars):
            entry = inputs[index] if inputs is not None else ("arg", f"x{index}")
            weight = entry[0] == "param"
            parameters.append(
                ParameterNode(
                    str(entry[1]), self.type_of(var), weight, bool(entry[2]) if weight and len(entry) > 2 else False
                )
            )
            if entry[0] == "random":
                parameters[-1].name = "random key"
        env = dict(zip(jaxpr.invars, ((node, 0) for node in parameters), strict=False))
        self.bind_constants(jaxpr, consts, env)
        nodes = []
        self.walk(jaxpr, env, nodes, (), False)
        outputs = [self.look_up(var, env) for var in jaxpr.outvars]
        mark_updates(nodes)
        return FuncGraph(name, parameters, nodes, outputs)

    def bind_constants(self, jaxpr, consts, env):
        for var, value in zip(jaxpr.constvars, consts, strict=False):
            env[var] = (ValueNode(value, self.type_of(var)), 0)

    def type_of(self, var):
        aval = var.aval
        cached = self.types.get(aval)
        if cached is None:
            shape = getattr(aval, "shape", None)
            if shape is None:
                cached = ()  # a token, which has no value
            else:
                cached = (TensorType(dtype_name(aval.dtype), tuple(shape), getattr(aval.dtype, "itemsize", 0)),)
            self.types[aval] = cached
        return cached

    def look_up(self, var, env):
        if isinstance(var, Literal):
            return ValueNode(_to_python_number(var.val), self.type_of(var)), 0
        return env[var]

    def source_of(self, eqn):
        traceback = eqn.source_info.traceback
        cached = self.frames.get(id(traceback))
        if cached is None:
            cached = self.frames[id(traceback)] = (user_frame(traceback), traceback)
        return cached[0]

    def operator(self, name):
        return self.operator_of(name) if name else None

    def walk(self, jaxpr, env, nodes, outer, backward):
        """Append the CNodes of `jaxpr` to `nodes`; `outer` is the scope that it is inlined into."""
        indices = _find_branch_index_variables(jaxpr)
        for eqn in jaxpr.eqns:
            if eqn.outvars and eqn.outvars[0] in indices:
                env[eqn.outvars[0]] = self.look_up(eqn.invars[0], env)
                continue
            if eqn.primitive.name == "name":  # a label for tools (the gradient of a Parameter), not a computation
                env[eqn.outvars[0]] = self.look_up(eqn.invars[0], env)
                if self.visit is not None:
                    self.visit(None, eqn, self.path)
                continue
            if not self.expand and _only_derives_random_keys(eqn):
                for var in eqn.outvars:
                    env[var] = self.look_up(eqn.invars[0], env)
                continue
            segments, transforms = parse(str(eqn.source_info.name_stack))
            # a block recomputed for its gradient repeats the complete scope
            scope = segments if outer and segments[: len(outer)] == outer else outer + segments
            in_backward = backward or is_backward(transforms)
            recomputed = is_recomputed(transforms)
            kind = eqn.primitive.name
            inner = eqn.params.get(_CALLS.get(kind))
            operator = self.operator(eqn.params.get("name")) if inner is not None and kind in ("jit", "pjit") else None
            if inner is not None and operator is not None and self.expand:
                self.inline(eqn, inner, env, nodes, _append_operator_to_scope(scope, operator[0]), in_backward)
            elif inner is not None and operator is None:
                self.inline(eqn, inner, env, nodes, scope, in_backward)
            elif not all(type(var).__name__ == "DropVar" for var in eqn.outvars) or eqn.effects or not eqn.outvars:
                self.call(eqn, operator, env, nodes, scope, in_backward, recomputed)

    def inline(self, eqn, inner, env, nodes, scope, backward):
        jaxpr = cost.open_jaxpr(inner)
        inner_env = dict(zip(jaxpr.invars, (self.look_up(var, env) for var in eqn.invars), strict=False))
        self.bind_constants(jaxpr, getattr(inner, "consts", ()), inner_env)
        name = eqn.params.get("name") or ""
        # a jitted function of the user is a scope; helpers of jax.numpy are not
        named = (
            not self.expand
            and eqn.primitive.name in ("jit", "pjit")
            and name.isidentifier()
            and name[0] != "_"
            and len(jaxpr.eqns) > 8
        )
        outer_path, self.path = self.path, (*self.path, (id(eqn), 0))
        self.walk(jaxpr, inner_env, nodes, (*scope, name) if named else scope, backward)
        self.path = outer_path
        for var, result in zip(eqn.outvars, jaxpr.outvars, strict=False):
            env[var] = self.look_up(result, inner_env)

    def call(self, eqn, operator, env, nodes, scope, backward, recomputed):
        kind = eqn.primitive.name
        operands = [self.look_up(var, env) for var in eqn.invars]
        if operator is not None:
            op, attrs = operator
            if scope and scope[-1].partition("-op")[0] == op:
                scope = scope[:-1]
        else:
            op, attrs = _NAMES.get(kind, kind), _select_shown_attributes(eqn)
        if recomputed:
            attrs = {**attrs, "recomputed": True}
        number, self.count = self.count, self.count + 1
        graphs = ()
        if operator is None and kind in _BRANCHES:
            graphs = self.sub_graphs(eqn, kind, scope, backward)
        node = CNode(
            op,
            tuple(node for node, _ in operands),
            tuple(slot for _, slot in operands),
            tuple(kind for var in eqn.outvars for kind in self.type_of(var)),
            attrs=attrs,
            scope="/".join(scope),
            direction="backward" if backward else "forward",
            source=self.source_of(eqn),
            graphs=graphs,
            id=number,
            flops=cost.flops(eqn, self.memo),
            nbytes=cost.nbytes(eqn),
            kernel=eqn.params.get("jaxpr") if operator is not None else None,
            layout=getattr(eqn.params.get("name"), "layout", None) if operator is not None else None,
        )
        nodes.append(node)
        if self.visit is not None:
            self.visit(node, eqn, self.path)
        for slot, var in enumerate(eqn.outvars):
            env[var] = (node, slot)

    def sub_graphs(self, eqn, kind, scope, backward):
        keys = _BRANCHES[kind]
        inner = eqn.params[keys] if isinstance(keys, str) else [eqn.params[key] for key in keys]
        titles = {"while": ("condition", "body"), "scan": ("body",)}.get(kind)
        if titles is None:
            # lax.cond with two branches puts the false one first
            titles = ("false", "true") if len(inner) == 2 else tuple(f"case{index}" for index in range(len(inner)))
        feeds, free = _find_subgraph_inputs(eqn, kind, len(inner))
        named = _parse_loop_variable_names(scope) if kind == "while" else []
        graphs, outer_path = [], self.path
        for index, (title, closed, feed, captured) in enumerate(zip(titles, inner, feeds, free, strict=False)):
            jaxpr = cost.open_jaxpr(closed)
            names = dict(enumerate(named, captured))
            parameters = [
                ParameterNode(names.get(number, f"{title}_{number}"), self.type_of(var))
                for number, var in enumerate(jaxpr.invars)
            ]
            env = dict(zip(jaxpr.invars, ((node, 0) for node in parameters), strict=False))
            self.bind_constants(jaxpr, getattr(closed, "consts", ()), env)
            nodes = []
            self.path = (*outer_path, (id(eqn), index))
            self.walk(jaxpr, env, nodes, scope, backward)
            self.path = outer_path
            outputs = [self.look_up(var, env) for var in jaxpr.outvars]
            graphs.append(FuncGraph(title, parameters, nodes, outputs, feed, captured))
        return tuple(graphs)


def _only_derives_random_keys(eqn):
    """Return whether an equation only derives random keys from another key or from a seed.

    Each random operator of msnb splits the key of its program. The user did not write these equations, so a graph omits
    them and shows the operators that read the key.
    """
    if eqn.primitive.name in _KEY_CASTS:
        return True
    keys = all(dtype_name(getattr(var.aval, "dtype", None)) == "Key" for var in eqn.outvars)
    return keys and bool(eqn.outvars) and eqn.primitive.name not in _CALLS and eqn.primitive.name not in _BRANCHES


def _to_python_number(value):
    """Convert a typed scalar of a JAX literal to a plain Python number. An array is unchanged."""
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return kind(value)
    return value


def _append_operator_to_scope(scope, op):
    return scope if scope and scope[-1].partition("-op")[0] == op else (*scope, op)


def _find_subgraph_inputs(eqn, kind, count):
    """Return, for each sub-graph of an equation, the indices of the inputs passed to its parameters, and the number of
    free variables.
    """
    total = len(eqn.invars)
    if kind == "while":
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        carry = tuple(range(first + second, total))
        return ((*range(first), *carry), (*range(first, first + second), *carry)), (first, second)
    start = 1 if kind == "cond" else 0
    free = total - 1 if kind == "cond" else scan_counts(eqn)[0]
    return (tuple(range(start, total)),) * count, (free,) * count


def _find_branch_index_variables(jaxpr):
    """Return the variables that only convert a Bool to the index of a branch. A Switch is shown as if it selected by
    the Bool.
    """
    indices = {
        eqn.outvars[0]
        for eqn in jaxpr.eqns
        if eqn.primitive.name == "convert_element_type" and eqn.invars[0].aval.dtype == bool
    }
    if indices:
        for eqn in jaxpr.eqns:
            operands = eqn.invars[1:] if eqn.primitive.name == "cond" else eqn.invars
            indices.difference_update(var for var in operands if not isinstance(var, Literal))
        indices.difference_update(var for var in jaxpr.outvars if not isinstance(var, Literal))
    return indices


def _parse_loop_variable_names(scope):
    """Return the names of the loop variables of a user's `while`. Its innermost scope is named `while(a, b)`."""
    last = scope[-1] if scope else ""
    return last[len("while(") : -1].split(", ") if last.startswith("while(") and last.endswith(")") else []


def mark_updates(nodes: Sequence[Any]) -> None:
    """Set the direction "update" for nodes that depend on gradients and are never differentiated: clipping, scaling,
    the optimizer.
    """
    mirrored = {(node.scope, node.op) for node in nodes if node.direction == "backward"}
    if not mirrored:
        return
    after, readers = set(), {}
    for node in nodes:
        for reader in (node, *(inner for graph in node.graphs for inner in graph.all_nodes())):
            for source in reader.inputs:
                readers.setdefault(source, []).append(node)
        if node.direction == "backward":
            after.add(node)
        elif any(source in after for source in node.inputs) and (node.scope, node.op) not in mirrored:
            after.add(node)
            _set_update_direction(node)
    # a node read only by updates of its scope, such as a learning rate's shape, is one too
    for node in reversed(nodes):
        near = readers.get(node, ())
        if (
            node.direction == "forward"
            and (node.scope, node.op) not in mirrored
            and any(reader.scope == node.scope for reader in near)
            and all(reader.direction == "update" for reader in near)
        ):
            _set_update_direction(node)


def _set_update_direction(node):
    for each in (node, *(inner for graph in node.graphs for inner in graph.all_nodes())):
        each.direction = "update"


def _unwrap_jit(closed, reader):
    """Return the body if the jaxpr is only a call of one jitted function."""
    jaxpr, consts = closed.jaxpr, closed.consts
    while len(jaxpr.eqns) == 1 and jaxpr.eqns[0].primitive.name in ("jit", "pjit"):
        eqn = jaxpr.eqns[0]
        inner = eqn.params["jaxpr"]
        is_plain_call = (
            not consts and list(eqn.invars) == list(jaxpr.invars) and list(eqn.outvars) == list(jaxpr.outvars)
        )
        if not is_plain_call or reader.operator(eqn.params.get("name")) is not None:
            break
        reader.path += ((id(eqn), 0),)
        jaxpr, consts = inner.jaxpr, inner.consts
    return jaxpr, consts


def _select_shown_attributes(eqn):
    """Return the parameters of an XLA operation without those that only affect compilation."""
    attrs = {}
    if eqn.primitive.name == "sharding_constraint":
        global_shape = eqn.outvars[0].aval.shape
        attrs.update(sharding_attributes(global_shape, eqn.params["sharding"].shard_shape(global_shape)))
    for key, value in eqn.params.items():
        if key in _NOISE or value is None:
            continue
        if isinstance(value, (bool, int, float, str)):
            attrs[key] = value
        elif isinstance(value, np.dtype) or key.endswith("dtype"):
            attrs[key] = dtype_name(value)
        elif isinstance(value, tuple) and _is_plain_value(value):
            attrs[key] = value
        elif hasattr(value, "_asdict") and _is_plain_value(tuple(value)):
            attrs[key] = tuple(value)
    return attrs


def sharding_attributes(global_shape: tuple[int, ...], part: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Return the attributes of a sharded array: the number of shards along each axis, and the shape of a shard."""
    return {
        "divided": tuple(n // m if m else 1 for n, m in zip(global_shape, part, strict=True)),
        "on_each_device": part,
    }


def _is_plain_value(value):
    if isinstance(value, tuple):
        return all(_is_plain_value(item) for item in value)
    return isinstance(value, (bool, int, float, str)) or value is None
