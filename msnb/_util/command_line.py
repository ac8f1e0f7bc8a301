"""Command line of `python -m msnb`. It prints help, versions and usage errors before the package loads JAX.

`python -m msnb` imports the package, and with it this module, before it runs `__main__`. The import therefore parses
the command line: it prints help, versions or a usage error and ends the process. For other commands, Ctrl-C ends the
process without a traceback until JAX is loaded. If the process is not `python -m msnb`, the import has no effect.
"""

import argparse
import contextlib
import difflib
import importlib.metadata
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator

from msnb._util.huge_pages import restart_with_huge_pages
from msnb._version import __version__

# folders of the executed quick start, of the copies that `lab` opens, and of the tutorials
DEMO, LAB, TUTORIALS = "msnb-demo", "msnb-lab", "msnb-tutorials"
# commands that run networks, or start kernels that do
_COMPUTING = ("demo", "graph", "lab", "launch", "profile", "run")
_PAGES = {
    "graph": ("the graph of its largest program", ".html, .svg, .dot or .ir"),
    "profile": ("where the time of its steps goes", ".html, .svg, .md, .txt or .json"),
}


def parse(arguments: list[str] | None = None) -> Namespace:
    """Parse the command line. In the result, `command` is the name of the command and `rest` has JupyterLab's options.

    Args:
        arguments (list[str]): Arguments after `python -m msnb`. Default: None, those of this process.

    Raises:
        SystemExit: With status 0 after help or the version was printed, with 2 after a usage error was printed.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    parser, names = _make_parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in names:
        near = difflib.get_close_matches(arguments[0], names, 1)
        question = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
        parser.error(f"there is no command {arguments[0]!r}: {question}")
    own_arguments, script_arguments = _split_script_arguments(arguments)
    options, rest = parser.parse_known_args(own_arguments)
    if script_arguments is not None:
        options.arguments = script_arguments
    if rest and options.command != "lab":
        answer = f"{_get_program_name()} {options.command} --help says what it takes"
        if options.command in _PAGES:
            answer = f"if it is the script's, put -- before it: -- {' '.join(rest)}"
        parser.error(f"{options.command} takes no {' '.join(rest)}; {answer}")
    options.rest = rest
    return options


def _get_program_name():
    """Return the name by which this command was called."""
    return "msnb" if _is_msnb_executable(sys.argv) else "python -m msnb"


def _is_msnb_executable(argv):
    return bool(argv) and os.path.basename(argv[0]).removesuffix(".exe") == "msnb"


def _split_script_arguments(arguments):
    """Split the arguments at ``--`` into those of msnb and those of the script.

    Commands that do not accept options after the script are not split: their second result is None.
    """
    if arguments[:1] not in ([name] for name in _PAGES):
        return arguments, None
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def _add_api_option(command):
    command.add_argument(
        "--api",
        type=int,
        choices=(1, 2),
        help="1: names mean what they mean in MindSpore r1.1; 2: what they mean in MindSpore 2, where the two disagree "
        "(default: the environment variable MSNB_API, or the names that the script uses)",
    )


def _make_parser():
    """Create the parser. Returns (parser, names of the commands)."""
    parser = argparse.ArgumentParser(
        prog=_get_program_name(),
        description="Run MindSpore programs on JAX, open the tutorials, and write graphs and profiles as pages.",
    )
    parser.add_argument("--version", action="version", version=f"msnb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_tutorial_commands(commands)
    _add_script_commands(commands)
    _add_page_commands(commands)
    _add_notebook_commands(commands)
    _add_information_commands(commands)
    return parser, list(commands.choices)


def _add_tutorial_commands(commands):
    demo = commands.add_parser("demo", help="run the quick-start notebook without a browser")
    demo.add_argument("--out", default=DEMO, help="folder for the executed notebook (default: %(default)s)")
    demo.add_argument("--timeout", type=int, default=600, help="seconds that one cell may take (default: %(default)s)")

    commands.add_parser(
        "lab",
        usage="%(prog)s [OPTION ...]",
        help="open the tutorials in JupyterLab; options are JupyterLab's",
        description=f"Open JupyterLab on an index of the tutorials in the folder {LAB}, beside copies of them; one "
        "that is there already is not changed. Options are JupyterLab's: `jupyter lab --help` lists them.",
    )

    tutorials = commands.add_parser(
        "tutorials",
        help="copy the tutorial notebooks into a folder",
        description="Copy the tutorial notebooks of this installation into a folder and list them. A file that is "
        "there already is not changed.",
    )
    tutorials.add_argument(
        "folder", metavar="FOLDER", nargs="?", default=TUTORIALS, help="folder to copy to (default: %(default)s)"
    )


def _add_script(command):
    command.add_argument("script", metavar="SCRIPT", help="a Python file that imports mindspore")


def _add_script_and_arguments(command):
    _add_script(command)
    command.add_argument(
        "arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="arguments of the script"
    ).required = False


def _add_script_commands(commands):
    run = commands.add_parser(
        "run", usage="%(prog)s [--api 1|2] SCRIPT [ARGUMENT ...]", help="run a MindSpore script without changes"
    )
    _add_api_option(run)
    _add_script_and_arguments(run)

    launch = commands.add_parser(
        "launch",
        usage="%(prog)s [-n PROCESSES] [--of ALL --first RANK --coordinator HOST:PORT] [--api 1|2] SCRIPT ...",
        help="run a MindSpore script in several processes that train together",
        description="Run a MindSpore script in several processes of this machine. On several machines the same is "
        "called on each, with the number of all processes, the first one's here, and where process 0 runs.",
    )
    _add_api_option(launch)
    launch.add_argument("-n", "--processes", type=int, default=2, help="how many start here (default: %(default)s)")
    launch.add_argument("--of", type=int, help="how many there are on all machines (default: as many as here)")
    launch.add_argument("--first", type=int, default=0, help="rank of the first one here (default: %(default)s)")
    launch.add_argument("--coordinator", metavar="HOST:PORT", help="where process 0 runs (default: here, a free port)")
    _add_script_and_arguments(launch)


def _add_page_commands(commands):
    """Add the commands that run a script and write a page about it."""
    for name, (what, forms) in _PAGES.items():
        page = commands.add_parser(
            name,
            usage="%(prog)s [--api 1|2] SCRIPT [-o PAGE] "
            f"{'[--name NAME] ' if name == 'graph' else ''}[-- ARGUMENT ...]",
            help=f"run a MindSpore script and write {what} as a page",
            description=f"Run a MindSpore script to its end and write {what} as a page that needs no network.",
            epilog="Arguments after -- are those of the script.",
        )
        _add_api_option(page)
        _add_script(page)
        page.add_argument(
            "-o",
            "--output",
            metavar="PAGE",
            help=f"file to write: {forms} (default: SCRIPT-{name}.html in this folder)",
        )
        if name == "graph":
            which = "name of a program that ran, or a part of it (default: the largest)"
            page.add_argument("--name", metavar="NAME", help=which)


def _add_notebook_commands(commands):
    """Add the commands that write a stored notebook as a page."""
    for name, form, further in (
        ("html", "one HTML file", ""),
        (
            "slides",
            "slides in one HTML file",
            " A slide begins where Jupyter's slide types say so, or at each heading. Arrow keys go on and back.",
        ),
    ):
        page = commands.add_parser(
            name,
            help=f"write a stored notebook as {form}",
            description=f"Write a stored notebook as {form} that needs no network, with formulas as MathML. No cell "
            "is run. If Jupyter does not trust the notebook, scripts in outputs and Markdown are left out, and the "
            f"views of msnb stay live.{further}",
        )
        page.add_argument("--trust", action="store_true", help="keep the scripts of the notebook")
        page.add_argument("notebook", metavar="NOTEBOOK", help="a file that ends in .ipynb")
        page.add_argument("-o", "--output", metavar="PAGE", help="file to write (default: beside the notebook)")


def _add_information_commands(commands):
    check = commands.add_parser(
        "check",
        help="list the names that a MindSpore program uses and msnb lacks, without running it",
        description="Read a program and list, with their lines, the names and arguments of MindSpore that msnb lacks, "
        "the MindSpore that it was written for, and the names with another meaning there. The program is not run.",
    )
    check.add_argument("path", metavar="FILE", help="a Python file, a notebook, or a folder of them")

    stubs = commands.add_parser("stubs", help="write type stubs, so that an editor resolves `import mindspore`")
    stubs.add_argument(
        "folder",
        metavar="FOLDER",
        help="folder for the stubs; the type checker needs its name (pyright: stubPath)",
    )

    commands.add_parser("devices", help="list the devices that JAX finds, with their memory")
    commands.add_parser("version", help="print versions, for a bug report")


def print_versions() -> None:
    """Print the versions of msnb and of its dependencies."""
    print(f"{'msnb':11}{__version__}")
    for name in ("jax", "jaxlib", "numpy", "ipython", "jupyterlab"):
        try:
            print(f"{name:11}{importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name:11}not installed")
    print(f"{'python':11}{sys.version.split()[0]} on {sys.platform}")


@contextlib.contextmanager
def ending_with_reader() -> Iterator[None]:
    """End the process with status 141 and no traceback if the reader of its output has ended, as in a pipe to ``head``.

    141 is the status that a shell reports for other programs whose reader has ended.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()  # here, because Python reports a failure of its own flush at exit
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer goes there
        sys.exit(141)


def command_arguments(argv: list[str], original_argv: list[str]) -> list[str] | None:
    """Return the arguments of the command, or None if the process is not `python -m msnb`.

    Args:
        argv (list[str]): `sys.argv`. Its first item is "-m" while Python searches for the module to run.
        original_argv (list[str]): `sys.orig_argv`, with Python's own options.
    """
    if argv[:1] == ["-m"]:
        python_options = original_argv[: len(original_argv) - len(argv) + 1]
        return argv[1:] if python_options[-2:] == ["-m", "msnb"] or python_options[-1:] == ["-mmsnb"] else None
    return argv[1:] if _is_msnb_executable(argv) else None


def restore_interrupts() -> None:
    """Restore Python's handler of Ctrl-C, which this module has replaced until the package is loaded."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_arguments = command_arguments(sys.argv, sys.orig_argv)
if _arguments is not None:
    with ending_with_reader():
        _command = parse(_arguments).command
        if _command == "version":
            print_versions()
            sys.exit()
        if _command in _COMPUTING:
            restart_with_huge_pages()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # While JAX is loaded Ctrl-C ends the process without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
