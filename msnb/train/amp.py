"""Mixed precision: `build_train_network` combines network, loss and optimizer at a level of precision."""

import collections
import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import context, log, nn
from msnb._checkparam import Rel, Validator
from msnb.common import dtype as mstype
from msnb.common.kinds import OneOf, check
from msnb.context import ParallelMode
from msnb.core.operator.api_generations import current_generation, generation_scope, replaces_in_api2
from msnb.core.operator.autocast import cast_tensor
from msnb.core.operator.primitive import Primitive
from msnb.core.state import trace_state
from msnb.nn.layer._recurrent.lstm_v2 import LSTMCell as LSTMCellOfOneStep
from msnb.nn.wrap.cell_wrapper import _VirtualDatasetCell
from msnb.ops import operations as P
from msnb.parallel._utils import _get_parallel_mode
from msnb.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from msnb.train.loss_scaler import (
    DynamicLossScaler,
    LossScaler,
    StaticLossScaler,
    all_finite,
    init_status,
)
from msnb.train.loss_scaler import _grad_scale_map as _grad_scale_map  # programs import them from here
from msnb.train.loss_scaler import _grad_unscale_map as _grad_unscale_map

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell
    from msnb.nn.optim.optimizer import Optimizer

__all__ = [
    "build_train_network",
    "auto_mixed_precision",
    "DynamicLossScaleManager",
    "FixedLossScaleManager",
    "LossScaleManager",
    "DynamicLossScaler",
    "StaticLossScaler",
    "LossScaler",
    "all_finite",
    "init_status",
    "custom_mixed_precision",
    "get_white_list",
    "get_black_list",
]

_FLOAT32 = np.dtype(np.float32)
_LEVELS = ("O0", "O1", "O2", "O3", "auto")
# MindSpore 2 computes the white list in 16 bits at level O1, and keeps the black list in float32 at level O2.
_WHITE_CELLS = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.Conv1dTranspose,
    nn.Conv2dTranspose,
    nn.Conv3dTranspose,
    nn.Dense,
    nn.LSTMCell,
    LSTMCellOfOneStep,
    nn.RNNCell,
    nn.GRUCell,
)
_WHITE_OPERATORS = (
    P.Conv2D,
    P.Conv3D,
    P.Conv2DTranspose,
    P.Conv3DTranspose,
    P.Conv2DBackpropInput,
    P.MatMul,
    P.BatchMatMul,
    P.PReLU,
    P.ReLU,
)
_BLACK_CELLS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm)
# Libraries that choose the precision by themselves import the lists under these names.
AMP_WHITE_LIST: list[type] = [*_WHITE_CELLS, *_WHITE_OPERATORS]
AMP_BLACK_LIST: list[type] = [*_BLACK_CELLS]
# Operators that MindSpore 2's strategy "auto" computes in 16 bits, and those that it keeps in float32.
AMP_AUTO_WHITE_LIST: list[type] = [
    *(P.Conv2D, P.Conv3D, P.Conv2DTranspose, P.Conv3DTranspose, P.MatMul, P.BatchMatMul, P.PReLU, P.Einsum, P.Dense)
]
AMP_AUTO_BLACK_LIST: list[type] = [
    *(P.Pow, P.ACos, P.Asin, P.Cosh, P.Erfinv, P.Exp, P.Expm1, P.Log, P.Log1p, P.Reciprocal, P.Rsqrt, P.Sinh, P.Tan),
    *(P.Softplus, P.LayerNorm, P.BatchNorm, P.KLDivLoss, P.SmoothL1Loss, P.MultilabelMarginLoss, P.SoftMarginLoss),
    *(P.TripletMarginLoss, P.MultiMarginLoss, P.BCEWithLogitsLoss, P.Pdist, P.Cdist, P.Renorm, P.ReduceProd),
    *(P.Softmax, P.LogSoftmax, P.CumProd, P.CumSum, P.NLLLoss),
]
AMP_PRIM_ARG_TABLE: dict[type, list[int]] = collections.defaultdict(list)  # operator -> inputs that it casts
_OPTIONS = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")


class OutputTo16(nn.Cell):
    """Wrap a Cell and cast its output to float16. It is used for a float32 BatchNorm in a float16 network.

    Args:
        op (Cell): The Cell.
        dtype (mindspore.dtype): Type of the output. Default: mindspore.float16.
    """

    _holds = "_op"

    def __init__(self, op: "Cell", dtype: mstype.Type = mstype.float16) -> None:
        super().__init__(auto_prefix=False)
        self._op, self._dtype = op, np.dtype(mstype.dtype_to_nptype(dtype))

    def construct(self, x: Any) -> Any:
        return cast_tensor(self._op(x), self._dtype)


class _OutputTo32(nn.Cell):
    """Wrap a float16 network and cast its output to float32."""

    _holds = "_backbone"

    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self._backbone = network

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            backbone = self.__dict__.get("_cells", {}).get("_backbone")
            if backbone is None or name.startswith("__"):
                raise
            return getattr(backbone, name)  # so that `net.dense.weight` still exists after level O1

    def construct(self, *inputs):
        return cast_tensor(self._backbone(*inputs), _FLOAT32)


class _WithLossCell(nn.WithLossCell):
    """A float16 network combined with a loss that is computed in float32."""

    def construct(self, data, label):
        out = self._backbone(data)
        return self._loss_fn(cast_tensor(out, _FLOAT32), cast_tensor(label, _FLOAT32))


_WithLossCell.__name__ = _WithLossCell.__qualname__ = "WithLossCell"  # its name in the graph


def _replace_cells(network, predicate, wrapper):
    """Replace every Cell below `network` for which `predicate(cell)` is true by `wrapper(cell)`."""
    changed = False
    for name, cell in network.name_cells().items():
        if cell is network:
            continue
        if predicate(cell):
            wrapper_cell = wrapper(cell)
            # `setattr` is not used, because it would add a prefix to the names of the Parameters again.
            network._cells[name] = wrapper_cell
            network.__dict__[name] = wrapper_cell
            wrapper_cell.__dict__["_attr_name"] = name
            changed = True
        else:
            _replace_cells(cell, predicate, wrapper)
    if changed:
        if isinstance(network, nn.SequentialCell):
            network.cell_list = tuple(network.cells())
        trace_state.epoch.bump()


def _keep_in_float32(network, kinds, dtype=mstype.float16):
    """Keep every Cell of `kinds` below `network` in float32, and cast its output to `dtype`."""
    _replace_cells(network, lambda c: isinstance(c, kinds), lambda c: OutputTo16(c.to_float(mstype.float32), dtype))


def _do_keep_batchnorm_fp32(network):
    """Keep every BatchNorm below `network` in float32; in MindSpore 2 also BatchNorm3d and LayerNorm."""
    _keep_in_float32(network, _BLACK_CELLS if current_generation() == 2 else (nn.BatchNorm2d, nn.BatchNorm1d))


def _compute_in_16_bits(network, kinds, dtype):
    """Let Cells of `network` whose class is in `kinds` compute in `dtype` and return float32. Cells with a precision
    set by the program are skipped. Returns the network."""
    plain = lambda c: type(c) in kinds and not (getattr(c, "fp16", False) or getattr(c, "fp32", False))  # noqa: E731
    _replace_cells(network, plain, lambda c: _OutputTo32(c.to_float(dtype)))
    return _OutputTo32(network.to_float(dtype)) if plain(network) else network


class _Levels(Mapping):
    """A mapping of levels to options. Each look-up creates new options, so that each network gets its own loss scale
    manager."""

    _MAKE = MappingProxyType(  # keep_batchnorm_fp32, cast_model_type, loss_scale_manager
        {
            "O0": lambda: (False, mstype.float32, None),
            "O2": lambda: (True, mstype.float16, DynamicLossScaleManager()),
            "O3": lambda: (False, mstype.float16, None),
        }
    )

    def __getitem__(self, level):
        keep, cast, manager = self._MAKE[level]()
        return {"keep_batchnorm_fp32": keep, "cast_model_type": cast, "loss_scale_manager": manager}

    def __iter__(self):
        return iter(self._MAKE)

    def __len__(self):
        return len(self._MAKE)


# Libraries that build a training step themselves import this and the next two functions.
_config_level = _Levels()


def _check_kwargs(options):
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise ValueError(
            f"For 'build_train_network', the options are {', '.join(map(repr, _OPTIONS))}, but got '{unknown[0]}'."
        )
    defaults = _config_level["O0"]
    Validator.check_type_name(
        "cast_model_type",
        (defaults | options)["cast_model_type"],
        [mstype.float16, mstype.float32],
        "build_train_network",
    )
    for name, expected in (("keep_batchnorm_fp32", bool), ("loss_scale_manager", (LossScaleManager, type(None)))):
        Validator.check_value_type(name, (defaults | options)[name], expected, "build_train_network")


def check_boost(owner: str, boost_level: str) -> None:
    """Check a `boost_level`, and log that it has no effect."""
    level = check(OneOf("O0", "O1", "O2"), boost_level, "boost_level", owner)
    log.unused(owner, "write mindspore.boost.GradientAccumulation into the step", boost_level=level != "O0")


def _add_loss_network(network, loss_fn, cast_model_type):
    """Return `network` with its loss, which is computed in float32."""
    Validator.check_value_type("loss_fn", loss_fn, nn.Cell)
    return (_WithLossCell if cast_model_type == mstype.float16 else nn.WithLossCell)(network, loss_fn)


def _resolve_auto_level():
    """Return the level for "auto": r1.1 decides by the device, MindSpore 2 by the operators."""
    if current_generation() == 2:
        _log_auto_level("build_train_network")
        return "O1"
    target = context.get_context("device_target")
    if target not in ("GPU", "Ascend"):
        raise ValueError(
            f"For 'build_train_network', level 'auto' is O2 on GPU and O3 on Ascend, but the device "
            f"target is '{target}': choose 'O0' (float32), which is the fastest there, 'O2' or 'O3'."
        )
    return "O2" if target == "GPU" else "O3"


def _log_auto_level(function):
    log.once(
        f"{function}: level 'auto' computes convolutions and dense layers in 16 bits; operators that construct calls "
        "itself stay in float32."
    )


def auto_mixed_precision(network: "Cell", amp_level: str = "O0", dtype: mstype.Type = mstype.float16) -> "Cell":
    """Return a network in mixed precision, for training functions that users write.

    Args:
        network (Cell): The network; it is changed by levels other than O0.
        amp_level (str): Precision; the output is float32. Default: "O0".

            - O0: unchanged.
            - O1: convolutions and dense layers in `dtype`. Operators that `construct` calls itself stay in float32.
            - O2: `dtype`, BatchNorm and LayerNorm in float32.
            - O3: `dtype`.
            - auto: as O1, which is logged once; MindSpore decides for operators, too.
        dtype (mindspore.dtype): mindspore.float16 or mindspore.bfloat16. Default: mindspore.float16.

    Returns:
        Cell.

    Raises:
        TypeError: If `network` is not a Cell.
        ValueError: If `amp_level` or `dtype` is not one of these.

    Examples:
        >>> net = amp.auto_mixed_precision(Net(), "O2")
    """
    Validator.check_value_type("network", network, nn.Cell)
    Validator.check_string(amp_level, _LEVELS, "amp_level", "auto_mixed_precision")
    _check_16_bit_dtype(dtype, "auto_mixed_precision")
    if amp_level == "O0":
        return network
    if amp_level == "auto":
        _log_auto_level("auto_mixed_precision")
    if amp_level in ("O1", "auto"):
        return _compute_in_16_bits(network, _WHITE_CELLS, dtype)
    network.to_float(dtype)
    if amp_level == "O2":
        _keep_in_float32(network, _BLACK_CELLS, dtype)
    return _OutputTo32(network)


def _check_16_bit_dtype(dtype, function):
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(
            f"For '{function}', 'dtype' should be mindspore.float16 or mindspore.bfloat16, but got {dtype}."
        )


def get_white_list() -> list[type]:
    """
    Return the classes that level O1 computes in 16 bits.

    Returns:
        list[type], of classes of Cells and operators; a new list, which may be changed.

    Examples:
        >>> nn.Dense in amp.get_white_list()
        True
    """
    return [*AMP_WHITE_LIST]


def get_black_list() -> list[type]:
    """
    Return the classes that level O2 keeps in float32.

    Returns:
        list[type], of classes of Cells; a new list, which may be changed.

    Examples:
        >>> nn.BatchNorm2d in amp.get_black_list()
        True
    """
    return [*AMP_BLACK_LIST]


def custom_mixed_precision(
    network: "Cell",
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: mstype.Type = mstype.float16,
) -> "Cell":
    """Return a network in mixed precision, by classes of Cells. Classes of operators have no effect, which is logged
    once.

    Args:
        network (Cell): The network; it is changed.
        white_list (list[type]): Classes that compute in `dtype`. Default: None.
        black_list (list[type]): Classes that stay in float32, while all others compute in `dtype`. Default: None.
        dtype (mindspore.dtype): mindspore.float16 or mindspore.bfloat16. Default: mindspore.float16.

    Returns:
        Cell.

    Raises:
        TypeError: If `network` is not a Cell, or a list has elements other than classes of Cells and operators.
        ValueError: If both or none of the lists is given, or `dtype` is not one of these.

    Examples:
        >>> white = amp.get_white_list()
        >>> white.remove(nn.Dense)
        >>> net = amp.custom_mixed_precision(Net(), white_list=white)
    """
    Validator.check_value_type("network", network, nn.Cell)
    _check_16_bit_dtype(dtype, "custom_mixed_precision")
    if (white_list is None) == (black_list is None):
        raise ValueError("For 'custom_mixed_precision', one of 'white_list' and 'black_list' should be given.")
    classes = white_list if white_list is not None else black_list
    for kind in classes or ():
        if not isinstance(kind, type) or not issubclass(kind, (nn.Cell, Primitive)):
            raise TypeError(f"'custom_mixed_precision' takes classes of Cells and of operators, but got {kind!r}.")
    cells = tuple(kind for kind in classes or () if issubclass(kind, nn.Cell))
    log.unused("custom_mixed_precision", "Cells alone are told apart", operators=len(cells) < len(classes or ()))
    if white_list is not None:
        return _compute_in_16_bits(network, cells, dtype)
    network.to_float(dtype)
    _keep_in_float32(network, cells, dtype)
    return _OutputTo32(network)


def _auto_mixed_precision_rewrite(network, dtype, *, white_list=None, black_list=None):
    """Return a network in mixed precision, by classes of Cells. MindSpore rewrites the source of `construct` here."""
    return custom_mixed_precision(network, white_list=white_list, black_list=black_list, dtype=dtype)


def _auto_black_list(network, black_list, dtype=mstype.float16):
    """Let a network compute in `dtype`, and Cells of the classes in `black_list` in float32."""
    network.to_float(dtype)
    _keep_in_float32(network, tuple(black_list), dtype)
    return network


def build_train_network(
    network: "Cell",
    optimizer: "Optimizer",
    loss_fn: "Cell | None" = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> "Cell":
    """Return a training step of a network in mixed precision.

    Args:
        network (Cell): The network; it is changed by levels other than O0.
        optimizer (Optimizer): Updates the Parameters.
        loss_fn (Cell): Loss of the output and the label. Default: None, the network returns its loss.
        level (str): Precision. Default: "O0".

            - O0: unchanged.
            - O1: convolutions and dense layers in float16.
            - O2: the network in float16, BatchNorm and `loss_fn` in float32, with a dynamic loss scale.
            - O3: the network in float16, `loss_fn` in float32.
            - auto: in r1.1 O2 on GPU and O3 on Ascend; in MindSpore 2 as O1, which is logged once.

        boost_level (str): "O0"; "O1" and "O2" have no effect here. Default: "O0".
        cast_model_type (mindspore.dtype): mindspore.float16 or mindspore.float32; overrides the level.
        keep_batchnorm_fp32 (bool): Whether BatchNorm stays in float32; overrides the level.
        loss_scale_manager (Union[None, LossScaleManager]): Scales the loss; overrides the level.

    Returns:
        Cell that trains one step on a batch and returns the loss. If the loss scale manager skips steps that overflow,
        it returns the loss, whether the step overflowed, and the loss scale.

    Raises:
        ValueError: If `level` or an option is unknown, or r1.1's "auto" has no level for the device.
        TypeError: If an argument is of another type.
    """
    Validator.check_value_type("network", network, nn.Cell)
    Validator.check_value_type("optimizer", optimizer, nn.Optimizer)
    Validator.check("level", level, "", list(_LEVELS), Rel.IN)
    check_boost("build_train_network", boost_level)
    _check_kwargs(kwargs)
    if level == "auto":
        level = _resolve_auto_level()
    options = {**_config_level["O0" if level == "O1" else level], **kwargs}
    if level == "O1":
        network = auto_mixed_precision(network, "O1")

    if options["cast_model_type"] == mstype.float16:
        network.to_float(mstype.float16)
        if options["keep_batchnorm_fp32"]:
            _do_keep_batchnorm_fp32(network)
    if loss_fn:
        network = _add_loss_network(network, loss_fn, options["cast_model_type"])
    if _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL):
        network = _VirtualDatasetCell(network)

    manager = options["loss_scale_manager"]
    if manager is None:
        return nn.TrainOneStepCell(network, optimizer, 1.0).set_train()
    update_cell = manager.get_update_cell()
    if update_cell is not None:
        return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update_cell).set_train()
    return nn.TrainOneStepCell(network, optimizer, manager.get_loss_scale()).set_train()


MORE_IN_FLOAT32 = "level 'O2' keeps BatchNorm3d and LayerNorm in float32, too"


@replaces_in_api2(build_train_network, MORE_IN_FLOAT32, given="level")
@functools.wraps(build_train_network)
def _build_train_network_api2(*args: Any, **kwargs: Any) -> "Cell":
    with generation_scope(2):
        return build_train_network(*args, **kwargs)
