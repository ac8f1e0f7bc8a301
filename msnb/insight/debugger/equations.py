"""The equations of one run as a flat list. Each can be evaluated separately, also on operands from another run.

`flatten_program` lists the equations of a traced program, which are evaluated inside a compiled function.
`record_eager_run` lists the kernels of a call in PYNATIVE mode, which are evaluated one by one.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb.core.compat.jax_private import (
    Literal,
    eval_jaxpr,
    is_debug_callback,
    scan_counts,
    user_frame,
    without_argument_names,
)
from msnb.core.jaxpr.instrument import TRANSPARENT
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.state import events
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from msnb.ir.read import dtype_name, is_library, read

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program


class Equation(NamedTuple):
    """One computation of a run.

    Attributes:
        node (Union[CNode, None]): its node in the graph; None for a helper, such as the derivation of a random key.
        operands (tuple[int]): indices of the values that it reads.
        results (tuple[Union[int, None]]): index of the value of each result; None for a result that is dropped.
        run (Callable): computes the list of results from the list of operands.
        label (str): name of an equation without a node. Default: "".
        loop (Union[Loop, None]): the body, if the equation is a loop. Default: None.
        jaxpr (Union[Jaxpr, None]): the equation as a jaxpr of `operands`; None in PYNATIVE mode. Default: None.
    """

    node: CNode | None
    operands: tuple[int, ...]
    results: tuple[int | None, ...]
    run: Callable[[list[Any]], Sequence[Any]]
    label: str = ""
    loop: "Loop | None" = None
    jaxpr: Any = None


class Equations:
    """The equations of one run in the order of execution. Values have indices: the inputs come first.

    Attributes:
        graph (FuncGraph): the graph of the run.
        n_inputs (int): number of inputs.
        is_traceable (bool): True if JAX can trace `evaluate`. It is then compiled as one program.
        equations (list[Equation]): the equations.
        constants (dict): {index of a value: a constant}.
        outputs (list[int]): indices of the outputs of the run.
    """

    def __init__(self, graph: FuncGraph, n_inputs: int, is_traceable: bool) -> None:
        self.graph = graph
        self.n_inputs = self.n_values = n_inputs
        self.is_traceable = is_traceable
        self.equations: list[Equation] = []
        self.constants: dict[int, Any] = {}
        self.outputs: list[int] = []

    def new_value(self) -> int:
        """Return the index of a new value."""
        self.n_values += 1
        return self.n_values - 1

    def new_constant(self, value: Any) -> int:
        """Return the index of a new constant."""
        index = self.new_value()
        self.constants[index] = value
        return index

    def by_node(self) -> dict[int, Equation]:
        """Return {number of a node: its equation}. A node inside a loop or branch has none."""
        return {equation.node.id: equation for equation in self.equations if equation.node is not None}

    def evaluate(self, inputs: Sequence[Any], substitutes: Mapping[int, Any] | None = None) -> dict[int, Any]:
        """Return {index: value} of all values.

        Args:
            inputs (Sequence): the inputs of the run.
            substitutes (Mapping): {index: value}. Equations read these values in place of the computed ones. The
                returned dict has the computed values. Default: None.
        """
        computed = {**dict(enumerate(inputs)), **self.constants}
        visible = {**computed, **(substitutes or {})}
        for equation in self.equations:
            results = equation.run([visible[index] for index in equation.operands])
            for index, value in zip(equation.results, results, strict=True):
                if index is not None:
                    computed[index] = value
                    visible.setdefault(index, value)
        return computed


class Loop(NamedTuple):
    """A loop of a traced program, which can be run together with another loop.

    Attributes:
        eqn (JaxprEqn): the ``scan`` or ``while``.
        operands (tuple): for each operand, the index of its value, or (number,) for a literal.
        body (Equations): the equations of one round. Its inputs are the constants, the state and one slice of each
            scanned array.
    """

    eqn: Any
    operands: tuple[Any, ...]
    body: Equations

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return (number of constants of the condition, number of constants of the body, number of state values)."""
        params = self.eqn.params
        if self.eqn.primitive.name == "while":
            first, second = params["cond_nconsts"], params["body_nconsts"]
            return first, second, len(self.operands) - first - second
        return 0, *scan_counts(self.eqn)

    def values_of_operands(self, values: Mapping[int, Any]) -> list[Any]:
        """Return the values of the operands."""
        return [entry[0] if isinstance(entry, tuple) else values[entry] for entry in self.operands]


# ---------------------------------------------------------------------- traced programs
def flatten_program(program: "Program", graph: FuncGraph, keeps_gradient_rules: bool = False) -> Equations:
    """Return the equations of a traced program.

    Args:
        program (Program): the program.
        graph (FuncGraph): its graph, see `msnb.ir.api.of_program`.
        keeps_gradient_rules (bool): True to keep a function with a custom gradient as one equation. Default: False.
    """
    nodes = {node.id: node for node in graph.all_nodes()}
    node_by_key = {}

    def visit(node, eqn, path):
        if node is not None:
            node_by_key[*path, id(eqn)] = nodes[node.id]

    read(program.jaxpr, program.name, program.inputs, visit=visit)
    closed: ClosedJaxpr = program.jaxpr
    flat = Equations(graph, len(closed.jaxpr.invars), True)
    env = dict(zip(closed.jaxpr.invars, range(flat.n_inputs), strict=True))
    _Flattener(flat, node_by_key, keeps_gradient_rules).walk(closed.jaxpr, closed.consts, env, ())
    flat.outputs = [flat.new_constant(v.val) if isinstance(v, Literal) else env[v] for v in closed.jaxpr.outvars]
    return flat


class _Flattener:
    def __init__(self, flat, node_by_key, keeps_gradient_rules):
        self.flat, self.node_by_key = flat, node_by_key
        self.keeps_gradient_rules = keeps_gradient_rules

    def walk(self, jaxpr, consts, env, path):
        """Append the equations of a jaxpr, and add its variables to `env`."""
        for var, value in zip(jaxpr.constvars, consts, strict=True):
            env[var] = self.flat.new_constant(value)
        for eqn in jaxpr.eqns:
            kind, node = eqn.primitive.name, self.node_by_key.get((*path, id(eqn)))
            if node is None and self.keeps_gradient_rules and kind.startswith("custom_"):
                node = self._find_loop_inside((*path, (id(eqn), 0)))
            if node is None and self._is_inlined(kind):
                self._inline_equation(eqn, eqn.params[TRANSPARENT[kind]], env, path)
            elif not is_debug_callback(eqn):  # the run must not print again
                self._append_equation(jaxpr, eqn, node, env, path)

    def _find_loop_inside(self, path):
        """Return the outermost loop inside a function with a custom gradient, or None."""
        inside = [(len(key), node) for key, node in self.node_by_key.items() if key[: len(path)] == path]
        loops = [entry for entry in inside if entry[1].op in ("While", "Scan")]
        return min(loops, key=lambda entry: entry[0])[1] if loops else None

    def _is_inlined(self, kind):
        return kind in TRANSPARENT and not (self.keeps_gradient_rules and kind.startswith("custom_"))

    def _inline_equation(self, eqn, inner, env, path):
        jaxpr, consts = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
        inner_env = dict(zip(jaxpr.invars, (self._get_value_index(var, env) for var in eqn.invars), strict=True))
        self.walk(jaxpr, consts, inner_env, (*path, (id(eqn), 0)))
        for var, result in zip(eqn.outvars, jaxpr.outvars, strict=True):
            env[var] = self._get_value_index(result, inner_env)

    def _make_loop(self, eqn, node, env, path):
        """Return the Loop of a scan or while, None for other equations."""
        kind = eqn.primitive.name
        if kind not in ("scan", "while") or node is None or self.keeps_gradient_rules:
            return None
        closed, index = (eqn.params["jaxpr"], 0) if kind == "scan" else (eqn.params["body_jaxpr"], 1)
        body = Equations(self.flat.graph, len(closed.jaxpr.invars), True)
        inner_env = dict(zip(closed.jaxpr.invars, range(body.n_inputs), strict=True))
        _Flattener(body, self.node_by_key, False).walk(
            closed.jaxpr, closed.consts, inner_env, (*path, (id(eqn), index))
        )
        body.outputs = [
            body.new_constant(v.val) if isinstance(v, Literal) else inner_env[v] for v in closed.jaxpr.outvars
        ]
        operands = tuple((v.val,) if isinstance(v, Literal) else env[v] for v in eqn.invars)
        return Loop(eqn, operands, body)

    def _get_value_index(self, var, env):
        return self.flat.new_constant(var.val) if isinstance(var, Literal) else env[var]

    def _append_equation(self, jaxpr, eqn, node, env, path):
        free = list(dict.fromkeys(var for var in eqn.invars if not isinstance(var, Literal)))
        dropped = [type(var).__name__ == "DropVar" for var in eqn.outvars]
        outputs = [var for var, is_dropped in zip(eqn.outvars, dropped, strict=True) if not is_dropped]
        segment = jaxpr.replace(
            constvars=[],
            invars=free,
            outvars=outputs,
            eqns=[eqn],
            effects=set(eqn.effects),
            debug_info=without_argument_names(jaxpr),
        )

        def run(operands):
            results = iter(eval_jaxpr(segment, (), *operands))
            return [None if is_dropped else next(results) for is_dropped in dropped]

        results = tuple(None if is_dropped else self.flat.new_value() for is_dropped in dropped)
        operands = tuple(env[var] for var in free)
        loop = self._make_loop(eqn, node, env, path)
        self.flat.equations.append(Equation(node, operands, results, run, _format_equation_label(eqn), loop, segment))
        env.update((var, index) for var, index in zip(eqn.outvars, results, strict=True) if index is not None)


def _format_equation_label(eqn):
    """Return the name of an equation that has no node."""
    source = user_frame(eqn.source_info.traceback)
    line = f" ({source[0].rpartition('/')[2]}:{source[1]})" if source is not None else ""
    kind = "bprop" if eqn.primitive.name.startswith("custom_") else eqn.primitive.name
    return f"{kind}{line}"


# ---------------------------------------------------------------------- PYNATIVE mode
class EagerRun(NamedTuple):
    """A recorded call in PYNATIVE mode.

    Attributes:
        equations (Equations): the kernels.
        inputs (list): the inputs: Parameters, then arguments.
        values (dict): {index: value} of all values.
    """

    equations: Equations
    inputs: list[Any]
    values: dict[int, Any]


def record_eager_run(
    name: str,
    net: Any,
    call: Callable[[], Any],
    parameters: Sequence[tuple[str, Any]],
    arguments: Sequence[tuple[str, Any]],
) -> EagerRun:
    """Run a call in PYNATIVE mode and record its kernels.

    Args:
        name (str): name of the graph.
        net (Union[Cell, Callable]): the network or function, which is the root of the scopes.
        call (Callable): the call, without arguments. The caller has already set PYNATIVE mode.
        parameters (Sequence): (name, array) of each Parameter.
        arguments (Sequence): (name, array) of each argument that is a Tensor.
    """
    recorder = _EagerRecorder(name, net, parameters, arguments)
    # `events.current` is only up to date while a listener of `entered` is registered
    with events.listen(dispatched=recorder.dispatched, entered=lambda call: None, name="diff", here=True, vital=True):
        call()
    return recorder.finish()


class _EagerRecorder:
    def __init__(self, name, root, parameters, arguments):
        self.root = root
        nodes = [ParameterNode(each, _get_tensor_types(array), True, True) for each, array in parameters]
        nodes += [ParameterNode(each, _get_tensor_types(array)) for each, array in arguments]
        self.inputs = [array for _, array in (*parameters, *arguments)]
        self.graph = FuncGraph(name, nodes, [], [])
        self.flat = Equations(self.graph, len(nodes), False)
        self.values: dict[int, Any] = dict(enumerate(self.inputs))
        self.index_of: dict[int, int] = {}  # id of an array -> its index; `values` keeps the array alive
        self.sources: list[tuple[AnfNode, int]] = [(node, 0) for node in nodes]
        for index, array in enumerate(self.inputs):
            self.index_of.setdefault(id(array), index)

    def dispatched(self, kernel, arrays, out, start, sent):
        """Record one kernel."""
        operands = tuple(self._get_value_index(array) for array in arrays)
        outs = out if type(out) is tuple else (out,)
        meaning = kernel.name.meaning
        differentiated = self._find_differentiated_node(meaning.operator, operands)
        if differentiated is None:
            scope, source = _locate_running_operator(self.root)
        else:
            scope, source = (differentiated.scope,), differentiated.source
        node = CNode(
            meaning.operator if differentiated is None else differentiated.op,
            tuple(self.sources[index][0] for index in operands),
            tuple(self.sources[index][1] for index in operands),
            tuple(each for array in outs for each in _get_tensor_types(array)),
            attrs=meaning.settings,
            scope="/".join(scope),
            direction="forward" if differentiated is None else "backward",
            source=source,
            id=len(self.graph.nodes),
        )
        node.func_graph = self.graph
        self.graph.nodes.append(node)
        results = tuple(self._add_value(array, (node, slot)) for slot, array in enumerate(outs))
        is_single = type(out) is not tuple

        def run(values):
            result = kernel.run(*values)
            return [result] if is_single else result

        self.flat.equations.append(Equation(node, operands, results, run))

    def _find_differentiated_node(self, operator, operands):
        """Return the forward node whose gradient a kernel computes, or None.

        The first operands of a gradient kernel are the operands of its forward node.
        """
        if not operator.endswith("Grad"):
            return None
        for equation in reversed(self.flat.equations):
            count = len(equation.operands)
            is_like = equation.node.direction == "forward" and f"{equation.node.op}Grad" == operator
            if is_like and equation.operands == operands[:count]:
                return equation.node
        return None

    def _get_value_index(self, value):
        index = self.index_of.get(id(value))
        if index is None:
            index = self._add_value(value, (ValueNode(_number_or_none(value), _get_tensor_types(value)), 0))
            self.flat.constants[index] = value
        return index

    def _add_value(self, value, source):
        index = self.flat.new_value()
        self.values[index] = value
        self.index_of[id(value)] = index
        self.sources.append(source)
        return index

    def finish(self):
        return EagerRun(self.flat, self.inputs, self.values)


def _get_tensor_types(array):
    if not hasattr(array, "dtype"):
        return ()
    return (TensorType(dtype_name(array.dtype), tuple(array.shape), getattr(array.dtype, "itemsize", 0)),)


def _number_or_none(value):
    return value if isinstance(value, (bool, int, float, complex)) else None


def _locate_running_operator(root):
    """Return (segments of the scope, (file, line, function)) of the running operator, from Python's stack."""
    call, source = events.current(), None
    steps = () if call is None else call.scope
    while call is not None and call.around is not None:
        call = call.around
    is_cell = call is not None and call.net is root
    frame = sys._getframe(2)
    while frame is not None and source is None:
        code = frame.f_code
        if not is_library(code.co_filename):
            source = (code.co_filename, frame.f_lineno, code.co_qualname)
        frame = frame.f_back
    return ("Default", *(steps[1:] if is_cell else steps)), source


def is_random(node: CNode) -> bool:
    """Return True for an operator that draws random numbers."""
    return bool(getattr(REGISTRY.get(node.op), "random", False))


def is_number(value: Any) -> bool:
    """Return True for arrays of numbers, False for random keys and other values."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and (jax.dtypes.issubdtype(dtype, np.number) or jax.dtypes.issubdtype(dtype, np.bool_))


def iterate_values(equations: Equations) -> Iterator[tuple[CNode, int, int]]:
    """Yield (node, slot, index) of each result of a node."""
    for equation in equations.equations:
        if equation.node is not None:
            for slot, index in enumerate(equation.results):
                if index is not None:
                    yield equation.node, slot, index
