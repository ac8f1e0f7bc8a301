"""`format_bytes`: a number of bytes as text."""


def format_bytes(octets: float) -> str:
    """Format a number of bytes with a binary unit and three digits."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if octets >= factor:
            return f"{octets / factor:.3g} {unit}"
    return f"{octets} B"
