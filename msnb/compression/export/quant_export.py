"""The network of integers that a trained one leads to.

Every quantised layer becomes a block that multiplies integers of 8 bits. Its weight's range is the layer's own; that of
its input belongs to the observer before it, which the graph of the network tells.
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
from msnb.core.tensor import Tensor
from msnb.nn.layer import quant
from msnb.ops import operations as P

__all__ = ["ExportToQuantInferNetwork", "ExportManualQuantNetwork"]

INPUT = "input"  # instead of an observer: the data itself
WITH_NORM = (quant.Conv2dBnFoldQuant, quant.Conv2dBnFoldQuantOneConv)
_ONCE_IS_ENOUGH = (nn.ReLU, nn.ReLU6)
CORES = (*WITH_NORM, quant.Conv2dBnWithoutFoldQuant, quant.Conv2dQuant, quant.DenseQuant)


class ExportToQuantInferNetwork:
    """
    Makes the network that computes with integers of one that was trained to be quantised. What writes it to a file is
    `export`; here it is a Cell that runs.

    Args:
        network (Cell): The trained network; it stays as it is.
        mean (Union[int, float]): The integer that 0 is in the data, where no observer watches them.
        std_dev (Union[int, float]): By how many integers 1 differs from 0 in the data, where no observer watches them.
        inputs (Tensor): Inputs of the network, for their shapes.
        is_mindir (bool): Whether the network computes with floats, and its operators know the ranges. Default: False.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If the input of a layer comes from neither an observer nor the data, or `std_dev` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
        self._made: dict[nn.Cell, Any] = {}
        self._observers = {
            cell.minq.name: cell
            for _, cell in self.network.cells_and_names()
            if isinstance(cell, quant.FakeQuantWithMinMaxObserver)
        }
        self.get_inputs_table(inputs)

    def get_inputs_table(self, inputs: tuple[Tensor, ...]) -> None:
        """Find what each quantised layer gets, in the graph of the network.

        Args:
            inputs (tuple): Inputs of the network.
        """
        for node in ir.graph(self.network, *inputs).all_nodes():
            if node.op not in ("Conv2D", "MatMul") or len(node.inputs) < 2:
                continue
            weight = _range_of(node.inputs[1])
            if weight is not None:
                self.quant_info_table[weight] = _source(node.inputs[0])

    def run(self) -> nn.Cell:
        """The converted network."""
        network = self.network.network if isinstance(self.network, _AddFakeQuantInput) else self.network
        return self._converted(network)

    def _converted(self, cell):
        """What stands for `cell`, wherever it is used."""
        if cell not in self._made:
            self._made[cell] = self._convert(cell)
        return self._made[cell]

    def _convert(self, cell):
        if isinstance(cell, CORES):
            return self._block(cell, cell.activation if isinstance(cell, quant.DenseQuant) else None, None)
        if isinstance(cell, (nn.Conv2dBnAct, nn.DenseBnAct)):
            core = cell.conv if isinstance(cell, nn.Conv2dBnAct) else cell.dense
            if isinstance(core, CORES) and not cell.has_bn:
                activation = cell.activation if cell.has_act else None
                return self._block(core, _origin(activation), getattr(activation, "fake_quant_act", None))
        if isinstance(cell, (quant.ActQuant, _AddFakeQuantAfterSubCell)):
            origin = _origin(cell)
            if isinstance(origin, nn.Cell):
                return origin
            if self.is_mindir:
                _give(origin, _ends(cell.fake_quant_act))
            return _Operator(origin)
        if isinstance(cell, quant.FakeQuantWithMinMaxObserver):
            return nn.Identity()
        before = None
        for name, inner in list(cell._cells.items()):
            if inner is None:
                continue
            made = self._converted(inner)
            if isinstance(inner, quant.FakeQuantWithMinMaxObserver) and isinstance(before, quant.QuantMindirBlock):
                _give(before.core_op, _ends(inner))
            cell.insert_child_to_cell(name, made)
            before = made
        if isinstance(cell, (nn.SequentialCell, nn.CellList)):
            cell.cell_list = list(cell._cells.values())
        return cell

    def _block(self, core, activation, output):
        """The block of a layer, with the observer of what comes out if there is one."""
        observer = core.fake_quant_weight
        scale_w, zero_w, high_w, low_w = quant_utils.scale_zp_max_min_from_fake_quant_cell(observer, np.int8)
        scale_x, zero_x, high_x, low_x = self._input_of(core)
        weight, factor, bias = _floats(core)
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
                ranges |= _ends(output)
            if type(activation) in _ONCE_IS_ENOUGH:  # who reads the file may put it behind the layer, where it is
                ranges["activation_name"] = type(activation).__name__
            weight = weight * quant_utils.along_channels(factor, weight)
            floats = Tensor(weight.T if is_dense else weight, mstype.float32)
            return quant.QuantMindirBlock(operator, floats, _tensor(bias, mstype.float32), activation, ranges)
        steps = quant_utils.weight2int(weight, scale_w, zero_w, np.int8, observer.num_bits, observer.narrow_range)
        product = scale_x * scale_w * factor
        if bias is not None:
            bias = np.round(bias / product)
        return quant.QuantBlock(
            operator,
            Tensor(steps.T if is_dense else steps, self.data_type),
            P.Quant(1 / float(scale_x), float(zero_x)),
            P.Dequant(dtype=mstype.float32),
            # The bits of a float32 in the lower half of a uint64, as the hardware takes them.
            Tensor(product.astype(np.float32).view(np.uint32).astype(np.uint64), mstype.uint64),
            _tensor(bias, mstype.int32),
            None if isinstance(activation, nn.Identity) else activation,
            Tensor(zero_w, mstype.int32),
        )

    def _input_of(self, core):
        """(scale, zero point, upper end, lower end) of what comes in; there are no ends for the data."""
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


class _Operator(nn.Cell):
    """An operator where the trained network has it with an observer behind."""

    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def construct(self, *data):
        return self.operator(*data)


class ExportManualQuantNetwork(ExportToQuantInferNetwork):
    """
    ExportToQuantInferNetwork, under the name that r1.1 has for networks that were built of quantised layers by hand.

    Args:
        network (Cell): As there.
        mean (Union[int, float]): As there.
        std_dev (Union[int, float]): As there.
        inputs (Tensor): As there.
        is_mindir (bool): As there. Default: False.
    """


def _range_of(node):
    """The name of the lower end of the range that an observer's node rounds to; None of another node."""
    if isinstance(node, ir.CNode) and node.op.startswith("FakeQuantPer"):
        return getattr(node.inputs[1], "name", None)
    return None


def _source(node):
    """The name of the lower end of the nearest observer's range that a node's value comes from, or `INPUT`.

    What lies between moves numbers about, as pooling and reshaping do. None, if there is neither.
    """
    seen, todo = [], deque([node])
    while todo:
        node = todo.popleft()
        if any(node is other for other in seen):
            continue
        seen.append(node)
        if (name := _range_of(node)) is not None:
            return name
        if isinstance(node, ir.ParameterNode) and not node.is_weight:
            return INPUT
        todo.extend(getattr(node, "inputs", ()))
    return None


def _ends(observer):
    """The attributes of an operator that say what comes out of it."""
    return {"output_maxq": observer.maxq.asnumpy(), "output_minq": observer.minq.asnumpy()}


def _give(operator, attributes):
    for name, value in attributes.items():
        operator.add_prim_attr(name, value)


def _origin(activation):
    """The activation, or the operator, without its observers."""
    if isinstance(activation, quant.ActQuant):
        return activation.get_origin()
    return activation.subcell if isinstance(activation, _AddFakeQuantAfterSubCell) else activation


def _floats(core):
    """A layer's weight as it was quantised in training, what its channels are multiplied with afterwards, and the bias.

    Normalisation is in the weight where it was folded into it, and otherwise in the factor.
    """
    weight, one = core.weight.asnumpy(), np.ones(1)
    if isinstance(core, WITH_NORM):
        weight, bias = quant_utils.fold_batchnorm(weight, core)
        return weight, one, bias
    if isinstance(core, quant.Conv2dBnWithoutFoldQuant):
        factor, bias = quant_utils.normalisation_of(core, core.batchnorm)
        # A factor of 0 has no bias in its steps; the weight is 0 then.
        return weight * quant_utils.along_channels(factor != 0, weight), np.where(factor == 0, 1, factor), bias
    return weight, one, core.bias.asnumpy() if core.has_bias else None


def _tensor(array, dtype):
    return None if array is None else Tensor(array, dtype)
