"""MindSpore Hub without its server: `mindspore_hub.load` returns networks of `msnb.model_zoo`."""

import inspect
import re
from typing import Any

from msnb import log, nn
from msnb.model_zoo import _load

__all__ = ["load"]

_OTHER_NAMES = {"lenet": "lenet5", "mobilenetv3": "mobilenet_v3_large", "bert": "bert_base", "gpt": "gpt2"}


def load(
    name: str,
    *args: Any,
    source: str = "gitee",
    pretrained: bool = True,
    force_reload: bool = True,
    **kwargs: Any,
) -> nn.Cell:
    """Return the network of a name of MindSpore Hub. Nothing is downloaded, see `msnb.model_zoo.load`.

    Args:
        name (str): Name such as "mindspore/1.1/mobilenetv2_imagenet2012", whose last part begins with the network.
        args (tuple): Positional arguments of the network.
        source (str): Has no effect. Default: "gitee".
        pretrained (bool): Load weights. Default: True.
        force_reload (bool): Has no effect. Default: True.
        kwargs (dict): Arguments of the network, such as ``num_classes=10``.

    Returns:
        Cell, the network.

    Raises:
        ValueError: If the zoo has no such network.
        FileNotFoundError: If there are no weights.

    Examples:
        >>> import msnb
        >>> net = msnb.model_zoo.hub.load("mindspore/1.1/lenet_mnist")
    """
    why = "networks come from msnb.model_zoo, and nothing is downloaded"
    log.unused("mindspore_hub.load", why, source=source != "gitee", force_reload=not force_reload)
    network = _find_network(name)
    parameters = inspect.signature(_load.NETWORKS[network])
    arguments = {**parameters.bind_partial(*args).arguments, **kwargs}
    if not pretrained and "variant" in parameters.parameters:
        arguments.setdefault("variant", "mindspore")
    return _load.load(network, pretrained, **arguments)


def _find_network(name):
    """Return the name in the zoo of the longest beginning of the last part."""
    names = {re.sub(r"_", "", network): network for network in _load.NETWORKS} | _OTHER_NAMES
    words = name.rpartition("/")[2].lower().split("_")
    for count in range(len(words), 0, -1):
        if "".join(words[:count]) in names:
            return names["".join(words[:count])]
    raise ValueError(f"The zoo has no network {name!r}. It has {', '.join(_load.list_networks())}.")
