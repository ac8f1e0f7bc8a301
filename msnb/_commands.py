"""What `python -m msnb` understands. Help, versions and mistakes are answered before the package loads JAX.

Python imports a package before it runs `python -m` of it. Importing this module therefore ends a process that is the
command and has asked for no more than that, and one that is to go on can be ended by Ctrl-C without a word while JAX is
loaded. To any other process it does nothing.
"""

import argparse
import difflib
import importlib.metadata
import os
import signal
import sys
from argparse import Namespace

from msnb._version import __version__


def parse(arguments: list[str] | None = None) -> Namespace:
    """The command and its options; `command` is its name, `rest` what is JupyterLab's.

    Args:
        arguments (list[str]): What stands behind `python -m msnb`. Default: None, what this process was given.

    Raises:
        SystemExit: After help or the version was printed, with 0; after a mistake was explained, with 2.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    parser, names = _parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in names:
        near = difflib.get_close_matches(arguments[0], names, 1)
        question = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
        parser.error(f"there is no command {arguments[0]!r}: {question}")
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "lab":
        parser.error(
            f"{options.command} takes no {' '.join(rest)}; python -m msnb {options.command} --help says what it takes"
        )
    options.rest = rest
    return options


def _parser():
    """The parser, and the names of its commands."""
    parser = argparse.ArgumentParser(
        prog="python -m msnb",
        description="The demo, JupyterLab on the quick start, a MindSpore script as it is, what this machine has.",
    )
    parser.add_argument("--version", action="version", version=f"msnb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="run the quick-start notebook without a browser")
    demo.add_argument("--out", default="msnb-demo", help="folder for the executed notebook (default: %(default)s)")
    demo.add_argument("--timeout", type=int, default=600, help="seconds that one cell may take (default: %(default)s)")

    commands.add_parser(
        "lab",
        usage="%(prog)s [OPTION ...]",
        help="open JupyterLab on the quick start; options are JupyterLab's",
        description="Open JupyterLab on the quick start. Options are JupyterLab's: `jupyter lab --help` lists them.",
    )

    run = commands.add_parser("run", usage="%(prog)s SCRIPT [ARGUMENT ...]", help="run a MindSpore script as it is")
    run.add_argument("script", metavar="SCRIPT", help="a Python file that imports mindspore")
    run.add_argument(
        "arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="what the script is given"
    ).required = False

    stubs = commands.add_parser("stubs", help="make `import mindspore` resolve in an editor: write its type stubs")
    stubs.add_argument(
        "folder",
        metavar="FOLDER",
        help="where the package of stubs goes; name it to the type checker (pyright: stubPath)",
    )

    commands.add_parser("devices", help="list the devices that JAX finds, with their memory")
    commands.add_parser("version", help="print versions, for a bug report")
    return parser, list(commands.choices)


def print_versions() -> None:
    """Print the versions of msnb and of what it stands on."""
    print(f"{'msnb':11}{__version__}")
    for name in ("jax", "jaxlib", "numpy", "ipython", "jupyterlab"):
        try:
            print(f"{name:11}{importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name:11}not installed")
    print(f"{'python':11}{sys.version.split()[0]} on {sys.platform}")


def of_process(argv: list[str], whole: list[str]) -> list[str] | None:
    """The arguments of the command, None where the process is something else.

    Args:
        argv (list[str]): `sys.argv`. Its first is "-m" for as long as Python looks for the module that it is to run.
        whole (list[str]): `sys.orig_argv`, Python's own options before it.
    """
    if argv[:1] == ["-m"]:
        before = whole[: len(whole) - len(argv) + 1]
        return argv[1:] if before[-2:] == ["-m", "msnb"] or before[-1:] == ["-mmsnb"] else None
    script = os.path.basename(argv[0]) if argv else ""
    return argv[1:] if script.removesuffix(".exe") == "msnb" else None


def listen() -> None:
    """Have Ctrl-C raise KeyboardInterrupt again, where this module has put that off until the package is loaded."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_arguments = of_process(sys.argv, sys.orig_argv)
if _arguments is not None:
    if parse(_arguments).command == "version":
        print_versions()
        sys.exit()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # while JAX is loaded Ctrl-C ends all, without a traceback of JAX's
