"""`python -m msnb launch`: runs a script in several processes of this machine. If one fails, all are stopped."""

import os
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path

from msnb.cli.scripts import generation_of
from msnb.communication._gloo_log import is_gloo_line
from msnb.communication._processes import free_port, variables_of

GRACE = 5.0  # seconds between terminating a process and killing it


def launch(options: Namespace) -> int:
    """Run a script in several processes. Returns the exit status of the first that fails, else 0."""
    message = _check_options(options)
    if message:
        print(message, file=sys.stderr)
        return 2
    number = options.of or options.processes
    coordinator = options.coordinator or f"localhost:{free_port()}"
    api = generation_of(options)  # inferred here and passed on, so that only one message is printed
    command = [sys.executable, "-m", "msnb", "run", *(["--api", str(api)] if api else [])]
    command += [options.script, *options.arguments]
    ranks = range(options.first, options.first + options.processes)
    variables = {rank: {**os.environ, **variables_of(rank, number, ranks, coordinator)} for rank in ranks}
    started = {rank: _start_process(command, variables[rank]) for rank in ranks}
    writers = [
        threading.Thread(target=_forward_output_with_rank, args=(rank, process)) for rank, process in started.items()
    ]
    for writer in writers:
        writer.start()
    try:
        return _wait_for_processes(started, number)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        _stop_processes(started.values())
        for writer in writers:
            writer.join()


def _check_options(options):
    """Return an error message for the options, or None."""
    if not Path(options.script).is_file():
        return f"There is no script {options.script!r}."
    number = options.of or options.processes
    if options.processes < 1 or options.first < 0 or options.first + options.processes > number:
        return f"Processes {options.first} to {options.first + options.processes - 1} are not among {number}."
    if number > options.processes and options.coordinator is None:
        return "On several machines each has to be told where process 0 runs: --coordinator HOST:PORT."
    return None


def _start_process(command, variables):
    return subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def _forward_output_with_rank(rank, process):
    """Write the output of a process, with its rank before each line."""
    for line in process.stdout:
        if is_gloo_line(line):
            continue
        sys.stdout.write(f"[{rank}] {line.decode(errors='replace')}")
        sys.stdout.flush()


def _wait_for_processes(started, number):
    """Wait for all processes; report the first failure and stop waiting."""
    while True:
        ended = {rank: process.poll() for rank, process in started.items()}
        for rank, status in sorted(ended.items(), key=_get_failure_sort_key):
            if status:
                how = f"was killed ({signal.Signals(-status).name})" if status < 0 else f"failed with status {status}"
                print(f"Process {rank} of {number} {how}; the others are stopped.", file=sys.stderr, flush=True)
                return status if status > 0 else 128 - status
        if all(status == 0 for status in ended.values()):
            return 0
        time.sleep(0.1)


def _get_failure_sort_key(ended):
    """Return the sort key of a process. Killed processes come first: their end makes others fail."""
    status = ended[1]
    return status is None or status >= 0


def _stop_processes(processes):
    """Stop the running processes: terminate first, then kill."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        process.terminate()
    until = time.monotonic() + GRACE
    for process in running:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
