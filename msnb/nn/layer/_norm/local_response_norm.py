"""Local response normalisation across channels."""

from typing import Annotated

from msnb.common.kinds import NonNegInt, OneOf, checked
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.layer._one_operator import OneOperator
from msnb.ops import operations as P

__all__ = ["LRN"]


class LRN(OneOperator, operator=P.LRN, attribute_name="lrn_op"):
    r"""
    Local response normalisation (Krizhevsky et al., 2012): each number is divided by
    :math:`(b + \alpha \sum x_j^2)^\beta`, with the sum over the neighbouring channels.

    Args:
        depth_radius (int): Number of neighbouring channels on each side in the sum. Default: 5.
        bias (float): The b. Default: 1.0.
        alpha (float): The factor of the sum. Default: 1.0.
        beta (float): The exponent. Default: 0.5.
        norm_region (str): Only "ACROSS_CHANNELS". Default: "ACROSS_CHANNELS".

    Inputs:
        - **input_x** (Tensor) - float16 or float32, of shape (N, C, H, W).

    Outputs:
        Tensor of the shape and type of `input_x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `depth_radius` is negative, or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.LRN(bias=0.0)(Tensor(np.full((1, 4, 1, 1), 3.0), mindspore.float32)).flatten())
        [0.5 0.5 0.5 0.5]
    """

    @checked
    def __init__(
        self,
        depth_radius: NonNegInt = 5,
        bias: FiniteFloat = 1.0,
        alpha: FiniteFloat = 1.0,
        beta: FiniteFloat = 0.5,
        norm_region: Annotated[str, OneOf("ACROSS_CHANNELS")] = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__(depth_radius, bias, alpha, beta, norm_region)
