"""`thor`, the second-order optimizer of later MindSpore releases. It can be imported, but is not implemented."""

from typing import Any, NoReturn

__all__ = ["thor"]


def thor(*args: Any, **kwargs: Any) -> NoReturn:
    """Second-order optimizer THOR, which is not implemented.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("nn.thor is not available in msnb yet; use nn.Momentum, nn.Lamb or another optimizer.")
