"""What a magic is given: options, of which the nearest is named where there is none of that name, and expressions."""

import ast
import difflib
import linecache
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


def expression(magic: str, text: str) -> ast.expr:
    """The tree of the expression that a magic is given; a traceback shows it as the line of a file of the magic's name.

    Args:
        magic (str): The magic, such as "%ms_ir".
        text (str): The expression.

    Raises:
        UsageError: If it is none.
    """
    name = f"<{magic}>"
    try:
        tree = ast.parse(text, name, "eval").body
    except SyntaxError as error:
        raise UsageError(f"{magic}: {error.msg}: {text}") from None
    show_line(magic, text)
    return tree


def show_line(magic: str, text: str) -> None:
    """Let tracebacks show `text` as the one line of the file ``<magic>``."""
    name = f"<{magic}>"
    linecache.cache[name] = len(text), None, [f"{text}\n"], name
