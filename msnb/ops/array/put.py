"""Operators that replace elements at flat indices."""

from msnb.common.kinds import Bool
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.value_checks import Check, Range
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, dtype_in, same_dtype, tensor_only
from msnb.ops._in_place import take_over

_INSIDE = Check("index", lambda inputs: [Range(inputs["index"], inputs["input"].size, low=-inputs["input"].size)])


@operator(checks=[_INSIDE])
def _Put(input, index, source, *, accumulate: Bool = False):
    """Copy a Tensor and replace the elements at flat indices.

    Args:
        accumulate (bool): Add the values instead of replacing elements. Default: False.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **index** (Tensor) - int32 or int64; negative ones count from the end.
        - **source** (Tensor) - Of the element type of `input` and as many elements as `index`.

    Outputs:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `index` does not consist of integers, or the element types differ.
        ValueError: If `source` and `index` differ in their number of elements.
    """
    tensor_only("put_", "input", input)
    dtype_in("put_", "index", index, INDEX)
    same_dtype("put_", input=input, source=source)
    if index.size != source.size:
        raise ValueError(
            f"For 'put_', 'source' should have {index.size} elements, as 'index' has, but got {source.size}."
        )
    at = input.reshape(-1).at[index.reshape(-1)]
    update = at.add if accumulate else at.set
    return update(source.reshape(-1), mode="drop").reshape(input.shape)


@spelling(_Put, function="put_", method="put_")
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Replace the elements of a Tensor at flat indices, in place.

    Args:
        input (Tensor): The Tensor to change.
        index (Tensor): int32 or int64; negative ones count from the end.
        source (Tensor): Of the element type of `input` and as many elements as `index`.
        accumulate (bool): Add the values instead of replacing elements. Default: False.

    Returns:
        Tensor, `input` itself.

    Raises:
        TypeError: If `index` does not consist of integers, or the element types differ.
        ValueError: If `source` and `index` differ in their number of elements.
    """
    return take_over("put_", input, _Put.functional(input, index, source, accumulate))


_NEITHER = "the CPU has no kernel"
CASES = [
    case(_Put, F(2, 3), Values([0, -1]), F(2)).without("mindspore", _NEITHER),
    case(_Put, F(2, 3), Values([[4], [4]]), F(2, 1), accumulate=True).without("mindspore", _NEITHER),
    refused(ValueError, _Put, F(2, 3), Values([0]), F(2), says="put_"),
]
