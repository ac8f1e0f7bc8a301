"""Kernels that are forks of one interpreter, which has imported JAX and msnb; also a plugin where nbval runs notebooks.

To start a kernel and import msnb takes three seconds of CPU time. Each fork is a kernel of IPython's, with a process
and a state of its own. Jupyter starts a small program and talks to the fork by its connection file; that program stands
for the fork: each ends with the other, and an interrupt goes on to the fork. `notebook/test_kernel.py` starts a kernel
as users do.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAME = "forked"

# The program that Jupyter starts. It reports its address and waits for the end of the fork.
STANDS_FOR_IT = """
import json, os, signal, socket, sys
place, file = sys.argv[1:]
wire = socket.socket(socket.AF_UNIX)
wire.connect(place)
wire.sendall(json.dumps({"file": file, "folder": os.getcwd(), "environment": dict(os.environ)}).encode() + b"\\n")
fork = int(wire.recv(64))
signal.signal(signal.SIGINT, lambda *_: os.kill(fork, signal.SIGINT))
wire.recv(1)
"""

INTERPRETER = """
import json, os, select, signal, socket, sys, threading, warnings
import ipykernel.kernelapp, jax, msnb

def kernel(wire, file, folder, environment):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0], sys.argv = "", ["ipykernel_launcher", "-f", file]
    wire.sendall(str(os.getpid()).encode())
    threading.Thread(target=lambda: (wire.recv(1), os._exit(1)), daemon=True).start()
    try:
        ipykernel.kernelapp.launch_new_instance(argv=[*sys.argv[1:], "--log-level=ERROR"])
    finally:
        os._exit(0)

def ended(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass

signal.signal(signal.SIGCHLD, ended)
signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when it is told to
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("ready", flush=True)
while server in select.select([server, sys.stdin], [], [])[0]:  # nothing is said there; it ends with who started this
    wire, _ = server.accept()
    with wire.makefile() as said:
        question = json.loads(said.readline())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns of every fork; nothing of it has been used yet
        fork = os.fork()
    if not fork:
        server.close()
        kernel(wire, **question)
    wire.close()
"""


class Kernels:
    """The interpreter, which starts meanwhile.

    Attributes:
        folder (Path): Where it is asked; a short path, as a socket needs.
        argv (list): The command that starts a kernel.
    """

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="msnb-kernels-"))
        place = str(self.folder / "wire")
        self.argv = [sys.executable, "-I", "-S", "-c", STANDS_FOR_IT, place, "{connection_file}"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", INTERPRETER, place],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ready(self):
        """Wait until kernels can be started."""
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("The interpreter for kernels has ended; the standard error says why.")

    def close(self):
        """End the interpreter; kernels end when what stands for them does."""
        self.process.terminate()
        self.process.wait(60)
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def pytest_configure(config):
    if not hasattr(os, "fork"):  # then nbval starts each kernel, which --nbval-current-env asks for
        return
    kernels = Kernels()
    config.add_cleanup(kernels.close)
    described = kernels.folder / "kernels" / NAME
    described.mkdir(parents=True)
    spec = {"argv": kernels.argv, "display_name": NAME, "language": "python"}
    (described / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    folders = filter(None, (str(kernels.folder), os.environ.get("JUPYTER_PATH")))
    os.environ["JUPYTER_PATH"] = os.pathsep.join(folders)
    config.option.nbval_current_env, config.option.nbval_kernel_name = False, NAME
    kernels.ready()
