"""No setting is silent: msnb reads it, or logs that another value than the default has no effect, or raises."""

import ast
import functools
import inspect

import argument_uses as uses
import numpy as np
import pytest
from trees import tree_of

import msnb as ms
from msnb import Tensor, context, nn
from msnb.dataset import config

TABLES = {
    "set_context": (context._settings, context.set_context, context.get_context),
    "set_auto_parallel_context": (
        context._parallel,
        context.set_auto_parallel_context,
        context.get_auto_parallel_context,
    ),
    "set_ps_context": (context._ps, context.set_ps_context, context.get_ps_context),
}
OTHERS = (
    True,
    False,
    1,
    2,
    "2GB",
    "ON",
    "O1",
    "dfs",
    "CPU",
    "quick",
    "spawn",
    config.ErrorSamplesMode.SKIP,
    "data_parallel",
    "recursive_programming",
    "no_group_parallel",
    "full_batch",
    {"load_file": "x"},
    "x",
    [1, 2],
    {"a": "b"},
    {"conv_allow_tf32": False},
)
# Where settings are kept under another name than that of their setter.
KEPT_AS = {"num_parallel_workers": "workers", "prefetch_size": "prefetch"}


def readers(tree):
    """Return {setting: names of the functions that read it}; what is read outside of functions is read by ""."""
    results, todo = {}, [("", tree)]
    while todo:
        function, node = todo.pop()
        key = _setting(node)
        if key is not None:
            results.setdefault(key, set()).add(function)
        inside = node.name if isinstance(node, ast.FunctionDef) else function
        todo += [(inside, child) for child in ast.iter_child_nodes(node)]
    return results


def _setting(node):
    """Return the setting that an expression reads: ``_state.mode``, ``settings.seed``, ``get_context("mode")``."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        holder = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        return node.attr if holder in ("_state", "values", "settings") else None
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return node.args[0].value if called in ("get_context", "get_auto_parallel_context", "on_change") else None
    return None


@functools.cache
def sources():
    """Return {path: text} of msnb's modules."""
    return {str(path): path.read_text(encoding="utf-8") for path in uses.ROOT.rglob("*.py")}


@functools.cache
def all_readers():
    """Return the result of `readers` for all of msnb."""
    results = {}
    for path, source in sources().items():
        if any(word in source for word in ("settings", "SETTINGS", "context", "_state")):
            for key, names in readers(tree_of(path)).items():
                results.setdefault(key, set()).update(names)
    return results


def is_read(key):
    """Check that a line reads the setting, calls the function that passes it on, or subscribes to it."""
    names = all_readers().get(KEPT_AS.get(key, key), set())
    handed_on = {name for name in names if name.lstrip("_").startswith("get_")}
    called = any(
        source.count(f"{name}()") > source.count(f"def {name}()") for name in handed_on for source in sources().values()
    )
    return bool(names - handed_on) or called or bool(context._listeners.get(key))


def test_what_is_only_handed_on_is_not_read():
    text = "x = _state.a\ndef get_b(): return _state.b\ndef f(): return settings.c + get_context('d')"
    read = readers(ast.parse(text))
    assert read == {"a": {""}, "b": {"get_b"}, "c": {"f"}, "d": {"f"}}
    assert all(map(is_read, ("gradients_mean", "seed", "device_id", "callback_timeout")))
    assert not is_read("pipeline_segments") and not is_read("auto_num_workers") and not is_read("op_timeout")


def tried(assign, default):
    """Return (another value that was assigned, None), or (None, the error that refused every other one)."""
    refused = None
    for value in OTHERS:
        if value == default and type(value) is type(default):
            continue
        try:
            assign(value)
        except NotImplementedError as error:
            refused = error
        except (TypeError, ValueError, OSError):
            continue
        else:
            return value, None
    return None, refused


@pytest.mark.parametrize(("table", "key"), [(name, key) for name, (table, *_) in TABLES.items() for key in table.rows])
def test_a_setting_is_read_or_says_or_raises(table, key, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # some make the folder that they name
    settings, assign, get = TABLES[table]
    default, before = settings.rows[key][0], vars(settings.values).copy()
    value, refused = tried(lambda value: assign(**{key: value}), default)
    said = capsys.readouterr().err.count(f"{table}: '{key}' has no effect here: ")
    if refused is not None:
        assert get(key) == default and said == 0
        return
    assert value is not None, "none of the values is taken; add one to OTHERS"
    assert said == (key in settings.no_effect)
    other_words = any(own != before[name] for name, own in vars(settings.values).items() if name != key)
    assert said or is_read(key) or other_words
    assign(**{key: value})
    assert get(key) == value or key.endswith("_path")
    assert "no effect" not in capsys.readouterr().err


SETTERS = sorted(name for name in config.__all__ if name.startswith("set_"))


@pytest.mark.parametrize("name", SETTERS)
def test_a_setting_of_the_data_engine_is_read_or_says(name, capsys):
    key = name.removeprefix("set_")
    assign, get = getattr(config, name), getattr(config, f"get_{key}")
    default = get()
    try:
        value, refused = tried(assign, default)
        assert value is not None and refused is None and (get() == value or get() == {**default, "do_copy": value})
        assert capsys.readouterr().err.count(f"dataset.config: '{key}' has no effect here: ") == (not is_read(key))
        assign(value)
        assert not capsys.readouterr().err
    finally:
        if isinstance(default, dict):
            assign(**default)
        else:
            assign(None if key == "cache_budget" else default)


def test_setters_of_the_data_engine_take_their_value_by_name():
    for name in SETTERS:
        (parameter, *_) = inspect.signature(getattr(config, name)).parameters
        key = name.removeprefix("set_")
        value = getattr(config, f"get_{key}")()
        if key != "cache_budget":
            getattr(config, name)(**(value if isinstance(value, dict) else {parameter: value}))
    with pytest.raises(TypeError):
        config.set_numa_enable(wrong=True)


def test_a_settings_file_says_which_of_its_keys_have_no_effect(tmp_path, capsys):
    file = tmp_path / "config.json"
    file.write_text('{"numParallelWorkers": 8, "rowsPerBuffer": 32, "monitorSamplingInterval": 20}')
    try:
        config.load(str(file))
        assert config.get_monitor_sampling_interval() == 20
    finally:
        config.set_monitor_sampling_interval(1000)
    said = capsys.readouterr().err
    assert "'rowsPerBuffer' has no effect" in said and "'monitor_sampling_interval' has no effect" in said
    assert "numParallelWorkers" not in said


def test_settings_of_the_table_are_all_that_is_said_or_refused():
    assert {"jit_enable_inplace_ops", "grad_for_scalar", "mempool_block_size"} <= set(context._settings.no_effect)
    assert {
        "gradient_fp32_sync",
        "loss_repeated_mean",
        "all_reduce_fusion_config",
    } <= set(context._parallel.no_effect)


def test_a_wrong_number_of_pipeline_stages_raises_and_changes_nothing():
    with pytest.raises(TypeError, match="pipeline_stages"):
        context.set_auto_parallel_context(pipeline_stages="2", device_num=8)
    assert context.get_auto_parallel_context("device_num") == 1
    context.set_auto_parallel_context(pipeline_stages=1)
    with pytest.raises(ValueError):
        context.set_auto_parallel_context(pipeline_stages=0)


@pytest.mark.parametrize(("reserve", "scope"), [(True, "Default/0-Dense"), (False, "Default/0")])
def test_scopes_name_the_class_of_a_cell_by_default(reserve, scope):
    context.set_context(mode=context.GRAPH_MODE, reserve_class_name_in_scope=reserve)
    net = nn.SequentialCell(nn.Dense(2, 2))
    text = str(ms.ir.text(net, Tensor(np.ones((1, 2), np.float32))))
    assert text.count(f"# {scope}\n") == 2
    net.generate_scope()
    assert net[0].get_scope() == scope
