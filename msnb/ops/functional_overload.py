"""Functions at MindSpore 2's path `mindspore.ops.functional_overload`: those of mint, or of ops where mint has none."""

from typing import Any

from msnb.common.missing import asked


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        return asked(__name__, name)
    from msnb.mint._generated import find_overload  # lazy, to spare others the import of mint

    value = find_overload(name)
    return asked(__name__, name) if value is None else value
