"""The processes that run one program together: which there are, and how this one joins them.

`python -m msnb launch` starts them on one machine, or on each of several; SLURM's `srun` and Open MPI's `mpirun` do as
well. What each says in its environment is read here, and JAX's own service brings the processes together.
"""

import os
import socket
import sys
from collections.abc import Sequence
from typing import NamedTuple

import jax

from msnb import context, log
from msnb.core._jax_private import end_alone, in_use

HEARTBEAT = 30  # seconds after which a process that says nothing is taken for lost


class World(NamedTuple):
    """All processes of a program, and which of them this one is.

    Attributes:
        size (int): How many there are.
        rank (int): The number of this one.
        local_size (int): How many of them run on this machine.
        local_rank (int): The number of this one among those.
        coordinator (str): "host:port" of the first; None where JAX finds it by itself.
    """

    size: int
    rank: int
    local_size: int
    local_rank: int
    coordinator: str | None


ALONE = World(1, 0, 1, 0, None)
# Variables of who starts processes: number of all, of this one, of all on this machine, of this one there.
_STARTERS = (
    ("MSNB_PROCESSES", "MSNB_PROCESS", "MSNB_LOCAL_PROCESSES", "MSNB_LOCAL_PROCESS"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
)
_joined = ALONE


def world() -> World:
    """The processes that this one has joined; itself alone before that."""
    return _joined


def asked() -> World:
    """The processes that the environment speaks of; this one alone where it does not."""
    for names in _STARTERS:
        size, rank, local_size, local_rank = (os.environ.get(name, "").partition("(")[0] for name in names)
        if size.isdigit() and rank.isdigit() and int(size) > 1:
            own = int(local_rank) if local_rank.isdigit() else int(rank)
            many = int(local_size) if local_size.isdigit() else own + 1
            return World(int(size), int(rank), many, own, os.environ.get("MSNB_COORDINATOR"))
    return ALONE


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def variables_of(rank: int, number: int, local: Sequence[int], coordinator: str) -> dict[str, str]:
    """What the environment of a process says of it; what is named after a RANK is what MindSpore's own launchers say.

    Args:
        rank (int): Which process it is.
        number (int): How many there are.
        local (Sequence[int]): The ranks on its machine.
        coordinator (str): "host:port" of the first.
    """
    here = rank - local[0]
    own = {
        "MSNB_COORDINATOR": coordinator,
        "MSNB_PROCESSES": number,
        "MSNB_PROCESS": rank,
        "MSNB_LOCAL_PROCESSES": len(local),
        "MSNB_LOCAL_PROCESS": here,
        "RANK_SIZE": number,
        "RANK_ID": rank,
        "DEVICE_NUM": len(local),
        "DEVICE_ID": here,
        "PYTHONUNBUFFERED": 1,
        **({"MSNB_PROGRESS": 0} if here else {}),
    }
    return {name: str(value) for name, value in own.items()}


def join() -> World:
    """Bring this process together with those that the environment speaks of; returns them.

    Each process computes on one device: on a CPU its own, else the one with its number on this machine.

    Raises:
        RuntimeError: If something was computed before, or the others cannot be reached.
    """
    global _joined
    wanted = asked()
    if _joined.size > 1 or wanted.size == 1:
        return _joined
    if in_use():
        raise RuntimeError(
            f"This is process {wanted.rank} of {wanted.size}, and it has computed something before it knew the "
            f"others: call communication.init() before the first Tensor, or start it by `python -m msnb launch`."
        )
    # without the service that gloo stands on, choosing it ends the process
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    named = {} if wanted.coordinator is None else {
        "coordinator_address": wanted.coordinator, "num_processes": wanted.size, "process_id": wanted.rank,
    }  # fmt: skip
    jax.distributed.initialize(local_device_ids=_own(wanted), heartbeat_timeout_seconds=HEARTBEAT, **named)
    _joined = wanted
    sys.excepthook = _ending_alone(sys.excepthook)
    context._tell_parallel()  # what a program may communicate with is another
    log.info(f"communication.init: this is process {wanted.rank} of {wanted.size}.")
    return _joined


def _ending_alone(hook):
    """What a script's last error is told to: others wait for what this process does not do any more."""

    def told(kind, error, tb):
        hook(kind, error, tb)
        end_alone()

    return told


def _own(wanted):
    """The accelerator of this process, where several stand in its machine and share it."""
    return [wanted.local_rank] if wanted.local_size > 1 else None


def leave() -> None:
    """End the communication of :func:`join`."""
    global _joined
    if _joined.size > 1:
        jax.distributed.shutdown()
        _joined = ALONE
