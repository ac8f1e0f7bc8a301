"""Labels that margin sampling saves, the time to the next item, and the time to score a large pool.

    python benchmarks/labelling.py [--seeds 7] [--pool 50000]

A simulated annotator labels msnb's 1500 digits once with margin sampling and once at random, without a network, and the
accuracy on the 297 test digits is measured after each answer. The median over the seeds is printed. Then LeNet-5 gives
the features of a large pool of noisy digits.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from msnb import dataset as ds
from msnb import samples
from msnb.labelling import Session
from msnb.model_zoo.networks.lenet import LeNet5

CLASSES = [str(digit) for digit in range(10)]
LABELS = 200


def read_digits(part):
    """Return (pictures, labels)."""
    rows = ds.MnistDataset(f"{samples.digits()}/{part}", shuffle=False).create_dict_iterator(output_numpy=True)
    pictures, labels = zip(*[(row["image"], int(row["label"])) for row in rows], strict=True)
    return np.stack(pictures)[..., 0], np.array(labels)


def simulate(strategy, seed, folder):
    """Return the test accuracy after each answer, by the number of answers."""
    (train, truth), (test, test_truth) = read_digits("train"), read_digits("test")
    pictures = np.concatenate([train, test])
    accuracy = {}
    keep = folder / f"{strategy}{seed}.csv"
    with Session(pictures, CLASSES, strategy=strategy, keep=keep, held_out=0, seed=seed) as session:
        for index in range(len(train), len(pictures)):
            session.skip(index)
        for count in range(1, LABELS + 1):
            item = session.next()
            session.answer(item, int(truth[item.index]))
            session.wait()
            accuracy[count] = (session.probabilities[len(train) :].argmax(1) == test_truth).mean()
    return accuracy


def measure_pool(count, folder):
    """Return (seconds until all items are scored, seconds of each answer with its next item)."""
    train, truth = read_digits("train")
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, len(train), count)
    pictures = np.clip(train[chosen] + rng.normal(0, 20, (count, 28, 28)), 0, 255).astype(np.uint8)
    net = LeNet5()
    times = []
    start = time.perf_counter()
    with Session(pictures, CLASSES, net, keep=folder / "pool.csv", transform=pad) as session:
        for _ in range(15):  # answers while the features are computed
            begin = time.perf_counter()
            item = session.next()
            session.answer(item, int(truth[chosen[item.index]]))
            times.append(time.perf_counter() - begin)
        session.wait()
        scored = time.perf_counter() - start
        for _ in range(60):
            begin = time.perf_counter()
            item = session.next()
            session.answer(item, int(truth[chosen[item.index]]))
            times.append(time.perf_counter() - begin)
            time.sleep(0.05)
    return scored, times


def pad(picture):
    """Return a digit as LeNet-5 takes it, (1, 32, 32)."""
    return np.pad(picture, 2)[None].astype(np.float32) / 255


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--pool", type=int, default=50_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = {s: [simulate(s, seed, folder) for seed in range(options.seeds)] for s in ("random", "margin")}
        for strategy, accuracies in runs.items():
            row = {n: statistics.median(run[n] for run in accuracies) for n in (20, 40, 60, 80, 100, 120, 200)}
            print(f"{strategy:8}", "  ".join(f"{n}: {value:.3f}" for n, value in row.items()))
        target = statistics.median(run[LABELS] for run in runs["random"])
        needed = [next((n for n in run if run[n] >= target), LABELS) for run in runs["margin"]]
        print(
            f"random has {target:.3f} with {LABELS} labels; margin needs {statistics.median(needed)} ({sorted(needed)})"
        )
        scored, times = measure_pool(options.pool, folder)
        print(f"{options.pool} items of LeNet-5 scored in {scored:.1f} s")
        print(
            f"answer and next item: median {1e3 * statistics.median(times):.1f} ms, largest {1e3 * max(times):.1f} ms"
        )


if __name__ == "__main__":
    main()
