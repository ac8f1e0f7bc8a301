"""Settings: defaults, checks, errors that say what to do, and who hears of a change."""

from types import SimpleNamespace

import pytest

from msnb import context

R11_KEYS = """mode precompile_only device_target device_id save_graphs save_graphs_path enable_dump save_dump_path
    enable_reduce_precision variable_memory_max_size enable_profiling profiling_options enable_auto_mixed_precision
    enable_graph_kernel check_bprop max_device_memory print_file_path enable_sparse max_call_depth
    reserve_class_name_in_scope enable_debug_runtime""".split()

PARALLEL_DEFAULTS = dict(
    device_num=1,
    global_rank=0,
    gradients_mean=False,
    gradient_fp32_sync=True,
    loss_repeated_mean=True,
    pipeline_stages=1,
    parallel_mode="stand_alone",
    auto_parallel_search_mode="dynamic_programming",
    parameter_broadcast=False,
    strategy_ckpt_load_file="",
    strategy_ckpt_save_file="",
    full_batch=False,
    enable_parallel_optimizer=False,
    all_reduce_fusion_config=[],
)


def test_the_program_starts_in_pynative_mode_on_the_best_device():
    assert context.get_context("mode") == context.PYNATIVE_MODE == context._state.mode == 1
    assert context.get_context("device_target") == "CPU"
    assert context.device().platform == "cpu"


def test_every_key_of_r1_1_can_be_read():
    assert len(R11_KEYS) == 21
    for key in R11_KEYS:
        context.get_context(key)


def test_a_mode_that_is_set_is_seen_by_everybody():
    context.set_context(mode=context.GRAPH_MODE)
    assert context.get_context("mode") == 0 and context._state.mode == 0


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"mode": 2}, ValueError, "GRAPH_MODE"),
        ({"mode": "graph"}, TypeError, "GRAPH_MODE"),
        ({"mode": None}, ValueError, "GRAPH_MODE"),
        ({"modex": 0}, ValueError, "did you mean 'mode'"),
        ({"device_target": "XPU"}, ValueError, "'CPU', 'GPU'"),
        ({"device_target": 123}, TypeError, "123"),
        ({"device_id": "cpu"}, TypeError, "int"),
        ({"device_id": -1}, ValueError, "4095"),
        ({"save_dump_path": 1}, TypeError, "str"),
        ({"enable_profiling": 1}, TypeError, "bool"),
        ({"profiling_options": True}, TypeError, "str"),
        ({"variable_memory_max_size": True}, TypeError, "str"),
        ({"variable_memory_max_size": "1G"}, ValueError, "3.5GB"),
        ({"variable_memory_max_size": "32GB"}, ValueError, "31GB"),
        ({"max_call_depth": 0}, ValueError, "1"),
        ({"print_file_path": "./"}, OSError, "folder"),
        ({"save_graphs_path": ""}, ValueError, "folder"),
        ({"save_graphs": "yes"}, TypeError, "bool"),
    ],
)
def test_a_wrong_setting_raises_the_error_of_r1_1(setting, error, message):
    with pytest.raises(error, match=message):
        context.set_context(**setting)


def test_nothing_changes_when_one_setting_of_several_is_wrong():
    with pytest.raises(ValueError):
        context.set_context(mode=context.GRAPH_MODE, device_id=-1)
    assert context.get_context("mode") == context.PYNATIVE_MODE


def test_an_absent_device_is_refused_with_what_there_is_and_how_to_go_on():
    with pytest.raises(ValueError) as error:
        context.set_context(device_target="GPU")
    assert "It has: CPU" in str(error.value) and 'set_context(device_target="CPU")' in str(error.value)
    assert "msnb[cuda]" in str(error.value)


def test_ascend_means_the_best_device_and_says_so_once(capsys):
    context.set_context(device_target="Ascend", device_id=0)
    context.set_context(device_target="Ascend")
    assert context.get_context("device_target") == "Ascend"
    assert context.device().platform == "cpu"
    assert capsys.readouterr().err.count("the best device") == 1


@pytest.mark.parametrize(("best", "name"), [("gpu", "GPU"), ("tpu", "Ascend")])
def test_on_a_machine_with_an_accelerator_that_is_the_default(monkeypatch, capsys, best, name):
    accelerators = [SimpleNamespace(platform=best, device_kind=f"Big {i}") for i in range(2)]
    cpu = SimpleNamespace(platform="cpu", device_kind="cpu")
    monkeypatch.setattr(context, "_cached_platforms", {best: accelerators, "cpu": [cpu]})
    assert context.get_context("device_target") == name
    assert context.device() is accelerators[0]
    monkeypatch.setattr(context._state, "device_id", 1)
    assert context.device() is accelerators[1]
    for target, chosen in (("CPU", cpu), ("Ascend", accelerators[1])):
        monkeypatch.setattr(context._state, "device_target", context._check_device_target("device_target", target))
        assert context.device() is chosen
    assert ("no Ascend backend" in capsys.readouterr().err) == (best == "gpu")


def test_a_setting_without_effect_is_stored_and_says_so_once(capsys):
    context.set_context(enable_auto_mixed_precision=True)
    context.set_context(enable_auto_mixed_precision=True)
    assert context.get_context("enable_auto_mixed_precision") is True
    assert capsys.readouterr().err.count("no effect") == 1


def test_the_graphs_folder_is_created_and_its_path_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context.set_context(save_graphs=True, save_graphs_path="graphs")
    assert context.get_context("save_graphs_path") == str((tmp_path / "graphs").resolve())
    assert (tmp_path / "graphs").is_dir()


def test_a_listener_hears_changes_and_only_changes():
    heard = []
    listener = context.on_change("max_call_depth", heard.append)
    try:
        context.set_context(max_call_depth=1000)  # as it is
        context.set_context(max_call_depth=50)
    finally:
        context._listeners["max_call_depth"].remove(listener)
    assert heard == [50]


def test_parallel_settings_have_the_defaults_of_r1_1_and_can_be_reset():
    assert {key: context.get_auto_parallel_context(key) for key in PARALLEL_DEFAULTS} == PARALLEL_DEFAULTS
    context.set_auto_parallel_context(
        device_num=8, parallel_mode=context.ParallelMode.DATA_PARALLEL, gradients_mean=True
    )
    assert context.get_auto_parallel_context("device_num") == 8
    context.reset_auto_parallel_context()
    assert {key: context.get_auto_parallel_context(key) for key in PARALLEL_DEFAULTS} == PARALLEL_DEFAULTS


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ({"device_num": 0}, ValueError),
        ({"device_num": 4097}, ValueError),
        ({"global_rank": 4096}, ValueError),
        ({"gradients_mean": 1}, TypeError),
        ({"parallel_mode": "wrong_mode"}, ValueError),
        ({"auto_parallel_search_mode": "wrong"}, ValueError),
        ({"all_reduce_fusion_config": []}, ValueError),
        ({"all_reduce_fusion_config": [3, 1]}, ValueError),
        ({"all_reduce_fusion_config": [1, 1]}, ValueError),
        ({"all_reduce_fusion_config": ["a"]}, TypeError),
        ({"nothing": 1}, ValueError),
    ],
)
def test_a_wrong_parallel_setting_raises_the_error_of_r1_1(setting, error):
    with pytest.raises(error):
        context.set_auto_parallel_context(**setting)


def test_parallel_modes_are_listed():
    assert context.ParallelMode.MODE_LIST == [
        "stand_alone",
        "data_parallel",
        "hybrid_parallel",
        "semi_auto_parallel",
        "auto_parallel",
    ]


def test_parameter_servers_raise_on_use():
    context.set_ps_context(enable_ps=False)
    assert context.get_ps_context("enable_ps") is False
    with pytest.raises(NotImplementedError, match="parameter servers"):
        context.set_ps_context(enable_ps=True)
    with pytest.raises(ValueError):
        context.get_ps_context("ps")


def test_settings_of_the_encryption_between_servers_are_stored_and_have_no_effect(capsys):
    try:
        context.set_ps_context(enable_ssl=True, config_file_path="c.json", client_password="a", server_password="b")
        assert context.get_ps_context("enable_ssl") is True and context.get_ps_context("client_password") == "a"
        assert "nothing is sent to one" in capsys.readouterr().err
        with pytest.raises(TypeError, match="'enable_ssl'"):
            context.set_ps_context(enable_ssl=1)
    finally:
        context.reset_ps_context()
    assert context.get_ps_context("enable_ssl") is False


def test_debug_levels_have_names():
    context.set_context(debug_level=context.DEBUG)
    assert context.get_context("debug_level") == 1
    context.set_context(debug_level=context.RELEASE)
    assert context.get_context("debug_level") == 0


def test_one_process_is_rank_0_of_1():
    from msnb import communication

    communication.init()
    try:
        assert (communication.get_rank(), communication.get_group_size(), communication.get_local_rank()) == (0, 1, 0)
        communication.create_group("alone", [0])
        assert communication.get_group_size("alone") == 1
        assert communication.get_world_rank_from_group_rank("alone", 0) == 0
        communication.destroy_group("alone")
        with pytest.raises(ValueError, match="alone"):
            communication.get_rank("alone")
        with pytest.raises(ValueError, match="1 process"):
            communication.create_group("pair", [0, 1])
    finally:
        communication.release()
    with pytest.raises(RuntimeError):
        communication.init("mpi")
    with pytest.raises(TypeError):
        communication.init(3)


def test_a_program_spread_over_devices_asks_for_its_place():
    from msnb.parallel._auto_parallel_context import auto_parallel_context
    from msnb.parallel._utils import _get_device_num, _get_global_rank, _get_parallel_mode, _need_to_full

    assert (_get_device_num(), _get_global_rank(), _get_parallel_mode(), _need_to_full()) == (
        1,
        0,
        "stand_alone",
        False,
    )
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=4, global_rank=2)
    assert (_get_device_num(), _get_global_rank(), _need_to_full()) == (4, 2, True)
    parallel = auto_parallel_context()
    assert parallel.get_device_num() == 4 and parallel.get_device_num_is_set()
    parallel.set_all_reduce_fusion_split_indices([3, 7], "hccl_world_groupsum1")
    assert parallel.get_all_reduce_fusion_split_indices() == [3, 7]
    parallel.reset()
    assert not parallel.get_device_num_is_set()


def test_search_parameters_are_checked_and_reset():
    from msnb.parallel import get_algo_parameters, reset_algo_parameters, set_algo_parameters

    set_algo_parameters(tensor_slice_align_enable=True, tensor_slice_align_size=32)
    assert get_algo_parameters("tensor_slice_align_size") == 32
    with pytest.raises(ValueError):
        set_algo_parameters(tensor_slice_align_size=1025)
    with pytest.raises(TypeError):
        set_algo_parameters(algo_approxi_epsilon=1)
    reset_algo_parameters()
    assert get_algo_parameters("tensor_slice_align_size") == 16


def test_a_device_that_the_environment_hides_is_said_to_be_hidden(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    with pytest.raises(ValueError, match="JAX finds no GPU.*JAX_PLATFORMS=cpu"):
        context.set_context(device_target="GPU")


def test_words_of_mindspore_2_for_settings_of_r1_1_set_both():
    context.set_auto_parallel_context(dataset_strategy="full_batch", strategy_ckpt_config={"load_file": "s.ckpt"})
    assert context.get_auto_parallel_context("full_batch") is True
    assert context.get_auto_parallel_context("strategy_ckpt_load_file") == "s.ckpt"
    context.set_auto_parallel_context(full_batch=False)
    assert context.get_auto_parallel_context("dataset_strategy") == "data_parallel"
    context.set_auto_parallel_context(dataset_strategy=((8, 1), (8,)))
    assert context.get_auto_parallel_context("dataset_strategy") == ((8, 1), (8,))
    with pytest.raises(ValueError, match="given full_batch=True, and dataset_strategy='data_parallel'"):
        context.set_auto_parallel_context(full_batch=True, dataset_strategy="data_parallel")
    for wrong, error in {"rows": ValueError, 3: TypeError, ((0,),): ValueError, (8, 1): TypeError}.items():
        with pytest.raises(error, match='\'dataset_strategy\' should be "data_parallel", "full_batch", or a tuple'):
            context.set_auto_parallel_context(dataset_strategy=wrong)
    with pytest.raises(ValueError, match="load_file, save_file and only_trainable_params"):
        context.set_auto_parallel_context(strategy_ckpt_config={"file": "s.ckpt"})
    context.reset_auto_parallel_context()
