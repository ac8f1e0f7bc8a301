"""A data set larger than memory streams: what a pipeline holds does not grow with it."""

import pytest

_PROGRAM = """
import resource, sys
import numpy as np
import msnb
import msnb.dataset as ds
import msnb.dataset.vision.c_transforms as CV

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20

class Big:
    def __getitem__(self, index):
        return np.full((512, 512, 4), index % 256, np.uint8), np.int32(index)
    def __len__(self):
        return LENGTH

def rows():
    for i in range(LENGTH):
        yield Big()[i]

ds.config.set_cache_budget(16 << 20)

def run(data, length):
    global LENGTH
    LENGTH = length
    seen = 0
    for image, label in data().create_tuple_iterator(num_epochs=1, output_numpy=True):
        seen += int(label.size)
    assert seen == length, seen
    return peak()

PIPELINES = {
    "sequence": lambda: ds.GeneratorDataset(Big(), ["image", "label"], shuffle=True).batch(8),
    "generator": lambda: ds.GeneratorDataset(rows, ["image", "label"]).map(CV.RandomHorizontalFlip(), "image").batch(8),
    "shuffled": lambda: ds.GeneratorDataset(rows, ["image", "label"], shuffle=False).shuffle(20).batch(8),
    "resized": lambda: ds.GeneratorDataset(rows, ["image", "label"]).map(CV.Resize((700, 700)), "image").batch(8),
    "numbers": lambda: ds.NumpySlicesDataset({"image": np.zeros((LENGTH, 4, 4, 3), np.uint8),
                                             "label": np.arange(LENGTH)}).map(CV.Resize((600, 600)), "image").batch(8),
}
run(PIPELINES[sys.argv[1]], 200)
before = peak()
after = run(PIPELINES[sys.argv[1]], 700)
print("grown by", after - before)
assert after - before < 300, (before, after)
"""


@pytest.mark.parametrize("kind", ["sequence", "generator", "shuffled", "resized", "numbers"])
def test_peak_memory_does_not_grow_with_the_data_set(kind, fresh, tmp_path):
    """700 samples of 1 MiB, of which a pipeline may hold its queues, its shuffle buffer and its cache's budget.

    How full the queues are depends on how fast the machine is just then: 200 MB between one run and another have been
    seen. To keep what the longer run reads would take 500 at least.
    """
    done = fresh.run(_PROGRAM, tmp_path, kind)
    assert done.status == 0, done.out + done.err
