"""Variants of a network to compare with it: in another mode, in another precision, on another device."""

import copy
import dataclasses
from typing import Any, Self

import jax
import numpy as np

from msnb import context
from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell

_MODES = {"GRAPH": context.GRAPH_MODE, "PYNATIVE": context.PYNATIVE_MODE}
_DTYPES = {"float16": mstype.float16, "bfloat16": mstype.bfloat16, "float32": mstype.float32, "float64": mstype.float64}


@dataclasses.dataclass(frozen=True)
class Variant:
    """A network with the mode, precision and device in which it runs.

    Attributes:
        net (Union[Cell, Callable]): the network.
        mode (str): ``"GRAPH"`` or ``"PYNATIVE"``. Default: "GRAPH".
        dtype (str): precision of Parameters and inputs; "" to leave it unchanged. Default: "".
        device (jax.Device): the device. Default: None, the default device.
    """

    net: Any
    mode: str = "GRAPH"
    dtype: str = ""
    device: Any = None

    @classmethod
    def of(cls, net: Any) -> Self:
        """Return a network as a Variant."""
        return net if isinstance(net, cls) else cls(net)

    def network(self) -> Any:
        """Return the network in this precision: itself, or a copy whose Parameters are cast."""
        if not self.dtype:
            return self.net
        if not isinstance(self.net, Cell):
            return self.net  # a function cannot be copied with its Parameters; only its inputs are cast
        net = copy.deepcopy(self.net)
        for parameter in net.get_parameters():
            if np.issubdtype(_to_numpy_dtype(parameter.dtype), np.floating) or parameter.dtype == mstype.bfloat16:
                parameter.set_dtype(_DTYPES[self.dtype])
        return net

    def cast_inputs(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs in this precision. Tensors without a float dtype are unchanged."""
        if not self.dtype:
            return inputs
        leaves, rebuild = flatten(inputs)
        cast = [leaf.astype(_DTYPES[self.dtype]) if _is_float_tensor(leaf) else leaf for leaf in leaves]
        return rebuild(cast)

    def describe(self) -> str:
        """Return the variant in words; "" for an unchanged network."""
        words = [self.mode] if self.mode != "GRAPH" else []
        words += [self.dtype] if self.dtype else []
        words += [f"on {self.device}"] if self.device is not None else []
        return ", ".join(words)


def in_mode(mode: str | int, net: Any) -> Variant:
    """Return a network to be run in one mode, for `msnb.diff` with ``values=True``.

    Args:
        mode (Union[str, int]): ``"GRAPH"`` or ``"PYNATIVE"``, or the constant of the context.
        net (Union[Cell, Callable]): the network.

    Raises:
        ValueError: If there is no such mode.

    Examples:
        >>> msnb.diff(net, msnb.in_mode("PYNATIVE", net), x, values=True).first is None
        True
    """
    names = {value: name for name, value in _MODES.items()}
    name = mode.upper().removesuffix("_MODE") if isinstance(mode, str) else names.get(mode)
    if name not in _MODES:
        raise ValueError(f"For 'in_mode', 'mode' should be 'GRAPH' or 'PYNATIVE', but got {mode!r}.")
    return dataclasses.replace(Variant.of(net), mode=name)


def in_dtype(dtype: Any, net: Any) -> Variant:
    """Return a network whose Parameters and inputs are cast, for `msnb.diff` with ``values=True``.

    The network itself is unchanged: a copy of the Cell is cast.

    Args:
        dtype (Union[str, mindspore.dtype]): ``"float16"``, ``"bfloat16"``, ``"float32"`` or ``"float64"``.
        net (Union[Cell, Callable]): the network. The Parameters that a function uses are not cast.

    Raises:
        ValueError: If `dtype` is another type.

    Examples:
        >>> msnb.diff(net, msnb.in_dtype("float16", net), x, values=True).first is None
        True
    """
    name = str(dtype).lower().rpartition(".")[2]
    if name not in _DTYPES:
        raise ValueError(f"For 'in_dtype', 'dtype' should be one of {', '.join(_DTYPES)}, but got {dtype!r}.")
    return dataclasses.replace(Variant.of(net), dtype=name)


def on_device(device: str, net: Any) -> Variant:
    """Return a network to be run on a device, for `msnb.diff` with ``values=True``.

    Args:
        device (str): ``"CPU"``, ``"GPU"`` or ``"TPU"``, and optionally a number: ``"GPU:1"``.
        net (Union[Cell, Callable]): the network.

    Raises:
        ValueError: If there is no such device.

    Examples:
        >>> msnb.diff(net, msnb.on_device("GPU", net), x, values=True)  # doctest: +SKIP
    """
    platform, _, number = str(device).lower().partition(":")
    try:
        devices = jax.devices(platform)
    except RuntimeError:
        devices = []
    if not number.isdigit() and number or int(number or 0) >= len(devices):
        present = sorted({f"{d.platform.upper()}:{d.id}" for name in _list_platforms() for d in jax.devices(name)})
        raise ValueError(f"For 'on_device', there is no device {device!r}. This process has {', '.join(present)}.")
    return dataclasses.replace(Variant.of(net), device=devices[int(number or 0)])


def _list_platforms():
    names = []
    for name in ("cpu", "gpu", "tpu"):
        try:
            if jax.devices(name):
                names.append(name)
        except RuntimeError:
            continue
    return names


def _is_float_tensor(leaf):
    return isinstance(leaf, Tensor) and (
        leaf.dtype == mstype.bfloat16 or np.issubdtype(_to_numpy_dtype(leaf.dtype), np.floating)
    )


def _to_numpy_dtype(dtype):
    return mstype.dtype_to_nptype(dtype)


def check_network(net: Any, name: str) -> None:
    """Raise a TypeError if `net` can't be called."""
    if not callable(net):
        raise TypeError(
            f"For 'diff', '{name}' should be a Cell, a function, a file or a (timeline, step), but got {describe(net)}."
        )
