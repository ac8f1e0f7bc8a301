"""msnb as an ONNX backend: ``onnx.backend.base.Backend``, by which ONNX tests those that run its models.

This is the one module that needs the `onnx` package.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from msnb.core.tensor import Tensor
from msnb.exchange.onnx.read import cell_of, graph_of, input_types
from msnb.exchange.onnx.read.cell import OnnxCell
from msnb.exchange.onnx.read.reader import NeedsValue
from msnb.formats import onnx

try:  # only those who test with it have it
    from onnx import ModelProto, NodeProto, helper
    from onnx.backend.base import Backend, BackendRep, namedtupledict
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("The ONNX backend needs the package onnx: pip install onnx", name=error.name) from None


class Prepared(BackendRep):
    """A model that is ready to run.

    Args:
        model (dict): The Model message.
        folder (str): Where weights beside it are; None for nowhere.
    """

    def __init__(self, model: dict[str, Any], folder: str | None = None) -> None:
        self._model = model
        self._folder = folder
        self.cell: OnnxCell | None = None

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Results for these inputs, as arrays in the model's order."""
        names = list(input_types(self._model, {}, 1))
        given = [inputs[name] for name in names] if isinstance(inputs, Mapping) else list(inputs)
        arrays = dict(zip(names, map(np.asarray, given), strict=False))
        if self.cell is None:
            self.cell = _cell_for(self._model, self._folder, arrays)
        results = self.cell(*map(Tensor, arrays.values()))
        results = results if isinstance(results, tuple) else (results,)
        outputs = [info["name"] for info in self._model["graph"].get("output", [])]
        return namedtupledict("Outputs", outputs)(*(r.asnumpy() for r in results))


def _cell_for(model, folder, arrays):
    """The Cell of a model, in a graph for these inputs."""
    shapes = {name: value.shape for name, value in arrays.items()}
    try:
        return cell_of(model, folder, shapes)
    except (NeedsValue, NotImplementedError):
        kinds = input_types(model, shapes, 1)

    def build(kinds, samples):
        return graph_of(model, folder, kinds, arrays | dict(samples))

    return OnnxCell(build(kinds, {}), build, kinds)


class MsnbBackend(Backend):
    """Runs ONNX models with msnb."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> Prepared:
        """A model that is ready to run."""
        super().prepare(model, device, **kwargs)
        return Prepared(onnx.parse(model.SerializeToString()))

    @classmethod
    def run_node(
        cls, node: NodeProto, inputs: Sequence[Any], device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[np.ndarray, ...]:
        """Results of one node."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        values = [np.asarray(value) for value in inputs]
        told = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in zip(node.input, values, strict=True)
        ]
        results = [helper.make_empty_tensor_value_info(name) for name in node.output]
        model = helper.make_model(helper.make_graph([node], "node", told, results))
        return cls.prepare(model, device).run(values)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether there is such a device."""
        return device == "CPU"


prepare = MsnbBackend.prepare
run_model = MsnbBackend.run_model
run_node = MsnbBackend.run_node
supports_device = MsnbBackend.supports_device
