"""Two sets of numbers for one network: those of PyTorch's libraries, and those of MindSpore's zoo."""

from typing import TypeVar

T = TypeVar("T")


def choose(variant: str, torch: T, mindspore: T) -> T:
    """Return the value of a variant.

    Raises:
        ValueError: If `variant` is neither "torch" nor "mindspore".
    """
    if variant not in ("torch", "mindspore"):
        raise ValueError(f"'variant' should be 'torch' or 'mindspore', but got {variant!r}.")
    return torch if variant == "torch" else mindspore
