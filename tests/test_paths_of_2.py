"""Module paths of MindSpore 2 that public programs import from, and that are faces here."""

import importlib

import pytest

from msnb.common import dtype as mstype
from msnb.common import unsupported

PATHS = {
    "common": "COOTensor CSRTensor QuantDtype TensorType bool cdouble cfloat float int long manual_seed get_rng_state",
    "common.api": "cells_compile_cache",
    "dataset": "RepeatDataset DictIterator TupleIterator",
    "nn.wrap.cell_wrapper": "PipelineCell",
    "numpy.utils": "_to_tensor",
    "numpy.utils_const": "_raise_value_error _raise_type_error",
    "ops.function.nn_func": "_get_cache_prim",
    "ops.primitive": "_primexpr",
    "dataset.engine.datasets": "_set_training_dataset",
    "train.model": "_StepSync _transfer_tensor_to_tuple",
    "train.train_thor.dataset_helper": "DatasetHelper",
    "common.dump": "set_dump",
    "tools": "set_dump",
    "common.sparse_tensor": "COOTensor CSRTensor RowTensor",
    "dataset.engine.datasets_audio": "SpeechCommandsDataset",
    "dataset.engine.datasets_standard_format": "MindDataset TFRecordDataset CSVDataset",
    "dataset.engine.datasets_text": "IMDBDataset TextFileDataset",
    "dataset.engine.datasets_user_defined": "GeneratorDataset NumpySlicesDataset",
    "dataset.engine.datasets_vision": "ImageFolderDataset Cifar10Dataset CocoDataset",
    "dataset.vision.c_transforms": "Crop HorizontalFlip VerticalFlip Rotate GaussianBlur AutoAugment ConvertMode",
    "nn.layer.activation": "_activation",
    "nn.layer.rnn_cells": "RNNCellBase RNNCell GRUCell LSTMCell",
    "nn.layer.rnns": "RNN GRU LSTM",
    "nn.loss.loss": "LossBase TripletMarginLoss HuberLoss",
    "ops.function.fft_func": "fft",
    "ops.function.image_func": "bounding_box_encode",
    "ops.function.sparse_unary_func": "csr_relu",
    "ops.function.vmap_func": "vmap",
    "train.callback._early_stop": "EarlyStopping",
    "parallel.auto_parallel": "AutoParallel",
    "parallel.checkpoint_transform": "build_searched_strategy load_distributed_checkpoint merge_sliced_parameter",
    "parallel": "build_searched_strategy load_distributed_checkpoint merge_sliced_parameter",
    "parallel.nn": "Pipeline PipelineCell GradAccumulation MicroBatchInterleaved PipelineGradReducer",
    "parallel.shard": "Layout shard",
}


@pytest.mark.parametrize("path", PATHS)
def test_a_module_of_mindspore_2_has_its_names(path):
    module = importlib.import_module(f"msnb.{path}")
    assert [name for name in PATHS[path].split() if not hasattr(module, name)] == []


@pytest.mark.parametrize("path", ["dataset.engine.validators", "dataset.transforms.validators"])
def test_a_check_of_arguments_leaves_a_program_s_own_method_as_it_is(path):
    module = importlib.import_module(f"msnb.{path}")

    def method(self, transforms):
        return transforms

    assert module.check_random_transform_ops(method) is method
    with pytest.raises(AttributeError, match="no check 'mended'"):
        module.mended  # noqa: B018


def test_what_stands_beside_mindspore_numpy_makes_tensors_and_errors():
    from msnb.numpy.utils import _to_tensor
    from msnb.numpy.utils_const import _raise_type_error, _raise_value_error

    pair, number = _to_tensor([1, 2], 3.0)
    assert (pair.shape, number.dtype, _to_tensor(1)) == ((2,), mstype.float32, 1)
    with pytest.raises(ValueError, match="not 3"):
        _raise_value_error("not ", 3)
    with pytest.raises(TypeError, match="not 3"):
        _raise_type_error("not ", 3)


def test_nothing_is_refused_under_one_path_that_is_there_under_another():
    """Of names that few lines of programs use, and that are classes which raise."""
    there = (
        "",
        "train",
        "train.serialization",
        "train.callback",
        "nn",
        "ops",
        "communication",
        "mint",
        "runtime",
        "hal",
    )
    modules = {place: importlib.import_module(f"msnb.{place}".rstrip(".")) for place in there}
    results = [
        (place, name, other)
        for refused_names in unsupported.USED_BY_FEW_LINES.values()
        for place, names in refused_names.items()
        for name in names.split()
        for other, module in modules.items()
        if other != place and name in module.__all__
    ]
    assert results == []
