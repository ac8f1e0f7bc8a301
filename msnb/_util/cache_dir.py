"""The folder for what can be made again: data sets that were unpacked, programs that were compiled."""

import os
import sys
from pathlib import Path


def cache_folder():
    """MSNB_CACHE where the environment has it, else msnb's part of the user's cache folder; it may not be there yet."""
    if os.environ.get("MSNB_CACHE"):
        return Path(os.environ["MSNB_CACHE"]).absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base, "msnb")
