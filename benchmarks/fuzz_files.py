"""Open damaged MINDIR, ONNX and event files, and count those that are neither read nor refused with a sentence.

    python benchmarks/fuzz_files.py onnx|mindir|events [--files 20000] [--first 0] [--seeds FOLDER] [--room 1024]
        [--seconds 30]

A damaged record of an event file gets a checksum that fits.

File number n is the same each time. FOLDER has the files to damage; they are written there if it is empty. A child
process opens the damaged files, with --room MB of address space more than it has at its start. A new child starts every
1000 files, after a crash, and after a file that takes longer than --seconds.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import resource
import select
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "exchange"), str(ROOT / "tests" / "exchange" / "onnx")]

from damage import mutate  # noqa: E402

import msnb as ms  # noqa: E402
from msnb import ir  # noqa: E402
from msnb.formats import event_records, lineage_events, mindir, onnx, protobuf, summary_events  # noqa: E402

SCHEMAS = {"onnx": onnx.SCHEMA, "mindir": mindir.SCHEMA, "events": None}
FILES_PER_CHILD = 1000


def write_seeds(kind, folder):
    """Write the files to damage: MindSpore's golden files, networks as ONNX, and onnx's own tests of nodes."""
    if kind == "events":
        for path in sorted((ROOT / "tests" / "golden" / "summaries").iterdir()):
            (folder / f"{path.name}.events").write_bytes(path.read_bytes())
        return
    if kind == "mindir":
        for path in sorted((ROOT / "tests" / "golden" / "mindir").glob("*.mindir")):
            (folder / path.name).write_bytes(path.read_bytes())
        return
    from test_networks import NETWORKS, build

    for name in NETWORKS:
        data = protobuf.encode(onnx.SCHEMA, "Model", build(name)[2])
        (folder / f"{name.replace(' ', '_')}.onnx").write_bytes(data)
    if importlib.util.find_spec("onnx"):
        from onnx.backend.test.case.node import collect_testcases

        for case in collect_testcases(""):
            data, path = case.model.SerializeToString(), folder / f"{case.name}.onnx"
            if len(data) < 1 << 16:
                path.write_bytes(data)
                try:
                    open_file(str(path), kind)
                except (ValueError, NotImplementedError):  # a damaged copy is refused as well
                    path.unlink()


def open_file(path, kind):
    """Open a file as its reader does, its weights included."""
    if kind == "events":
        for _ in lineage_events.lineage_events(path):
            pass
        for event, _ in summary_events.events(path):
            _ = event.graph, [value.content for value in event.values]
        return
    if kind == "onnx":
        graph = ms.load_onnx(path).graph
    else:
        graph = ms.load(path)
    ir.text(graph)
    dict(graph.weights)


def damage_file(seed, rng, kind):
    """Return the bytes of a damaged copy of `seed`."""
    if kind != "events":
        return mutate(seed.read_bytes(), rng, SCHEMAS[kind])
    payloads = [payload for payload, _ in event_records.records(seed)]
    index = rng.randrange(len(payloads))
    changed = bytearray(payloads[index])
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(changed) + 1)
        if rng.random() < 0.6 and at < len(changed):
            changed[at] = rng.randrange(256)
        elif rng.random() < 0.5:
            del changed[at : at + rng.randint(1, 40)]
        else:
            changed[at:at] = rng.randbytes(rng.randint(1, 12))
    payloads[index] = bytes(changed)
    data = b"".join(map(event_records.frame, payloads))
    return data if rng.random() < 0.9 else data[: rng.randrange(len(data))]


def open_files(kind, folder, first, count, room):
    """Open `count` files from number `first` on. Print a line of JSON before each file, and its result after it."""
    paths = sorted(pathlib.Path(folder).glob(f"*.{kind}"))
    path = pathlib.Path(tempfile.gettempdir(), f"damaged-{os.getpid()}.{kind}")
    for seed in paths[:3]:  # modules that are imported once take no room later
        try:
            open_file(str(seed), kind)
        except NotImplementedError:
            pass
    size = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (room << 20),) * 2)
    for number in range(first, first + count):
        rng = random.Random(f"{kind} {number}")
        seed = rng.choice(paths)
        path.write_bytes(damage_file(seed, rng, kind))
        print(json.dumps([number, seed.name]), flush=True)
        try:
            open_file(str(path), kind)
            result = "read"
        except (ValueError, NotImplementedError) as error:
            result = "refused" if str(error) else "refused without a sentence"
        except BaseException as error:  # noqa: BLE001 - any other error is a failure
            result = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(result), flush=True)
    path.unlink()


def read_line(process, seconds):
    """Return the next line of the child, without a buffer: None if it is late, b"" if it has ended."""
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return process.stdout.readline() if ready else None


def main(options):
    """Open the files in child processes, and print the counts and the failures."""
    counts, failures, slowest = {"read": 0, "refused": 0}, [], (0.0, None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.seeds or temporary
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        if not any(pathlib.Path(folder).glob(f"*.{options.kind}")):
            write_seeds(options.kind, pathlib.Path(folder))
        number, end = options.first, options.first + options.files
        while number < end:
            command = [sys.executable, __file__, options.kind, "--child", folder, "--first", str(number)]
            command += ["--files", str(min(FILES_PER_CHILD, end - number)), "--room", str(options.room)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
                while announcement := read_line(process, 300):
                    number, seed = json.loads(announcement)
                    start = time.perf_counter()
                    result = read_line(process, options.seconds)
                    slowest = max(slowest, (time.perf_counter() - start, number))
                    result = "hangs" if result is None else json.loads(result) if result else "crashes"
                    if result in counts:
                        counts[result] += 1
                    else:
                        failures.append((number, seed, result))
                        print(*failures[-1], flush=True)
                    number += 1
                    if result in ("hangs", "crashes"):
                        break
                process.kill()
            print(f"... {number - options.first}", file=sys.stderr, flush=True)
    print(
        f"{options.files} damaged {options.kind} files: {counts['read']} read, {counts['refused']} refused, "
        f"{len(failures)} neither; the slowest, {slowest[1]}, in {slowest[0]:.2f} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=list(SCHEMAS))
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--room", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seeds")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        open_files(chosen.kind, chosen.child, chosen.first, chosen.files, chosen.room)
    else:
        main(chosen)
