"""Functions for scales and zero points of ranges, integer weights, and loading float Parameters into a quantised
network."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.core.tensor.parameter import Parameter
from msnb.nn import Cell

__all__ = ["load_nonquant_param_into_quant_net"]

# Last components of names, by which the Parameters of two networks are matched.
MATCHED = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_variance", "minq", "maxq")
OBSERVER_ONLY = ("quant_step",)  # a Parameter of observers, which a float network never has


def integer_range(data_type: Any, num_bits: int, narrow_range: bool) -> tuple[int, int]:
    """Return the smallest and the largest integer of `num_bits` bits, signed for numpy.int8 and unsigned for
    numpy.uint8.

    Raises:
        ValueError: If `data_type` is another type.
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
    """Return the scales and zero points that represent ranges of floats by integers.

    Args:
        input_min (numpy.ndarray): Lower ends of the ranges, (C,) or (1,).
        input_max (numpy.ndarray): Upper ends of the ranges.
        data_type (numpy type): numpy.int8 or numpy.uint8.
        num_bits (int): The number of bits. Default: 8.
        symmetric (bool): Use a range with 0 in the middle. Default: False.
        narrow_range (bool): Leave out the smallest integer. Default: False.

    Returns:
        Tuple of two arrays of the shape of `input_min`: the value of one step, and the integer that represents 0.
        For a range without width these are 1 and 0.

    Raises:
        ValueError: If the ends differ in shape or have more than one axis, or `data_type` is another type.
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
    has_width, levels = high > low, last - first
    width = np.where(has_width, high - low, 1.0)
    zero = np.floor(np.clip(first - low / width * levels, first, last) + 0.5)
    return np.where(has_width, width / levels, 1.0), np.where(has_width, zero, 0.0)


def weight2int(
    data: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray,
    data_type: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
) -> np.ndarray:
    """Convert weights to integers: data / scale + zero_point, rounded as in the simulation, within the range of the
    type.

    Args:
        data (numpy.ndarray): The weights. The channels are along axis 0 if its length is C, otherwise along axis 1.
        scale (numpy.ndarray): Difference of neighbouring grid points, (C,) or (1,).
        zero_point (numpy.ndarray): The integer that represents 0.
        data_type (numpy type): numpy.int8 or numpy.uint8.
        num_bits (int): The number of bits. Default: 8.
        narrow_range (bool): Leave out the smallest integer. Default: False.

    Returns:
        numpy.ndarray of the shape of `data`: integers, as floats.

    Raises:
        ValueError: If `scale` and `zero_point` differ in shape, C is the length of neither axis, or `data_type` is
            another type.
    """
    if scale.shape != zero_point.shape:
        raise ValueError(
            f"'scale' and 'zero_point' should have one shape, but got {scale.shape} and {zero_point.shape}."
        )
    scale, zero_point = along_channels(scale, data), along_channels(zero_point, data)
    first, last = integer_range(data_type, num_bits, narrow_range)
    # At the ends of a symmetric range the quotient is n + 1/2, which the simulation rounds up. The division may return
    # slightly less, so the quotient is first rounded to 6 digits.
    return np.clip(np.floor(np.round(data / scale, 6) + zero_point + 0.5), first, last)


def along_channels(vector: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Reshape a vector with one value per channel, or with a single value, to broadcast against `data`.

    Raises:
        ValueError: If `vector` has the length of neither axis 0 nor axis 1 of `data`.
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
    """Return (scale, zero point, upper end, lower end) of the range of an observer.

    Args:
        cell (FakeQuantWithMinMaxObserver): The observer.
        data_type (numpy type): numpy.int8 or numpy.uint8.
    """
    low, high = cell.minq.asnumpy(), cell.maxq.asnumpy()
    scale, zero = cal_quantization_params(low, high, data_type, cell.num_bits, cell.symmetric, cell.narrow_range)
    return scale, zero, high, low


def fold_batchnorm(weight: np.ndarray, cell_quant: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Fold batch normalisation: return weight and bias of a convolution that equals a convolution followed by its
    normalisation.

    Args:
        weight (numpy.ndarray): The weight of the convolution.
        cell_quant (Cell): Conv2dBnFoldQuant or Conv2dBnFoldQuantOneConv, whose statistics and bias are used.
    """
    return _fold_normalisation(weight, cell_quant, cell_quant)


def without_fold_batchnorm(weight: np.ndarray, cell_quant: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Fold the batch normalisation of a Conv2dBnWithoutFoldQuant, which has it as a separate layer; see
    `fold_batchnorm`.

    Args:
        weight (numpy.ndarray): The weight of the convolution.
        cell_quant (Cell): The layer.
    """
    return _fold_normalisation(weight, cell_quant, cell_quant.batchnorm)


def _fold_normalisation(weight, layer, norm):
    factor, bias = normalisation_of(layer, norm)
    return weight * along_channels(factor, weight), bias


def normalisation_of(layer: Cell, norm: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Return the factor and the offset by which a normalisation changes the result of a convolution without bias.

    Args:
        layer (Cell): The convolution, whose bias is taken into account.
        norm (Cell): The owner of the normalisation's Parameters.
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

    They are matched by the last component of their names, in order: the n-th weight of one network is the n-th weight
    of the other, for any nesting of Cells.

    Args:
        quant_model (Cell): The quantised network.
        params_dict (dict): Parameters of the float network by name, as returned by `load_checkpoint`.
        quant_new_params (list): Last components of names that only the quantised network has. Default: None.

    Raises:
        TypeError: If `quant_new_params` is neither None nor a list.
        ValueError: If two matched Parameters differ in shape, or if the last component of a name is neither one that
            this function knows nor in `quant_new_params`.

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
    remaining = {
        key: iter([item for item in params_dict.items() if _get_last_name_component(item[0]) == key]) for key in MATCHED
    }
    for name, parameter in quant_model.parameters_and_names():
        key = _get_last_name_component(name)
        if key not in remaining:
            if key not in (*OBSERVER_ONLY, *(quant_new_params or ())):
                raise ValueError(
                    f"For 'load_nonquant_param_into_quant_net', the float network has nothing for '{name}'; name "
                    f"'{key}' in 'quant_new_params' if it is new."
                )
            continue
        source, value = next(remaining[key], (None, None))
        if source is None:  # usually the range of an observer, which keeps its value
            continue
        if value.shape != parameter.shape:
            raise ValueError(
                f"For 'load_nonquant_param_into_quant_net', '{source}' has shape {value.shape}, but '{name}' "
                f"{parameter.shape}: the two networks have different layers, or in another order."
            )
        parameter.set_data(value)


def _get_last_name_component(name):
    return name.rpartition(".")[2]
