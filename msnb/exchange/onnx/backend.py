"""Implementation of ``onnx.backend.base.Backend``, so that ONNX's backend tests can run models with msnb.

This is the only module that needs the `onnx` package.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.exchange.onnx.read import cell_of, graph_of, input_types
from msnb.exchange.onnx.read.cell import OnnxCell
from msnb.exchange.onnx.read.reader import NeedsValue
from msnb.formats import onnx

try:  # an optional package
    from onnx import ModelProto, NodeProto, helper
    from onnx.backend.base import Backend, BackendRep, namedtupledict
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("The ONNX backend needs the package onnx: pip install onnx", name=error.name) from None


class Prepared(BackendRep):
    """A model that is ready to run.

    Args:
        model (dict): The Model message.
        folder (str): Folder of external weights; None if there is none.
    """

    def __init__(self, model: dict[str, Any], folder: str | None = None) -> None:
        self._model = model
        self._folder = folder
        self.cell: OnnxCell | None = None

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Return the results for these inputs as arrays, in the model's order."""
        names = list(input_types(self._model, {}, 1))
        values = [inputs[name] for name in names] if isinstance(inputs, Mapping) else list(inputs)
        arrays = dict(zip(names, map(np.asarray, values), strict=False))
        if self.cell is None:
            self.cell = _build_cell(self._model, self._folder, arrays)
        results = self.cell(*map(Tensor, arrays.values()))
        results = results if isinstance(results, tuple) else (results,)
        outputs = [info["name"] for info in self._model["graph"].get("output", [])]
        return namedtupledict("Outputs", outputs)(*(r.asnumpy() for r in results))


def _build_cell(model, folder, arrays):
    """Return the Cell of a model for inputs of these shapes."""
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
        """Return a model that is ready to run."""
        super().prepare(model, device, **kwargs)
        return Prepared(onnx.parse(model.SerializeToString()))

    @classmethod
    def run_node(
        cls, node: NodeProto, inputs: Sequence[Any], device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[np.ndarray, ...]:
        """Return the results of one node."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        values = [np.asarray(value) for value in inputs]
        input_infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in zip(node.input, values, strict=True)
        ]
        output_infos = [helper.make_empty_tensor_value_info(name) for name in node.output]
        model = helper.make_model(helper.make_graph([node], "node", input_infos, output_infos))
        return cls.prepare(model, device).run(values)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return True for "CPU"."""
        return device == "CPU"


prepare = MsnbBackend.prepare
run_model = MsnbBackend.run_model
run_node = MsnbBackend.run_node
supports_device = MsnbBackend.supports_device
