"""`%ms_help`: list the magics of msnb with their options, which are read from their argument parsers."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from msnb.notebook.display.html import escape, framed


class Option(NamedTuple):
    """Documentation of one option of a magic.

    Attributes:
        names (str): Spellings of the option, such as "-n STEPS, --steps STEPS".
        purpose (str): Help text of the option.
    """

    names: str
    purpose: str


class Magic(NamedTuple):
    """Documentation of one magic.

    Attributes:
        name (str): Spellings of the magic, such as "%ms_ir" or "%ms_profile, %%ms_profile".
        text (str): Docstring of the magic.
        options (tuple[Option]): Options of the magic.
    """

    name: str
    text: str
    options: tuple[Option, ...]

    @property
    def summary(self) -> str:
        """The first paragraph of the magic's documentation, in one line."""
        return " ".join(self.text.partition("\n\n")[0].split())


def list_magics(shell: Any) -> list[Magic]:
    """Return the magics of msnb that a shell has, by name."""
    functions: dict[str, Callable[..., Any]] = {}
    for kind, prefix in (("line", "%"), ("cell", "%%")):
        for name, function in shell.magics_manager.magics[kind].items():
            if str(getattr(function, "__module__", "")).startswith("msnb."):
                functions[prefix + name] = function
    named = {}  # a function that is both line magic and cell magic is listed once
    for name in sorted(functions, key=lambda name: (name.strip("%"), len(name))):
        named.setdefault((name.strip("%"), functions[name]), []).append(name)
    return [_describe_magic(", ".join(names), function) for (_, function), names in named.items()]


def _describe_magic(name, function):
    parser = getattr(function, "parser", None)
    actions = parser._actions if parser is not None else ()
    options = tuple(_describe_option(action) for action in actions if action.option_strings)
    text = inspect.getdoc(getattr(function, "__wrapped__", None)) if parser is None else parser.description
    return Magic(name, inspect.cleandoc(text or inspect.getdoc(function) or ""), options)


def _describe_option(action):
    value = ""
    if action.nargs != 0:
        value = " " + str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
    return Option(", ".join(action.option_strings) + value, " ".join((action.help or "").split()))


class MagicTable:
    """A list of magics with their options, displayed as text or as an HTML table.

    Args:
        magics (list[Magic]): The magics.
        note (str): A sentence below the table.
    """

    def __init__(self, magics: list[Magic], note: str) -> None:
        self.magics, self.note = magics, note

    def __repr__(self) -> str:
        lines = []
        for magic in self.magics:
            lines.append(f"{magic.name}\n    {magic.summary}")
            lines += [f"        {option.names}  {option.purpose}" for option in magic.options]
        return "\n".join([*lines, "", self.note])

    def _repr_html_(self) -> str:
        rows = []
        for magic in self.magics:
            rows.append(f"<tr><th scope=row><b>{escape(magic.name)}</b></th><td>{mark_code(magic.summary)}</td></tr>")
            rows += [
                f'<tr class="option"><th scope=row>{escape(option.names)}</th><td>{mark_code(option.purpose)}</td></tr>'
                for option in magic.options
            ]
        note = f'<div class="note">{mark_code(self.note)}</div>'
        return framed(f'{_STYLE}<table class="help">{"".join(rows)}</table>{note}', "magics of msnb")


_STYLE = (
    "<style>.msnb .help :is(th,td){text-align:left!important;vertical-align:top;white-space:normal;opacity:1}"
    ".msnb .help th{white-space:nowrap}.msnb .help td{font-family:var(--jp-ui-font-family,system-ui,sans-serif)}"
    ".msnb .help .option th{padding-left:24px!important;font-weight:400}.msnb .help .option{opacity:.8}"
    ".msnb .note{white-space:pre-wrap}</style>"
)


def mark_code(text: str) -> str:
    """Return text as HTML, with text between backquotes as code."""
    pieces = escape(text).replace("``", "`").split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))


@magics_class
class HelpMagics(Magics):
    """The magic `%ms_help`."""

    @line_magic
    def ms_help(self, line: str) -> Any:
        """`%ms_help` lists the magics of msnb with their options; `%ms_help ms_profile` describes one in detail."""
        magics = list_magics(self.shell)
        requested = line.strip().lstrip("%")
        if not requested:
            note = "`%ms_help NAME` says all about one of them; `dir(msnb)` lists the functions, such as `msnb.view`."
            return MagicTable(magics, note)
        matches = [magic for magic in magics if magic.name.split("%")[-1] in (requested, f"ms_{requested}")]
        if not matches:
            names = ", ".join(dict.fromkeys(magic.name for magic in magics))
            raise UsageError(f"%ms_help: there is no magic {line.strip()!r} of msnb; there are {names}.")
        return MagicTable(matches, "\n\n".join(magic.text.partition("\n\n")[2] for magic in matches).strip())


def install(shell: Any) -> Any:
    """Register the magic with a shell. Return the undo function."""
    shell.register_magics(HelpMagics(shell))
    return lambda: shell.magics_manager.magics["line"].pop("ms_help", None)
