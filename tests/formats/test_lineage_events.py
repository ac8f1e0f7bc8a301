"""Lineage of pipelines: every transform can be recorded, quickly, and is read again."""

import inspect
from enum import IntEnum

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.dataset import audio, text, transforms, vision
from msnb.dataset.core.tensor_op import Described
from msnb.dataset.text import transforms as text_transforms
from msnb.dataset.transforms import c_transforms as plain_c
from msnb.dataset.transforms import py_transforms as plain_py
from msnb.dataset.vision import c_transforms as vision_c
from msnb.dataset.vision import py_transforms as vision_py
from msnb.formats import lineage_events
from msnb.train.summary._lineage import dataset_graph_of

# Arguments to try, one after the other: each transform takes the first that suit it.
ARGUMENTS = [
    (),
    (2,),
    ((4, 4),),
    ([4],),
    (0.5,),
    ("a",),
    ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]),
    (np.int32,),
    (np.array([1]),),
    ((0.5, 1.5),),
    (1, 2),
    (0.5, 0.5),
    ([vision_c.HorizontalFlip() if hasattr(vision_c, "HorizontalFlip") else vision_c.RandomHorizontalFlip()],),
    ((1, 1), (2, 2)),
    (text.Vocab.from_list(["a", "b"]),),
    (len,),
]
MODULES = (vision, vision_c, vision_py, transforms, plain_c, plain_py, text_transforms, audio)
CLASSES = {
    f"{module.__name__.removeprefix('msnb.dataset.')}.{name}": cls
    for module in MODULES
    for name, cls in vars(module).items()
    if inspect.isclass(cls)
    and issubclass(cls, Described)
    and not name.startswith("_")
    and name not in ("Described", "TensorOp")
}


def instance_of(cls):
    """Return a transform of this class; None where no arguments suit it."""
    for arguments in ARGUMENTS:
        try:
            return cls(*arguments)
        except Exception:
            continue
    return None


def recorded(content):
    """Return a dataset graph after it was written and read."""
    payload = lineage_events.lineage_event(1.0, "dataset_graph", content)
    return lineage_events.decoded(payload).content


@pytest.mark.parametrize("name", CLASSES)
def test_a_pipeline_with_any_transform_is_recorded(name):
    op = instance_of(CLASSES[name])
    if op is None:
        pytest.skip("it wants arguments of its own")
    dataset = ds.NumpySlicesDataset([1, 2]).map([op]).batch(2)
    content = recorded(dataset_graph_of(dataset))
    (mapped,) = content["children"]
    (operation,) = mapped["operations"]
    assert type(op).__name__ in operation.values()


class NeverCompared(int):
    """A whole number that says when it is looked for element by element, which takes minutes in 2**32 numbers."""

    def __eq__(self, other):
        raise AssertionError("a range was searched element by element")

    __hash__ = int.__hash__


class Choice(IntEnum):
    FIRST = 0
    LAST = 7


@pytest.mark.parametrize("number", [NeverCompared(2), Choice.LAST, np.int32(3), True, 1 << 40])
def test_a_number_of_any_kind_is_recorded_at_once(number):
    content = recorded({"children": [], "parameter": {"number": number}, "operations": [{"number": number}]})
    assert content["parameter"]["number"] == content["operations"][0]["number"]
    assert float(content["parameter"]["number"]) == float(number)
    custom = lineage_events.lineage_event(1.0, "custom_lineage_data", {"number": number})
    assert float(lineage_events.decoded(custom).content["number"]) == float(number)
