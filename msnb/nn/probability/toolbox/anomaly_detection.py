"""Anomaly detection by the reconstruction error of a variational autoencoder."""

from typing import Any

import numpy as np

from msnb.common.kinds import PositiveFloat, check
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.optim.adam import Adam
from msnb.nn.probability.dpn.vae.vae import VAE
from msnb.nn.probability.infer.variational.elbo import ELBO
from msnb.nn.probability.infer.variational.svi import SVI
from msnb.nn.wrap.cell_wrapper import WithLossCell

__all__ = ["VAEAnomalyDetection"]


class VAEAnomalyDetection:
    """
    Anomaly detection with a variational autoencoder. The autoencoder reconstructs samples that resemble its training
    data, and fails to reconstruct outliers.

    Args:
        encoder (Cell): As in `VAE`.
        decoder (Cell): As in `VAE`.
        hidden_size (int): As in `VAE`. Default: 400.
        latent_size (int): As in `VAE`. Default: 20.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or `latent_size` is greater than `hidden_size`.

    Examples:
        >>> from mindspore.nn.probability.toolbox import VAEAnomalyDetection
        >>> detection = VAEAnomalyDetection(nn.Dense(6, 4), nn.Dense(4, 6), hidden_size=4, latent_size=2)
        >>> print(detection.predict_outlier(Tensor(np.full((1, 6), 1e6), mindspore.float32)))
        True
    """

    def __init__(self, encoder: Cell, decoder: Cell, hidden_size: int = 400, latent_size: int = 20) -> None:
        self.vae: Any = VAE(encoder, decoder, hidden_size, latent_size)

    def train(self, train_dataset: Any, epochs: int = 5) -> Cell:
        """
        Train the autoencoder with Adam.

        Args:
            train_dataset (Dataset): Batches with the columns "image" and "label".
            epochs (int): Number of passes over the data set. Default: 5.

        Returns:
            Cell, the autoencoder.
        """
        optimizer = Adam(self.vae.trainable_params(), learning_rate=0.001)
        self.vae = SVI(WithLossCell(self.vae, ELBO()), optimizer).run(train_dataset, epochs)
        return self.vae

    def predict_outlier_score(self, sample_x: Tensor) -> float:
        """
        Return the distance of a sample from its reconstruction.

        Args:
            sample_x (Tensor): The sample, of shape (N, C, H, W).

        Returns:
            float, the Euclidean distance.
        """
        difference = sample_x.asnumpy() - self.vae.reconstruct_sample(sample_x).asnumpy()
        return np.sqrt(np.sum(np.square(difference)))

    def predict_outlier(self, sample_x: Tensor, threshold: float = 100.0) -> bool:
        """
        Return True if a sample is an outlier.

        Args:
            sample_x (Tensor): The sample, of shape (N, C, H, W).
            threshold (float): The smallest outlier score of an outlier, positive. Default: 100.0.

        Returns:
            bool.

        Raises:
            TypeError: If `threshold` is no number.
            ValueError: If it is not positive.
        """
        threshold = check(PositiveFloat, threshold, "threshold", "predict_outlier")
        return not self.predict_outlier_score(sample_x) < threshold  # `not <`, so that a NaN score counts as an outlier
