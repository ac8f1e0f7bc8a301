"""The conditional variational autoencoder."""

from msnb.common.kinds import PositiveInt, check
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import OneHot
from msnb.nn.probability.dpn.vae._latent import Latent
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["ConditionalVAE"]


class ConditionalVAE(Latent):
    r"""
    The conditional variational autoencoder (Sohn, Lee and Yan, 2015): a VAE that also gets the class of each image. The
    encoder gets the class itself, and the decoder gets it as a one-hot vector in addition to z.

    Args:
        encoder (Cell): Maps x and y to h, of shape (N, hidden_size).
        decoder (Cell): Maps a Tensor of shape (N, hidden_size) to one of the shape of x.
        hidden_size (int): Size of h.
        latent_size (int): Size of z, at most `hidden_size`.
        num_classes (int): Number of classes.

    Inputs:
        - **x** (Tensor) - Input of the encoder, usually of shape (N, C, H, W).
        - **y** (Tensor) - The classes, int32 of shape (N,).

    Outputs:
        tuple of Tensors: the reconstruction, x, :math:`\mu` and :math:`\sigma`, the inputs of `infer.ELBO`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or `latent_size` is greater than `hidden_size`.

    Examples:
        >>> from mindspore.nn.probability.dpn import ConditionalVAE
        >>> class Encoder(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.dense, self.table = nn.Dense(6, 4), nn.Embedding(3, 4)
        ...     def construct(self, x, y):
        ...         return self.dense(x) + self.table(y)
        >>> vae = ConditionalVAE(Encoder(), nn.Dense(4, 6), hidden_size=4, latent_size=2, num_classes=3)
        >>> x, y = Tensor(np.ones((2, 6)), mindspore.float32), Tensor([0, 2], mindspore.int32)
        >>> print(vae.reconstruct_sample(x, y).shape)
        (2, 6)
    """

    def __init__(self, encoder: Cell, decoder: Cell, hidden_size: int, latent_size: int, num_classes: int) -> None:
        check(PositiveInt, num_classes, "num_classes", type(self).__name__)
        super().__init__(encoder, decoder, hidden_size, latent_size, num_classes)
        self.num_classes: int = num_classes
        self.one_hot: OneHot = OneHot(depth=num_classes)
        self.concat: P.Concat = P.Concat(axis=1)

    def construct(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return (reconstruction, x, mean, standard deviation)."""
        mu, log_variance = self._encode(x, y)
        z, std = self._draw_latent_and_deviation(mu, log_variance)
        return self._decode(self._append_one_hot_class(z, y)), x, mu, std

    def _append_one_hot_class(self, z, y):
        return self.concat((z, self.one_hot(y)))

    def generate_sample(self, sample_y: Tensor, generate_nums: int, shape: tuple[int, ...]) -> Tensor:
        """
        Decode random latent variables for given classes.

        Args:
            sample_y (Tensor): The classes, int32 of shape (generate_nums,).
            generate_nums (int): Number of images.
            shape (tuple): Shape of the images, (generate_nums, C, H, W) or (-1, C, H, W).

        Returns:
            Tensor of that shape.

        Raises:
            TypeError: If `generate_nums` is no int.
            ValueError: If it is less than 1, or `shape` is not one of these.
        """
        count = self._check_generate_args(generate_nums, shape)
        return F.reshape(self._decode(self._append_one_hot_class(self._draw_latent(count), sample_y)), shape)

    def reconstruct_sample(self, x: Tensor, y: Tensor) -> Tensor:
        """
        Reconstruct images.

        Args:
            x (Tensor): The images.
            y (Tensor): Their classes, int32 of shape (N,).

        Returns:
            Tensor, the reconstructed images.
        """
        return self._decode(self._append_one_hot_class(self._draw_latent_and_deviation(*self._encode(x, y))[0], y))
