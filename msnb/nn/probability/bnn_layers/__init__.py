"""Re-export module: Bayesian layers."""

from msnb.nn.probability.bnn_layers.bnn_cell_wrapper import WithBNNLossCell
from msnb.nn.probability.bnn_layers.conv_variational import ConvReparam
from msnb.nn.probability.bnn_layers.dense_variational import DenseLocalReparam, DenseReparam
from msnb.nn.probability.bnn_layers.layer_distribution import NormalPosterior, NormalPrior

__all__ = ["ConvReparam", "DenseLocalReparam", "DenseReparam", "NormalPosterior", "NormalPrior", "WithBNNLossCell"]
