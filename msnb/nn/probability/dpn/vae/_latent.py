"""Base class of variational autoencoders: sizes, encoding, sampling and decoding."""

from typing import Annotated, Any

from msnb.common.kinds import Instance, PositiveInt, check, checked
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import Dense
from msnb.ops import functional as F
from msnb.ops.random.normal import StandardNormal


class Latent(Cell):
    """Base class of models of an encoder and a decoder with a normally distributed latent variable.

    The decoder gets `condition_size` numbers besides the latent variables.
    """

    @checked
    def __init__(
        self,
        encoder: Annotated[Cell, Instance(Cell)],
        decoder: Annotated[Cell, Instance(Cell)],
        hidden_size: PositiveInt,
        latent_size: PositiveInt,
        condition_size: int,
    ) -> None:
        super().__init__()
        if hidden_size < latent_size:
            raise ValueError(
                f"For '{self.cls_name}', 'latent_size' should be at most 'hidden_size', "
                f"but got {latent_size} and {hidden_size}."
            )
        self.encoder = encoder
        self.decoder = decoder
        self.hidden_size: int = hidden_size
        self.latent_size: int = latent_size
        self.dense1: Dense = Dense(hidden_size, latent_size, "normal", "zeros")
        self.dense2: Dense = Dense(hidden_size, latent_size, "normal", "zeros")
        self.dense3: Dense = Dense(latent_size + condition_size, hidden_size, "normal", "zeros")

    def _encode(self, *inputs):
        """Encode the inputs. Return mean and log-variance of the latent variable."""
        hidden = self.encoder(*inputs)
        return self.dense1(hidden), self.dense2(hidden)

    def _decode(self, z):
        return self.decoder(self.dense3(z))

    def _draw_latent_and_deviation(self, mean, log_variance):
        """Draw a latent variable for each mean. Return (latent variable, standard deviation)."""
        std = F.exp(0.5 * log_variance)
        return mean + std * StandardNormal.functional(mean.shape), std

    def _check_generate_args(self, generate_nums: Any, shape: Any) -> int:
        """Return `generate_nums`. Raise an error if it or the image shape `shape` is not valid."""
        check(PositiveInt, generate_nums, "generate_nums", self.cls_name)
        if not isinstance(shape, tuple) or len(shape) != 4 or shape[0] not in (-1, generate_nums):
            raise ValueError(
                f"For '{self.cls_name}', 'shape' should be ({generate_nums}, C, H, W) or (-1, C, H, W), "
                f"but got {describe(shape)}."
            )
        return generate_nums

    def _draw_latent(self, generate_nums: int) -> Tensor:
        return StandardNormal.functional((generate_nums, self.latent_size))
