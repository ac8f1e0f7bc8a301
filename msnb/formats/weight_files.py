"""Recognise files of weights by their first bytes, because endings mislead: PyTorch Lightning writes ``.ckpt``."""

import os
import zipfile

from msnb.formats.text_files import BadFileError
from msnb.formats.torch_file import OLD_START

# First bytes of files that msnb does not read -> what they are, and the way to weights that it reads.
_FOREIGN = {
    b"\x89HDF": "a file of HDF5, such as Keras writes. In Keras: numpy.savez('weights.npz', **{w.path: w.numpy() for w "
    "in model.weights})",
    b"GGUF": "a file of llama.cpp with quantised weights. Most models have a .safetensors file beside it",
    b"\x93NUMPY": "one array without a name. numpy.savez('weights.npz', name=array) stores a name",
    b"version https://git-lfs": "a pointer of Git LFS to the weights. 'git lfs pull' fetches them",
    b"<!DOCTYPE": "a page of the web, not the file behind it. Download the file itself",
    b"<html": "a page of the web, not the file behind it. Download the file itself",
}
_TFLITE = "a network of TensorFlow Lite. tf2onnx converts it to ONNX, which msnb.load_onnx reads"
_KERAS = "a network of Keras. In Keras: numpy.savez('weights.npz', **{w.path: w.numpy() for w in model.weights})"
_EXPORTED = (
    "a program of torch.export. Its weights: torch.save(torch.export.load(path).state_dict, 'weights.pt'), in PyTorch"
)


def recognise(path: str) -> str:
    """Return the ending for which a reader exists, from the content of a file: ".pt", ".npz", ".safetensors" or "".

    Raises:
        OSError: If the file cannot be read.
        BadFileError: If it is a file of another framework; the message says how to get its weights.
    """
    with open(path, "rb") as file:
        start = file.read(32)
    for first, description in _FOREIGN.items():
        if start.startswith(first):
            raise BadFileError(f"{path!r} is {description}.")
    if start[4:8] == b"TFL3":
        raise BadFileError(f"{path!r} is {_TFLITE}.")
    if start.startswith(OLD_START):
        return ".pt"
    if start.startswith(b"PK"):
        return _recognise_archive(path)
    length = int.from_bytes(start[:8], "little")
    is_safetensors = start[8:9] == b"{" and 2 <= length <= os.path.getsize(path) - 8
    return ".safetensors" if is_safetensors else ""


def _recognise_archive(path):
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return ""
    if "model.weights.h5" in names:
        raise BadFileError(f"{path!r} is {_KERAS}.")
    if any(name.rpartition("/")[2] in ("archive_format", "serialized_exported_program.json") for name in names):
        raise BadFileError(f"{path!r} is {_EXPORTED}.")
    if any(name.endswith("/data.pkl") for name in names):
        return ".pt"
    return ".npz" if names and all(name.endswith(".npy") for name in names) else ""
