"""Probabilistic programming: its module paths and names are here, the classes themselves come in a later version."""

import sys
from types import ModuleType

from msnb.nn.cell import Cell

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


def _class_to_come(name, module):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"{module.replace('msnb', 'mindspore', 1)}.{name} is not available yet.")

    doc = f"{name}: not available yet, raises NotImplementedError."
    return type(name, (Cell,), {"__init__": __init__, "__doc__": doc, "__module__": module})


def _module(path, names):
    module = ModuleType(f"{__name__}.{path}", "Classes that come in a later version.")
    module.__path__ = []
    module.__all__ = names.split()
    for name in module.__all__:
        setattr(module, name, _class_to_come(name, module.__name__))
    sys.modules[module.__name__] = module
    parent, _, last = module.__name__.rpartition(".")
    setattr(sys.modules[parent], last, module)


for _path, _classes in _NAMES.items():
    _module(_path, _classes)

__all__ = [path for path in _NAMES if "." not in path]
