"""The algorithms of convolutions on a GPU, which XLA chooses."""

from msnb import context
from msnb.common.kinds import Str, checked

__all__ = ["conv_dgrad_algo", "conv_fprop_algo", "conv_wgrad_algo"]


@checked
def conv_fprop_algo(mode: Str) -> None:
    """Choose the algorithm of convolutions. It has no effect: XLA chooses.

    Args:
        mode (str): Name of the algorithm.

    Raises:
        TypeError: If `mode` is not a str.
    """
    context.set_context(gpu_config={"conv_fprop_algo": mode})


@checked
def conv_dgrad_algo(mode: Str) -> None:
    """Choose the algorithm of gradients of inputs of convolutions. It has no effect: XLA chooses.

    Args:
        mode (str): Name of the algorithm.

    Raises:
        TypeError: If `mode` is not a str.
    """
    context.set_context(gpu_config={"conv_dgrad_algo": mode})


@checked
def conv_wgrad_algo(mode: Str) -> None:
    """Choose the algorithm of gradients of weights of convolutions. It has no effect: XLA chooses.

    Args:
        mode (str): Name of the algorithm.

    Raises:
        TypeError: If `mode` is not a str.
    """
    context.set_context(gpu_config={"conv_wgrad_algo": mode})
