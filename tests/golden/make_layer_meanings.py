"""Layers as MindSpore 2 means them: what they are made with, and what they give in training and in lower precision.

    ORACLE/bin/python tests/golden/make_layer_meanings.py          writes tests/golden/layer_meanings.json

ORACLE is a virtual environment with mindspore 2. The cases are those of make_layers.py and `FURTHER`. Of each layer,
made with the defaults of its class, the statistics of the first values of its Parameters are stored. Then its
Parameters get values of both signs, and for each of `FORMS` the type, the shape, the sum and the first values of its
results are stored, in "train" those of its Parameters afterwards, too.
"""

import ast
import json
import zlib
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("layer_meanings.json")
FORMS = ("train", "float16", "O2", "O3")
FURTHER = {
    "prelu_negative": ("nn.PReLU(2, -0.5)", "f(2,2,3)"),
    "attention": ("nn.MultiheadAttention(8, 2)", "f(3,2,8)", "f(4,2,8)", "f(4,2,8)"),
    "attention_of_sizes": ("nn.MultiheadAttention(8, 2, kdim=6, vdim=4)", "f(3,2,8)", "f(4,2,6)", "f(4,2,4)"),
    "encoder_layer": ("nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)", "f(3,2,8)"),
    "decoder_layer": ("nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)", "f(3,2,8)", "f(4,2,8)"),
    "lstm": ("nn.LSTM(3, 4)", "f(5,2,3)"),
    "lstm_no_bias": ("nn.LSTM(3, 4, has_bias=False)", "f(5,2,3)"),
    "gru": ("nn.GRU(3, 4, has_bias=False)", "f(5,2,3)"),
    "rnn": ("nn.RNN(3, 4, has_bias=False)", "f(5,2,3)"),
    "lstm_cell": ("nn.LSTMCell(3, 4, has_bias=False)", "f(2,3)", "(f(2,4), f(2,4))"),
    "gru_cell": ("nn.GRUCell(3, 4)", "f(2,3)", "f(2,4)"),
    "rnn_cell": ("nn.RNNCell(3, 4)", "f(2,3)", "f(2,4)"),
    "embedding": ("nn.Embedding(50, 8)", "i(2,3)"),
    "dense_block": ("nn.DenseBnAct(4, 5, has_bn=True)", "f(3,4)"),
    "conv_block": ("nn.Conv2dBnAct(3, 4, 3, has_bn=True)", "f(2,3,5,5)"),
    "smooth_l1_of_two_types": ("nn.SmoothL1Loss()", "f(2,3)", "f(2,3).astype(np.float64)"),
    "conv3d": ("nn.Conv3d(2, 3, 2)", "f(1,2,4,4,4)"),
    "bi_dense": ("nn.BiDense(4, 5, 3)", "f(2,4)", "f(2,5)"),
}
_CHOSEN = ("_init", "w", "embedding_table", "param_init")  # ends of arguments that say the first values


def values(name, shape):
    """Numbers of both signs, always the same ones."""
    seed = zlib.crc32(name.encode()) % 1000
    result = np.sin(np.arange(int(np.prod(shape))) * 1.7 + seed).astype(np.float32).reshape(shape) * 0.8
    return np.abs(result) + 0.5 if "variance" in name else result


def inputs_of(texts):
    def f(*shape):
        return values("input", shape)

    def i(*shape):
        return (np.arange(np.prod(shape)) % 7).astype(np.int32).reshape(shape)

    return [eval(text, {"f": f, "i": i, "np": np}) for text in texts]


def with_defaults(expression):
    """Return the expression without what it says about first values."""
    call = ast.parse(expression, mode="eval").body
    call.keywords = [k for k in call.keywords if not k.arg.endswith(_CHOSEN)]
    return ast.unparse(call)


def cases(layers):
    """Return {name: (expression, [inputs])} of make_layers.py, whose names are `layers`, and of `FURTHER`."""
    own = {name: (expression, inputs_of(texts)) for name, (expression, *texts) in FURTHER.items()}
    return {
        name: (expression, layers["inputs_of"](name, text)) for name, (expression, text, *_) in layers["CASES"].items()
    } | own


def make_layer(ms, expression):
    weights = np.linspace(0.5, 1.5, 12).astype(np.float32).reshape(3, 4)
    return eval(expression, {"nn": ms.nn, "Tensor": ms.Tensor, "W": weights})


def first_values(ms, expression):
    """Return {name: [type, shape, mean, standard deviation, least, largest]} of the Parameters of a new layer."""
    ms.set_seed(1)
    np.random.seed(1)
    results = {}
    for path, parameter in make_layer(ms, with_defaults(expression)).parameters_and_names():
        array = parameter.asnumpy().astype(np.float64)
        numbers = [round(float(n), 5) for n in (array.mean(), array.std(), array.min(), array.max())]
        results[path] = [str(parameter.dtype), list(array.shape), *numbers]
    return results


def boxed(ms, value):
    return tuple(boxed(ms, v) for v in value) if isinstance(value, tuple) else ms.Tensor(value)


def summary(tensor):
    array = tensor.asnumpy().astype(np.float64).ravel()
    return [str(tensor.dtype), list(tensor.shape), float(f"{array.sum():.6g}"), [float(f"{n:.6g}") for n in array[:3]]]


def flat(results):
    return [r for result in results for r in flat(result)] if isinstance(results, (tuple, list)) else [results]


def ran(ms, expression, inputs, form):
    """Return [`summary` of each result], and in "train" of each Parameter afterwards."""
    net = make_layer(ms, expression)
    for path, parameter in net.parameters_and_names():
        parameter.set_data(ms.Tensor(values(path, parameter.shape)).astype(parameter.dtype))
    net.set_train(form == "train")
    if form == "float16":
        net.to_float(ms.float16)
    elif form != "train":
        net = ms.amp.auto_mixed_precision(net, form)
    results = [summary(result) for result in flat(net(*(boxed(ms, value) for value in inputs)))]
    if form == "train":
        results += [summary(parameter) for _, parameter in net.parameters_and_names()]
    return results


def main():
    import runpy

    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    layers = runpy.run_path(str(Path(__file__).with_name("make_layers.py")))
    lines = []
    for name, (expression, inputs) in cases(layers).items():
        stored = {}
        try:
            stored["first"] = first_values(ms, expression)
        except Exception as error:
            print("left out:", name, "first", repr(error).splitlines()[0][:120])
        for form in FORMS:
            try:
                once, twice = (ran(ms, expression, inputs, form) for _ in range(2))
                if once == twice:  # else it draws numbers
                    stored[form] = once
            except Exception as error:
                print("left out:", name, form, repr(error).splitlines()[0][:120])
        lines.append(f"{json.dumps(name)}: {json.dumps(stored)}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(lines), "layers,", FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
