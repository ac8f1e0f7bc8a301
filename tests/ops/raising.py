"""Distinguish errors that msnb raises from those of other libraries."""

import linecache

import msnb


def raised_here(error):
    """Check that a `raise` of msnb raised the error."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    name = at.tb_frame.f_code.co_filename
    return name.startswith(msnb.__path__[0]) and "raise" in linecache.getline(name, at.tb_lineno)
