"""Lazy imports of optional libraries, so that importing the data engine stays cheap."""

import functools
import importlib
from types import ModuleType


@functools.cache
def cv2():
    """Return OpenCV, configured for the same results as MindSpore: without Intel's primitives, on the caller's
    thread."""
    try:
        module = importlib.import_module("cv2")
    except ImportError:
        raise ImportError("This transform needs OpenCV: pip install 'opencv-python-headless<5'.") from None
    if hasattr(module, "ipp"):
        module.ipp.setUseIPP(False)
    module.setNumThreads(0)  # the pipeline has its own threads
    return module


@functools.cache
def pil():
    """Return the module ``PIL.Image``."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError("This transform needs Pillow: pip install pillow.") from None


@functools.cache
def pil_module(name):
    """Return a module of Pillow, such as ``pil_module("ImageOps")``."""
    pil()
    return importlib.import_module(f"PIL.{name}")


def need(name: str, feature: str, extra: str) -> ModuleType:
    """Import the module `name`. Raise an error that names the pip extra to install if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"{feature} needs the package {name!r}: pip install 'msnb[{extra}]' or pip install {name}."
        ) from None
