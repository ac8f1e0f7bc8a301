"""Padding layers of MindSpore 2. r1.1 has only `nn.Pad`."""

from typing import Annotated, Any, ClassVar

from msnb.common.kinds import Int, Kind, NonNegInt, Number, accept_value, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ZeroPad2d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
]


def _make_padding_kind(axes, side, some=False):
    """Return the kind of a padding: a number for every side, or (before, after) for each of the last axes, the last
    one first."""

    def accept(value):
        if not isinstance(value, tuple):
            return (accept_value(side, value),) * (2 * axes)
        lengths = range(2, 2 * axes + 1, 2) if some else (2 * axes,)
        if len(value) not in lengths:
            raise ValueError
        return tuple(accept_value(side, number) for number in value)

    sign = "a non-negative int" if side is NonNegInt else "an int"
    return Kind(f"{sign} or a tuple of {'at most ' if some and axes > 1 else ''}{2 * axes}", accept)


_Axis = Annotated[int | tuple[int, ...], _make_padding_kind(1, Int)]
_TwoAxes = Annotated[int | tuple[int, ...], _make_padding_kind(2, Int, some=True)]
_ThreeAxes = Annotated[int | tuple[int, ...], _make_padding_kind(3, Int, some=True)]
_BothAxes = Annotated[int | tuple[int, ...], _make_padding_kind(2, Int)]
_AllAxes = Annotated[int | tuple[int, ...], _make_padding_kind(3, Int)]
_Inside = Annotated[int | tuple[int, ...], _make_padding_kind(1, NonNegInt)]
_TwoInside = Annotated[int | tuple[int, ...], _make_padding_kind(2, NonNegInt)]
_ThreeInside = Annotated[int | tuple[int, ...], _make_padding_kind(3, NonNegInt)]


class _PaddingLayer(Cell):
    """Base of padding layers: the widths and the padding values."""

    padding: tuple[int, ...]

    def _set_padding(self, padding: Any) -> None:
        self.padding = padding

    def _check(self, x):
        if x.ndim < len(self.padding) // 2:
            raise ValueError(
                f"For '{self.cls_name}', 'padding' {self.padding} is for {len(self.padding) // 2} axes, but the input "
                f"has shape {x.shape}."
            )
        widened = zip(x.shape[::-1], self.padding[::2], self.padding[1::2], strict=False)
        if any(length + before + after < 1 for length, before, after in widened):
            raise ValueError(f"For '{self.cls_name}', 'padding' {self.padding} leaves nothing of shape {x.shape}.")

    def extend_repr(self) -> str:
        """Return the padding widths for `repr`."""
        return f"padding={self.padding}"


class _Constant(_PaddingLayer):
    value: Any = 0

    def construct(self, x: Tensor) -> Tensor:
        """Return the padded Tensor."""
        self._check(x)
        return F.pad(x, self.padding, "constant", self.value)


class _Reflection(_PaddingLayer):
    def construct(self, x: Tensor) -> Tensor:
        """Return the padded Tensor."""
        self._check(x)
        pairs = tuple(zip(self.padding[::2], self.padding[1::2], strict=True))[::-1]
        return self._mirror(x, ((0, 0),) * (x.ndim - len(pairs)) + pairs)

    _mirror: ClassVar[Any] = P.MirrorPad("REFLECT")


class _Replication(_PaddingLayer):
    def construct(self, x: Tensor) -> Tensor:
        """Return the padded Tensor."""
        self._check(x)
        return F.pad(x, self.padding, "replicate")


class ConstantPad1d(_Constant):
    """
    Pads the last axis with a constant.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right); a negative number
            crops.
        value (Union[int, float]): The constant.

    Inputs:
        - **x** (Tensor) - of at least 1 dimension.

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, the input has too few dimensions, or nothing is left.

    Examples:
        >>> print(nn.ConstantPad1d((1, 2), 9.)(Tensor([[1., 2.]], mindspore.float32)))
        [[9. 1. 2. 9. 9.]]
    """

    @checked
    def __init__(self, padding: _Axis, value: Number) -> None:
        super().__init__()
        self._set_padding(padding)
        self.value: float = value


class ConstantPad2d(_Constant):
    """
    Pads the last two axes with a constant.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom), or the
            first pairs of these; a negative number crops.
        value (Union[int, float]): The constant.

    Inputs:
        - **x** (Tensor) - of at least 2 dimensions.

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, the input has too few dimensions, or nothing is left.

    Examples:
        >>> print(nn.ConstantPad2d((0, 1, 1, 0), 9.)(Tensor([[[1., 2.]]], mindspore.float32)))
        [[[9. 9. 9.]
         [1. 2. 9.]]]
    """

    @checked
    def __init__(self, padding: _TwoAxes, value: Number) -> None:
        super().__init__()
        self._set_padding(padding)
        self.value: float = value


class ConstantPad3d(_Constant):
    """
    Pads the last three axes with a constant.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom, front,
            back), or the first pairs of these; a negative number crops.
        value (Union[int, float]): The constant.

    Inputs:
        - **x** (Tensor) - of at least 3 dimensions.

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, the input has too few dimensions, or nothing is left.

    Examples:
        >>> print(nn.ConstantPad3d((0, 1, 0, 0, 0, 0), 9.)(Tensor([[[[1., 2.]]]], mindspore.float32)))
        [[[[1. 2. 9.]]]]
    """

    @checked
    def __init__(self, padding: _ThreeAxes, value: Number) -> None:
        super().__init__()
        self._set_padding(padding)
        self.value: float = value


class ZeroPad2d(_Constant):
    """
    Pads the last two axes with zeros.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom), or the
            first pairs of these; a negative number crops.

    Inputs:
        - **x** (Tensor) - of at least 2 dimensions.

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, the input has too few dimensions, or nothing is left.

    Examples:
        >>> print(nn.ZeroPad2d((0, 1, 1, 0))(Tensor([[[1., 2.]]], mindspore.float32)))
        [[[0. 0. 0.]
         [1. 2. 0.]]]
    """

    @checked
    def __init__(self, padding: _TwoAxes) -> None:
        super().__init__()
        self._set_padding(padding)


class ReflectionPad1d(_Reflection):
    """
    Pads the last axis by reflection at the border elements.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right).

    Inputs:
        - **x** (Tensor) - (C, W) or (N, C, W).

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, or a number is negative or not less than the length of an axis.

    Examples:
        >>> print(nn.ReflectionPad1d((2, 1))(Tensor([[1., 2., 3.]], mindspore.float32)))
        [[3. 2. 1. 2. 3. 2.]]
    """

    @checked
    def __init__(self, padding: _Inside) -> None:
        super().__init__()
        self._set_padding(padding)


class ReflectionPad2d(_Reflection):
    """
    Pads the last two axes by reflection at the border elements.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom).

    Inputs:
        - **x** (Tensor) - (C, H, W) or (N, C, H, W).

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, or a number is negative or not less than the length of an axis.

    Examples:
        >>> print(nn.ReflectionPad2d((1, 0, 0, 1))(Tensor([[[1., 2.], [3., 4.]]], mindspore.float32)))
        [[[2. 1. 2.]
         [4. 3. 4.]
         [2. 1. 2.]]]
    """

    @checked
    def __init__(self, padding: _TwoInside) -> None:
        super().__init__()
        self._set_padding(padding)


class ReflectionPad3d(_Reflection):
    """
    Pads the last three axes by reflection at the border elements.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom, front,
            back).

    Inputs:
        - **x** (Tensor) - (C, D, H, W) or (N, C, D, H, W).

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, or a number is negative or not less than the length of an axis.

    Examples:
        >>> print(nn.ReflectionPad3d((1, 0, 0, 0, 0, 0))(Tensor([[[[1., 2.]]]], mindspore.float32)))
        [[[[2. 1. 2.]]]]
    """

    @checked
    def __init__(self, padding: _ThreeInside) -> None:
        super().__init__()
        self._set_padding(padding)


class ReplicationPad1d(_Replication):
    """
    Pads the last axis with copies of the border elements.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right); a negative number
            crops.

    Inputs:
        - **x** (Tensor) - (C, W) or (N, C, W).

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, or the input has too few dimensions.

    Examples:
        >>> print(nn.ReplicationPad1d((2, 1))(Tensor([[1., 2., 3.]], mindspore.float32)))
        [[1. 1. 1. 2. 3. 3.]]
    """

    @checked
    def __init__(self, padding: _Axis) -> None:
        super().__init__()
        self._set_padding(padding)


class ReplicationPad2d(_Replication):
    """
    Pads the last two axes with copies of the border elements.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom); a
            negative number crops.

    Inputs:
        - **x** (Tensor) - (C, H, W) or (N, C, H, W).

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, or the input has too few dimensions.

    Examples:
        >>> print(nn.ReplicationPad2d((1, 0, 0, 1))(Tensor([[[1., 2.], [3., 4.]]], mindspore.float32)))
        [[[1. 1. 2.]
         [3. 3. 4.]
         [3. 3. 4.]]]
    """

    @checked
    def __init__(self, padding: _BothAxes) -> None:
        super().__init__()
        self._set_padding(padding)


class ReplicationPad3d(_Replication):
    """
    Pads the last three axes with copies of the border elements.

    Args:
        padding (Union[int, tuple[int]]): Number of elements added on each side, or (left, right, top, bottom, front,
            back); a negative number crops.

    Inputs:
        - **x** (Tensor) - (C, D, H, W) or (N, C, D, H, W).

    Outputs:
        Tensor of the input's type.

    Raises:
        TypeError: If `padding` is neither an int nor a tuple of them.
        ValueError: If the tuple has a wrong length, or the input has too few dimensions.

    Examples:
        >>> print(nn.ReplicationPad3d((1, 0, 0, 0, 0, 0))(Tensor([[[[1., 2.]]]], mindspore.float32)))
        [[[[1. 1. 2.]]]]
    """

    @checked
    def __init__(self, padding: _AllAxes) -> None:
        super().__init__()
        self._set_padding(padding)
