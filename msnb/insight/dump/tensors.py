"""The tensors that a dump writes for one program: their names in the dump, and their sources in the program.

Several tensors of a dump can have the same value, because the output of an operator is the input of another. Each value
and its statistics are computed once per step.
"""

import dataclasses
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax

from msnb.insight.dump.config import DumpConfig
from msnb.insight.instrument import Point, list_points
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType
from msnb.ir.read import dtype_name

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

NODE, INPUT, OUTPUT, CONSTANT = "node", "input", "output", "constant"
Value = tuple[Any, ...]  # (NODE, number of the node, index), (INPUT, index), (OUTPUT, index) or (CONSTANT, index)


class DumpedTensor(NamedTuple):
    """One tensor of a dump.

    Attributes:
        op (str): type of the operator, or "Parameter".
        name (str): name of the operator with its scope.
        io (str): "input" or "output".
        slot (int): index among the inputs or outputs.
        type (TensorType): element type and shape.
        value (tuple): the value in the program.
    """

    op: str
    name: str
    io: str
    slot: int
    type: TensorType
    value: Value


@dataclasses.dataclass(frozen=True)
class DumpedTensors:
    """The tensors that a dump writes for one program.

    Attributes:
        tensors (list[DumpedTensor]): the tensors, in the order of execution; Parameters last.
        constants (list): arrays that the graph has as constants.
    """

    tensors: list[DumpedTensor]
    constants: list[Any]

    @property
    def values(self) -> list[Value]:
        """Return the distinct values."""
        return list(dict.fromkeys(tensor.value for tensor in self.tensors))


def is_readable(point: Point) -> bool:
    """Return True if a value can be read: it is not a random key, and an operator outside of a loop's condition
    computes it.
    """
    return point.node is not None and not point.in_condition and not is_key(point.dtype)


def is_key(dtype: Any) -> bool:
    """Return True for the dtype of random keys, which have no numbers."""
    return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def list_tensors(
    program: "Program", graph: FuncGraph, nodes: Sequence[tuple[str, CNode]], config: DumpConfig
) -> DumpedTensors:
    """Return the tensors of the chosen operators of a program.

    Args:
        program (Program): the program.
        graph (FuncGraph): its graph.
        nodes (Sequence[tuple[str, CNode]]): the chosen operators with their names in the dump.
        config (DumpConfig): the settings.
    """
    points, _ = list_points(program.jaxpr, program.inputs, program.name)
    readable = {(p.node.id, p.slot) for each in points.values() for p in each if p.node is not None and is_readable(p)}
    lister = _Lister(graph, readable)
    for name, node in nodes:
        if config.with_inputs:
            lister.add_inputs(name, node)
        if config.with_outputs:
            lister.add_outputs(name, node)
    if config.with_outputs and config.has_all_operators:
        lister.add_parameters(program)
    return DumpedTensors(lister.tensors, lister.constants)


class _Lister:
    def __init__(self, graph: FuncGraph, readable: Collection[tuple[int, int]]) -> None:
        self.tensors: list[DumpedTensor] = []
        self.constants: list[Any] = []
        self._parameters = graph.parameters
        self._index_of_parameter = {node: index for index, node in enumerate(graph.parameters)}
        self._readable = readable

    def add_inputs(self, name, node):
        for slot, (source, source_slot) in enumerate(node.uses):
            if isinstance(source, CNode):
                if (source.id, source_slot) in self._readable:
                    self._add_tensor(
                        node.op, name, "input", slot, source.types[source_slot], (NODE, source.id, source_slot)
                    )
            elif isinstance(source, ParameterNode):
                if source in self._index_of_parameter:
                    index = self._index_of_parameter[source]
                    self._add_tensor(node.op, name, "input", slot, source.types[0], (INPUT, index))
            elif hasattr(array := getattr(source, "value", None), "dtype"):
                kind = TensorType(dtype_name(array.dtype), tuple(array.shape), array.dtype.itemsize)
                self._add_tensor(node.op, name, "input", slot, kind, (CONSTANT, len(self.constants)))
                self.constants.append(array)

    def add_outputs(self, name, node):
        for slot, kind in enumerate(node.types):
            if (node.id, slot) in self._readable:
                self._add_tensor(node.op, name, "output", slot, kind, (NODE, node.id, slot))

    def add_parameters(self, program):
        """Add Parameters and arguments. Parameters have their values at the end of the step, as in MindSpore 2.7.1."""
        written = {parameter.name: program.n_results + i for i, parameter in enumerate(program.written)}
        for index, node in enumerate(self._parameters):
            is_written = node.is_weight and node.name in written
            value = (OUTPUT, written[node.name]) if is_written else (INPUT, index)
            self._add_tensor("Parameter", node.name, "output", 0, node.types[0], value)

    def _add_tensor(self, op, name, io, slot, kind, value):
        if kind.dtype != "Key":
            self.tensors.append(DumpedTensor(op, name, io, slot, kind, value))
