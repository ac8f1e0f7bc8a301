"""Conversion of a network after quantisation-aware training to a network with integer arithmetic.

Every quantised layer becomes a block that multiplies integers of 8 bits. The range of its weight comes from the
observer in the layer. The range of its input comes from the nearest observer before the layer in the network's graph.
"""

import copy
from collections import deque
from typing import Annotated, Any

import numpy as np

from msnb import ir, nn
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Float, Instance, PositiveFloat, checked
from msnb.compression.quant import quant_utils
from msnb.compression.quant.qat import _AddFakeQuantAfterSubCell, _AddFakeQuantInput
from msnb.core.tensor.tensor import Tensor
from msnb.nn.layer import quant
from msnb.ops import operations as P

__all__ = ["ExportToQuantInferNetwork", "ExportManualQuantNetwork"]

INPUT = "input"  # stands for the observer's name if a layer's input is the network's input
WITH_NORM = (quant.Conv2dBnFoldQuant, quant.Conv2dBnFoldQuantOneConv)
_MERGEABLE_ACTIVATIONS = (nn.ReLU, nn.ReLU6)
CORES = (*WITH_NORM, quant.Conv2dBnWithoutFoldQuant, quant.Conv2dQuant, quant.DenseQuant)


class ExportToQuantInferNetwork:
    """Converts a network after quantisation-aware training to one that computes with integers. The result is a Cell
    that runs; `export` writes it to a file.

    Args:
        network (Cell): The trained network, which is not modified.
        mean (Union[int, float]): Zero point of the input data, if the network has no observer for it.
        std_dev (Union[int, float]): Reciprocal of the scale of the input data, if the network has no observer for it.
        inputs (Tensor): Inputs of the network, of which only the shapes count.
        is_mindir (bool): Keep float computation and add the ranges to the operators. Default: False.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If the input of a layer comes from neither an observer nor the data, or `std_dev` is not positive.

    Examples:
        >>> from mindspore.compression.export.quant_export import ExportToQuantInferNetwork
        >>> from mindspore.compression.quant import QuantizationAwareTraining
        >>> net = QuantizationAwareTraining().quantize(nn.SequentialCell([nn.DenseBnAct(3, 4, activation="relu")]))
        >>> x = Tensor(np.ones((2, 3)), mindspore.float32)
        >>> deployed = ExportToQuantInferNetwork(net, 0, 40.0, x).run()
        >>> print(deployed[0].weight.dtype, deployed(x).shape)
        Int8 (2, 4)
    """

    @checked
    def __init__(
        self,
        network: Annotated[nn.Cell, Instance(nn.Cell)],
        mean: Float,
        std_dev: PositiveFloat,
        *inputs: Tensor,
        is_mindir: Bool = False,
    ) -> None:
        self.data_type: mstype.Type = mstype.int8
        self.network: nn.Cell = copy.deepcopy(network).set_train(False)
        self.mean = mean
        self.std_dev = std_dev
        self.is_mindir = is_mindir
        self.quant_info_table: dict[str, str] = {}
        self._converted_cells: dict[nn.Cell, Any] = {}
        self._observers = {
            cell.minq.name: cell
            for _, cell in self.network.cells_and_names()
            if isinstance(cell, quant.FakeQuantWithMinMaxObserver)
        }
        self.get_inputs_table(inputs)

    def get_inputs_table(self, inputs: tuple[Tensor, ...]) -> None:
        """Find the observer of each quantised layer's input in the graph of the network.

        Args:
            inputs (tuple): Inputs of the network.
        """
        for node in ir.graph(self.network, *inputs).all_nodes():
            if node.op not in ("Conv2D", "MatMul") or len(node.inputs) < 2:
                continue
            weight = _find_observer_name(node.inputs[1])
            if weight is not None:
                self.quant_info_table[weight] = _find_preceding_observer(node.inputs[0])

    def run(self) -> nn.Cell:
        """Return the converted network."""
        network = self.network.network if isinstance(self.network, _AddFakeQuantInput) else self.network
        return self._convert_cell_once(network)

    def _convert_cell_once(self, cell):
        """Return the replacement of `cell`. A Cell that occurs several times is converted once."""
        if cell not in self._converted_cells:
            self._converted_cells[cell] = self._convert_cell(cell)
        return self._converted_cells[cell]

    def _convert_cell(self, cell):
        if isinstance(cell, CORES):
            return self._build_quantised_block(
                cell, cell.activation if isinstance(cell, quant.DenseQuant) else None, None
            )
        if isinstance(cell, (nn.Conv2dBnAct, nn.DenseBnAct)):
            core = cell.conv if isinstance(cell, nn.Conv2dBnAct) else cell.dense
            if isinstance(core, CORES) and not cell.has_bn:
                activation = cell.activation if cell.has_act else None
                return self._build_quantised_block(
                    core, _strip_observers(activation), getattr(activation, "fake_quant_act", None)
                )
        if isinstance(cell, (quant.ActQuant, _AddFakeQuantAfterSubCell)):
            origin = _strip_observers(cell)
            if isinstance(origin, nn.Cell):
                return origin
            if self.is_mindir:
                _add_operator_attributes(origin, _make_output_range_attributes(cell.fake_quant_act))
            return _OperatorCell(origin)
        if isinstance(cell, quant.FakeQuantWithMinMaxObserver):
            return nn.Identity()
        previous = None
        for name, inner in list(cell._cells.items()):
            if inner is None:
                continue
            converted = self._convert_cell_once(inner)
            if isinstance(inner, quant.FakeQuantWithMinMaxObserver) and isinstance(previous, quant.QuantMindirBlock):
                _add_operator_attributes(previous.core_op, _make_output_range_attributes(inner))
            cell.insert_child_to_cell(name, converted)
            previous = converted
        if isinstance(cell, (nn.SequentialCell, nn.CellList)):
            cell.cell_list = list(cell._cells.values())
        return cell

    def _build_quantised_block(self, core, activation, output):
        """Return the block that replaces a layer. `output` is the observer of the layer's result, or None."""
        observer = core.fake_quant_weight
        scale_w, zero_w, high_w, low_w = quant_utils.scale_zp_max_min_from_fake_quant_cell(observer, np.int8)
        scale_x, zero_x, high_x, low_x = self._find_input_range(core)
        weight, factor, bias = _compute_float_parameters(core)
        is_dense = isinstance(core, quant.DenseQuant)
        operator = P.MatMul() if is_dense else core.conv
        if self.is_mindir:
            ranges = {
                **{"filter_maxq": high_w, "filter_minq": low_w, "symmetric": observer.symmetric},
                **{"num_bits": observer.num_bits, "narrow_range": observer.narrow_range},
                **{"input_maxq": high_x, "input_minq": low_x},
            }
            if low_x is None:
                ranges |= {"mean": self.mean, "std_dev": self.std_dev}
            if output is not None:
                ranges |= _make_output_range_attributes(output)
            if type(activation) in _MERGEABLE_ACTIVATIONS:  # readers may merge it into the layer
                ranges["activation_name"] = type(activation).__name__
            weight = weight * quant_utils.along_channels(factor, weight)
            floats = Tensor(weight.T if is_dense else weight, mstype.float32)
            return quant.QuantMindirBlock(
                operator, floats, _to_optional_tensor(bias, mstype.float32), activation, ranges
            )
        steps = quant_utils.weight2int(weight, scale_w, zero_w, np.int8, observer.num_bits, observer.narrow_range)
        product = scale_x * scale_w * factor
        if bias is not None:
            bias = np.round(bias / product)
        return quant.QuantBlock(
            operator,
            Tensor(steps.T if is_dense else steps, self.data_type),
            P.Quant(1 / float(scale_x), float(zero_x)),
            P.Dequant(dtype=mstype.float32),
            # MindSpore's Dequant takes a scale as uint64, with the bits of a float32 in the lower half.
            Tensor(product.astype(np.float32).view(np.uint32).astype(np.uint64), mstype.uint64),
            _to_optional_tensor(bias, mstype.int32),
            None if isinstance(activation, nn.Identity) else activation,
            Tensor(zero_w, mstype.int32),
        )

    def _find_input_range(self, core):
        """Return (scale, zero point, upper end, lower end) of the range of a layer's input. Both ends
        are None for the network's input data."""
        name = core.fake_quant_weight.minq.name
        source = self.quant_info_table.get(name)
        if source == INPUT:
            return np.float64(1 / self.std_dev), np.float64(round(self.mean)), None, None
        if source is None:
            raise ValueError(
                f"For '{type(self).__name__}', the layer of '{name}' gets its input from no observer; put it behind an "
                f"nn.ActQuant, or quantise what is before it."
            )
        scale, zero, high, low = quant_utils.scale_zp_max_min_from_fake_quant_cell(self._observers[source], np.int8)
        return scale[0], zero[0], high, low


class _OperatorCell(nn.Cell):
    """A Cell that calls an operator whose result was rounded by an observer in the trained network."""

    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def construct(self, *data):
        return self.operator(*data)


class ExportManualQuantNetwork(ExportToQuantInferNetwork):
    """ExportToQuantInferNetwork, under r1.1's name for networks that were built by hand from quantised layers.

    Args:
        network (Cell): See `ExportToQuantInferNetwork`.
        mean (Union[int, float]): As in `ExportToQuantInferNetwork`.
        std_dev (Union[int, float]): As in `ExportToQuantInferNetwork`.
        inputs (Tensor): As in `ExportToQuantInferNetwork`.
        is_mindir (bool): As in `ExportToQuantInferNetwork`. Default: False.
    """


def _find_observer_name(node):
    """Return the name of the Parameter with the lower end of the range if the node is an observer, else None."""
    if isinstance(node, ir.CNode) and node.op.startswith("FakeQuantPer"):
        return getattr(node.inputs[1], "name", None)
    return None


def _find_preceding_observer(node):
    """Return the observer that is nearest before a node, as the name of the Parameter with the lower end of its range;
    `INPUT` if the network's input comes first; else None.

    Operators in between, such as pooling and reshaping, do not change the range.
    """
    visited, todo = [], deque([node])
    while todo:
        node = todo.popleft()
        if any(node is other for other in visited):
            continue
        visited.append(node)
        if (name := _find_observer_name(node)) is not None:
            return name
        if isinstance(node, ir.ParameterNode) and not node.is_weight:
            return INPUT
        todo.extend(getattr(node, "inputs", ()))
    return None


def _make_output_range_attributes(observer):
    """Return the range of an operator's output as attributes of the operator."""
    return {"output_maxq": observer.maxq.asnumpy(), "output_minq": observer.minq.asnumpy()}


def _add_operator_attributes(operator, attributes):
    for name, value in attributes.items():
        operator.add_prim_attr(name, value)


def _strip_observers(activation):
    """Return an activation or operator without its observers."""
    if isinstance(activation, quant.ActQuant):
        return activation.get_origin()
    return activation.subcell if isinstance(activation, _AddFakeQuantAfterSubCell) else activation


def _compute_float_parameters(core):
    """Return (weight, factor of each channel, bias or None) of a layer, as float arrays.

    Folded batch normalisation is included in the weight. Separate batch normalisation is included in the factor.
    """
    weight, no_factor = core.weight.asnumpy(), np.ones(1)
    if isinstance(core, WITH_NORM):
        weight, bias = quant_utils.fold_batchnorm(weight, core)
        return weight, no_factor, bias
    if isinstance(core, quant.Conv2dBnWithoutFoldQuant):
        factor, bias = quant_utils.normalisation_of(core, core.batchnorm)
        # The bias is divided by the factor later, so a factor of 0 is replaced by 1, and its weights by 0.
        return weight * quant_utils.along_channels(factor != 0, weight), np.where(factor == 0, 1, factor), bias
    return weight, no_factor, core.bias.asnumpy() if core.has_bias else None


def _to_optional_tensor(array, dtype):
    return None if array is None else Tensor(array, dtype)
