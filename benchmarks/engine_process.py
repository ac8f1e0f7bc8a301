"""An inference engine in a process of its own, for `engines.py`. It runs in any Python from 3.7 on.

    python engine_process.py ENGINE FOLDER MODEL THREADS

FOLDER has MODEL.onnx, MODEL.stablehlo and MODEL.npy, examples along the first axis. For 8 bits it has
MODEL.ranges.npy, too, other examples. The process writes the results of
all examples to MODEL.ENGINE.npy and prints its version and the size of the engine's files. Each line that it then reads
is answered with the seconds of one call with the first example.
"""

import glob
import json
import os
import subprocess
import sys
import time
from typing import Callable, List, Tuple  # noqa: UP035 - Python 3.7 has no dict[...]

import numpy as np

_WINOGRAD = 3  # MNN's hint for Winograd convolutions: 0 computes directly, whose rounding errors are smaller

Loaded = Tuple[Callable[[np.ndarray], np.ndarray], str, List[str]]  # noqa: UP006 - a call, the version, the files


def load_onnxruntime(model: str, threads: int) -> Loaded:
    """Return the model in onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    file = model + ".onnx"
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: session.run(None, {name: x})[0], onnxruntime.__version__, [file]


def load_onnxruntime_int8(model: str, threads: int) -> Loaded:
    """Return the model in onnxruntime, quantised to 8 bits with the ranges of values for MODEL.ranges.npy."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    name = onnxruntime.InferenceSession(model + ".onnx").get_inputs()[0].name

    class Examples(CalibrationDataReader):
        rows = iter(_read_rows(model + ".ranges.npy"))

        def get_next(self):
            x = next(self.rows, None)
            return None if x is None else {name: x}

    quantised = model + ".int8"
    quantize_static(model + ".onnx", quantised + ".onnx", Examples(), quant_format=QuantFormat.QDQ, per_channel=True)
    return load_onnxruntime(quantised, threads)


def load_mnn(model: str, threads: int) -> Loaded:
    """Return the model in MNN, converted by `mnnconvert`."""
    _convert_to_mnn(model, [])
    return _open_mnn(model + ".mnn", threads)


def load_mnn_int8(model: str, threads: int) -> Loaded:
    """Return the model in MNN with weights of 8 bits."""
    _convert_to_mnn(model, ["--weightQuantBits", "8"])
    return _open_mnn(model + ".mnn", threads)


def _convert_to_mnn(model, options):
    converter = os.path.join(os.path.dirname(sys.executable), "mnnconvert")
    command = [converter, "-f", "ONNX", "--modelFile", model + ".onnx", "--MNNModel", model + ".mnn"]
    subprocess.run([*command, "--bizCode", "engines", *options], check=True, stdout=sys.stderr)


def _open_mnn(file, threads):
    import MNN

    runtime = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": threads},))
    runtime.set_hint(_WINOGRAD, 0)
    net = MNN.nn.load_module_from_file(file, [], [], runtime_manager=runtime)

    def call(x):
        variable = MNN.expr.const(np.ascontiguousarray(x), list(x.shape), MNN.expr.NCHW)
        out = net.forward([variable])
        return np.array(MNN.expr.convert(out[0], MNN.expr.NCHW).read(), np.float32)

    return call, MNN.version(), [file]


def load_openvino(model: str, threads: int) -> Loaded:
    """Return the model in OpenVINO. It computes in float32 if asked, and in a shorter type of the processor if not."""
    import openvino

    file = model + ".onnx"
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": str(threads)}
    compiled = openvino.Core().compile_model(file, "CPU", options)
    return lambda x: compiled([x])[0], openvino.__version__.partition("-")[0], [file]


def load_mindspore_lite(model: str, threads: int) -> Loaded:
    """Return the model in MindSpore Lite 2.0, converted to its .ms file."""
    import mindspore_lite

    converter = mindspore_lite.Converter()
    converter.save_type = mindspore_lite.ModelType.MINDIR_LITE
    converter.convert(fmk_type=mindspore_lite.FmkType.ONNX, model_file=model + ".onnx", output_file=model)
    context = mindspore_lite.Context()
    context.target = ["cpu"]
    context.cpu.thread_num = threads
    network = mindspore_lite.Model()
    network.build_from_file(model + ".ms", mindspore_lite.ModelType.MINDIR_LITE, context)
    inputs = network.get_inputs()

    def call(x):
        if tuple(inputs[0].shape) != x.shape:  # NHWC, although the input's `format` says NCHW
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        inputs[0].set_data_from_numpy(x)
        return network.predict(inputs)[0].get_data_to_numpy().copy()  # the next call writes to the same memory

    return call, mindspore_lite.__version__, [model + ".ms"]


def load_ncnn(model: str, threads: int) -> Loaded:
    """Return the model in ncnn, converted by pnnx."""
    import ncnn

    shape = ",".join(map(str, _read_rows(model + ".npy")[0].shape))
    converter = os.path.join(os.path.dirname(sys.executable), "pnnx")
    command = [converter, os.path.basename(model) + ".onnx", "inputshape=[" + shape + "]", "fp16=0"]
    subprocess.run(command, check=True, stdout=sys.stderr, cwd=os.path.dirname(model))
    net = ncnn.Net()
    net.opt.num_threads = threads
    for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
        setattr(net.opt, "use_" + option, False)
    files = sorted(glob.glob(model + ".ncnn.param") + glob.glob(model + ".ncnn.bin"))
    if net.load_param(model + ".ncnn.param") or net.load_model(model + ".ncnn.bin"):
        raise RuntimeError("ncnn lacks an operator of it")

    def call(x):
        with net.create_extractor() as extractor:
            extractor.input("in0", ncnn.Mat(x[0]).clone())
            return np.array(extractor.extract("out0")[1])[None]

    return call, ncnn.__version__, files


def load_jax(model: str, threads: int) -> Loaded:
    """Return the StableHLO file in `jax.export`, without msnb."""
    import jax

    with open(model + ".stablehlo", "rb") as file:
        exported = jax.export.deserialize(bytearray(file.read()))
    call = jax.jit(exported.call)
    return lambda x: np.asarray(call(x)[0]), jax.__version__, [model + ".stablehlo"]


# Name -> the module that the engine needs, and the function that loads a model.
ENGINES = {
    "jax": ("jax", load_jax),
    "onnxruntime": ("onnxruntime", load_onnxruntime),
    "MNN": ("MNN", load_mnn),
    "OpenVINO": ("openvino", load_openvino),
    "MindSpore Lite": ("mindspore_lite", load_mindspore_lite),
    "ncnn": ("pnnx", load_ncnn),
    "onnxruntime, 8 bits": ("onnxruntime", load_onnxruntime_int8),
    "MNN, 8 bits": ("MNN", load_mnn_int8),
}


def _read_rows(file):
    """Return the rows of an array, each as a batch of one."""
    return [x[None] for x in np.load(file)]


def main(engine: str, folder: str, name: str, threads: str) -> None:
    """Load the model, write its results, and answer lines with seconds."""
    model, answers = os.path.join(folder, name), os.dup(1)
    os.dup2(2, 1)  # what the engine prints goes to stderr
    call, version, files = ENGINES[engine][1](model, int(threads))
    examples = _read_rows(model + ".npy")
    np.save(model + "." + engine + ".npy", np.concatenate([call(x) for x in examples]))
    with os.fdopen(answers, "w", buffering=1) as out:
        print(json.dumps({"version": version, "bytes": sum(map(os.path.getsize, files))}), file=out)
        for _ in sys.stdin:
            start = time.perf_counter()
            call(examples[0])
            print(time.perf_counter() - start, file=out)


if __name__ == "__main__":
    main(*sys.argv[1:])
