"""The magic `%ms_cluster start 2`: local processes that run the cells below `%%px` together, as one program.

ipyparallel starts them, sends cells to them and displays their outputs. msnb sets their ranks.
"""

import logging
import os
import sys
from typing import Any

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb import alias
from msnb.communication._gloo_log import filter_descriptor
from msnb.communication._processes import free_port, join, variables_of
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magic_registration import register_magics

_WAIT = 120  # timeout in seconds for processes to start and to connect
_DAY = 86_400  # in seconds


@magics_class
class ClusterMagics(Magics):
    """The magic `%ms_cluster`, for programs of several processes."""

    _cluster: Any = None
    _client: Any = None

    @no_var_expand
    @magic_arguments("%ms_cluster")
    @argument("--api", choices=("1", "2"), help="What `import mindspore` means in them: r1.1 (1) or MindSpore 2 (2).")
    @argument("what", nargs="?", choices=("start", "stop"), help="Start processes, or end those that were started.")
    @argument("number", nargs="?", type=int, help="How many to start (default: 2).")
    @line_magic("ms_cluster")
    def ms_cluster(self, line: str) -> None:
        """`%ms_cluster start 2` starts two processes as the ranks of one program. A cell that begins with `%%px` runs
        in each of them, and their outputs appear below the cell. There, `import mindspore` imports msnb.
        `%ms_cluster` lists the processes, `%ms_cluster stop` ends them.

            %ms_cluster start 2
            %%px
            from mindspore.communication import get_rank
            print(get_rank())
        """
        options = parse(self.ms_cluster, line)
        if options.what == "start":
            self._start_processes(2 if options.number is None else options.number, options.api)
        elif options.what == "stop":
            if options.number is not None:
                raise UsageError("%ms_cluster stop ends all processes, and takes no number.")
            if self._cluster is not None:
                print(f"Stopped {_format_process_count(self._cluster.n)}.")
                self.stop()
                return
        self._print_status()

    def _start_processes(self, number, api):
        if self._cluster is not None:
            raise UsageError("There are processes already: %ms_cluster stop ends them.")
        if number < 1:
            raise UsageError(f"%ms_cluster start takes a positive number of processes, but got {number}.")
        try:
            import ipyparallel  # lazy, to spare others a slow, optional package
        except ImportError:
            raise UsageError("%ms_cluster needs ipyparallel: pip install 'msnb[cluster]'.") from None
        self._cluster = ipyparallel.Cluster(n=number, log_level=logging.ERROR, engine_timeout=_WAIT)
        try:
            self._cluster.start_cluster_sync(n=number)
            self._client = self._cluster.connect_client_sync()
            # no progress bar, because it would stay at "0%"
            self._client.wait_for_engines(number, timeout=_WAIT, interactive=False)
            view = self._client[:]
            view.block = True
            view.activate()
            # After this time ipyparallel shows a progress bar. With -1 it would not wait for the output of a cell.
            get_ipython().magics_manager.registry["ParallelMagics"].progress_after_seconds = _DAY
            coordinator = f"localhost:{free_port()}"
            variables = [variables_of(rank, number, range(number), coordinator) for rank in range(number)]
            replies = [
                self._client[i].apply_async(_set_up_process, own, api)
                for i, own in zip(self._client.ids, variables, strict=True)
            ]
            for answer in replies:
                answer.get(_WAIT)
        except BaseException:  # end all processes on every error, KeyboardInterrupt included
            self.stop()
            raise

    def stop(self) -> None:
        """End the processes. Without processes it does nothing."""
        cluster, client, self._cluster, self._client = self._cluster, self._client, None, None
        if client is not None:
            client.close()
        if cluster is not None:
            cluster.stop_cluster_sync()

    def _print_status(self):
        if self._cluster is None:
            print("There are no processes; %ms_cluster start 2 starts two.")
            return
        number = self._cluster.n
        many = f"{_format_process_count(number)} {'is' if number == 1 else 'are'}"
        print(self._describe_lost_processes() or f"{many} one program: %%px runs a cell in each.")

    def _describe_lost_processes(self):
        """Return a sentence about processes that have exited without `stop`, "" if there are none."""
        number = 0 if self._cluster is None else self._cluster.n
        lost = [str(rank) for rank in range(number) if rank not in self._client.ids]
        if not lost:
            return ""
        which = f"that of rank {lost[0]} has" if len(lost) == 1 else f"those of ranks {', '.join(lost)} have"
        vain = "and there is no other" if number == len(lost) else "and the others would wait in vain"
        return f"Of {number} processes, {which} ended, {vain}: %ms_cluster stop, then %ms_cluster start {number}."

    def report_lost_processes(self, result: Any) -> None:
        """Print the sentence about exited processes below a cell that failed; they may be the cause."""
        if self._cluster is not None and not result.success and (lost := self._describe_lost_processes()):
            print(lost, file=sys.stderr)


def _format_process_count(number):
    return f"{number} process{'' if number == 1 else 'es'}"


def _set_up_process(variables, api):
    """Make an ipyparallel process a rank of the program."""
    os.environ.update(variables)
    filter_descriptor()
    join()
    get_ipython().run_line_magic("load_ext", "msnb")
    alias.install(warn=False, api=api and int(api))


def install(shell: Any) -> Any:
    """Register the magic with a shell. Return the undo function."""
    registered = ClusterMagics(shell)
    remove_magics = register_magics(shell, registered)
    shell.events.register("post_run_cell", registered.report_lost_processes)

    def undo():
        shell.events.unregister("post_run_cell", registered.report_lost_processes)
        registered.stop()
        remove_magics()

    return undo
