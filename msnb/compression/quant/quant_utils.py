"""Ranges as scales and zero points, weights as integers, and Parameters of a float network for a quantised one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.common.parameter import Parameter
from msnb.nn import Cell

__all__ = ["load_nonquant_param_into_quant_net"]

# Last parts of names, by which the Parameters of two networks are matched.
MATCHED = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_variance", "minq", "maxq")
OWN = ("quant_step",)  # an observer's own: a float network never has it


def integer_range(data_type: Any, num_bits: int, narrow_range: bool) -> tuple[int, int]:
    """The smallest and the largest integer of `num_bits` bits, with a sign for numpy.int8 and without for numpy.uint8.

    Raises:
        ValueError: If `data_type` is another.
    """
    if data_type not in (np.int8, np.uint8):
        raise ValueError(f"'data_type' should be numpy.int8 or numpy.uint8, but got {data_type!r}.")
    first = -(2 ** (num_bits - 1)) if data_type == np.int8 else 0
    return first + int(narrow_range), first + 2**num_bits - 1


def cal_quantization_params(
    input_min: np.ndarray,
    input_max: np.ndarray,
    data_type: Any,
    num_bits: int = 8,
    symmetric: bool = False,
    narrow_range: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Scale and zero point of ranges.

    Args:
        input_min (numpy.ndarray): The lower ends, (C,) or (1,).
        input_max (numpy.ndarray): The upper ends.
        data_type (numpy type): numpy.int8 or numpy.uint8.
        num_bits (int): The number of bits. Default: 8.
        symmetric (bool): Whether 0 is the middle of the range. Default: False.
        narrow_range (bool): Whether the smallest integer is left out. Default: False.

    Returns:
        Tuple of two arrays of the shape of `input_min`: what a step of 1 stands for, and the integer that stands for 0.
        Where the range has no width, these are 1 and 0.

    Raises:
        ValueError: If the ends differ in shape or have more than one axis, or `data_type` is another.
    """
    low, high = np.minimum(0.0, input_min), np.maximum(0.0, input_max)
    if low.shape != high.shape or low.ndim > 1:
        raise ValueError(
            f"'input_min' and 'input_max' should have one shape of at most one axis, but got {low.shape} and "
            f"{high.shape}."
        )
    first, last = integer_range(data_type, num_bits, narrow_range)
    if symmetric:
        high = np.maximum(-low, high)
        low = -high
    wide, levels = high > low, last - first
    width = np.where(wide, high - low, 1.0)
    zero = np.floor(np.clip(first - low / width * levels, first, last) + 0.5)
    return np.where(wide, width / levels, 1.0), np.where(wide, zero, 0.0)


def weight2int(
    data: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray,
    data_type: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
) -> np.ndarray:
    """Weights as integers: data / scale + zero_point, rounded as the simulation does, within the range of the type.

    Args:
        data (numpy.ndarray): The weights, with the channels along axis 0; or along axis 1, if their number fits there.
        scale (numpy.ndarray): What a step stands for, (C,) or (1,).
        zero_point (numpy.ndarray): The integer that stands for 0.
        data_type (numpy type): numpy.int8 or numpy.uint8.
        num_bits (int): The number of bits. Default: 8.
        narrow_range (bool): Whether the smallest integer is left out. Default: False.

    Returns:
        numpy.ndarray of the shape of `data`: whole numbers, as floats.

    Raises:
        ValueError: If `scale` and `zero_point` differ in shape or fit on no axis, or `data_type` is another.
    """
    if scale.shape != zero_point.shape:
        raise ValueError(
            f"'scale' and 'zero_point' should have one shape, but got {scale.shape} and {zero_point.shape}."
        )
    scale, zero_point = along_channels(scale, data), along_channels(zero_point, data)
    first, last = integer_range(data_type, num_bits, narrow_range)
    # The ends of a symmetric range are halves, which a division leaves next to them; the simulation rounds them up.
    return np.clip(np.floor(np.round(data / scale, 6) + zero_point + 0.5), first, last)


def along_channels(vector: np.ndarray, data: np.ndarray) -> np.ndarray:
    """One value a channel, or one for all, as an array that broadcasts against `data`.

    Raises:
        ValueError: If neither axis 0 nor axis 1 of `data` has as many channels.
    """
    if vector.size == 1:
        return vector.reshape((1,) * data.ndim)
    for axis in range(min(2, data.ndim)):
        if data.shape[axis] == vector.size:
            return vector.reshape([-1 if i == axis else 1 for i in range(data.ndim)])
    raise ValueError(f"{vector.size} channels fit on neither axis 0 nor axis 1 of shape {data.shape}.")


def scale_zp_max_min_from_fake_quant_cell(
    cell: Cell, data_type: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scale, zero point, upper and lower ends of the range of an observer.

    Args:
        cell (FakeQuantWithMinMaxObserver): The observer.
        data_type (numpy type): numpy.int8 or numpy.uint8.
    """
    low, high = cell.minq.asnumpy(), cell.maxq.asnumpy()
    scale, zero = cal_quantization_params(low, high, data_type, cell.num_bits, cell.symmetric, cell.narrow_range)
    return scale, zero, high, low


def fold_batchnorm(weight: np.ndarray, cell_quant: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of the one convolution that a convolution and its normalisation come down to.

    Args:
        weight (numpy.ndarray): The weight of the convolution.
        cell_quant (Cell): Conv2dBnFoldQuant or Conv2dBnFoldQuantOneConv, whose statistics and bias are taken.
    """
    return _folded(weight, cell_quant, cell_quant)


def without_fold_batchnorm(weight: np.ndarray, cell_quant: Cell) -> tuple[np.ndarray, np.ndarray]:
    """`fold_batchnorm` for a Conv2dBnWithoutFoldQuant, whose normalisation is a layer of its own.

    Args:
        weight (numpy.ndarray): The weight of the convolution.
        cell_quant (Cell): The layer.
    """
    return _folded(weight, cell_quant, cell_quant.batchnorm)


def _folded(weight, layer, norm):
    factor, bias = normalisation_of(layer, norm)
    return weight * along_channels(factor, weight), bias


def normalisation_of(layer: Cell, norm: Cell) -> tuple[np.ndarray, np.ndarray]:
    """What running normalisation multiplies the image of a convolution without bias with, and what it adds to it.

    Args:
        layer (Cell): The convolution, whose bias is taken into account.
        norm (Cell): What has the Parameters of the normalisation.
    """
    factor = norm.gamma.asnumpy() / np.sqrt(norm.moving_variance.asnumpy() + norm.eps)
    mean = norm.moving_mean.asnumpy()
    if layer.has_bias:
        mean = mean - layer.bias.asnumpy()
    return factor, norm.beta.asnumpy() - factor * mean


def load_nonquant_param_into_quant_net(
    quant_model: Cell, params_dict: Mapping[str, Parameter], quant_new_params: list[str] | None = None
) -> None:
    """Load the Parameters of a float network into its quantised form.

    They are matched by the last part of their names, in the order in which they come: the first weight is the first
    weight of the other, whatever cells are around it.

    Args:
        quant_model (Cell): The quantised network.
        params_dict (dict): Parameters of the float network by name, as `load_checkpoint` gives them.
        quant_new_params (list): Last parts of names that only the quantised network has. Default: None.

    Raises:
        TypeError: If `quant_new_params` is neither None nor a list.
        ValueError: If the network has a Parameter of a kind that is in neither, or one of another shape.

    Examples:
        >>> from mindspore.compression.quant import load_nonquant_param_into_quant_net
        >>> trained, quantised = nn.Dense(3, 2, weight_init="ones"), nn.DenseQuant(3, 2)
        >>> load_nonquant_param_into_quant_net(quantised, trained.parameters_dict())
        >>> print(quantised.weight.asnumpy()[0])
        [1. 1. 1.]
    """
    if quant_new_params is not None and not isinstance(quant_new_params, list):
        raise TypeError(
            f"For 'load_nonquant_param_into_quant_net', 'quant_new_params' should be a list or None, but got "
            f"{quant_new_params!r}."
        )
    given = {key: iter([item for item in params_dict.items() if _last(item[0]) == key]) for key in MATCHED}
    for name, parameter in quant_model.parameters_and_names():
        key = _last(name)
        if key not in given:
            if key not in (*OWN, *(quant_new_params or ())):
                raise ValueError(
                    f"For 'load_nonquant_param_into_quant_net', the float network has nothing for '{name}'; name "
                    f"'{key}' in 'quant_new_params' if it is new."
                )
            continue
        source, value = next(given[key], (None, None))
        if source is None:  # the ranges of observers, usually: they stay as they are
            continue
        if value.shape != parameter.shape:
            raise ValueError(
                f"For 'load_nonquant_param_into_quant_net', '{source}' has shape {value.shape}, but '{name}' "
                f"{parameter.shape}: the two networks have different layers, or in another order."
            )
        parameter.set_data(value)


def _last(name):
    return name.rpartition(".")[2]
