"""The optimiser changes how a pipeline runs, never what it gives."""

import numpy as np
import pytest

import msnb
import msnb.dataset as ds
import msnb.dataset.transforms.c_transforms as C
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.engine.execution.chunk import Hint, rows_of

IMAGES = np.random.default_rng(0).integers(0, 256, (23, 8, 10, 3), np.uint8)


def images():
    return ds.NumpySlicesDataset({"image": IMAGES, "label": np.arange(23, dtype=np.int32)}, shuffle=True)


def rows(dataset, optimise, epochs=2):
    plan = dataset.make_plan(optimise)
    try:
        return [
            [a.tolist() for c in zip(*[rows_of(col) for col in chunk.columns]) for a in c]
            for _ in range(epochs)
            for chunk in plan.chunks(Hint(8))
        ]
    finally:
        plan.close()


def flat(parts):
    return [x for part in parts for x in part]


PIPELINES = {
    "pointwise": lambda d: d.map(
        [CV.Rescale(1 / 255, 0), CV.Normalize([0.1, 0.2, 0.3], [0.5, 0.5, 0.4]), CV.HWC2CHW()], ["image"]
    ),
    "resize then random": lambda d: d.map(CV.Resize((6, 6)), ["image"]).map(
        [CV.RandomCrop(4), CV.RandomHorizontalFlip()], ["image"]
    ),
    "shuffle and take": lambda d: d.map(CV.Invert(), ["image"]).shuffle(10).take(9).skip(2),
    "repeat and batch": lambda d: d.repeat(2).map(C.TypeCast(msnb.float32), ["label"]).batch(5),
    "function": lambda d: d.map(lambda x: x + 1, ["label"]).shuffle(4).filter(lambda x: bool(x % 2), ["label"]),
    "two maps": lambda d: (
        d.map(CV.Resize((4, 4)), ["image"])
        .map(lambda x: x * 2, ["label"])
        .project(["label", "image"])
        .rename("label", "y")
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_an_optimised_plan_gives_the_same_rows_in_every_epoch(name):
    results = []
    for optimise in (False, True):
        ds.config.set_seed(11)
        results.append(flat(rows(PIPELINES[name](images()), optimise)))
    assert results[0] == results[1]


def test_explain_shows_both_plans(capsys):
    PIPELINES["shuffle and take"](images()).explain()
    out = capsys.readouterr().out
    assert "Invert" in out and "shuffle" in out.lower() and "take" in out.lower()


def test_deterministic_prefixes_are_computed_once_per_sample():
    calls = []

    class Counting(CV.Resize):
        def _transform_row(self, image):
            calls.append(1)
            return super()._transform_row(image)

    it = images().map(Counting((4, 4)), ["image"]).create_tuple_iterator(num_epochs=3, output_numpy=True)
    for _ in range(3):
        assert len(list(it)) == 23
    assert len(calls) <= 2 * 23
