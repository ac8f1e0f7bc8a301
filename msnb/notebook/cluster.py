"""`%ms_cluster start 2`: processes of this machine that run the cells below `%%px` together, as one program.

ipyparallel starts them, sends cells to them and shows what each of them shows; msnb tells them who they are.
"""

import logging
import os
from typing import Any

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb import alias
from msnb.communication._gloo import leave_out
from msnb.communication._processes import free_port, join, variables_of
from msnb.notebook.options import parse

_WAIT = 120  # seconds for processes to start, and to find one another


@magics_class
class ClusterMagics(Magics):
    """The magic of several processes."""

    _cluster: Any = None
    _client: Any = None

    @no_var_expand
    @magic_arguments("%ms_cluster")
    @argument("--api", choices=("1", "2"), help="What `import mindspore` means in them: r1.1 (1) or MindSpore 2 (2).")
    @argument("what", nargs="?", choices=("start", "stop"), help="Start processes, or end those that were started.")
    @argument("number", nargs="?", type=int, help="How many to start (default: 2).")
    @line_magic("ms_cluster")
    def ms_cluster(self, line: str) -> None:
        """`%ms_cluster start 2` starts two processes that are one program: a cell that begins with `%%px` runs in
        each of them, `import mindspore` is msnb there, and below it stands what each has printed and shown.
        `%ms_cluster` says which there are, `%ms_cluster stop` ends them.

            %ms_cluster start 2
            %%px
            from mindspore.communication import get_rank
            print(get_rank())
        """
        options = parse(self.ms_cluster, line)
        if options.what == "start":
            self._start(2 if options.number is None else options.number, options.api)
        elif options.what == "stop":
            if options.number is not None:
                raise UsageError("%ms_cluster stop ends all processes, and takes no number.")
            self.stop()
        self._say()

    def _start(self, number, api):
        if self._cluster is not None:
            raise UsageError("There are processes already: %ms_cluster stop ends them.")
        if number < 1:
            raise UsageError(f"%ms_cluster start takes a positive number of processes, but got {number}.")
        try:
            import ipyparallel  # heavy, and an extra
        except ImportError:
            raise UsageError("%ms_cluster needs ipyparallel: pip install 'msnb[cluster]'.") from None
        self._cluster = ipyparallel.Cluster(n=number, log_level=logging.ERROR, engine_timeout=_WAIT)
        try:
            self._client = self._cluster.start_and_connect_sync(activate=True)
            coordinator = f"localhost:{free_port()}"
            said = [variables_of(rank, number, range(number), coordinator) for rank in range(number)]
            told = [
                self._client[i].apply_async(_begin, own, api) for i, own in zip(self._client.ids, said, strict=True)
            ]
            for answer in told:
                answer.get(_WAIT)
        except BaseException:  # a Stop too: nothing is left behind
            self.stop()
            raise

    def stop(self) -> None:
        """End the processes, if there are any."""
        cluster, client, self._cluster, self._client = self._cluster, self._client, None, None
        if client is not None:
            client.close()
        if cluster is not None:
            cluster.stop_cluster_sync()

    def _say(self):
        if self._cluster is None:
            print("There are no processes; %ms_cluster start 2 starts two.")
            return
        number, there = self._cluster.n, len(self._client.ids)
        lost = f"; {number - there} of them ended, and the others wait for them in vain: %ms_cluster stop"
        many = "1 process is" if number == 1 else f"{number} processes are"
        print(f"{many} one program: %%px runs a cell in each{lost if there < number else ''}.")


def _begin(variables, api):
    """Make a process of ipyparallel one of the program."""
    os.environ.update(variables)
    leave_out()
    join()
    get_ipython().run_line_magic("load_ext", "msnb")
    alias.install(warn=False, api=api and int(api))


def install(shell: Any) -> Any:
    """Register the magic with a shell; returns what undoes it."""
    registered = ClusterMagics(shell)
    shell.register_magics(registered)

    def undo():
        registered.stop()
        for kind, names in registered.magics.items():
            table = shell.magics_manager.magics[kind]
            for name in names:
                if getattr(table.get(name), "__self__", None) is registered:
                    del table[name]

    return undo
