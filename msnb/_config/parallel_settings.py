"""Table of the settings of ``set_auto_parallel_context``. Some settings of MindSpore 2 imply others."""

from typing import Any

from msnb import log
from msnb._config.settings_table import Settings, ascending_indices, file_in_new_folder, mapping
from msnb.common.kinds import Between, Bool, Int, Kind, OneOf, Str, accept_value

MODES = "stand_alone", "data_parallel", "hybrid_parallel", "semi_auto_parallel", "auto_parallel"
_DATASET_STRATEGIES = "data_parallel", "full_batch"  # the str values of dataset_strategy
_FILES = {"load_file": "strategy_ckpt_load_file", "save_file": "strategy_ckpt_save_file"}

_NOT_REPEATED = "a loss is computed once, or by each device for its own rows: none is repeated"
_NO_PIPELINE = "nn.PipelineCell has one schedule, GPipe, whose stages are one segment each"
_XLA_GROUPS = "XLA groups communication by itself"
_FLOAT32 = "DistributedGradReducer adds up in float32, and what else is added up is so in the type that it has"
_NORMS = "the gradient view, %ms_gradients, shows norms of gradients"
_SHARDS_ALL = "enable_parallel_optimizer cuts all that can be cut, over all devices that have the same"
_CHECKPOINT_FORMAT = "save_checkpoint writes Parameters whole, and save_sharded in parts"


def _check_dataset_strategy(value):
    if isinstance(value, str):
        return accept_value(OneOf(*_DATASET_STRATEGIES), value)
    for strategy in accept_value(_tuple, value):
        for n_slices in accept_value(_tuple, strategy):
            if accept_value(Int, n_slices) < 1:
                raise ValueError
    return value


def _check_strategy_files(value):
    if set(accept_value(mapping, value)) - {*_FILES, "only_trainable_params"}:
        raise ValueError
    for key, file in value.items():
        accept_value(Str if key in _FILES else Bool, file)
    return value


def _check_tuple(value):
    if not isinstance(value, tuple):
        raise TypeError
    return value


_tuple = Kind("a tuple", _check_tuple)
_data = Kind(
    '"data_parallel", "full_batch", or a tuple with a tuple of positive int for each argument', _check_dataset_strategy
)
_files = Kind("a dict with some of the keys load_file, save_file and only_trainable_params", _check_strategy_files)

parallel = Settings(
    "set_auto_parallel_context",
    {
        "device_num": (1, Between(Int, 1, 4096)),
        "grad_accumulation_step": (1, Between(Int, 1, 2**31 - 1), "nn.GradAccumulationCell divides a batch"),
        "global_rank": (0, Between(Int, 0, 4095), "a process knows its rank from who has started it"),
        "gradients_mean": (False, Bool),
        "gradient_fp32_sync": (True, Bool, _FLOAT32),
        "loss_repeated_mean": (True, Bool, _NOT_REPEATED),
        "pipeline_stages": (1, Between(Int, 1, 4096)),
        "parallel_mode": (MODES[0], OneOf(*MODES)),
        "auto_parallel_search_mode": (
            "dynamic_programming",
            OneOf("dynamic_programming", "recursive_programming", "sharding_propagation"),
        ),
        "parameter_broadcast": (False, Bool),
        "strategy_ckpt_load_file": ("", Str),
        "strategy_ckpt_save_file": ("", file_in_new_folder),
        "full_batch": (False, Bool),
        "enable_parallel_optimizer": (False, Bool),
        "all_reduce_fusion_config": ([], ascending_indices, _XLA_GROUPS),
        # settings that only MindSpore 2 has
        "dataset_strategy": (_DATASET_STRATEGIES[0], _data),
        "comm_fusion": ({}, mapping, _XLA_GROUPS),
        "communi_parallel_mode": (
            "all_group_parallel",
            OneOf("all_group_parallel", "same_server_group_parallel", "no_group_parallel"),
            _XLA_GROUPS,
        ),
        "enable_alltoall": (False, Bool, _XLA_GROUPS),
        "force_fp32_communication": (False, Bool, _FLOAT32),
        "parallel_optimizer_config": ({}, mapping, _SHARDS_ALL),
        "optimizer_weight_shard_size": (-1, Int, _SHARDS_ALL),
        "optimizer_weight_shard_aggregated_save": (False, Bool, _CHECKPOINT_FORMAT),
        "strategy_ckpt_config": ({}, _files),
        "group_ckpt_save_file": ("", Str, "no file says which devices are a group"),
        "sharding_propagation": (False, Bool, "operators without a strategy follow their neighbours in any case"),
        "pipeline_config": ({}, mapping, _NO_PIPELINE),
        "pipeline_segments": (1, Between(Int, 1, 2**31 - 1), _NO_PIPELINE),
        "pipeline_result_broadcast": (False, Bool, _NO_PIPELINE),
        "auto_pipeline": (
            False,
            Bool,
            "pipeline_stages says how many stages there are; msnb.parallel.plan compares them",
        ),
        "init_param_in_compile": (True, Bool, "Parameters have values before a program is compiled"),
        "dump_local_norm": (False, Bool, _NORMS),
        "dump_local_norm_path": ("", Str, _NORMS),
        "dump_device_local_norm": (False, Bool, _NORMS),
    },
    aliases={"parallel_stages": "pipeline_stages", "search_mode": "auto_parallel_search_mode"},
)

PIPELINE_DEFAULTS: dict[str, Any] = {"pipeline_interleave": False, "pipeline_scheduler": "1f1b"}  # of pipeline_config


def resolve_synonyms(checked: dict[str, Any]) -> dict[str, Any]:
    """Return `checked` and the settings that `dataset_strategy` and `strategy_ckpt_config` imply.

    If only `full_batch` is set, it implies `dataset_strategy`.

    Args:
        checked (dict): Checked settings that are about to be assigned.

    Raises:
        ValueError: If two settings contradict one another.
    """
    files = checked.get("strategy_ckpt_config", {})
    unused = {"only_trainable_params": not files.get("only_trainable_params", True)}
    log.unused("strategy_ckpt_config", "the file has all Parameters that lie on devices by a strategy", **unused)
    implied = {_FILES[key]: value for key, value in files.items() if key in _FILES}
    data = checked.get("dataset_strategy")
    if data is not None:
        implied["full_batch"] = data == "full_batch"
    elif "full_batch" in checked:
        implied["dataset_strategy"] = _DATASET_STRATEGIES[checked["full_batch"]]
    for key, value in implied.items():
        if checked.get(key, value) != value:
            other = "dataset_strategy" if key == "full_batch" else "strategy_ckpt_config"
            raise ValueError(
                f"set_auto_parallel_context was given {key}={checked[key]!r}, and {other}={checked[other]!r}, which "
                f"says {value!r}; give one of them."
            )
    return {**checked, **implied}
