"""Functions that add dimensions of length 1 to Tensors, or join Tensors as rows, columns or layers."""

from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.join import Concat, concatenate, in_one_type


@spelling(numpy="append")
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Tensor:
    """Append values to a Tensor along an axis, in the common element type of both.

    Args:
        arr (Union[Tensor, list, tuple, Number]): Any Tensor.
        values (Union[Tensor, list, tuple, Number]): Of a shape that differs from that of `arr` along `axis` only.
        axis (int): The axis. Default: None, both are flattened.

    Returns:
        Tensor.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range, or the shapes do not fit.
    """
    return concatenate((as_tensor(arr, "append", "arr"), as_tensor(values, "append", "values")), axis)


def _add_dimensions(x, count):
    """Reshape `x` to at least `count` dimensions. New dimensions have the positions that numpy's `atleast_1d`,
    `atleast_2d` and `atleast_3d` choose."""
    if count == 3 and x.ndim in (1, 2):
        return x.reshape((1, *x.shape, 1)[-3 if x.ndim == 2 else 0 :])
    return x.reshape((1,) * (count - x.ndim) + x.shape) if x.ndim < count else x


def _atleast_nd(function, count, tensors):
    results = [_add_dimensions(as_tensor(x, function, f"arys[{i}]"), count) for i, x in enumerate(tensors)]
    return results[0] if len(results) == 1 else results


def _check_tensors(function, tensors):
    """Check that the user's tuple or list holds Tensors and is not empty, and return it as a list."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"For '{function}', 'tensors' should be a tuple or list of Tensors, but got {describe(tensors)}."
        )
    if not tensors:
        raise ValueError(f"For '{function}', 'tensors' should not be empty.")
    return [tensor_argument(function, "tensors", x) for x in tensors]


def _add_dimensions_to_each(function, count, inputs):
    if isinstance(inputs, (tuple, list)):
        return tuple([_add_dimensions(x, count) for x in _check_tensors(function, inputs)])
    return _add_dimensions(tensor_argument(function, "inputs", inputs), count)


@spelling(numpy="atleast_1d")
def _numpy_atleast_1d(*arys: ArrayLike) -> Tensor | list[Tensor]:
    """Give Tensors at least 1 dimension: a number becomes a vector.

    Args:
        arys (Union[Tensor, list, tuple, Number]): Any Tensors.

    Returns:
        Tensor, or a list of Tensors for several arguments.
    """
    return _atleast_nd("atleast_1d", 1, arys)


@spelling(numpy="atleast_2d")
def _numpy_atleast_2d(*arys: ArrayLike) -> Tensor | list[Tensor]:
    """Give Tensors at least 2 dimensions: a vector becomes a row.

    Args:
        arys (Union[Tensor, list, tuple, Number]): Any Tensors.

    Returns:
        Tensor, or a list of Tensors for several arguments.
    """
    return _atleast_nd("atleast_2d", 2, arys)


@spelling(numpy="atleast_3d")
def _numpy_atleast_3d(*arys: ArrayLike) -> Tensor | list[Tensor]:
    """Give Tensors at least 3 dimensions: shape (N,) becomes (1, N, 1), and shape (M, N) becomes (M, N, 1).

    Args:
        arys (Union[Tensor, list, tuple, Number]): Any Tensors.

    Returns:
        Tensor, or a list of Tensors for several arguments.
    """
    return _atleast_nd("atleast_3d", 3, arys)


@spelling(numpy="hstack")
def _numpy_hstack(tup: ArrayLike) -> Tensor:
    """Concatenate Tensors along the second axis. Vectors are concatenated along their only axis.

    Args:
        tup (Union[tuple[Tensor], list[Tensor], Tensor]): Tensors whose shapes differ along that axis only. A single
            Tensor stands for its slices along the first dimension.

    Returns:
        Tensor, in the common element type.

    Raises:
        TypeError: If `tup` has another type.
        ValueError: If there is no Tensor, or the shapes do not match.
    """
    tensors = [_add_dimensions(x, 1) for x in in_one_type("hstack", tup, "tup")]
    return concatenate(tensors, 0 if tensors[0].ndim == 1 else 1)


@spelling(numpy="dstack")
def _numpy_dstack(tup: ArrayLike) -> Tensor:
    """Concatenate Tensors along the third axis. `atleast_3d` first converts vectors and matrices.

    Args:
        tup (Union[tuple[Tensor], list[Tensor], Tensor]): Tensors whose shapes differ along that axis only. A single
            Tensor stands for its slices along the first dimension.

    Returns:
        Tensor, in the common element type.

    Raises:
        TypeError: If `tup` has another type.
        ValueError: If there is no Tensor, or the shapes do not match.
    """
    return concatenate([_add_dimensions(x, 3) for x in in_one_type("dstack", tup, "tup")], 2)


@spelling(numpy="column_stack")
def _numpy_column_stack(tup: ArrayLike) -> Tensor:
    """Join vectors and matrices as the columns of one matrix.

    Args:
        tup (Union[tuple[Tensor], list[Tensor], Tensor]): Vectors of equal length, and matrices with this number of
            rows. A single Tensor stands for its slices along the first dimension.

    Returns:
        Tensor, in the common element type.

    Raises:
        TypeError: If `tup` has another type.
        ValueError: If there is no Tensor, or the shapes do not match.

    Examples:
        >>> print(mindspore.numpy.column_stack(([1, 2, 3], [4, 5, 6])))
        [[1 4]
         [2 5]
         [3 6]]
    """
    columns = [x.reshape((x.size, 1)) if x.ndim < 2 else x for x in in_one_type("column_stack", tup, "tup")]
    return concatenate(columns, 1)


@spelling(function="atleast_1d")
def atleast_1d(inputs: Tensor | tuple[Tensor, ...] | list[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """Give Tensors at least 1 dimension: a number becomes a vector.

    Args:
        inputs (Union[Tensor, tuple[Tensor], list[Tensor]]): Any Tensor, or several.

    Returns:
        Tensor, or a tuple of Tensors for several inputs.

    Raises:
        TypeError: If `inputs` has another type.
    """
    return _add_dimensions_to_each("atleast_1d", 1, inputs)


@spelling(function="atleast_2d")
def atleast_2d(inputs: Tensor | tuple[Tensor, ...] | list[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """Give Tensors at least 2 dimensions: numbers and vectors become rows.

    Args:
        inputs (Union[Tensor, tuple[Tensor], list[Tensor]]): Any Tensor, or several.

    Returns:
        Tensor, or a tuple of Tensors for several inputs.

    Raises:
        TypeError: If `inputs` has another type.
    """
    return _add_dimensions_to_each("atleast_2d", 2, inputs)


@spelling(function="atleast_3d")
def atleast_3d(inputs: Tensor | tuple[Tensor, ...] | list[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """Give Tensors at least 3 dimensions: shape (N,) becomes (1, N, 1), and shape (M, N) becomes (M, N, 1).

    Args:
        inputs (Union[Tensor, tuple[Tensor], list[Tensor]]): Any Tensor, or several.

    Returns:
        Tensor, or a tuple of Tensors for several inputs.

    Raises:
        TypeError: If `inputs` has another type.
    """
    return _add_dimensions_to_each("atleast_3d", 3, inputs)


@spelling(function="hstack")
def hstack(tensors: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Concatenate Tensors along the second axis. Vectors are concatenated along their only axis.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors whose shapes differ along that axis only.

    Returns:
        Tensor.

    Raises:
        TypeError: If `tensors` is no tuple or list of Tensors, or their element types differ.
        ValueError: If there is no Tensor, or the shapes do not match.
    """
    tensors = [_add_dimensions(x, 1) for x in _check_tensors("hstack", tensors)]
    return Concat(0 if tensors[0].ndim == 1 else 1)(tensors)


@spelling(function="dstack")
def dstack(tensors: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Concatenate Tensors along the third axis. `atleast_3d` first converts vectors and matrices.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors whose shapes differ along that axis only.

    Returns:
        Tensor.

    Raises:
        TypeError: If `tensors` is no tuple or list of Tensors, or their element types differ.
        ValueError: If there is no Tensor, or the shapes do not match.
    """
    return Concat(2)([_add_dimensions(x, 3) for x in _check_tensors("dstack", tensors)])


@spelling(function="column_stack")
def column_stack(tensors: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Join vectors and matrices as the columns of one matrix.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Vectors of equal length, and matrices with this number of rows.

    Returns:
        Tensor.

    Raises:
        TypeError: If `tensors` is no tuple or list of Tensors, or their element types differ.
        ValueError: If there is no Tensor, or the shapes do not match.
    """
    columns = [x.reshape((x.size, 1)) if x.ndim < 2 else x for x in _check_tensors("column_stack", tensors)]
    return Concat(1)(columns)


CASES = [
    case(atleast_1d, F()),
    case(atleast_1d, (F(), F(2, 3))),
    case(atleast_2d, F(3)),
    case(atleast_3d, F(3)),
    case(atleast_3d, F(2, 3)),
    case(hstack, (F(3), F(2))),
    case(hstack, (F(2, 1), F(2, 3))),
    case(dstack, (F(3), F(3))),
    case(dstack, (F(2, 3), F(2, 3))),
    case(column_stack, (F(3), F(3))),
    case(column_stack, (I(2), I(2, 3))),
    refused(TypeError, hstack, F(2)),
    refused(ValueError, dstack, ()),
]
