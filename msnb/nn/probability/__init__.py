"""Probabilistic programming: its module paths and names are here, the classes themselves come in a later version."""

from msnb._later import submodules

_NAMES = {
    "distribution": (
        "Distribution TransformedDistribution Bernoulli Beta Categorical Cauchy Exponential Gamma Geometric Gumbel "
        "Logistic LogNormal Normal Poisson Uniform"
    ),
    "bijector": "Bijector PowerTransform Exp ScalarAffine Softplus GumbelCDF Invert",
    "bnn_layers": "ConvReparam DenseReparam DenseLocalReparam NormalPrior NormalPosterior WithBNNLossCell",
    "dpn": "VAE ConditionalVAE",
    "infer": "SVI ELBO",
    "toolbox": "UncertaintyEvaluation VAEAnomalyDetection",
    "toolbox.uncertainty_evaluation": "UncertaintyEvaluation",
    "toolbox.anomaly_detection": "VAEAnomalyDetection",
    "transforms": "TransformToBNN",
    "transforms.transform_bnn": "TransformToBNN",
}

submodules(globals(), _NAMES, "probabilistic programming comes in a later version.")

__all__ = [path for path in _NAMES if "." not in path]
