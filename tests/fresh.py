"""A fresh interpreter: it has imported msnb and done nothing else, and runs each program in a fork of its own.

To start Python and import msnb takes two seconds of CPU time, to fork a process that has done so a few milliseconds.
A setting that must precede the import of msnb cannot be tested here.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

SERVER = """
import json, os, signal, sys, traceback, types, warnings
import msnb

def run(file, path, arguments, environment, strict, seconds):
    signal.alarm(seconds)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, end in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(file + end, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.path[:0], sys.argv = path, [file, *arguments]
    os.environ.update(environment)
    if strict:
        warnings.simplefilter("error")
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = file
    status = 1
    with open(file) as source:
        text = source.read()
    try:
        exec(compile(text, file, "exec"), vars(main))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

for line in sys.stdin:
    if not line.strip():
        break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns of every fork; nothing of it has been used yet
        pid = os.fork()
    if not pid:
        run(**json.loads(line))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
os._exit(0)  # it has nothing to end: all that ran, ran in forks
"""


RUNS_A_FILE = """
import runpy, sys
sys.argv.pop(0)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    assert not end.code, f"it ends with {end.code}"
"""


class Done(NamedTuple):
    """Result of a program.

    Attributes:
        status (int): Its exit status; that of a signal is negative.
        out (str): Its standard output.
        err (str): Its standard error, with the traceback of an error that it raised.
    """

    status: int
    out: str
    err: str


class Fresh:
    """The interpreter, which starts with the first program."""

    def __init__(self):
        self.process = None

    def run(self, code, folder, *arguments, path=(), environment=None, strict=False, seconds=300):
        """Run a program to its end; returns what is `Done`.

        Args:
            code (str): The program; it may be indented.
            folder (Path): Where its file is written.
            arguments (str): The rest of ``sys.argv``.
            path (Sequence[Path]): Folders where it finds modules before all others.
            environment (dict): Variables that it has; XLA reads its own when JAX is first used.
            strict (bool): True if warnings are errors.
            seconds (int): How long it may take.
        """
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "error", "-c", SERVER],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        file = Path(folder) / "program.py"
        file.write_text(textwrap.dedent(code), encoding="utf-8")
        question = {
            "file": str(file),
            "path": [str(place) for place in path],
            "arguments": [str(argument) for argument in arguments],
            "environment": environment or {},
            "strict": strict,
            "seconds": seconds,
        }
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        status = self.process.stdout.readline()
        if not status:
            raise RuntimeError("The fresh interpreter has ended; the standard error says why.")
        return Done(int(status), *(Path(f"{file}{end}").read_text(encoding="utf-8") for end in (".out", ".err")))

    def script(self, path, folder, *arguments):
        """Run a file as ``python FILE`` does; returns what is `Done`, whose status is 0 where that ends with 0."""
        return self.run(RUNS_A_FILE, folder, path, *arguments)

    def close(self):
        """End the interpreter, if it has started."""
        if self.process is not None:
            self.process.stdin.write("\n")  # to close it ends nothing while a fork of this process has it open, too
            self.process.stdin.close()
            self.process.wait(60)
            self.process.stdout.close()
