"""`cache_folder`: the folder of unpacked datasets and compiled programs."""

import os
import sys
from pathlib import Path


def cache_folder():
    """Return the folder that MSNB_CACHE names, else `msnb` in the user's cache folder. The result may not exist yet."""
    if os.environ.get("MSNB_CACHE"):
        return Path(os.environ["MSNB_CACHE"]).absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base, "msnb")
