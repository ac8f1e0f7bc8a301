"""Measure how soon RISE shows a map of one image of 224 x 224 pixels by ResNet-50.

    python benchmarks/explainer.py [SECONDS]

The process has an empty compilation cache. RISE is stopped after SECONDS, 40 by default. The goal is a map within 30 s;
the compilation shows its own line after 1 s.
"""

import os
import sys
import tempfile
import time

import numpy as np


def main(seconds=40.0):
    """Print when the first map comes, and the masks per second after it."""
    os.environ["MSNB_CACHE"] = tempfile.mkdtemp()
    from msnb import Tensor, model_zoo, nn
    from msnb.explainer._progress import observe
    from msnb.explainer.explanation import RISE

    rise = RISE(model_zoo.resnet50(), nn.Softmax())
    image = Tensor(np.random.default_rng(0).random((1, 3, 224, 224), np.float32))
    start, reports = time.perf_counter(), []

    def note(explainer, maps, done, total):
        reports.append((time.perf_counter() - start, done))
        if reports[-1][0] > seconds:
            raise KeyboardInterrupt

    try:
        with observe(note):
            rise(image, 3)
    except KeyboardInterrupt:
        pass
    (first, done), (last, count) = reports[1], reports[-1]
    speed = (count - done) / max(last - first, 1e-9)
    print(f"first map after {first:.1f} s, of {done} masks; then {speed:.1f} masks/s")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
