"""`Adam`, the optimizer of mint."""

from msnb.experimental import optim
from msnb.experimental.optim.moments import moments
from msnb.ops import functional as F

__all__ = ["Adam"]


class Adam(optim.Adam):
    r"""
    Adam (Kingma and Ba, 2014), with :math:`\epsilon` added after the bias correction, as in AdamW.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters to train: a list, or a list of groups (dicts).
        lr (Union[int, float, Tensor]): Learning rate. Default: 1e-3.
        betas (tuple[float]): Decay rates of the means, in [0, 1). Default: (0.9, 0.999).
        eps (float): Added to the denominator to avoid division by zero. Default: 1e-8.
        weight_decay (float): L2 penalty. Default: 0.0.
        amsgrad (bool): Whether to use the maximum of all past means of squares. Default: False.
        maximize (bool): Whether to maximize the objective. Default: False.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter.

    Raises:
        ValueError: If a number is out of range.

    Examples:
        >>> optimizer = mint.optim.Adam(Net().trainable_params(), lr=0.1)
    """

    def _update_parameter(self, group, shared, param, gradient, mean, square, largest):
        left1, left2 = shared
        mean, square = moments(group, gradient, mean, square)
        if group["amsgrad"]:
            F.assign(largest, F.maximum(largest, square))
            square = largest
        F.assign(param, param - group["lr"] / left1 * mean / (F.sqrt(square) / F.sqrt(left2) + group["eps"]))
