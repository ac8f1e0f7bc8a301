"""`get_activation`: activation layers by name. The layers are in `_activation/`: softmax, sigmoid_family, relu_family,
shrink."""

from msnb.nn.cell import Cell
from msnb.nn.layer._activation import relu_family, shrink, sigmoid_family, softmax
from msnb.nn.layer._activation.relu_family import *  # noqa: F403
from msnb.nn.layer._activation.relu_family import CELU, ELU, LeakyReLU, PReLU, ReLU, ReLU6, RReLU
from msnb.nn.layer._activation.shrink import *  # noqa: F403
from msnb.nn.layer._activation.shrink import Hardtanh, HShrink, SoftShrink
from msnb.nn.layer._activation.sigmoid_family import *  # noqa: F403
from msnb.nn.layer._activation.sigmoid_family import (
    GELU,
    FastGelu,
    HSigmoid,
    HSwish,
    LogSigmoid,
    Mish,
    Sigmoid,
    SiLU,
    Softsign,
    Tanh,
    Tanhshrink,
)
from msnb.nn.layer._activation.softmax import *  # noqa: F403
from msnb.nn.layer._activation.softmax import LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = ["get_activation"]
__all__ += softmax.__all__
__all__ += relu_family.__all__
__all__ += sigmoid_family.__all__
__all__ += shrink.__all__

_NAMED = (Softmax, LogSoftmax, ReLU, ReLU6, LeakyReLU, PReLU, ELU, Sigmoid, HSigmoid, LogSigmoid, Tanh, Softsign, SiLU)
_NEWER = (Softmin, Softmax2d, RReLU, Hardtanh, CELU, HShrink, SoftShrink, Tanhshrink)
_LAYERS = {layer.__name__.lower(): layer for layer in (*_NAMED, *_NEWER, HSwish, Mish, GELU)}
_LAYERS["fast_gelu"] = FastGelu
_activation = _LAYERS  # MindSpore's name; programs add their layers to this dict


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """
    Return a new activation layer by name.

    Args:
        name (str): "relu", "sigmoid", "softmax", ...: the class name in lower case, or "fast_gelu".
        prim_name (str): Name of the caller, for the error message. Default: None.

    Returns:
        Cell, or None if `name` is None.

    Raises:
        KeyError: If there is no such name.

    Examples:
        >>> print(nn.get_activation("sigmoid"))
        Sigmoid<>
    """
    if name is None:
        return None
    if name not in _LAYERS:
        subject = f"For '{prim_name}', there" if prim_name else "There"
        raise KeyError(f"{subject} is no activation '{name}'; there are {', '.join(sorted(_LAYERS))}.")
    return _LAYERS[name]()
