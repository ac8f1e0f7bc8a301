"""Memory and CPU use of this process, sampled at intervals for the record of a run."""

import os
import time

SYSTEM = "system/"  # prefix of the names of these numbers
_SECONDS = 2.0  # minimum time between samples
_STATM = "/proc/self/statm"  # Linux: numbers of pages, the second is the resident set


class System:
    """Samples memory and CPU use of this process."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def look(self) -> dict[str, float]:
        """Return megabytes in memory and busy cores since the last sample, by name; {} if that sample was taken less
        than two seconds ago.
        """
        wall = time.monotonic()
        if wall - self._wall < _SECONDS:
            return {}
        cpu = time.process_time()
        values = {f"{SYSTEM}CPU cores": (cpu - self._cpu) / (wall - self._wall)}
        self._wall, self._cpu = wall, cpu
        memory = _read_resident_memory()
        if memory is not None:
            values[f"{SYSTEM}memory MB"] = memory / 1e6
        return values


def _read_resident_memory():
    """Return the resident memory in bytes; None where the system has no such file."""
    try:
        with open(_STATM, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
