"""`OnnxCell`: a GraphCell of an ONNX model, with a graph for each set of input shapes."""

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.tensor.tensor import Tensor
from msnb.ir.anf import FuncGraph, TensorType
from msnb.nn.graph_cell import GraphCell

from .values import NeedsValue, type_of

_MAX_REMEMBERED = 64  # elements of an input whose value selects a graph; for larger inputs each call builds a graph

Build = Callable[[Mapping[str, TensorType], Mapping[str, np.ndarray]], FuncGraph]


class OnnxCell(GraphCell):
    """A Cell that runs an ONNX model; `msnb.load_onnx` returns it.

    Args:
        graph (FuncGraph): The graph for the shapes it was loaded with.
        build (Callable): Builds the graph for inputs of other types, and for values of inputs that shapes depend on.
        kinds (dict): {name: TensorType} of the model's inputs.
        metadata (dict): Texts in the file by name, such as its labels. Default: {}.
        shape_inputs (Iterable): Names of inputs whose values decide on shapes. Default: ().

    Attributes:
        metadata (dict): Texts in the file by name.

    Inputs:
        The inputs of the model, in its order.

    Outputs:
        The outputs of the model: a Tensor, or a tuple of them.

    Raises:
        ValueError: If an input has another type or number of dimensions than the model declares.
    """

    def __init__(
        self,
        graph: FuncGraph,
        build: Build,
        kinds: Mapping[str, TensorType],
        metadata: Mapping[str, str] = MappingProxyType({}),
        shape_inputs: Iterable[str] = (),
    ) -> None:
        super().__init__(graph)
        self.metadata = dict(metadata)
        self._build = build
        self._kinds = dict(kinds)
        self._shape_inputs = set(shape_inputs)
        self._graphs = {} if self._shape_inputs else {self._get_input_types_key(graph): graph}

    def construct(self, *inputs: Any) -> Any:
        self._select_graph(inputs)
        return super().construct(*inputs)

    def _select_graph(self, inputs):
        """Set `graph` to the graph for inputs of these shapes and types."""
        names = list(self._kinds)
        if len(inputs) != len(names):
            return  # GraphCell raises the error
        kinds = {name: type_of(x.shape, x._array.dtype) for name, x in zip(names, inputs, strict=True)}
        for name, kind in kinds.items():
            declared = self._kinds[name]
            if kind.dtype != declared.dtype or len(kind.shape) != len(declared.shape):
                raise ValueError(
                    f"The input '{name}' of the model should be a Tensor of {declared.dtype} with "
                    f"{len(declared.shape)} dimensions, but got {kind}."
                )
        samples = {}
        while True:
            values = tuple((name, samples[name].tobytes()) for name in sorted(self._shape_inputs & samples.keys()))
            key = (tuple(kinds.values()), values)
            try:
                if self._shape_inputs <= samples.keys():
                    known = ChainMap(samples, _Values(self._params)) if samples else samples
                    self.graph = self._graphs.get(key) or self._build(kinds, known)
                    if all(samples[name].size <= _MAX_REMEMBERED for name in self._shape_inputs):
                        self._graphs[key] = self.graph
                    return
            except NeedsValue as error:
                self._shape_inputs.add(error.name)
            for name, x in zip(names, inputs, strict=True):
                if name in self._shape_inputs:
                    samples[name] = _get_concrete_value(name, x)

    def _get_input_types_key(self, graph):
        return tuple(node.types[0] for node in graph.parameters if not node.is_weight), ()


def _get_concrete_value(name, x):
    if is_tracer(x._array):
        raise DataDependentShape(
            "load_onnx", "the shape of a value of the model", f"make its input '{name}' an initializer of the model"
        )
    return np.asarray(x._array) if isinstance(x, Tensor) else np.asarray(x)


class _Values(Mapping[str, np.ndarray]):
    """The values of Parameters by name, outside a trace."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters

    def __getitem__(self, name: str) -> np.ndarray:
        parameter = self._parameters[name]
        if is_tracer(parameter._array):
            raise KeyError(name)
        return parameter.asnumpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)
