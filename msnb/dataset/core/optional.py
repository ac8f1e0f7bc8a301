"""Libraries that are imported when the first transform needs them, so that importing the data engine stays cheap."""

import functools
import importlib
from types import ModuleType


@functools.cache
def cv2():
    """OpenCV, set to give MindSpore's bits: without Intel's primitives, on the caller's thread."""
    try:
        module = importlib.import_module("cv2")
    except ImportError:
        raise ImportError("This transform needs OpenCV: pip install 'opencv-python-headless<5'.") from None
    if hasattr(module, "ipp"):
        module.ipp.setUseIPP(False)
    module.setNumThreads(0)  # the pipeline has threads of its own
    return module


@functools.cache
def pil():
    """The module ``PIL.Image``."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError("This transform needs Pillow: pip install pillow.") from None


@functools.cache
def pil_module(name):
    """A module of Pillow's, ``pil_module("ImageOps")``."""
    pil()
    return importlib.import_module(f"PIL.{name}")


def need(name: str, what: str, extra: str) -> ModuleType:
    """Import `name` or say which extra brings it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"{what} needs the package {name!r}: pip install 'msnb[{extra}]' or pip install {name}."
        ) from None
