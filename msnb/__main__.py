"""``python -m msnb``: the demo, JupyterLab, running scripts, and HTML pages of scripts and notebooks."""

import importlib.util
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

from msnb import context
from msnb._util import command_line, tutorials
from msnb._util.atomic_file import writing
from msnb.cli import launch as _launch
from msnb.cli import scripts
from msnb.common.progress import Wait
from msnb.ir.overlay import human

PACKAGE = Path(__file__).resolve().parent
QUICK_START = "01_quick_start.ipynb"
ENOUGH = 0.97


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    command_line.restore_interrupts()
    with command_line.ending_with_reader():
        options = command_line.parse(argv)
        return RUN[options.command](options)


def quick_start() -> Path:
    """Return the path of the quick-start notebook, in the repository or in the installed package."""
    paths = tutorials.tutorial_paths()
    if QUICK_START not in paths:
        raise FileNotFoundError(
            f"This installation has no {QUICK_START}: neither the repository nor {PACKAGE / '_data'}."
        )
    return paths[QUICK_START]


def run_demo(options: Namespace) -> int:
    """Execute the quick-start notebook, write it as a notebook and as HTML, and print the accuracy of the network."""
    missing = [
        name for name in ("nbclient", "nbconvert", "nbformat", "ipykernel") if not importlib.util.find_spec(name)
    ]
    if missing:
        return _print_error(f'The demo needs {", ".join(missing)}: pip install "msnb[lab]"')
    import nbformat
    from nbclient.exceptions import CellExecutionError
    from nbformat.sign import NotebookNotary

    from msnb.notebook import notebook_page  # lazy import: other commands do not need nbconvert

    source = quick_start()
    notebook = nbformat.read(source, as_version=4)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    failure = None
    try:
        _execute_notebook(notebook, out, options.timeout)
    except CellExecutionError as error:
        failure = error
    seconds = time.perf_counter() - start

    executed, html = out / source.name, out / (source.stem + ".html")
    with writing(executed, "w", encoding="utf-8") as file:
        nbformat.write(notebook, file)
    NotebookNotary().sign(notebook)  # JupyterLab trusts a signed notebook and shows its graphs without asking
    page = notebook_page.to_html(notebook, is_trusted=True)
    with writing(html, "w", encoding="utf-8") as file:
        file.write(page)
    accuracy = _parse_printed_accuracy(notebook)
    if failure is not None:
        print(str(failure), file=sys.stderr)
    print()
    if accuracy is not None:
        print(f"  test accuracy  {accuracy:.1%}")
    print(f"  seconds        {seconds:.1f}")
    print(f"  notebook       {executed.resolve()}")
    print(f"  HTML           {html.resolve()}")
    if failure is not None:
        return _print_error("\nA cell of the notebook failed; its error is above and in the notebook.")
    if accuracy is None or accuracy < ENOUGH:
        return _print_error(f"\nThe accuracy should be at least {ENOUGH:.0%}.")
    print("\n`msnb lab` (or `make lab` in a clone) opens a copy of the notebook and the other tutorials in JupyterLab.")
    return 0


def _execute_notebook(notebook, folder, timeout):
    """Run every code cell of `notebook` in `folder`. In a terminal, a progress line shows the current section."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class ThisPython(AsyncKernelManager):
        """Starts kernels with the running Python, even if the user has registered another kernel as `python3`."""

        @property
        def kernel_spec(self):
            spec = super().kernel_spec
            launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
            spec.argv[:] = launch
            return spec

    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    headings = _find_headings(notebook)
    code_cells = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    with Wait("the kernel starts") as wait:

        def started(cell, cell_index):
            wait.what = f"cell {code_cells.index(cell_index) + 1} of {len(code_cells)}, {headings[cell_index]}"

        client = NotebookClient(
            notebook,
            kernel_name="python3",
            kernel_manager_class=ThisPython,
            timeout=timeout,
            resources={"metadata": {"path": str(folder)}},
            on_cell_execute=started,
        )
        client.execute()
        wait.what = f"{len(code_cells)} cells"


def _find_headings(notebook):
    """Return the section heading of each cell."""
    headings, current = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            current = next((line.lstrip("# ") for line in cell.source.splitlines() if line.startswith("#")), current)
        headings.append(current)
    return headings


def _parse_printed_accuracy(notebook):
    """Return the number printed by the cell tagged ``accuracy``."""
    for cell in notebook.cells:
        if "accuracy" in cell.metadata.get("tags", ()):
            text = "".join(
                output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs
            )
            numbers = re.findall(r"\d+\.\d+", text)
            return float(numbers[-1]) if numbers else None
    return None


def run_html(options: Namespace) -> int:
    """Write a stored notebook, with its views, as one HTML file, or as slides."""
    missing = [name for name in ("nbconvert", "nbformat") if not importlib.util.find_spec(name)]
    if missing:
        return _print_error(f'`{options.command}` needs {" and ".join(missing)}: pip install "msnb[lab]"')
    import nbformat

    source = Path(options.notebook)
    if not source.is_file():
        return _print_error(f"There is no notebook {options.notebook!r}.")
    as_slides = options.command == "slides"
    page = Path(options.output) if options.output else source.with_suffix(".slides.html" if as_slides else ".html")
    try:
        notebook = nbformat.read(source, as_version=4)
    except (ValueError, AttributeError, KeyError):  # not JSON, or not a notebook
        return _print_error(f"{options.notebook} is not a notebook.")
    from msnb.notebook import notebook_page  # lazy import: other commands do not need nbconvert

    is_trusted = options.trust or notebook_page.is_signed(notebook)
    try:
        with writing(page, "w", encoding="utf-8") as file:
            file.write(notebook_page.to_html(notebook, is_trusted, as_slides))
    except OSError as error:
        return _print_error(f"{page} cannot be written: {error.strerror}.")
    print(f"Wrote {page}.")
    if not is_trusted and notebook_page.has_scripts(notebook):
        print("It came from elsewhere, and its scripts were left out; --trust keeps them.")
    return 0


def run_lab(options: Namespace) -> int:
    """Open JupyterLab on the index of the tutorials, beside copies of them: edits change neither the repository nor
    the demo. The quick start is the one that the demo has run, if there is one.
    """
    if not importlib.util.find_spec("jupyterlab"):
        return _print_error('JupyterLab is not installed: pip install "msnb[lab]"')
    folder = Path(command_line.LAB)
    executed = Path(command_line.DEMO) / QUICK_START
    try:
        if executed.is_file() and not (folder / QUICK_START).exists():
            folder.mkdir(exist_ok=True)
            shutil.copyfile(executed, folder / QUICK_START)
        tutorials.copy_tutorials(folder)
    except OSError as error:
        return _print_error(f"{folder} cannot be written: {error.strerror}. Start from a folder of your own.")
    jupyter = [sys.executable, "-m", "jupyterlab", str(folder / tutorials.INDEX)]
    # The address that the server prints opens the index, too; a container has no browser of its own.
    jupyter += [f"--LabApp.default_url=/lab/tree/{tutorials.INDEX}", *options.rest]
    if os.name == "nt":  # on Windows execv returns to the shell while the server runs
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C: it asks for confirmation
        return subprocess.call(jupyter)
    sys.stdout.flush()
    os.execv(sys.executable, jupyter)  # the server replaces this process: Ctrl-C and `kill` reach the server


def run_tutorials(options: Namespace) -> int:
    """Copy the tutorials into a folder and list them."""
    folder = Path(options.folder)
    try:
        new = tutorials.copy_tutorials(folder)
    except OSError as error:
        return _print_error(f"{folder} cannot be written: {error.strerror}.")
    for name, title, _, level, minutes in tutorials.list_tutorials():
        there = "" if name in new else "  (was there already, not changed)"
        print(f"  {name:42}{title[3:]}, {level}, {minutes} minutes{there}")
    print(f"Copied {len(new)} tutorials to {folder}. Open them with: jupyter lab {folder / tutorials.INDEX}")
    return 0


def run_check(options: Namespace) -> int:
    """Print the names of MindSpore that a program uses and msnb lacks. Return 1 if they stop the program."""
    from msnb.check import check  # lazy import: other commands do not need the tables

    try:
        report = check(options.path)
    except (FileNotFoundError, ValueError) as error:
        return _print_error(str(error))
    print(report)
    return 1 if report else 0


def run_stubs(options: Namespace) -> int:
    """Write stubs for `import mindspore`."""
    from msnb.cli import stubs  # lazy import: other commands do not need operators

    paths = stubs.write_mindspore(options.folder)
    print(f"Wrote {len(paths)} stubs below {options.folder}; pyright and Pylance read them as `stubPath`.")
    return 0


def run_devices(options: Namespace) -> int:
    """List the devices that JAX finds, with their names for ``set_context(device_target=...)`` and their hardware."""
    for target, devices in context._find_devices_by_platform().items():
        for device in devices:
            mark = "*" if device == context.device() else " "
            kind = _read_processor_model() if target == "cpu" else device.device_kind
            has = ", ".join(filter(None, [kind, *_describe_cores_and_memory(device, len(devices))]))
            print(f"{mark} {target.upper():4} {device.id}  {has}")
    return 0


def _describe_cores_and_memory(device, count):
    """Return texts with the number of CPU cores and the memory of a device. The devices of a CPU share both."""
    from msnb.dataset.engine.execution.workers import processors  # lazy import of the data engine

    if device.platform != "cpu":
        memory = (device.memory_stats() or {}).get("bytes_limit")
        return [f"{human(memory, 'B')} of memory for JAX"] if memory else []
    cores = processors()
    has = [f"{cores} core{'s' * (cores > 1)}"]
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):  # not on Windows
        has.append(f"{human(os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE'), 'B')} of memory")
    return [*has, f"shared by {count} devices"] if count > 1 else has


def _read_processor_model():
    """Return the model of this machine's processor, if the system reports it."""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            model = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
        if model:
            return model[1]
    return platform.processor() or platform.machine()


def run_version(options: Namespace) -> int:
    """Print the versions of msnb and of its dependencies."""
    command_line.print_versions()
    return 0


def _print_error(message):
    print(message, file=sys.stderr)
    return 1


RUN = {
    "demo": run_demo,
    "lab": run_lab,
    "tutorials": run_tutorials,
    "html": run_html,
    "slides": run_html,
    "run": scripts.run,
    "launch": _launch.launch,
    "graph": scripts.graph,
    "profile": scripts.profile,
    "check": run_check,
    "stubs": run_stubs,
    "devices": run_devices,
    "version": run_version,
}

if __name__ == "__main__":
    sys.exit(main())
