"""Set operations on the elements of Tensors: membership, difference and intersection."""

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, common_type


@operator
def _IsIn(element, test_elements, *, invert: Bool = False):
    """Test for each element of a Tensor if another Tensor contains it.

    Args:
        invert (bool): Invert the result. Default: False.

    Inputs:
        - **element** (Tensor) - Of any shape.
        - **test_elements** (Tensor) - Of any shape, of the element type of `element`.

    Outputs:
        Tensor of bool, of the shape of `element`.
    """
    return jnp.isin(element, test_elements, invert=invert)


@spelling(_IsIn, numpy="isin")
def isin(element: ArrayLike, test_elements: ArrayLike, invert: bool = False) -> Tensor:
    """Test for each element of a Tensor if another Tensor contains it.

    Args:
        element (Union[Tensor, list, tuple, Number]): Of any shape.
        test_elements (Union[Tensor, list, tuple, Number]): Of any shape.
        invert (bool): Invert the result. Default: False.

    Returns:
        Tensor of bool, of the shape of `element`.

    Raises:
        TypeError: If `invert` is not a bool.

    Examples:
        >>> print(mindspore.numpy.isin([[0, 1], [2, 3]], [1, 2]))
        [[False  True]
         [ True False]]
    """
    pair = as_tensor(element, "isin", "element"), as_tensor(test_elements, "isin", "test_elements")
    return _IsIn.functional(*common_type(*pair), invert)


@spelling(_IsIn, numpy="in1d")
def in1d(ar1: ArrayLike, ar2: ArrayLike, invert: bool = False) -> Tensor:
    """Test for each element of a flattened Tensor if another Tensor contains it.

    Args:
        ar1 (Union[Tensor, list, tuple, Number]): Of any shape; it is flattened.
        ar2 (Union[Tensor, list, tuple, Number]): Of any shape.
        invert (bool): Invert the result. Default: False.

    Returns:
        Tensor of bool, of shape (ar1.size,).

    Raises:
        TypeError: If `invert` is not a bool.
    """
    return isin(as_tensor(ar1, "in1d", "ar1").ravel(), ar2, invert)


def _convert_to_numpy_vectors(function, *tensors):
    """Return the values of Tensors as numpy vectors; raise an error if a Tensor is traced."""
    if any(is_tracer(x._array) for x in tensors):
        raise DataDependentShape(function, "the number of elements found", "use isin, which marks them")
    return [x.asnumpy().ravel() for x in tensors]


@spelling(numpy="setdiff1d")
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    """Return the sorted distinct elements of a Tensor that another does not contain.

    This does not run in a compiled graph, because the number of elements depends on data.

    Args:
        ar1 (Union[Tensor, list, tuple, Number]): Of any shape.
        ar2 (Union[Tensor, list, tuple, Number]): Of any shape.
        assume_unique (bool): True if the elements of each Tensor are distinct. The result is then not sorted. Default:
            False.

    Returns:
        Tensor of 1 dimension and the element type of `ar1`.

    Raises:
        TypeError: If `assume_unique` is not a bool.
    """
    check(Bool, assume_unique, "assume_unique", "setdiff1d")
    first, second = _convert_to_numpy_vectors(
        "setdiff1d", as_tensor(ar1, "setdiff1d", "ar1"), as_tensor(ar2, "setdiff1d", "ar2")
    )
    return Tensor(np.setdiff1d(first, second, assume_unique))


@spelling(numpy="intersect1d")
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Return the sorted distinct elements that two Tensors have in common.

    This does not run in a compiled graph, because the number of elements depends on data.

    Args:
        ar1 (Union[Tensor, list, tuple, Number]): Of any shape.
        ar2 (Union[Tensor, list, tuple, Number]): Of any shape.
        assume_unique (bool): True if the elements of each Tensor are distinct. Default: False.
        return_indices (bool): Also return the first index of each common element in both Tensors. Default: False.

    Returns:
        Tensor of 1 dimension, in the common element type. With `return_indices`, a tuple of this Tensor and two Tensors
        of int32: the indices in the flattened `ar1` and in the flattened `ar2`.

    Raises:
        TypeError: If `assume_unique` or `return_indices` is not a bool.

    Examples:
        >>> print(mindspore.numpy.intersect1d([1, 3, 4, 3], [3, 1, 2, 1]))
        [1 3]
    """
    for argument, value in (("assume_unique", assume_unique), ("return_indices", return_indices)):
        check(Bool, value, argument, "intersect1d")
    both = common_type(as_tensor(ar1, "intersect1d", "ar1"), as_tensor(ar2, "intersect1d", "ar2"))
    results = np.intersect1d(*_convert_to_numpy_vectors("intersect1d", *both), assume_unique, return_indices)
    if not return_indices:
        return Tensor(results)
    common, *positions = results
    return (Tensor(common), *(Tensor(p.astype(mstype.np_dtype(mstype.int32))) for p in positions))


CASES = [
    case(_IsIn, Values([[0, 1], [2, 3]]), Values([1, 2])).without("mindspore", NUMPYS),
    case(_IsIn, F(4), Values([0.5]), invert=True).without("mindspore", NUMPYS),
]
