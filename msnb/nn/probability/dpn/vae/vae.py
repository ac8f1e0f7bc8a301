"""The variational autoencoder."""

from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.probability.dpn.vae._latent import Latent
from msnb.ops import functional as F

__all__ = ["VAE"]


class VAE(Latent):
    r"""
    The variational autoencoder (Kingma and Welling, 2013). Two Dense layers compute :math:`\mu` and :math:`\log
    \sigma^2` from the encoder's output h. z is drawn from :math:`N(\mu, \sigma^2)`. A third Dense layer maps z to the
    input of the decoder, which reconstructs x.

    Args:
        encoder (Cell): Maps x to h, of shape (N, hidden_size).
        decoder (Cell): Maps a Tensor of shape (N, hidden_size) to one of the shape of x.
        hidden_size (int): Size of h.
        latent_size (int): Size of z, at most `hidden_size`.

    Inputs:
        - **x** (Tensor) - Input of the encoder, usually of shape (N, C, H, W).

    Outputs:
        tuple of Tensors: the reconstruction, x, :math:`\mu` and :math:`\sigma`, the inputs of `infer.ELBO`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or `latent_size` is greater than `hidden_size`.

    Examples:
        >>> from mindspore.nn.probability.dpn import VAE
        >>> vae = VAE(nn.Dense(6, 4), nn.Dense(4, 6), hidden_size=4, latent_size=2)
        >>> reconstruction, x, mu, std = vae(Tensor(np.ones((3, 6)), mindspore.float32))
        >>> print(reconstruction.shape, mu.shape)
        (3, 6) (3, 2)
    """

    def __init__(self, encoder: Cell, decoder: Cell, hidden_size: int, latent_size: int) -> None:
        super().__init__(encoder, decoder, hidden_size, latent_size, 0)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return (reconstruction, x, mean, standard deviation)."""
        mu, log_variance = self._encode(x)
        z, std = self._draw_latent_and_deviation(mu, log_variance)
        return self._decode(z), x, mu, std

    def generate_sample(self, generate_nums: int, shape: tuple[int, ...]) -> Tensor:
        """
        Decode random latent variables.

        Args:
            generate_nums (int): Number of images.
            shape (tuple): Shape of the images, (generate_nums, C, H, W) or (-1, C, H, W).

        Returns:
            Tensor of that shape.

        Raises:
            TypeError: If `generate_nums` is no int.
            ValueError: If it is less than 1, or `shape` is not one of these.
        """
        count = self._check_generate_args(generate_nums, shape)
        return F.reshape(self._decode(self._draw_latent(count)), shape)

    def reconstruct_sample(self, x: Tensor) -> Tensor:
        """
        Reconstruct images.

        Args:
            x (Tensor): The images.

        Returns:
            Tensor, the reconstructed images.
        """
        return self._decode(self._draw_latent_and_deviation(*self._encode(x))[0])
