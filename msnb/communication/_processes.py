"""Connect the processes that run one program together.

`python -m msnb launch` starts them on one machine, or on each of several. SLURM's `srun` and Open MPI's `mpirun`
can start them as well. This module reads the environment that each launcher sets; JAX's own service connects the
processes.
"""

import os
import socket
import sys
from collections.abc import Sequence
from typing import NamedTuple

import jax

from msnb import context, log
from msnb.core.compat.jax_private import exit_without_waiting, is_initialized

HEARTBEAT = 30  # seconds of silence after which a process counts as lost


class World(NamedTuple):
    """Number of processes that run the program together, and ranks of this process.

    Attributes:
        size (int): Number of processes.
        rank (int): Rank of this process.
        local_size (int): Number of processes on this machine.
        local_rank (int): Rank of this process among those on this machine.
        coordinator (str): "host:port" of the first process; None where JAX finds it by itself.
    """

    size: int
    rank: int
    local_size: int
    local_rank: int
    coordinator: str | None


ALONE = World(1, 0, 1, 0, None)
# Environment variables of each launcher: number of processes, rank, number on this machine, rank on this machine.
_LAUNCHER_VARIABLES = (
    ("MSNB_PROCESSES", "MSNB_PROCESS", "MSNB_LOCAL_PROCESSES", "MSNB_LOCAL_PROCESS"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
)
_joined = ALONE


def world() -> World:
    """Return the World that this process has joined; before :func:`join`, a World of only this process."""
    return _joined


def world_of_environment() -> World:
    """Return the World that environment variables describe; without any, a World of only this process."""
    for names in _LAUNCHER_VARIABLES:
        size, rank, local_size, local_rank = (os.environ.get(name, "").partition("(")[0] for name in names)
        if size.isdigit() and rank.isdigit() and int(size) > 1:
            local_number = int(local_rank) if local_rank.isdigit() else int(rank)
            local_count = int(local_size) if local_size.isdigit() else local_number + 1
            return World(int(size), int(rank), local_count, local_number, os.environ.get("MSNB_COORDINATOR"))
    return ALONE


def free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def variables_of(rank: int, number: int, local: Sequence[int], coordinator: str) -> dict[str, str]:
    """Return the environment variables to set for a process. They include those of MindSpore's launchers: RANK_SIZE,
    RANK_ID, DEVICE_NUM and DEVICE_ID.

    Args:
        rank (int): Rank of the process.
        number (int): Number of processes.
        local (Sequence[int]): The ranks on its machine.
        coordinator (str): "host:port" of the first process.
    """
    local_rank = rank - local[0]
    variables = {
        "MSNB_COORDINATOR": coordinator,
        "MSNB_PROCESSES": number,
        "MSNB_PROCESS": rank,
        "MSNB_LOCAL_PROCESSES": len(local),
        "MSNB_LOCAL_PROCESS": local_rank,
        "RANK_SIZE": number,
        "RANK_ID": rank,
        "DEVICE_NUM": len(local),
        "DEVICE_ID": local_rank,
        "PYTHONUNBUFFERED": 1,
        **({"MSNB_PROGRESS": 0} if local_rank else {}),
    }
    return {name: str(value) for name, value in variables.items()}


def join() -> World:
    """Connect this process to the others that environment variables describe, and return the World.

    Each process computes on one device: on a CPU its own, otherwise the one with its local rank.

    Raises:
        RuntimeError: If something was computed before, or the others cannot be reached.
    """
    global _joined
    requested = world_of_environment()
    if _joined.size > 1 or requested.size == 1:
        return _joined
    if is_initialized():
        raise RuntimeError(
            f"This is process {requested.rank} of {requested.size}, and it has computed something before it knew the "
            f"others: call communication.init() before the first Tensor, or start it by `python -m msnb launch`."
        )
    # Only here, as gloo needs the distributed service: selecting gloo without the service ends the process.
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    coordinates = {} if requested.coordinator is None else {
        "coordinator_address": requested.coordinator, "num_processes": requested.size, "process_id": requested.rank,
    }  # fmt: skip
    jax.distributed.initialize(
        local_device_ids=_select_device_ids(requested), heartbeat_timeout_seconds=HEARTBEAT, **coordinates
    )
    _joined = requested
    sys.excepthook = _make_exiting_exception_hook(sys.excepthook)
    context._notify_parallel_listeners()  # the devices that a program may communicate with have changed
    log.info(f"communication.init: this is process {requested.rank} of {requested.size}.")
    return _joined


def _make_exiting_exception_hook(hook):
    """Return an exception hook that ends this process after `hook`, without waiting for the other processes."""

    def report_and_exit(kind, error, tb):
        hook(kind, error, tb)
        exit_without_waiting()

    return report_and_exit


def _select_device_ids(requested):
    """Return the ids of the accelerators that this process uses if several processes share the machine, otherwise
    None.
    """
    return [requested.local_rank] if requested.local_size > 1 else None


def leave() -> None:
    """Disconnect this process from the others, which :func:`join` connected."""
    global _joined
    if _joined.size > 1:
        jax.distributed.shutdown()
        _joined = ALONE
