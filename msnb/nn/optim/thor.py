"""`thor`, the second-order optimizer of later MindSpore releases: imports, and comes later."""

from typing import Any, NoReturn

__all__ = ["thor"]


def thor(*args: Any, **kwargs: Any) -> NoReturn:
    """Second-order optimizer THOR; comes later.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("nn.thor is not available in msnb yet; use nn.Momentum, nn.Lamb or another optimizer.")
