"""Cartesian products and combinations of the elements of vectors."""

import itertools

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, NonNegInt, Tensors
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import rank


@operator
def _CartesianProduct(inputs: Tensors):
    """Return the Cartesian product of vectors, one combination per row.

    Inputs:
        - **inputs** (Union[tuple[Tensor], list[Tensor]]) - Vectors of one element type.

    Outputs:
        Tensor of 2 dimensions.
    """
    for x in inputs:
        rank("cartesian_prod", "inputs", x, 1)
    return jnp.stack([x.reshape(-1) for x in jnp.meshgrid(*inputs, indexing="ij")], 1)


@spelling(_CartesianProduct)
def cartesian_prod(*inputs: Tensor) -> Tensor:
    """Return the Cartesian product of vectors, one combination per row.

    Args:
        inputs (Tensor): Vectors of one element type.

    Returns:
        Tensor of 2 dimensions: a column for each vector.

    Raises:
        ValueError: If an input does not have 1 dimension.

    Examples:
        >>> print(ops.cartesian_prod(Tensor([1, 2]), Tensor([3, 4])))
        [[1 3]
         [1 4]
         [2 3]
         [2 4]]
    """
    return _CartesianProduct.functional(inputs)


@operator(functional="combinations", generation=2)
def _Combinations(input, r: NonNegInt = 2, with_replacement: Bool = False):
    """Return all combinations of `r` elements of a vector, one combination per row.

    Inputs:
        - **input** (Tensor) - A vector.
        - **r** (int) - Number of elements of each combination. Default: 2.
        - **with_replacement** (bool) - True if a combination may have an element several times. Default: False.

    Outputs:
        Tensor of shape (number of combinations, r).

    Raises:
        TypeError: If `r` is not an int, or `with_replacement` is not a bool.
        ValueError: If `input` is no vector, or `r` is negative.
    """
    rank("combinations", "input", input, 1)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    indices = np.array(list(choose(range(input.shape[0]), r)), np.int32).reshape(-1, r)
    return input[indices]


CASES = [
    case(_CartesianProduct, (F(2), F(3))).without("mindspore", "its function is asked"),
    case(cartesian_prod, F(2), F(3)),
    case(cartesian_prod, I(2), I(2), I(1)),
    case(_Combinations, F(4)),
    case(_Combinations, F(3), 2, True),
    case(_Combinations, I(4), 3),
    refused(ValueError, cartesian_prod, F(2, 3)),
    refused(ValueError, _Combinations, F(2, 3)),
]
