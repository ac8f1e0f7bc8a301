"""How much memory this process takes and how busy it is, now and then, for the record of a run."""

import os
import time

SYSTEM = "system/"  # what the names of these numbers begin with
_SECONDS = 2.0  # from one look to the next
_STATM = "/proc/self/statm"  # of Linux: pages, of which the second number are in memory


class System:
    """Looks at this process."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def look(self) -> dict[str, float]:
        """Megabytes in memory and busy cores since the last look, by name; nothing where that was a moment ago."""
        wall = time.monotonic()
        if wall - self._wall < _SECONDS:
            return {}
        cpu = time.process_time()
        found = {f"{SYSTEM}CPU cores": (cpu - self._cpu) / (wall - self._wall)}
        self._wall, self._cpu = wall, cpu
        memory = _memory()
        if memory is not None:
            found[f"{SYSTEM}memory MB"] = memory / 1e6
        return found


def _memory():
    """Bytes in memory; None where the system does not say it in a file."""
    try:
        with open(_STATM, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
