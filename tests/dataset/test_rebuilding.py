"""Descriptions of pipelines from other authors are read, or refused by name, and run no code."""

import copy
import json

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.transforms.py_transforms as PT
import msnb.dataset.vision.c_transforms as CV
import msnb.dataset.vision.py_transforms as PV
from msnb.dataset.core.tensor_op import Described
from msnb.dataset.engine.deserialize import _TRANSFORMS, DescriptionError, _list_transform_classes
from msnb.formats.text_files import BadFileError

VISION = "mindspore.dataset.vision.c_transforms"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "lines.txt").write_text("one\ntwo\n", encoding="utf-8")
    return ds.serialize(ds.TextFileDataset(str(tmp_path / "lines.txt"), shuffle=False))


def mapped(source, **operation):
    return {
        "op_type": "MapDataset",
        "op_module": "mindspore.dataset.engine.datasets",
        "children": [source],
        "input_columns": ["text"],
        "operations": [operation],
    }


@pytest.mark.parametrize(
    "module, name",
    [
        ("mindspore.dataset.audio._base", "np.f2py.subprocess.Popen"),
        ("mindspore.dataset.engine.cache_client", "os.system"),
        ("os", "system"),
        ("builtins", "eval"),
        ("mindspore.dataset.core.config", "set_seed"),
        (VISION, "check_value"),
        (VISION, "__getattr__"),
        (VISION, "Resize.__init__"),
        (VISION, ""),
        (None, None),
        (7, ["Resize"]),
    ],
)
def test_only_transforms_of_the_library_can_be_named(source, module, name):
    with pytest.raises(DescriptionError, match="register_function.*operations.*of input_dict"):
        ds.deserialize(mapped(source, tensor_op_module=module, tensor_op_name=name))


def test_every_transform_that_can_be_named_is_a_class_of_the_library():
    classes = {key: result for package in _TRANSFORMS for key, result in _list_transform_classes(package).items()}
    assert len(classes) > 150 and not _list_transform_classes("core") and not _list_transform_classes("")
    for (module, name), result in classes.items():
        assert isinstance(result, type) and result.__module__.startswith("msnb.dataset.") and "." not in name, module
        assert issubclass(result, Described), f"a description of {name} would lose its arguments"


@pytest.mark.parametrize(
    "operation",
    [
        CV.Pad((1, 2), (20, 30, 40)),
        CV.RandomRotation((0, 90), center=(5, 6), fill_value=150),
        CV.RandomAffine(15, translate=(0.1, 0.2), shear=(0, 1, 2, 3)),
        PT.Compose([PV.Decode(), PV.CenterCrop([3, 4]), PT.RandomApply([PV.Grayscale(3)], 0.25)]),
    ],
)
def test_a_description_through_json_has_all_arguments(source, operation, tmp_path):
    described = ds.serialize(ds.deserialize(source).map(operation), str(tmp_path / "d.json"))
    assert ds.serialize(ds.deserialize(json_filepath=str(tmp_path / "d.json"))) == described
    assert ds.serialize(ds.deserialize(str(tmp_path / "d.json"))) == described  # as programs for MindSpore 2 pass it


@pytest.mark.parametrize(
    "module, name, arguments",
    [
        ("_geometry", "CenterCrop", {"size": [2, 2]}),
        ("_geometry", "Resize", {"size": [2, 2]}),
        ("_deterministic", "Rotate", {"degrees": 90}),
        ("_deterministic", "Solarize", {"threshold": 5.0}),
    ],
)
def test_descriptions_of_msnb_0_1_name_the_files_of_that_time(source, module, name, arguments):
    pipeline = mapped(source, tensor_op_module=f"mindspore.dataset.vision.{module}", tensor_op_name=name, **arguments)
    (operation,) = ds.serialize(ds.deserialize(pipeline))["operations"]
    assert operation["tensor_op_name"] == name and operation.items() >= arguments.items()


@pytest.mark.parametrize(
    "change",
    [
        {"sampler": {"sampler_module": "mindspore.dataset.engine.rebuilding", "sampler_name": "import_module"}},
        {"sampler": {"sampler_module": "mindspore.dataset.engine.samplers", "sampler_name": "copy"}},
        {"sampler": {"sampler_name": "SequentialSampler", "child_sampler": [1]}},
        {"op_module": "os"},
        {"op_type": "GeneratorDataset"},
        {"op_type": "MappableDataset"},
        {"op_type": "__class__"},
        {"op_type": ["BatchDataset"]},
        {"op_type": None},
        {"op_type": "BatchDataset"},  # without a child
        {"children": {"a": 1}},
        {"children": ["x"]},
        {"dataset_dir": 7},
        {"num_samples": [1]},
        {"shuffle": "sometimes"},
    ],
)
def test_what_is_wrong_in_a_description_is_named_with_file_and_operator(tmp_path, change):
    entry = {
        "op_type": "ImageFolderDataset",
        "op_module": "mindspore.dataset.engine.datasets",
        "children": [],
        "dataset_dir": str(tmp_path),
        **change,
    }
    (tmp_path / "pipeline.json").write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
        ds.deserialize(json_filepath=str(tmp_path / "pipeline.json"))
    said = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert "pipeline.json" in said and "operator" in said


def test_a_description_that_is_nested_too_deeply_says_so(source):
    deep = copy.deepcopy(source)
    for _ in range(400):
        deep = {"op_type": "RepeatDataset", "children": [deep], "count": 1}
    with pytest.raises(DescriptionError, match="nested more than"):
        ds.deserialize(deep)


def test_damaged_json_is_named_with_its_line(tmp_path):
    path = tmp_path / "pipeline.json"
    path.write_text('{\n "op_type": }', encoding="utf-8")
    with pytest.raises(BadFileError, match="pipeline.json.*line 2"):
        ds.deserialize(json_filepath=str(path))


@ds.register_function
def shout(text):
    return np.char.upper(text)


@ds.register_function
class Backwards(ds.Sampler):
    def __iter__(self):
        return iter(range(self.dataset_size - 1, -1, -1))


def whisper(text):
    return text


def test_a_function_is_available_once_it_was_registered(source):
    name = {"tensor_op_module": __name__, "tensor_op_name": "shout"}
    rows = ds.deserialize(mapped(source, **name)).create_tuple_iterator(output_numpy=True)
    assert [bytes(row[0].item()) for row in rows] == [b"ONE", b"TWO"]
    description = ds.serialize(ds.deserialize(source).map(whisper, ["text"]))
    with pytest.raises(RuntimeError, match="whisper"):
        ds.deserialize(description)
    assert ds.register_function(whisper) is whisper
    assert ds.compare(ds.deserialize(description), ds.deserialize(source).map(whisper, ["text"]))


def test_predicates_and_samplers_of_ones_own_are_available_too(tmp_path):
    @ds.register_function
    def even(label):
        return label % 2 == 0

    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.png").write_bytes(b"png")
    data = ds.ImageFolderDataset(str(tmp_path), sampler=Backwards()).filter(even, ["label"])
    again = ds.deserialize(ds.serialize(data))
    assert [int(row[1]) for row in again.create_tuple_iterator(output_numpy=True)] == [2, 0]


@pytest.mark.parametrize("thing, error", [(lambda x: x, ValueError), (3, TypeError), (CV.Decode(), TypeError)])
def test_only_what_has_a_name_is_registered(thing, error):
    with pytest.raises(error, match="register_function"):
        ds.register_function(thing)


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "3",
        '{"seed": -1}',
        '{"numParallelWorkers": "8"}',
        '{"opConnectorSize": 1e999}',
        "[" * 100_000,
        '{"seed"',
    ],
)
def test_settings_that_are_wrong_are_named_and_none_is_taken_over(tmp_path, content):
    before = ds.config.get_seed(), ds.config.get_num_parallel_workers(), ds.config.get_prefetch_size()
    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(RuntimeError, match="config.json"):
        ds.config.load(str(tmp_path / "config.json"))
    assert before == (ds.config.get_seed(), ds.config.get_num_parallel_workers(), ds.config.get_prefetch_size())


def test_a_settings_file_reaches_no_attribute_but_its_settings(tmp_path):
    kind = type(ds.config.settings)
    (tmp_path / "config.json").write_text('{"__class__": 1, "extra": 2, "prefetch": 3, "opConnectorSize": 5}')
    before = ds.config.get_prefetch_size()
    try:
        ds.config.load(str(tmp_path / "config.json"))
        assert ds.config.get_prefetch_size() == 5
        assert type(ds.config.settings) is kind and isinstance(ds.config.settings.extra, dict)
    finally:
        ds.config.set_prefetch_size(before)
