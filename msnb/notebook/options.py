"""The options of a magic: read from its line, and the nearest one named where there is none of that name."""

import difflib
import re
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import parse_argstring


def parse(magic: Any, line: str) -> Any:
    """The options that `line` gives to a magic made by `magic_arguments`, a namespace.

    Raises:
        UsageError: If there is no such option, with the one that is spelt most alike, or a value does not fit.
    """
    try:
        return parse_argstring(magic, line)
    except UsageError as error:
        unknown = re.match(r"unrecognized arguments: (-\S+)", str(error))
        options = magic.parser._option_string_actions
        near = unknown and difflib.get_close_matches(unknown[1], options, 1)
        if not near:
            raise
        raise UsageError(f"{error}. Did you mean {near[0]}?") from None
