"""Commands that run a MindSpore script unchanged: `run`, and `graph` and `profile`, which write a page about it."""

import os
import runpy
import signal
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from msnb import alias
from msnb.check import choosing
from msnb.communication import _processes
from msnb.core.program import program_cache
from msnb.core.state import events
from msnb.core.support.weak_identity import WeakIdentityDict
from msnb.insight import terminal_traceback

_GRAPH_FORMS = (".html", ".svg", ".dot", ".ir", ".txt")
_PROFILE_FORMS = (".html", ".svg", ".md", ".txt", ".json")
_WAY = "--api {0} or MSNB_API={0}"  # text for messages: how to select a generation
_LISTED = 6  # maximum number of programs that a message lists


def run(options: Namespace) -> int:
    """Run a script in which ``import mindspore`` imports msnb. Returns the exit status."""
    if not Path(options.script).is_file():
        return _report_failure(f"There is no script {options.script!r}.")
    options.api = generation_of(options)
    return _run_script(options.script, options.arguments, options.api)


def generation_of(options: Namespace) -> int | None:
    """Return the generation for a script.

    It is the value of `--api`, or None if only the environment variable MSNB_API is set. Without both it is inferred
    from the script and printed on stderr.
    """
    if options.api is not None or alias.is_asked():
        return options.api
    judgement = choosing.judge_script(options.script)
    if judgement.is_of_mindspore:
        print(f"msnb: {judgement.explained(Path(options.script).name, _WAY)}", file=sys.stderr, flush=True)
    return judgement.generation or 1


def graph(options: Namespace) -> int:
    """Run a script and write the graph of the program that `--name` selects, by default the largest program."""
    page = _check_page_path(options, "graph", _GRAPH_FORMS)
    if page is None:
        return 1
    options.api = generation_of(options)
    with _ProgramCollector() as ran:
        status = _run_script_to_end(options)
    if status:
        return status
    views = ran.views()
    for sentence in ran.failed:
        print(sentence, file=sys.stderr)
    if not views:
        return _report_failure(f"No network has run in {options.script} that can be drawn.")
    title = _find_matching_title(views, options.name)
    if title is None:
        return _report_failure(
            f"Nothing that ran in {options.script} is called {options.name!r}: there is {_format_titles(views)}."
        )
    view = views.pop(title)
    if not _save_view(view, page):
        return 1
    print(f"Wrote {page}: {title}, {len(view.graph)} operators.")
    if views:
        print(f"There is also {_format_titles(views)}: --name NAME shows it.")
    return 0


def profile(options: Namespace) -> int:
    """Run a script under the profiler and write a page on how the time of its steps is distributed."""
    page = _check_page_path(options, "profile", _PROFILE_FORMS)
    if page is None:
        return 1
    options.api = generation_of(options)
    from msnb.insight.profile import Profile, Recorder, machine, text  # lazy: only this command needs it
    from msnb.notebook.profile import view  # lazy import: only this command needs it

    machine()
    recorder = Recorder().start()
    try:
        status = _run_script_to_end(options)
    finally:
        recorder.stop()
    if status:
        return status
    if not recorder.recording.calls:
        return _report_failure(f"No network has run in {options.script}, so that there is nothing to profile.")
    result = Profile(recorder.recording, Path(options.script).name)
    if not _save_view(view(result), page):
        return 1
    print(f"{text.headline(result)}\nWrote {page}.")
    return 0


# ---------------------------------------------------------------------- running
def _run_script(script, arguments, api):
    try:
        alias.install(api=api)
        _processes.join()  # must precede the first computation of the script
    except (ValueError, RuntimeError) as error:
        return _report_failure(str(error))
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except KeyboardInterrupt as error:
        terminal_traceback.interrupted(error)
        return 128 + signal.SIGINT
    except Exception as error:
        # The script may have replaced `sys.excepthook`. The traceback begins at the script's first frame.
        error.__traceback__ = _trim_traceback_to_file(script, error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _trim_traceback_to_file(file, tb):
    """Return a traceback starting at the first frame of `file`; None if there is none."""
    while tb is not None and tb.tb_frame.f_code.co_filename != file:
        tb = tb.tb_next
    return tb


def _run_script_to_end(options):
    """Run a script and return its exit status. If it fails, print that no page was written."""
    try:
        status = _run_script(options.script, options.arguments, options.api)
    except SystemExit as end:
        if isinstance(end.code, str):
            return _report_failure(end.code)
        status = end.code or 0
    if status:
        print("No page was written: the script has to run to its end.", file=sys.stderr)
    return status


class _ProgramCollector:
    """Context that collects the programs that run in it, and in PYNATIVE mode the outermost Cells with their
    arguments."""

    def __init__(self) -> None:
        self.failed: list[str] = []  # the reasons why networks cannot be drawn
        self._programs: list[tuple[str, Any]] = []  # (title, program); a program does not keep its Cell alive
        self._calls: list[tuple[Any, ...]] = []
        self._seen_networks = WeakIdentityDict()

    def __enter__(self):
        self._listener = events.listen(
            compiled=self._record_compiled_program, left=self._record_outermost_call, name="graph"
        )
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _record_compiled_program(self, program):
        self._programs.append((program.title, program))

    def _record_outermost_call(self, call):
        if call.around is None and not call.traced and call.error is None and call.net not in self._seen_networks:
            self._seen_networks[call.net] = True
            self._calls.append((call.net, call.args, call.kwargs))

    def views(self) -> dict[str, Any]:
        """Return {title: GraphView}, the largest graph first. Of several graphs with one title, return the largest."""
        from msnb.notebook.graph.api import of_program  # lazy import: only this command needs it

        roots = [program.root() for _, program in self._programs]
        for net, args, kwargs in self._calls:
            if any(net is root for root in roots):
                continue
            try:
                program = program_cache.program_of(net, *args, **kwargs)
            except Exception as error:  # a network that branches on values cannot be traced
                sentence = str(error).partition("\n")[0]
                self.failed.append(f"{type(net).__name__} cannot be drawn: {sentence}")
                continue
            self._programs.append((program.title, program))
        views = [(title, of_program(program, title)) for title, program in self._programs]
        views.sort(key=lambda item: len(item[1].graph))
        return dict(reversed(dict(views).items()))


# ---------------------------------------------------------------------- the page
def _check_page_path(options, what, forms):
    """Return the path of the page, before the script runs. If the page cannot be written, print an error message and
    return None.
    """
    script = Path(options.script)
    page = Path(options.output or f"{script.stem}-{what}.html")
    if not script.is_file():
        _report_failure(f"There is no script {options.script!r}.")
    elif page.suffix not in forms:
        _report_failure(f"The page should end in one of {', '.join(forms)}, but got {str(page)!r}.")
    elif not os.access(page.parent, os.W_OK):
        _report_failure(f"There is no folder {str(page.parent)!r} to write to.")
    else:
        return page
    return None


def _save_view(view, page):
    try:
        view.save(page)
    except OSError as error:
        _report_failure(f"{page} cannot be written: {error.strerror}.")
        return False
    return True


def _find_matching_title(views, name):
    """Return the title that equals `name`, else the first title that contains it, else None."""
    if name is None:
        return next(iter(views))
    matches = [title for title in views if title.lower() == name.lower()]
    return next(iter([*matches, *(title for title in views if name.lower() in title.lower())]), None)


def _format_titles(views):
    named = [f"{title} ({len(view.graph)})" for title, view in views.items()]
    more = len(named) - _LISTED
    return ", ".join([*named[:_LISTED], *([f"{more} more"] if more > 0 else [])])


def _report_failure(message):
    print(message, file=sys.stderr)
    return 1
