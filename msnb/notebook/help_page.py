"""The help page of JupyterLab: links to the tutorials, functions, magics, keyboard shortcuts."""

import json
import sys
from html import escape
from importlib import import_module
from typing import Any

from IPython import get_ipython
from IPython.display import HTML, display

from msnb._util.tutorials import Tutorial, format_index, tutorial_paths
from msnb._version import __version__
from msnb.notebook.display.html import framed
from msnb.notebook.magic_help import MagicTable, list_magics, mark_code

# Keys of the graph view. The view lists them when the user presses `?`.
_KEYS = (
    ("Enter", "select a box; open or close a scope"),
    ("arrow keys", "go to the next box; with Shift, move the graph"),
    ("+ and −", "zoom"),
    ("0", "show all of the graph"),
    ("/", "search"),
    ("Escape", "forget the search, then the selection"),
    ("n, p, N, P, i, o, ], [, m, r, s, c", "move the cursor of a paused step, see `%ms_help ms_debug`"),
    ("?", "show all keys"),
)
_STYLE = (
    "<style>.msnb .help-page{max-width:960px;padding:8px 16px}.msnb .help-page h2{font-size:17px;margin:18px 0 6px}"
    ".msnb .help-page :is(th,td){text-align:left!important;vertical-align:top;white-space:normal}"
    ".msnb .help-page th{opacity:1;white-space:nowrap}.msnb .help-page a{cursor:pointer;text-decoration:underline}"
    ".msnb .help-page img{image-rendering:auto;height:auto}"
    ".msnb .help-page td{font-family:var(--jp-ui-font-family,system-ui,sans-serif)}</style>"
)


def read_tutorial(name: str) -> dict[str, Any]:
    """Return a tutorial as JSON.

    Args:
        name (str): Name of its file, one of `tutorial_paths`.

    Raises:
        FileNotFoundError: If there is none of that name.
    """
    paths = tutorial_paths()
    if name not in paths:
        raise FileNotFoundError(f"There is no tutorial {name!r}; there are {', '.join(paths)}.")
    return json.loads(paths[name].read_text(encoding="utf-8"))


def own_functions() -> dict[str, str]:
    """Return the functions that msnb adds to MindSpore's: {name: one sentence}."""
    msnb = sys.modules["msnb"]  # no import needed: Python imports a package before its modules
    further = ("inspect_gradients", "GradientMonitor", "to_source", "load_onnx", "custom_operator", "pallas_operator")
    modules = {**msnb._VIEWS, **{name: msnb._LATER[name] for name in further}}
    functions = {}
    for name, module in modules.items():
        doc = getattr(import_module(module), name).__doc__ or ""  # lazy, to spare other sessions these modules
        functions[name] = " ".join(doc.strip().partition("\n\n")[0].split())
    return functions


def _format_table_rows(pairs):
    return "".join(f"<tr><th scope=row>{left}</th><td>{mark_code(right)}</td></tr>" for left, right in pairs)


def _format_command(tutorial: Tutorial) -> str:
    arguments = escape(json.dumps({"name": tutorial.name}), quote=True)
    command = f'data-commandlinker-command="msnb:open-tutorial" data-commandlinker-args="{arguments}"'
    return f'role="button" tabindex="0" {command}'


def page() -> str:
    """Return the page as HTML."""
    functions = [(f"<code>msnb.{escape(name)}</code>", text) for name, text in own_functions().items()]
    magics = MagicTable(list_magics(get_ipython()), "")._repr_html_()
    keys = [(f"<kbd>{escape(key)}</kbd>", text) for key, text in _KEYS]
    return framed(
        f'{_STYLE}<div class="help-page"><h1>msnb {escape(__version__)}</h1>'
        "<p>Begin a notebook with <code>%load_ext msnb</code>, and a cell of a MindSpore program with "
        "<code>%%mindspore</code>.</p>"
        f"<h2>Tutorials</h2><p>A click opens a copy of your own.</p>{format_index(_format_command)}"
        f"<h2>Functions</h2><table>{_format_table_rows(functions)}</table><h2>Magics</h2>{magics}"
        f"<h2>Keys in a graph</h2><table>{_format_table_rows(keys)}</table></div>",
        "msnb: tutorials, magics, keys",
    )


def show() -> None:
    """Display the page."""
    display(HTML(page()))
