"""Names that MindSpore 2 calls deprecated, with their successors."""

import json
from functools import cache
from importlib import resources

from msnb.check.uses import Use


@cache
def load_deprecations() -> dict[str, tuple[str, str]]:
    """Return {name: (the version since when it is deprecated, its successor or an empty string)}."""
    text = resources.files("msnb.check").joinpath("deprecated.json").read_text(encoding="utf-8")
    return {name: (version, successor) for name, (version, successor) in json.loads(text).items()}


def deprecated(uses: list[Use]) -> dict[str, list[Use]]:
    """Return {sentence: uses} for the names that MindSpore 2 calls deprecated."""
    uses_of: dict[str, list[Use]] = {}
    for use in uses:
        version, successor = load_deprecations().get(use.name, ("", ""))
        if version:
            advice = f"; its successor is {successor.removeprefix('mindspore.')}" if successor else ""
            name = use.name.removeprefix("mindspore.")
            uses_of.setdefault(f"{name} is deprecated since MindSpore {version}{advice}.", []).append(use)
    return uses_of
