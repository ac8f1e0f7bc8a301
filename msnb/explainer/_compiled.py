"""Compiled functions of a network and its activation. They are stored with the network, so each is traced once for a
shape."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.program.program_cache import programs_of
from msnb.core.support.weak_identity import ObjectKey
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.jit import ms_function
from msnb.exchange.tracing import evaluating
from msnb.nn.cell import Cell

_BATCH = 32  # images in one call, unless a caller has another number


def compile_for(
    network: Cell, activation_fn: Cell | None, make: Callable[[Any], Callable[..., Any]], count: int
) -> Any:
    """Return ``make(probabilities)`` as a compiled function for `count` images; the same one for the same arguments.

    `probabilities` is a function (N, C, H, W) -> (N, K). It averages over further axes, which the outputs of a fully
    convolutional network have.
    """
    activation_key = None if activation_fn is None else ObjectKey(activation_fn)
    key = ("explainer", make.__module__, make.__qualname__, activation_key, count)
    extras = programs_of(network).extras
    if key not in extras:

        def compute_probabilities(images):
            outputs = network(images)
            if not isinstance(outputs, Tensor) or outputs.ndim < 2:
                raise ValueError(
                    f"The network should return one Tensor (N, number of labels), but got {describe(outputs)}."
                )
            if activation_fn is not None:
                outputs = activation_fn(outputs)
            while outputs.ndim > 2:
                outputs = outputs.mean(outputs.ndim - 1)
            return outputs

        extras[key] = ms_function(make(compute_probabilities))
    return extras[key]


def _return_probabilities(probabilities):
    def predict_images(images):
        return probabilities(images)

    return predict_images


def predict(network: Cell, activation_fn: Cell | None, images: np.ndarray, size: int | None = None) -> np.ndarray:
    """Return the probabilities float32[N, K] of images (N, C, H, W), or the logits if `activation_fn` is None.

    The images are computed in batches of `size`, by default of at most 32. The last batch is padded.
    """
    size = size or min(len(images), _BATCH)
    function = compile_for(network, activation_fn, _return_probabilities, size)
    outputs = []
    with evaluating(network):
        for start in range(0, len(images), size):
            batch = np.asarray(images[start : start + size], np.float32)
            outputs.append(function(Tensor(pad(batch, size))).asnumpy()[: len(batch)])
    return np.concatenate(outputs)


def pad(array: np.ndarray, length: int) -> np.ndarray:
    """Return the array with zeros appended along its first axis."""
    return np.concatenate([array, np.zeros((length - len(array), *array.shape[1:]), array.dtype)])
