"""A network as a function of one of its values, an input or the result of a node, for methods of attribution.

All methods evaluate the graph of the network, so they see functional operators as well as Cells, and they change
nothing in the network: neither Parameters nor the training flag.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.errors.cell_path import attribute_path
from msnb.core.errors.messages import describe
from msnb.core.jaxpr.instrument import Measure, Replace, evaluate_replaced, instrument
from msnb.core.script.checkpointed_while import while_over_tree
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.insight.attribution.dependence import list_dependent_inputs
from msnb.insight.debugger.names import name_of_node, place_of_node
from msnb.insight.debugger.replay import as_inputs, program_inputs
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.gradients.rows import is_real, main_slots
from msnb.insight.instrument import Point, list_points
from msnb.ir.anf import CNode, ParameterNode

_FORMS = 16  # maximum number of compiled functions per program


class TracedNetwork:
    """The graph of a network for one signature of its inputs, and the compiled functions of methods.

    Args:
        program (Program): the program of the network.

    Attributes:
        graph (FuncGraph): the graph.
        points (list): the main result of each node, in the order of execution.
        has_training_effects (bool): True if the network draws random numbers or writes Parameters.
    """

    def __init__(self, program: Any) -> None:
        self._closed = program.jaxpr
        if self._closed.effects:
            self._closed = self._closed.replace(jaxpr=remove_debug_callbacks(self._closed.jaxpr))
        points_by_key, self.graph = list_points(self._closed, program.inputs, program.name)
        self.name: str = program.name
        self._result_shapes = self._closed.out_avals[: program.n_results - bool(program.errors)]
        self.has_training_effects: bool = bool(program.random) or self.graph.written > bool(program.errors)
        slots = main_slots(self.graph)
        self.points: list[Any] = []
        self._keys: dict[int, Any] = {}
        for key, points in points_by_key.items():
            for point in points:
                if point.node is not None and point.slot == slots.get(point.node.id, 0):
                    self.points.append(point)
                    self._keys[id(point)] = key
        self._point_of_node = {point.node.id: point for point in self.points}
        self._compiled: LruCache = LruCache(_FORMS)

    def compile(self, key: Any, build: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """Return the compiled function of a method; `build` returns it before compilation."""
        form = self._compiled.get(key) or self._compiled.recall(key)
        return form or self._compiled.keep(key, jax.jit(build()))

    def evaluate(
        self,
        inputs: Sequence[Any],
        values: Mapping[Point, Callable[[Any], Any]] | None = None,
        operators: Mapping[Point, Callable[..., Any]] | None = None,
    ) -> list[Any]:
        """Return the results of the program in the current trace, with other values or operators at some points.

        Args:
            inputs (Sequence): inputs of the program.
            values (Mapping): point -> function of its value that returns the new value. Default: None.
            operators (Mapping): point -> function of the inputs of its equation that returns all results. Default:
                None.
        """
        rule = _Changes(values or {}, operators or {})
        points_by_key: dict[Any, list[Point]] = {}
        for point in {**rule.values, **rule.operators}:
            points_by_key.setdefault(self._keys[id(point)], []).append(point)
        return evaluate_replaced(self._closed, list(inputs), points_by_key, rule, while_over_tree)

    def read(self, point: Point, inputs: Sequence[Any]) -> Any:
        """Return the value of a point in the current trace."""
        measured, _ = instrument(self._closed, {self._keys[id(point)]: [point]}, _Value())
        return eval_jaxpr(measured.jaxpr, measured.consts, *inputs)[-1]

    def list_dependent_inputs(
        self, positions: Sequence[int], sources: Sequence[Point], constants: Sequence[Point]
    ) -> Callable[[Point], tuple[bool, ...]]:
        """Return a function that says, for the equation of a point, which of its inputs depend on some values.

        Args:
            positions (Sequence): indices of inputs of the program.
            sources (Sequence): other values, by their points.
            constants (Sequence): points whose values count as independent.
        """
        sources_by_key, constants_by_key = (
            [(self._keys[id(point)], point.slot) for point in points] for points in (sources, constants)
        )
        dependent = list_dependent_inputs(self._closed, positions, sources_by_key, constants_by_key)
        return lambda point: dependent[self._keys[id(point)]]

    def compute_scores(self, outputs: Sequence[Any], indices: Any) -> Any:
        """Return the score of each example: the element of the first output at the indices of the target."""
        rows = jnp.arange(outputs[0].shape[0])
        return outputs[0][(rows, *(indices[:, axis] for axis in range(indices.shape[1])))].astype(jnp.float32)

    def check_output(self, count: int) -> tuple[int, ...]:
        """Return the shape of the output without the axis of examples.

        Raises:
            ValueError: If the network does not return one Tensor of real numbers with a row per example.
        """
        if len(self._result_shapes) != 1:
            raise ValueError(
                f"{self.name} returns {len(self._result_shapes)} Tensors, but an attribution needs one with the scores "
                "of the classes. Pass a function that returns it, such as `lambda x: net(x)[0]`."
            )
        (result,) = self._result_shapes
        if not is_real(result.dtype) or not result.shape or result.shape[0] != count:
            raise ValueError(
                f"{self.name} should return real numbers with a row for each of the {count} examples, but it returns "
                f"{result.dtype}{list(result.shape)}."
            )
        return tuple(result.shape[1:])

    def warn_of_training(self) -> None:
        """Warn if the network draws random numbers or writes Parameters, as Dropout and BatchNorm do in training."""
        if self.has_training_effects:
            log.warning(
                "%s",
                f"{self.name} draws random numbers or sets Parameters, as in training. Attributions use the network as "
                "it is; call set_train(False) to explain its predictions.",
            )

    # ------------------------------------------------------------------ nodes
    def find_node(self, query: Any) -> CNode:
        """Return the node of a Cell's path, which is the last one of the Cell, or the last node that a query selects.

        Raises:
            ValueError: If there is none. The message lists similar names.
        """
        forward = [node for node in self.graph.all_nodes() if node.direction == "forward"]
        if isinstance(query, str) and query:
            of_cell = [node for node in forward if f"{self._get_cell_path(node)}.".startswith(f"{query}.")]
            if of_cell:
                return of_cell[-1]
        try:
            matches = select_nodes(self.graph, query)
        except ValueError as error:
            cells = list(dict.fromkeys(self._get_cell_path(node) for node in forward))
            names = {path.lower(): path for path in cells if path}
            words = str(query).lower()
            similar = [names[one] for one in difflib.get_close_matches(words, names, n=3, cutoff=0.5)]
            listed = similar or [path for path in cells if path][:12]
            hint = f" {'Similar Cells' if similar else 'Its Cells'}: {', '.join(listed)}." if listed else ""
            raise ValueError(f"{error}{hint}") from None
        matches = [node for node in matches if node.direction == "forward"] or matches
        return matches[-1]

    def _get_cell_path(self, node):
        return attribute_path(node.scope, self.graph.name)

    def get_point(self, node: CNode) -> Any:
        """Return the point of a node whose value can be attributed to.

        Raises:
            ValueError: If it has no single value of real numbers.
        """
        point = self._point_of_node.get(node.id)
        if point is None or not is_real(point.dtype):
            kind = "no value" if point is None else str(point.dtype)
            reason = f"its value should be real numbers with a gradient, but it is {kind}"
        elif node.direction != "forward":
            reason = "it belongs to a gradient that the network computes itself"
        elif point.nested:
            reason = "it is inside a loop or a branch, where it has no single value"
        elif point.vmapped:
            reason = "it is inside a function that vmap maps, where its value has one more axis"
        else:
            return point
        raise ValueError(f"{place_of_node(node)} can't be used: {reason}. Select another node.")

    def suggest_convolution(self) -> str:
        """Return the words ", such as node='layer4.conv2'" for the last convolution; "" if there is none."""
        paths = [self._get_cell_path(point.node) for point in self.points if point.node.op.startswith("Conv")]
        return f", such as node={paths[-1]!r}" if paths and paths[-1] else ""

    def list_points_of_operators(self, operators: Sequence[str]) -> list[Point]:
        """Return the points of forward nodes with one of these operators, also inside loops and branches."""
        return [
            point
            for point in self.points
            if point.node.op in operators and point.node.direction == "forward" and not point.in_condition
        ]

    def find_embedding(self, input_node: ParameterNode) -> CNode:
        """Return the node of the embedding of an integer input: the first node of real numbers that depends on it and
        has the shape of the input with one more axis.

        Raises:
            ValueError: If there is none.
        """
        shape, dependent = tuple(input_node.types[0].shape), {input_node}
        for node in self.graph.nodes:
            if not any(source in dependent for source in node.inputs):
                continue
            dependent.add(node)
            point = self._point_of_node.get(node.id)
            if point is not None and is_real(point.dtype) and len(point.shape) == len(shape) + 1:
                if tuple(point.shape[:-1]) == shape:
                    return node
        dtype = input_node.types[0].dtype
        raise ValueError(
            f"The input {input_node.name} is {dtype}{list(shape)}, which has no gradient, and no node is its "
            "embedding, with one more axis. Convert pictures to float32, or select the node whose value is explained "
            "with `node=`."
        )


class _Value(Measure):
    """The value of a point outside loops and branches."""

    def measure(self, point: Any, array: Any) -> Any:
        return array


class _Changes(Replace):
    """New values and operators of points."""

    def __init__(self, values, operators):
        self.values, self.operators = values, operators

    def replace(self, point: Any, array: Any, rounds: tuple[Any, ...]) -> Any:
        return self.values[point](array) if point in self.values else array

    def evaluates(self, point: Any) -> bool:
        return point in self.operators

    def evaluate(self, point: Any, args: Sequence[Any]) -> Sequence[Any]:
        return self.operators[point](*args)


class Source:
    """The value that an attribution is distributed over: one input of the network, or the result of one node.

    Args:
        network (TracedNetwork): the network.
        position (int): index of the input among the inputs of the program; ignored if `point` is a point.
        point (Union[Point, None]): the value of the node.
    """

    def __init__(self, network: TracedNetwork, position: int, point: Point | None) -> None:
        self.network = network
        self.point: Any = point
        self._position = position

    @property
    def key(self) -> Any:
        """A hashable key of the source, for compiled functions."""
        return self._position if self.point is None else ("node", self.point.node.id)

    def read(self, inputs: Sequence[Any]) -> Any:
        """Return the value in the current trace."""
        if self.point is None:
            return inputs[self._position]
        return self.network.read(self.point, inputs)

    def list_dependent_inputs(self, constants: Sequence[Point]) -> Callable[[Point], tuple[bool, ...]]:
        """Return a function that says which inputs of a point's equation depend on the source. The values of
        `constants` count as independent.
        """
        if self.point is None:
            return self.network.list_dependent_inputs([self._position], [], constants)
        return self.network.list_dependent_inputs([], [self.point], constants)

    def compute_scores(
        self,
        value: Any,
        inputs: Sequence[Any],
        indices: Any,
        operators: Mapping[Point, Any] | None = None,
        values: Mapping[Point, Any] | None = None,
    ) -> Any:
        """Return the score of each example for another value of the source. `operators` and `values` are those of
        `TracedNetwork.evaluate`.
        """
        operators, values = dict(operators or {}), dict(values or {})
        if self.point is None:
            inputs = [value if at == self._position else array for at, array in enumerate(inputs)]
        else:
            operators.pop(self.point, None)
            values[self.point] = lambda _: value
        outputs = self.network.evaluate(inputs, values, operators)
        return self.network.compute_scores(outputs, indices)

    def differentiate(
        self, value: Any, inputs: Sequence[Any], indices: Any, operators: Mapping[Point, Any] | None = None
    ) -> tuple[Any, Any]:
        """Return (gradient of the sum of the scores with respect to the value, scores)."""

        def compute_sum(value):
            scores = self.compute_scores(value, inputs, indices, operators)
            return jnp.sum(scores), scores

        (_, scores), gradient = jax.value_and_grad(compute_sum, has_aux=True)(value)
        return gradient.astype(jnp.float32), scores


class Call:
    """One call of a network whose result is attributed to a source.

    Args:
        net (Union[Cell, Callable]): the network.
        inputs (tuple): its inputs, Tensors or arrays.
        target (Any): see `msnb.attribute`.
        node (Any): a query of the node, a Cell's path, or None for the input.
        input_index (int): index of the input that is attributed to.

    Attributes:
        network (TracedNetwork), source (Source): the network, and the value that is attributed to.
        inputs (list[jax.Array]): the inputs of the program.
        indices (numpy.ndarray): index of the target in the output of each example, of shape (N, axes).
    """

    def __init__(self, net: Any, inputs: tuple[Any, ...], target: Any, node: Any = None, input_index: int = 0) -> None:
        _check_network(net)
        tensors = tuple(_convert_to_tensor(each) for each in inputs)
        if isinstance(input_index, bool) or not isinstance(input_index, int) or not 0 <= input_index < len(tensors):
            raise ValueError(
                f"'input_index' should be the index of one of the {len(tensors)} inputs, but got {input_index!r}."
                if tensors
                else "An attribution needs the inputs of the network, as in msnb.attribute(net, images), but got none."
            )
        self.attributed = attributed = tensors[input_index]
        if not isinstance(attributed, Tensor) or not attributed.shape:
            raise TypeError(
                f"An attribution needs a Tensor with a row per example, but input {input_index} is "
                f"{describe(attributed)}. Pass a function of Tensors, such as `lambda x: net([x, other])`."
            )
        program, values = program_inputs(net, *tensors)
        self.network: TracedNetwork = _traced.get(program) or _traced.setdefault(program, TracedNetwork(program))
        position = _find_position(tensors, input_index, values)
        self.inputs: list[Any] = as_inputs(program, values)
        self.count: int = attributed.shape[0]
        output_shape = self.network.check_output(self.count)
        self.source = Source(self.network, position, self._select_point(node, position))
        self.indices: np.ndarray = self._read_target(target, output_shape)
        self.network.warn_of_training()

    def _select_point(self, node, position):
        if node is None or isinstance(node, str) and not node:
            if is_real(self.inputs[position].dtype):
                return None
            return self.network.get_point(self.network.find_embedding(self.network.graph.parameters[position]))
        point = self.network.get_point(self.network.find_node(node))
        if not point.shape or point.shape[0] != self.count:
            raise ValueError(
                f"{name_of_node(point.node)} has the shape {list(point.shape)}, without a row for each of the "
                f"{self.count} examples. Select another node."
            )
        return point

    def _read_target(self, target, output_shape):
        """Return the indices of the target of each example, an array of shape (N, axes of the output)."""
        sizes = output_shape
        if target is None or not sizes and isinstance(target, tuple) and not target:
            return self._select_predicted(sizes)
        if not sizes:
            raise ValueError(
                f"{self.network.name} returns one score per example, so 'target' should be None, but got "
                f"{describe(target)}."
            )
        columns: list[Any] = [
            _convert_to_integers(column) for column in (target if isinstance(target, tuple) else (target,))
        ]
        if any(column is None for column in columns):
            raise TypeError(f"'target' should be the index of a class, an int or ints, but got {describe(target)}.")
        if len(columns) != len(sizes):
            raise ValueError(
                f"{self.network.name} returns {len(sizes)} axes per example, {list(sizes)}, but 'target' has "
                f"{len(columns)} indices. It should be one int for (N, classes), and a tuple for more axes."
            )
        for column, size in zip(columns, sizes, strict=True):
            if column.shape not in ((), (1,), (self.count,)):
                raise ValueError(
                    f"'target' should be one int or {self.count} ints, one per example, but its shape is "
                    f"{list(column.shape)}."
                )
            if column.size and (column.min() < -size or column.max() >= size):
                outside = column[(column < -size) | (column >= size)].flat[0] if column.ndim else int(column)
                raise ValueError(
                    f"'target' {outside} is outside of the {size} scores that {self.network.name} returns."
                )
        columns = [
            np.broadcast_to(column.reshape(-1) % size, self.count) for column, size in zip(columns, sizes, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.int32)

    def _select_predicted(self, sizes):
        if len(sizes) > 1:
            raise ValueError(
                f"{self.network.name} returns {list(sizes)} scores per example, so 'target' should be a tuple of "
                f"{len(sizes)} indices."
            )
        if not sizes:
            return np.zeros((self.count, 0), np.int32)

        def build():
            return lambda inputs: jnp.argmax(self.network.evaluate(inputs)[0], axis=1)

        return np.asarray(self.network.compile("predicted", build)(self.inputs), np.int32)[:, None]

    def run(self, key: Any, compute: Callable[..., Any], *numbers: Any) -> Any:
        """Return ``compute(source, inputs, indices, *numbers)``, compiled once per `key`, shapes and source.

        Args:
            key (Any): hashable; it includes all Python values that `compute` uses.
            compute (Callable): the method.
            numbers: arrays.
        """
        source = self.source
        form = self.network.compile((key, source.key), lambda: lambda *arrays: compute(source, *arrays))
        return form(self.inputs, self.indices, *numbers)

    def read_value(self) -> np.ndarray:
        """Return the value of the source."""
        if self.source.point is None:
            return self.attributed.asnumpy()
        return np.asarray(self.run("read", lambda source, inputs, indices: source.read(inputs)))

    def differentiate(self, value: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return (gradient of the scores at a value of the source, scores); it is the same program for all values."""
        gradient, scores = self.run("gradient", _differentiate_at, value)
        return np.asarray(gradient), np.asarray(scores)


def _check_network(net):
    if isinstance(net, type) or not callable(net):
        kind = f"the class {net.__name__}" if isinstance(net, type) else describe(net)
        raise TypeError(f"'net' should be a Cell or a function, but got {kind}.")


def _convert_to_tensor(value):
    if isinstance(value, Parameter):  # a Tensor of its own: the program reads a Parameter as a weight
        return Tensor(value.asnumpy())
    return Tensor(value) if isinstance(value, np.ndarray) else value


def _convert_to_integers(value):
    """Return indices as an array of integers, None if they are something else."""
    try:
        array = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    return array if array.dtype.kind in "iu" else None


def _find_position(tensors, input_index, values):
    """Return the index of an input of a call among the inputs of the program. The same Tensor may be passed twice, and
    numbers may be inputs of the program.
    """
    array = tensors[input_index]._array
    positions = [position for position, value in enumerate(values) if value is array]
    leaves_before = flatten(tensors[:input_index])[0]
    return positions[sum(isinstance(leaf, Tensor) and leaf._array is array for leaf in leaves_before)]


def _differentiate_at(source, inputs, indices, value):
    return source.differentiate(value, inputs, indices)


_traced: "WeakKeyDictionary[Any, TracedNetwork]" = WeakKeyDictionary()  # program -> its graph and compiled functions
