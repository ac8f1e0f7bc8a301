"""`save_checkpoint` and `load_checkpoint` in all forms: encrypted, as safetensors, with further values, in threads."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor
from msnb.common.file_system import FileSystem
from msnb.formats import checkpoint, safetensors
from msnb.parallel.transform_safetensors import _fast_load_file

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_files import KEY, MODES, big, several, values  # noqa: E402


def arrays(loaded):
    return {name: value if isinstance(value, str) else value.asnumpy() for name, value in loaded.items()}


def check_equal(result, expected):
    assert result.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(result[name], value, err_msg=name)


def read_parameters(net):
    return {p.name: p.asnumpy() for p in net.get_parameters()}


@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_is_encrypted_and_loaded_with_its_key(mode, make_net, tmp_path):
    net, path = make_net(), str(tmp_path / "net.ckpt")
    key = {"dec_key": KEY[: MODES[mode]], "dec_mode": mode}
    ms.save_checkpoint(net, path, enc_key=KEY[: MODES[mode]], enc_mode=mode)
    check_equal(arrays(ms.load_checkpoint(path, **key)), read_parameters(net))
    check_equal(arrays(ms.load_checkpoint(str(GOLDEN / "files" / f"{mode}.ckpt"), **key)), values())
    with pytest.raises(ValueError, match=f"encrypted with {mode}; pass its key as dec_key"):
        ms.load_checkpoint(path)
    with pytest.raises(ValueError, match="the key is another one"):
        ms.load_checkpoint(path, dec_key=b"x" * 16, dec_mode=mode)
    with pytest.raises(ValueError, match=f"encrypted with {mode}"):
        ms.view(path)


def test_slices_that_mindspore_wrote_are_put_together():
    check_equal(arrays(ms.load_checkpoint(str(GOLDEN / "files" / "slices.ckpt"), crc_check=True)), {"big": big()})


@pytest.mark.parametrize("crc", [True, False])
def test_safetensors_are_written_read_and_used(crc, make_net, tmp_path):
    net, other = make_net(), make_net()
    for p in other.get_parameters():
        p.set_data(Tensor(np.full(p.shape, 7, np.float32)))
    ms.save_checkpoint(net, str(tmp_path / "net"), format="safetensors", crc_check=crc, append_dict={"epoch": 3})
    path = str(tmp_path / "net.safetensors")
    loaded = ms.load_checkpoint(path, other, format="safetensors", crc_check=crc)
    assert all(isinstance(p, Parameter) and p.name == name for name, p in loaded.items())
    check_equal(read_parameters(other), read_parameters(net))
    assert int(loaded["epoch"].asnumpy()) == 3
    some = ms.load_checkpoint(
        path, format="safetensors", filter_prefix="fc1", choice_func=lambda n: n.endswith("weight")
    )
    assert set(some) == {"fc2.weight"}
    check_equal(
        arrays(ms.load_checkpoint(str(GOLDEN / "files" / "sum.safetensors"), format="safetensors", crc_check=True)),
        several(),
    )


def test_a_file_says_of_itself_what_programs_for_several_devices_ask(make_net, tmp_path):
    net = make_net()
    ms.save_checkpoint(net, str(tmp_path / "a"), format="safetensors", remove_redundancy=False)
    assert safetensors.read(tmp_path / "a.safetensors").texts == {"format": "ms", "remove_redundancy": "False"}
    parameters = ms.load_checkpoint(str(tmp_path / "a.safetensors"), format="safetensors", remove_redundancy=False)
    assert ms.load_param_into_net(net, parameters, remove_redundancy=False) == []
    check_equal(_fast_load_file(tmp_path / "a.safetensors"), read_parameters(net))
    with pytest.raises(ValueError, match="remove_redundancy"):
        ms.load_param_into_net(net, parameters, remove_redundancy="no")
    with pytest.raises(ValueError, match="remove_redundancy"):
        ms.load_checkpoint(str(tmp_path / "a.safetensors"), format="safetensors", remove_redundancy=1)


def test_a_checkpoint_that_something_was_added_to_does_not_pass_its_checksum(make_net, tmp_path):
    path, files = str(tmp_path / "net.ckpt"), FileSystem()
    ms.save_checkpoint(make_net(), path, crc_check=True)
    os.chmod(path, 0o600)
    with files.create(path, *files.create_args) as file:
        file.write(b"111")
    with files.open(path, *files.open_args) as file:
        assert file.read().endswith(b"111")
    with pytest.raises(ValueError):
        ms.load_checkpoint(path, crc_check=True)


def test_files_that_hold_no_graph_are_viewed_as_tables(make_net, tmp_path):
    for name, form in (("net.ckpt", "ckpt"), ("net.safetensors", "safetensors")):
        further = {"note": "three epochs"} if form == "ckpt" else {}
        ms.save_checkpoint(make_net(), str(tmp_path / name), format=form, append_dict=further)
        shown = ms.view(tmp_path / name)
        assert (
            repr(shown).startswith(f"{name}: ") and "fc1.weight" in repr(shown) and "histogram" in shown._repr_html_()
        )
        assert repr(shown) == repr(ms.summary(str(tmp_path / name)))
        assert ("three epochs" in repr(shown)) == (form == "ckpt")


def test_further_values_of_every_type_are_saved(make_net, tmp_path):
    net, path = make_net(), str(tmp_path / "net.ckpt")
    extra = {
        "whole": 3, "real": 0.5, "truth": True, "text": "naïve", "tensor": Tensor(np.ones(2, np.int16)),
        "parameter": Parameter(Tensor(np.ones(3, np.float32)), name="other"),
    }  # fmt: skip
    ms.save_checkpoint(net, path, append_dict=extra, choice_func=lambda name: name == "fc1.bias")
    parameters = ms.load_checkpoint(path)
    assert list(parameters) == ["fc1.bias", *extra]
    kinds = {name: (str(v.dtype), v.shape) for name, v in parameters.items() if not isinstance(v, str)}
    assert kinds["whole"] == ("Int64", ()) and kinds["real"] == ("Float32", ()) and kinds["truth"] == ("Bool", ())
    assert kinds["tensor"] == ("Int16", (2,)) and parameters["text"] == "naïve"
    with pytest.raises(TypeError, match="'append_dict' should hold"):
        ms.save_checkpoint(net, path, append_dict={"list": [1]})


@pytest.mark.parametrize("how", [True, "thread", "process"])
def test_any_form_is_written_by_a_thread(how, make_net, tmp_path):
    net, path = make_net(), str(tmp_path / "net.ckpt")
    before = read_parameters(net)
    ms.save_checkpoint(net, path, async_save=how, enc_key=KEY[:16])
    for p in net.get_parameters():
        p.set_data(Tensor(np.zeros(p.shape, np.float32)))
    ms.save_checkpoint(net, str(tmp_path / "later.ckpt"))  # it waits for the first one
    check_equal(arrays(ms.load_checkpoint(path, dec_key=KEY[:16])), before)


def test_loading_in_a_thread_gives_what_loading_gives(make_net, tmp_path):
    for name, form in (("net.ckpt", "ckpt"), ("net.safetensors", "safetensors")):
        net = make_net()
        ms.save_checkpoint(net, str(tmp_path / name), format=form)
        check_equal(arrays(ms.load_checkpoint_async(str(tmp_path / name)).result()), read_parameters(net))
    with pytest.raises(ValueError, match="does not exist"):
        ms.load_checkpoint_async(str(tmp_path / "none.ckpt")).result()


def test_parameters_arrays_and_texts_are_saved_from_lists_and_dicts(make_net, tmp_path):
    net, path = make_net(), str(tmp_path / "net.ckpt")
    ms.save_checkpoint(list(net.get_parameters()), path)
    check_equal(arrays(ms.load_checkpoint(path)), read_parameters(net))
    ms.save_checkpoint({"a": np.arange(3), "b": Tensor(np.ones(2, np.float32)), "c": "text"}, path)
    check_equal(arrays(ms.load_checkpoint(path)), {"a": np.arange(3), "b": np.ones(2), "c": "text"})


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, "'save_checkpoint': A key should be bytes", {"enc_key": "0" * 16}),
        (ValueError, "mode of encryption should be", {"enc_key": b"0" * 16, "enc_mode": "DES"}),
        (ValueError, "checksum or is encrypted", {"enc_key": b"0" * 16, "crc_check": True}),
        (ValueError, "'safetensors' is not encrypted", {"enc_key": b"0" * 16, "format": "safetensors"}),
        (ValueError, "'format'", {"format": "pt"}),
        (TypeError, "'async_save'", {"async_save": "later"}),
        (TypeError, "no argument 'encryption'", {"encryption": 1}),
        (TypeError, "'text': a text has no place", {"format": "safetensors", "append_dict": {"text": "a"}}),
    ],
)
def test_what_does_not_go_together_is_refused(error, message, options, make_net, tmp_path):
    with pytest.raises(error, match=message):
        ms.save_checkpoint(make_net(), str(tmp_path / "net.ckpt"), **options)
    assert not os.listdir(tmp_path)


def test_a_file_of_the_other_format_says_so(make_net, tmp_path):
    path = str(tmp_path / "net.safetensors")
    ms.save_checkpoint(make_net(), path, format="safetensors")
    with pytest.raises(ValueError, match="pass format='safetensors'"):
        ms.load_checkpoint(path)
    with pytest.raises(ValueError, match="leave out 'dec_key'"):
        ms.load_checkpoint(path, format="safetensors", dec_key=b"0" * 16)


@pytest.mark.parametrize("name", ["weights.pth", "weights.ckpt"])
def test_a_file_of_another_framework_leads_to_load_weights(name, tmp_path):
    (tmp_path / name).write_bytes(b"PK\x03\x04 a zip archive")
    with pytest.raises(ValueError, match=r"msnb\.load_weights reads files of other frameworks"):
        ms.load_checkpoint(str(tmp_path / name))


# ---------------------------------------------------------------------- one format into the other
def test_a_file_is_converted_and_back(make_net, tmp_path):
    net = make_net()
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    ms.ckpt_to_safetensors(str(tmp_path / "net.ckpt"), str(tmp_path / "there"), {"fc1.weight": "first"})
    tensors = safetensors.read(tmp_path / "there" / "net.safetensors")
    assert "first" in tensors and "fc1.weight" not in tensors
    ms.safetensors_to_ckpt(str(tmp_path / "there" / "net.safetensors"), name_map={"first": "fc1.weight"})
    check_equal(dict(checkpoint.read(tmp_path / "there" / "net.ckpt")), read_parameters(net))


def test_files_in_folders_of_ranks_are_converted(make_net, tmp_path):
    for rank in (0, 1):
        for name in ("a", "b"):
            ms.save_checkpoint(make_net(), str(tmp_path / f"rank_{rank}" / f"{name}.ckpt"))
    ms.ckpt_to_safetensors(str(tmp_path), str(tmp_path / "out"), file_name_regex="a")
    files = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.safetensors"))
    assert files == [f"rank_0{os.sep}a.safetensors", f"rank_1{os.sep}a.safetensors"]
    with pytest.raises(ValueError, match="'ckpt_to_safetensors', 'file_path' should be a file that ends in '.ckpt'"):
        ms.ckpt_to_safetensors(str(tmp_path / "out"))
    with pytest.raises(ValueError, match="one name"):
        ms.ckpt_to_safetensors(str(tmp_path / "rank_0" / "a.ckpt"), name_map={"fc1.weight": "fc1.bias"})
