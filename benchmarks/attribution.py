"""Measure attributions of 100 images by LeNet.

    python benchmarks/attribution.py

Each method runs in a process of its own with an empty compilation cache: the first call traces and compiles, the
second one has other images. The goal is 2 s for the first call of Grad-CAM.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

METHODS = {
    "gradient": {},
    "guided_backprop": {},
    "grad_cam": {"node": "conv2"},
    "integrated_gradients": {},
    "smooth_grad": {},
    "lrp": {},
}


def measure(method):
    """Print the seconds of two calls."""
    import msnb
    from msnb import Tensor, nn

    class LeNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
            self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
            self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
            self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

        def construct(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.flatten(self.pool(self.relu(self.conv2(x))))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))

    net, targets = LeNet(), np.arange(100) % 10
    seconds = []
    for seed in range(2):
        images = Tensor(np.random.RandomState(seed).randn(100, 1, 32, 32).astype(np.float32))
        start = time.perf_counter()
        msnb.attribute(net, images, target=targets, method=method, **METHODS[method])
        seconds.append(time.perf_counter() - start)
    print(f"{method:<22}{seconds[0]:8.2f} s{seconds[1]:8.3f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        print(f"{'':<22}{'first':>10}{'second':>10}")
        for name in METHODS:
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "MSNB_CACHE": folder}
                print(subprocess.check_output([sys.executable, __file__, name], env=environment, text=True), end="")
