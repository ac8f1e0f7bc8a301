"""Check of the versions of Python and JAX: importing this module logs one line if msnb is not tested with them.

CI runs all tests with the oldest supported versions and the unit tests with the newest. `pyproject.toml` has the same
bounds, but they do not apply if msnb is installed without its dependencies, or if JAX is upgraded later.
"""

import importlib.metadata
import sys

from msnb import log
from msnb._version import __version__

PYTHON = (3, 11), (3, 13)
JAX = (0, 10), (0, 12)


def describe_untested(python, jax):
    """Return a warning about versions with which msnb is not tested, or None.

    Args:
        python (tuple[int]): Major and minor version.
        jax (str): The version of the installed package, such as "0.4.30".
    """
    release = tuple(int(part) for part in jax.split(".")[:2])
    cure = ""
    if not JAX[0] <= release <= JAX[1]:  # for example on Colab, where JAX is installed before msnb
        (first, minor), (last, beyond) = JAX[0], JAX[1]
        cure = f' pip install "jax>={first}.{minor},<{last}.{beyond + 1}" brings one that is; then start Python anew.'
    elif PYTHON[0] <= tuple(python) <= PYTHON[1]:
        return None
    first, last = ("Python {}.{} with JAX {}.{}".format(*PYTHON[end], *JAX[end]) for end in (0, 1))
    return (
        f"msnb {__version__} is tested from {first} to {last}, and this is Python {python[0]}.{python[1]} "
        f"with JAX {jax}.{cure} GLOG_v=3 silences this line."
    )


_sentence = describe_untested(sys.version_info[:2], importlib.metadata.version("jax"))
if _sentence:
    log.warning("%s", _sentence)
