"""Memory layout and device of a Tensor, and its bytes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Int, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor, box
from msnb.ops._check import axis_in, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator

_PLATFORMS = {"CPU": "cpu", "GPU": "gpu", "Ascend": None}


@spelling(method="stride")
def _tensor_stride(self: Tensor, dim: int | None = None) -> list[int] | int:
    """Return the strides of the row-major layout in elements, for all dimensions or for one.

    Args:
        dim (int): The dimension. Default: None, a list for all.

    Returns:
        Union[list[int], int].

    Raises:
        ValueError: If `dim` is out of range.
    """
    steps = [step // self.itemsize for step in self.strides]
    return steps if dim is None else steps[axis_in("stride", check(Int, dim, "dim", "stride"), self.ndim, "dim")]


@spelling(method="storage_offset")
def _tensor_storage_offset(self: Tensor) -> int:
    """Return 0, the offset of the elements in their memory, because no Tensor in msnb is a view of another."""
    return 0


@spelling(method="data_ptr")
def _tensor_data_ptr(self: Tensor) -> int:
    """Return the memory address of the first element.

    Raises:
        RuntimeError: If the Tensor is traced, or is on several devices.
    """
    return self._get_concrete_array("data_ptr()").unsafe_buffer_pointer()


@spelling(method="const_arg")
@property
def _tensor_const_arg(self: Tensor) -> bool:
    """Return False, because a compiled graph takes the Tensor as an input and not as a constant."""
    return False


@spelling(method="init_finished")
@property
def _tensor_init_finished(self: Tensor) -> bool:
    """Return True, because the data of a Tensor is always initialized."""
    return True


@spelling(method="init")
@property
def _tensor_init(self: Tensor) -> None:
    """Return None, because no Tensor in msnb has a pending Initializer."""
    return None


@spelling(method="is_pinned")
def _is_pinned(self: Tensor) -> bool:
    """Return False, because JAX transfers data to devices itself and msnb allocates no page-locked memory."""
    return False


@spelling(method="pin_memory")
def _tensor_pin_memory(self: Tensor) -> Tensor:
    """Return the Tensor itself: JAX transfers data to devices itself, and msnb allocates no page-locked memory."""
    log.once("Tensor.pin_memory has no effect here: JAX moves data to devices by itself.")
    return self


@spelling(method="get_bytes")
def _tensor_get_bytes(self: Tensor) -> bytes:
    """Return the elements as bytes, in row-major order.

    Raises:
        RuntimeError: If the Tensor is traced.
    """
    return self.asnumpy().tobytes()


@spelling(function="move_to", method="move_to")
def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """Copy a Tensor to another device.

    Args:
        input (Tensor): Any Tensor.
        to (str): "CPU" or "GPU". Default: "CPU".
        blocking (bool): Wait until the copy is complete. Default: True.

    Returns:
        Tensor of the same values.

    Raises:
        ValueError: If `to` is another string.
        RuntimeError: If there is no such device here.
    """
    tensor_argument("move_to", "input", input)
    if to not in _PLATFORMS:
        raise ValueError(f"For 'move_to', 'to' should be one of {list(_PLATFORMS)}, but got {describe(to)}.")
    try:
        device = jax.devices(_PLATFORMS[to] or to.lower())[0]
    except RuntimeError:
        raise RuntimeError(f"For 'move_to', there is no {to} here; JAX has {jax.devices()[0].platform}.") from None
    if is_tracer(input._array):
        return input  # no copy in a compiled program, which runs on one kind of device
    moved = box(jax.device_put(input._get_concrete_array("move_to()"), device))
    if check(Bool, blocking, "blocking", "move_to"):
        moved.data_sync()
    return moved


@host_operator()
class MoveTo(HostPrimitive):
    """Copy a Tensor to another device, as `ops.move_to` does.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **to** (str) - "CPU" or "GPU". Default: "CPU".
        - **blocking** (bool) - Wait until the copy is complete. Default: True.

    Outputs:
        Tensor of the same values.

    Raises:
        ValueError: If `to` is another string.
        RuntimeError: If there is no such device here.

    Examples:
        >>> print(ops.MoveTo()(Tensor([1, 2]), "CPU"))
        [1 2]
    """

    def __call__(self, input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
        return move_to(input, to, blocking)


@spelling(method="to_")
def _tensor_move_in_place(self: Tensor, device: str | None = None, non_blocking: bool = False) -> Tensor:
    """Move the data of the Tensor to another device, in place, and return the Tensor.

    Args:
        device (str): "CPU" or "GPU"; None is refused. Default: None.
        non_blocking (bool): False to wait until the copy is complete. Default: False.

    Returns:
        Tensor, the Tensor itself.

    Raises:
        ValueError: If `device` is another value.
        RuntimeError: If there is no such device here.
    """
    return self.assign_value(move_to(self, device, not non_blocking))  # pyright: ignore[reportArgumentType]


@spelling(method="is_shared")
def _tensor_is_shared(self: Tensor) -> bool:
    """Return False, because no Tensor in msnb is in memory that processes share."""
    return False


@spelling(method="is_meta")
@property
def _tensor_is_meta(self: Tensor) -> bool:
    """Return False, because every Tensor in msnb has data."""
    return False


@spelling(method="set_")
def _tensor_set(
    self: Tensor,
    source: Tensor | None = None,
    storage_offset: int = 0,
    size: tuple[int, ...] | list[int] | None = None,
    stride: tuple[int, ...] | list[int] | None = None,
) -> Tensor:
    """Take over values and shape of another Tensor. The values are copied; later changes of `source` do not affect it.

    Args:
        source (Tensor): A Tensor of the same element type. Default: None, an empty Tensor.
        storage_offset (int): Index of the first element in the memory of `source`. Default: 0.
        size (Union[tuple[int], list[int]]): The shape. Default: None, the shape of `source`.
        stride (Union[tuple[int], list[int]]): Distance between elements along each axis. Default: None, row by row.

    Returns:
        Tensor, the Tensor itself.

    Raises:
        TypeError: If `source` is not a Tensor.
        ValueError: If 'size' and 'stride' do not fit the memory of `source`.
        RuntimeError: If its element type differs.
    """
    source = Tensor(np.zeros(0, np_dtype(self.dtype))) if source is None else source
    tensor_argument("set_", "source", source)
    if source.dtype != self.dtype:
        raise RuntimeError(f"For 'set_', 'source' should be of type {self.dtype}, but its type is {source.dtype}.")
    if size is not None or stride is not None or storage_offset:
        source = source.reshape(-1)[Tensor(_strided_indices(source, storage_offset, size, stride))]
    return self.assign_value(source)


def _strided_indices(source, offset, size, stride):
    """Return the indices of elements in the memory of `source` for a shape and strides."""
    shape = tuple(source.shape if size is None else size)
    if stride is None:
        stride = np.cumprod([1, *shape[:0:-1]])[::-1] if shape else ()
    if len(stride) != len(shape):
        raise ValueError(f"For 'set_', 'stride' should have {len(shape)} elements, as 'size', but got {len(stride)}.")
    axes = [np.arange(n) * step for n, step in zip(shape, stride, strict=True)]
    indices = offset + sum(np.meshgrid(*axes, indexing="ij"), np.zeros(shape, np.int64))
    if indices.size and not 0 <= indices.min() <= indices.max() < source.size:
        raise ValueError(f"For 'set_', the elements should be among the {source.size} of 'source', but they are not.")
    return indices.astype(np.int64)


@spelling(method="new_empty")
def _tensor_new_empty(
    self: Tensor, size: Any, *, dtype: mstype.Type | None = None, device: str | None = None
) -> Tensor:
    """Return a new Tensor of this element type. Its values are unspecified in MindSpore and zeros in msnb.

    Args:
        size (Union[int, tuple[int], list[int]]): Result shape.
        dtype (mindspore.dtype): Another element type. Default: None.
        device (str): No effect: `mindspore.set_device` selects the device. Default: None.

    Returns:
        Tensor.
    """
    log.unused("Tensor.new_empty", "mindspore.set_device says where Tensors are", device=device)
    return Tensor(jnp.zeros(size, np_dtype(self.dtype if dtype is None else dtype)))


@spelling(method="flush_from_cache")
def _flush_without_effect(self: Tensor) -> None:
    """Do nothing, because Tensors in msnb have no cache to flush."""


@spelling(method="set_const_arg")
def _tensor_set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Return the Tensor itself. Its values are never constants of a compiled program, so changing them does not
    recompile.

    Args:
        const_arg (bool): No effect here. Default: True.

    Returns:
        Tensor.
    """
    check(Bool, const_arg, "const_arg", "set_const_arg")
    log.unused("Tensor.set_const_arg", "one program serves all values", const_arg=const_arg)
    return self
