"""Parsing of magic arguments: options with spelling suggestions, and expressions."""

import ast
import difflib
import linecache
import re
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import parse_argstring


def parse(magic: Any, line: str) -> Any:
    """Parse the options of a magic that `magic_arguments` declares; return a namespace.

    Raises:
        UsageError: If an option is unknown or a value is invalid. The message suggests the most similar option.
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
    """Parse the expression that follows a magic. Tracebacks show it as a line of a file named after the magic.

    Args:
        magic (str): The magic, such as "%ms_ir".
        text (str): The expression.

    Raises:
        UsageError: If `text` is not an expression.
    """
    name = f"<{magic}>"
    try:
        tree = ast.parse(text, name, "eval").body
    except SyntaxError as error:
        raise UsageError(f"{magic}: {error.msg}: {text}") from None
    show_line(magic, text)
    return tree


def evaluate(magic: str, text: str, shell: Any) -> Any:
    """Return the value of an expression among the arguments of a magic, which may be quoted.

    Raises:
        UsageError: If `text` is not an expression.
    """
    tree = expression(magic, text.strip("'\""))
    return eval(compile(ast.Expression(tree), f"<{magic}>", "eval"), shell.user_ns)


def show_line(magic: str, text: str) -> None:
    """Register `text` as the only line of the file ``<magic>``, for tracebacks."""
    name = f"<{magic}>"
    linecache.cache[name] = len(text), None, [f"{text}\n"], name
