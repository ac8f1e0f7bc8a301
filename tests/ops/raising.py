"""Whether an error comes of a sentence of msnb, or of somebody else."""

import linecache

import msnb


def raised_here(error):
    """Whether a `raise` of msnb's says it."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    name = at.tb_frame.f_code.co_filename
    return name.startswith(msnb.__path__[0]) and "raise" in linecache.getline(name, at.tb_lineno)
