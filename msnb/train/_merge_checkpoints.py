"""Merging the checkpoints of several devices: slices are joined into Parameters by the layouts in strategy files."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import context
from msnb._util.placeholders import not_yet
from msnb.core.errors.messages import describe
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.formats import strategies
from msnb.parallel._tensor import join_slices
from msnb.train._load_checkpoint import load_checkpoint
from msnb.train._load_into_net import load_param_into_net

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell


def build_searched_strategy(strategy_filename: str) -> dict[str, strategies.ParallelLayouts]:
    """Read the layouts of the Parameters of a training from its strategy file.

    Args:
        strategy_filename (str): The file that ``set_auto_parallel_context(strategy_ckpt_save_file=...)`` named.

    Returns:
        dict, for the name of each Parameter its `dev_matrix`, `tensor_map`, `param_split_shape` and `field`.

    Raises:
        TypeError: If `strategy_filename` is not a str.
        ValueError: If there is no such file, or it has no Parameters in it.
    """
    if not isinstance(strategy_filename, str):
        raise TypeError(f"'strategy_filename' should be a str, but got {describe(strategy_filename)}.")
    if not os.path.isfile(strategy_filename):
        raise ValueError(f"There is no strategy file {strategy_filename!r}.")
    _, layouts = strategies.read(strategy_filename)
    if not layouts:
        raise ValueError(f"The strategy file {strategy_filename!r} says nothing of Parameters.")
    return layouts


def merge_sliced_parameter(sliced_parameters: list[Parameter], strategy: dict[str, Any] | None = None) -> Parameter:
    """Join the slices of a Parameter.

    Args:
        sliced_parameters (list[Parameter]): The slices in the order of the devices.
        strategy (dict): The result of `build_searched_strategy`; it determines which devices have the same slice.
            Default: None, the slices are joined along their first axis.

    Returns:
        Parameter, unsharded.

    Raises:
        TypeError: If `sliced_parameters` is not a list of Parameters, or `strategy` is not a dict.
        ValueError: If there are none, they do not belong together, or they do not fit the strategy.
        KeyError: If the strategy does not have the Parameter.

    Examples:
        >>> slices = [Parameter(Tensor([i, i + 1]), name="w") for i in (0, 2)]
        >>> print(mindspore.merge_sliced_parameter(slices).asnumpy())
        [0 1 2 3]
    """
    if not isinstance(sliced_parameters, list) or not all(isinstance(p, Parameter) for p in sliced_parameters):
        raise TypeError(f"'sliced_parameters' should be a list of Parameters, but got {describe(sliced_parameters)}.")
    if not sliced_parameters:
        raise ValueError("'sliced_parameters' should have a Parameter for each device, but is empty.")
    if strategy is not None and not isinstance(strategy, dict):
        raise TypeError(f"'strategy' should be a dict or None, but got {describe(strategy)}.")
    first = sliced_parameters[0]
    other = next((p for p in sliced_parameters if p.name != first.name or p.shape[1:] != first.shape[1:]), None)
    if other is not None:
        raise ValueError(
            f"Slices of one Parameter have one name, and one shape behind the first axis, but got {first.name} of "
            f"{first.shape} and {other.name} of {other.shape}."
        )
    slices = [p.asnumpy() for p in sliced_parameters]
    if not strategy:
        value = np.concatenate(slices)
    elif first.name not in strategy:
        raise KeyError(f"The strategy does not have the Parameter {first.name!r}.")
    else:
        value = _join_slices(first.name, slices, strategy[first.name])
    return Parameter(Tensor(value), first.name, first.requires_grad, first.layerwise_parallel)


def _join_slices(name, slices, layout):
    try:
        matrix, tensor_map = layout.dev_matrix[0].dim, layout.tensor_map[0].dim
        rows, field = layout.param_split_shape[0].dim, layout.field
    except (AttributeError, IndexError):
        raise ValueError(f"'{name}' has the layout {layout!r}, which build_searched_strategy does not give.") from None
    if field:
        raise not_yet(f"'{name}' with slices of fields", "train it without them")
    if len(slices) != np.prod(matrix, dtype=int):
        raise ValueError(f"'{name}' lay on {np.prod(matrix, dtype=int)} devices, but there are {len(slices)} slices.")
    if not rows and any(part.shape != slices[0].shape for part in slices):
        raise ValueError(f"The slices of '{name}' should have one shape: it was cut evenly.")
    try:
        value, row_counts = join_slices(slices, list(matrix), list(tensor_map))
    except (ValueError, IndexError) as error:
        raise ValueError(f"The slices of '{name}' do not fit their layout {matrix}, {tensor_map}: {error}.") from None
    if rows and row_counts != list(rows):
        raise ValueError(f"The slices of '{name}' have {row_counts} rows, but the strategy file says {list(rows)}.")
    return value


def load_distributed_checkpoint(
    network: "Cell", checkpoint_filenames: list[str], predict_strategy: dict[str, Any] | None = None
) -> None:
    """Load the checkpoints of all devices of a training into a network with unsharded Parameters.

    ``set_auto_parallel_context(strategy_ckpt_load_file=...)`` names the strategy file of the training. Parameters that
    it does not list were replicated, and are read from the first file.

    Args:
        network (Cell): The network.
        checkpoint_filenames (list[str]): The files in the order of the devices.
        predict_strategy (dict): Layouts of the Parameters for prediction, such as `Model.infer_predict_layout` returns.
            They are checked; Parameters are loaded unsharded in any case, and a program shards them. Default: None.

    Raises:
        TypeError: If the arguments have other types.
        ValueError: If a file is missing, the number of files is not the number of devices of the training, or slices do
            not fit.
    """
    if not hasattr(network, "parameters_and_names"):
        raise TypeError(f"'network' should be a Cell, but got {describe(network)}.")
    for filename in checkpoint_filenames:
        if not isinstance(filename, str) or not filename.endswith(".ckpt") or not os.path.isfile(filename):
            raise ValueError(f"'checkpoint_filenames' should name .ckpt files that are there, but has {filename!r}.")
    _check_layouts(predict_strategy)
    layouts = build_searched_strategy(context.get_auto_parallel_context("strategy_ckpt_load_file"))
    checkpoints = [load_checkpoint(filename) for filename in checkpoint_filenames]
    parameters = {}
    for _, param in network.parameters_and_names():
        if param.name in layouts:
            slices = [entries[param.name] for entries in checkpoints if param.name in entries]
            parameters[param.name] = merge_sliced_parameter(slices, layouts)
        elif checkpoints and param.name in checkpoints[0]:
            parameters[param.name] = checkpoints[0][param.name]
    load_param_into_net(network, parameters)


def _check_layouts(layouts):
    if layouts is None:
        return
    if not isinstance(layouts, dict):
        raise TypeError(f"'predict_strategy' should be a dict or None, but got {describe(layouts)}.")
    for name, layout in layouts.items():
        lists = layout[:3] if isinstance(layout, (list, tuple)) else ()
        fits = len(lists) == 3 and all(isinstance(x, list) and all(type(n) is int for n in x) for x in lists)
        if not isinstance(name, str) or not fits or len(layout) < 4 or layout[3] != 0:
            raise ValueError(
                f"'predict_strategy' should have for each name (device matrix, tensor map, shape of a slice, 0), but "
                f"has {layout!r} for {name!r}."
            )
