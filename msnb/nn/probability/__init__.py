"""Probabilistic programming: distributions, bijectors, Bayesian layers, autoencoders and inference."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # editors do not run `__getattr__`, so they need these imports
    from msnb.nn.probability import bijector, bnn_layers, distribution, dpn, infer, toolbox, transforms

__all__ = ["bijector", "bnn_layers", "distribution", "dpn", "infer", "toolbox", "transforms"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")  # lazy: most programs use few of these modules
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
