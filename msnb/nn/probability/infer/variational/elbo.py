"""The evidence lower bound."""

from typing import Annotated, Any

from msnb.common.kinds import OneOf, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.loss.regression import MSELoss
from msnb.nn.probability.distribution.normal import Normal
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["ELBO"]


class ELBO(Cell):
    r"""
    The negative evidence lower bound of a variational autoencoder:
    :math:`\sum (x - \hat{x})^2 + \sum KL(N(\mu, \sigma^2) || N(0, 1))` (Blei, Kucukelbir and McAuliffe, 2016). As in
    r1.1 the squares are not halved.

    Args:
        latent_prior (str): Prior of the latent variables: "Normal". Default: "Normal".
        output_prior (str): Distribution of the outputs: "Normal". Default: "Normal".

    Inputs:
        - **data** (tuple[Tensor]) - The reconstruction, x, :math:`\mu` and :math:`\sigma`.
        - **label** (Tensor) - Ignored. It exists so that the loss can be used in `nn.WithLossCell`.

    Outputs:
        Tensor, a scalar.

    Raises:
        ValueError: If a prior is not "Normal".

    Examples:
        >>> from mindspore.nn.probability.infer import ELBO
        >>> x, mu, std = (Tensor([[number]], mindspore.float32) for number in (1.0, 0.0, 1.0))
        >>> print(ELBO()((x + 2.0, x, mu, std), x))
        4.0
    """

    @checked
    def __init__(
        self,
        latent_prior: Annotated[str, OneOf("Normal")] = "Normal",
        output_prior: Annotated[str, OneOf("Normal")] = "Normal",
    ) -> None:
        super().__init__()
        self.latent_prior: str = latent_prior
        self.output_prior: str = output_prior
        self.sum: P.ReduceSum = P.ReduceSum()
        self.zeros: P.ZerosLike = P.ZerosLike()
        self.posterior: Normal = Normal()
        self.recon_loss: MSELoss = MSELoss(reduction="sum")

    def construct(self, data: Any, label: Any) -> Tensor:
        """Return the loss."""
        reconstruction, x, mu, std = data
        divergence = self.posterior("kl_loss", "Normal", F.zeros_like(mu), F.ones_like(std), mu, std)
        return self.recon_loss(x, reconstruction) + self.sum(divergence)
