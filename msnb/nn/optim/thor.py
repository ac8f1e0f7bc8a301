"""`thor`, the second-order optimizer of later MindSpore releases: imports, and comes later."""

__all__ = ["thor"]


def thor(*args, **kwargs):
    """Second-order optimizer THOR; comes later.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("nn.thor is not available in msnb yet; use nn.Momentum, nn.Lamb or another optimizer.")
