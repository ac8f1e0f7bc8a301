"""The version of the MindSpore whose interface a program has, at MindSpore's path `mindspore.version`."""

from msnb.core.operator.api_generations import AT, VERSIONS

__version__ = VERSIONS[1]
AT["msnb.version", "__version__"] = VERSIONS[2]

__all__ = ["__version__"]
