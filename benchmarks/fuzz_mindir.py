"""Damaged MINDIR files: every one is read or refused with a sentence. `python benchmarks/fuzz_mindir.py [files]`."""

import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "exchange"))

from test_mindir import FILES, mutated  # noqa: E402

import msnb as ms  # noqa: E402
from msnb import ir  # noqa: E402
from msnb.formats.reading import BadFileError  # noqa: E402


def main(count):
    """Mutate the golden files `count` times; prints how many were read and refused, and how long the slowest took."""
    rng, read, slowest = random.Random(count), 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.mindir")
        for _ in range(count):
            path.write_bytes(mutated(rng.choice(FILES).read_bytes(), rng))
            start = time.perf_counter()
            try:
                graph = ms.load(str(path))
                ir.text(graph)
                dict(graph.weights)
                read += 1
            except (BadFileError, NotImplementedError):
                pass
            slowest = max(slowest, time.perf_counter() - start)
    print(f"{count} damaged files: {read} read, {count - read} refused, the slowest in {slowest:.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
