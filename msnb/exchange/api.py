"""`export` and `load`: write networks to files and read them, with MindSpore's signatures."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import log
from msnb._checkparam import Validator, check_input_data
from msnb._util.placeholders import not_yet
from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.formats.encryption import Cipher, CustomCipher

if TYPE_CHECKING:  # used in annotations only
    from msnb.ir.anf import FuncGraph
    from msnb.nn.cell import Cell

__all__ = ["export", "load", "load_mindir"]

# Format -> the module whose `write(net, inputs, path)` writes the file. A module and its operator tables
# are imported on first use.
WRITERS: dict[str, str] = {
    "MINDIR": "msnb.exchange.mindir.write.writer",
    "ONNX": "msnb.exchange.onnx.write",
    "STABLEHLO": "msnb.exchange.stablehlo",
}
ENCRYPTED = ("MINDIR", "ONNX")  # formats whose `write` takes a `cipher`
_QUANT = ("quant_mode", "mean", "std_dev")
_OPTIONS = (*_QUANT, "enc_key", "enc_mode", "dataset", "incremental", "custom_func", "obf_config")


def export(
    net: "Cell | Callable[..., Any]", *inputs: Any, file_name: str, file_format: str = "AIR", **kwargs: Any
) -> None:
    """Write a network to a file for other programs: MindSpore, or any reader of ONNX or StableHLO.

    The file contains the network in evaluation mode, `net.set_train(False)`; the network itself is unchanged.
    The file gets its name when it is complete on disk.

    Args:
        net (Union[Cell, Callable]): The network, or a function of Tensors.
        inputs (Union[Tensor, Number, bool, None, tuple, list, dict]): Example inputs. The file is written for the
            shapes and types of their Tensors. Numbers, bools and None become constants in it.
        file_name (str): File to write; the ending of the format is added where it is missing.
        file_format (str): ``"MINDIR"``, which MindSpore's `load` and `nn.GraphCell` run; ``"ONNX"``, which also
            MindSpore Lite's converter takes: Lite 2.0 refuses the MINDIR of MindSpore 2.7; ``"STABLEHLO"``, which
            `jax.export` runs. ``"AIR"``, Ascend's format, raises an error. Default: "AIR".
        kwargs (dict): Further options.

            - enc_key (bytes): Key of 16, 24 or 32 bytes (16 for SM4) with which the file is encrypted.
            - enc_mode (Union[str, Callable]): ``"AES-GCM"``, ``"AES-CBC"``, ``"SM4-CBC"``, or a function of the bytes
              of the model and the key that returns the bytes of the file. ONNX accepts only a function. Default:
              "AES-GCM".
            - quant_mode (str): ``"AUTO"`` or ``"MANUAL"`` for a network after quantisation aware training. The file
              then contains the result of `ExportToQuantInferNetwork` or `ExportManualQuantNetwork`.
            - mean (float), std_dev (float): Zero point of the input data and reciprocal of their scale, used with
              `quant_mode`. Default: 127.5.

    Raises:
        ValueError: If an input has another type, or the name, the format or an option is invalid.
        ImportError: If the file is to be encrypted and the package `cryptography` is not installed.
        NotImplementedError: If the format cannot express operators of the network; all of them are listed with their
            lines. Also for AIR, and for options of MindSpore that msnb does not support.
        OSError: If the file cannot be written.

    Examples:
        >>> export(nn.Dense(3, 4), Tensor(np.zeros((1, 3), np.float32)), file_name="net", file_format="MINDIR")
    """
    check_input_data(*inputs, data_class=(Tensor, bool, int, float, None))
    if not isinstance(file_name, str):
        raise ValueError(f"For 'export', 'file_name' should be a string, but got {type(file_name).__name__}.")
    Validator.check_file_name_by_regular(file_name)
    if file_format in ("AIR", "GEIR"):
        raise NotImplementedError(
            f"For 'export', the format {file_format} is Ascend's own and its compiler writes it; pass "
            "file_format='MINDIR', from which an Ascend machine makes one, or 'ONNX' or 'STABLEHLO'."
        )
    if file_format not in WRITERS:
        raise ValueError(
            f"For 'export', 'file_format' should be {', '.join(map(repr, WRITERS))} or 'AIR', but got {file_format!r}."
        )
    if not callable(net):
        raise ValueError(f"For 'export', 'net' should be a Cell or a function, but got {describe(net)}.")
    _check_options(kwargs)
    cipher = _make_cipher_option(file_format, **{name: kwargs.get(name) for name in ("enc_key", "enc_mode")})
    module = WRITERS[file_format]
    ending = f".{file_format.lower()}"
    path = file_name if file_name.endswith(ending) else file_name + ending
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    deployed = _convert_quantised_network(net, inputs, kwargs)
    import_module(module).write(deployed, inputs, path, **cipher)  # lazy: loads no tables of other formats


def _check_options(options):
    """Raise an error for unknown options and for options that are not supported."""
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(f"For 'export', there is no option '{name}'; it knows {', '.join(_OPTIONS)}.")
    for name in ("dataset", "custom_func", "obf_config"):
        if options.get(name) is not None:
            raise not_yet(f"The option '{name}' of export", "export without it")
    log.unused("export", "there are no hash tables of Parameters", incremental=options.get("incremental"))
    mode = options.get("quant_mode")
    if mode not in (None, "AUTO", "MANUAL", "NONQUANT"):
        raise ValueError(f"For 'export', 'quant_mode' should be 'AUTO', 'MANUAL' or 'NONQUANT', but got {mode!r}.")
    log.unused(
        "export",
        "without a 'quant_mode' nothing is quantised",
        **{name: mode in (None, "NONQUANT") and options.get(name) is not None for name in ("mean", "std_dev")},
    )


def _make_cipher_option(file_format, enc_key, enc_mode):
    """Return {"cipher": cipher}, the keyword argument of a writer, or {} without encryption."""
    if enc_key is None:
        log.unused("export", "without an 'enc_key' nothing is encrypted", enc_mode=enc_mode)
        return {}
    if file_format not in ENCRYPTED:
        raise ValueError(f"For 'export', a file of the format {file_format} is not encrypted; leave 'enc_key' out.")
    if callable(enc_mode):
        return {"cipher": cipher_of("export", enc_key, None, encrypt=enc_mode)}
    if file_format != "MINDIR":
        raise ValueError(
            f"For 'export', the format {file_format} has no encryption of its own; 'enc_mode' should be a function of "
            f"the bytes of the model and the key, but got {enc_mode!r}."
        )
    return {"cipher": cipher_of("export", enc_key, enc_mode)}


def cipher_of(
    function: str, key: Any, mode: Any, encrypt: Any = None, decrypt: Any = None
) -> Cipher | CustomCipher | None:
    """Return the cipher for a file, or None without a key.

    Args:
        function (str): Name of the calling function, for messages.
        key (bytes): The key. None: the file is not encrypted.
        mode (str): Name of the mode. None: AES-GCM.
        encrypt (Callable), decrypt (Callable): A user's own functions instead of a mode. Default: None.

    Raises:
        ValueError: If the key or the mode is invalid.
        ImportError: If the package `cryptography` is not installed.
    """
    if key is None:
        return None
    try:
        if encrypt is not None or decrypt is not None:
            return CustomCipher(key, encrypt, decrypt)
        return Cipher(key, "AES-GCM" if mode is None else mode)
    except ValueError as error:
        raise ValueError(f"For '{function}': {error}") from None


def _convert_quantised_network(net, inputs, options):
    """Return `net`, converted for inference if it was trained with quantisation."""
    mode = options.get("quant_mode")
    if mode in (None, "NONQUANT"):
        return net
    from msnb.compression.export import quant_export  # lazy import: only these exports need the layers

    mean, deviation = (127.5 if options.get(name) is None else options[name] for name in ("mean", "std_dev"))
    converter = quant_export.ExportToQuantInferNetwork if mode == "AUTO" else quant_export.ExportManualQuantNetwork
    return converter(net, mean, deviation, *inputs, is_mindir=True).run()


def load(file_name: str, **kwargs: Any) -> "FuncGraph":
    """Load the graph in a MINDIR file, written by msnb or by MindSpore; `nn.GraphCell` runs it.

    Weights are read on first access, so opening a large file is quick.

    Args:
        file_name (str): The file, ending in ".mindir".
        kwargs (dict): Options for encrypted files.

            - dec_key (bytes): The key.
            - dec_mode (Union[str, Callable]): ``"AES-GCM"``, ``"AES-CBC"``, ``"SM4-CBC"``, or a function of the name of
              the file and the key that returns the bytes of the model. Default: "AES-GCM".

    Returns:
        FuncGraph, with the values of its Parameters.

    Raises:
        ValueError: If `file_name` is no name of a MINDIR file, the file does not exist, is damaged, or encrypted with
            another key or in another mode.
        NotImplementedError: If the file is obfuscated, or is built in a way that msnb does not read.
        ImportError: If the file is encrypted and the package `cryptography` is not installed.

    Examples:
        >>> export(nn.Dense(3, 4), Tensor(np.zeros((1, 3), np.float32)), file_name="net", file_format="MINDIR")
        >>> print(load("net.mindir"))
        FuncGraph(Dense: 3 parameters, 2 nodes)
    """
    for name in kwargs:
        if name not in ("dec_key", "dec_mode", "obf_func"):
            raise ValueError(f"For 'load', there is no option '{name}'; it knows dec_key and dec_mode.")
    if kwargs.get("obf_func") is not None:
        raise not_yet("The option 'obf_func' of load", "export the network without obfuscation")
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode")
    path = _check_mindir_path(file_name, "load")
    log.unused("load", "without a 'dec_key' nothing is decrypted", dec_mode=key is None and mode is not None)
    decrypt = mode if callable(mode) else None
    cipher = cipher_of("load", key, mode, decrypt=decrypt)
    from msnb.exchange.mindir.read import reader  # lazy import: loads the operator tables

    return reader.read(path, cipher)


def _import_mindir_codec():
    from msnb.formats import mindir  # lazy import: loads the schema of the format

    return mindir


def load_mindir(file_name: str) -> Any:
    """Return the protobuf messages of a MINDIR file, for inspection.

    Args:
        file_name (str): The file, ending in ".mindir".

    Returns:
        Message, whose fields are attributes: ``model.graph.node[0].op_type``.

    Raises:
        ValueError: If `file_name` is not a name of a MINDIR file, the file does not exist, or is damaged.

    Examples:
        >>> export(nn.Dense(3, 4), Tensor(np.zeros((1, 3), np.float32)), file_name="net", file_format="MINDIR")
        >>> print(load_mindir("net.mindir").producer_name)
        MindSpore
    """
    path = _check_mindir_path(file_name, "load_mindir")
    return _import_mindir_codec().read(path)


def mindir_inputs(file_name: str) -> Tensor | list[Tensor]:
    """Return Tensors of the input shapes of a MINDIR file: one, or a list of several. Axes of any length are None."""
    signatures = [_import_mindir_codec().type_of(v.tensor[0]._fields) for v in load_mindir(file_name).graph.input]
    tensors = [
        Tensor(np.zeros(shape, dtype))
        if all(n >= 0 for n in shape)
        else Tensor(shape=[None if n < 0 else n for n in shape], dtype=mstype.pytype_to_dtype(dtype))
        for dtype, shape in signatures
    ]
    return tensors[0] if len(tensors) == 1 else tensors


def _check_mindir_path(file_name, function):
    """Return the path of a MINDIR file, or raise an error if there is none."""
    if not isinstance(file_name, (str, os.PathLike)):
        raise ValueError(f"For '{function}', 'file_name' should be a string, but got {type(file_name).__name__}.")
    path = os.fspath(file_name)
    if not path.endswith(".mindir"):
        raise ValueError(f"For '{function}', 'file_name' should end in '.mindir', but got {path!r}.")
    if not os.path.isfile(path):
        raise ValueError(f"For '{function}', the file {path!r} does not exist.")
    return path
