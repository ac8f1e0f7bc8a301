"""Tables of names of other frameworks (functions, members, arguments) and their counterparts in MindSpore, for the
messages of errors about unknown names.

A value completes the sentence "In MindSpore it is ..."; tests/test_other_names.py checks that the names in it exist.
"""

from msnb.common import unsupported

# The keys are relative to "mindspore.".
NAMES: dict[str, str] = {
    "nn.Module": "nn.Cell, whose forward() is construct()",
    "nn.Layer": "nn.Cell, whose call() is construct()",
    "nn.Model": "mindspore.Model",
    "nn.Sequential": "nn.SequentialCell",
    "nn.ModuleList": "nn.CellList",
    "nn.Parameter": "mindspore.Parameter",
    "nn.Conv1D": "nn.Conv1d",
    "nn.Conv2D": "nn.Conv2d",
    "nn.Conv3D": "nn.Conv3d",
    "nn.Conv2DTranspose": "nn.Conv2dTranspose",
    "nn.ConvTranspose1d": "nn.Conv1dTranspose",
    "nn.ConvTranspose2d": "nn.Conv2dTranspose",
    "nn.BatchNorm": "nn.BatchNorm2d, or nn.BatchNorm1d behind nn.Dense",
    "nn.BatchNormalization": "nn.BatchNorm2d, or nn.BatchNorm1d behind nn.Dense",
    "nn.LayerNormalization": "nn.LayerNorm",
    "nn.InstanceNorm": "nn.InstanceNorm2d",
    "nn.MaxPool2D": "nn.MaxPool2d",
    "nn.MaxPooling2D": "nn.MaxPool2d",
    "nn.AvgPool2D": "nn.AvgPool2d",
    "nn.AveragePooling2D": "nn.AvgPool2d",
    "nn.Hardswish": "nn.HSwish",
    "nn.Hardsigmoid": "nn.HSigmoid",
    "nn.Swish": "nn.SiLU",
    "nn.SELU": "nn.SeLU",
    "nn.RMSprop": "nn.RMSProp",
    "nn.AdamW": "nn.AdamWeightDecay",
    "nn.Softplus": "ops.Softplus",
    "nn.Reshape": "ops.Reshape",
    "nn.Concatenate": "ops.Concat",
    "nn.relu": "ops.relu",
    "nn.softmax": "ops.softmax",
    "nn.functional": "ops, which holds functions and operators",
    "nn.init": "mindspore.common.initializer",
    "optim": "nn: nn.SGD, nn.Momentum, nn.Adam",
    "cat": "ops.cat",
    "concat": "ops.concat",
    "stack": "ops.stack",
    "matmul": "ops.matmul",
    "save": "mindspore.save_checkpoint",
    "ones": "ops.ones",
    "zeros": "ops.zeros",
    "arange": "ops.arange",
    "sum": "ops.sum",
    "mean": "ops.mean",
    "FloatTensor": "mindspore.Tensor(values, mindspore.float32)",
    "LongTensor": "mindspore.Tensor(values, mindspore.int64)",
    "autograd": "mindspore.grad and mindspore.value_and_grad",
    "nn.DataParallel": "nothing that a network is wrapped in: one process runs it",
    "nn.transformer": "nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder and nn.Transformer",
    "ops.operations.Sum": "ops.ReduceSum",
    "numpy.random": "mindspore.numpy.rand, mindspore.numpy.randn and mindspore.numpy.randint",
    "common.initializer.random_normal": "mindspore.common.initializer.Normal",
    "tensor.from_numpy": "mindspore.Tensor.from_numpy",
    "dataset.get_dataset_size": "the method of a data set: data.get_dataset_size()",
    "dataset.create_dict_iterator": "the method of a data set: data.create_dict_iterator()",
    "dataset.batch": "the method of a data set: data.batch(32)",
    "dataset.save": "the method of a data set: data.save(file)",
    "device": 'context.set_context(device_target="CPU" or "GPU")',
    "cuda": 'context.set_context(device_target="GPU")',
    "no_grad": "ops.stop_gradient; nothing is recorded unless a gradient is asked for",
    "ops.no_grad": "ops.stop_gradient; nothing is recorded unless a gradient is asked for",
    "ops.view": "ops.reshape",
    "dataset.DataLoader": "dataset.GeneratorDataset(source, column_names) and its batch()",
    "dataset.TensorDataset": "dataset.NumpySlicesDataset",
    "dataset.ImageFolder": "dataset.ImageFolderDataset",
    "dataset.MNIST": "dataset.MnistDataset",
    "dataset.CIFAR10": "dataset.Cifar10Dataset",
}

_GRADIENT = "mindspore.value_and_grad(f, None, weights)"
_DEVICE = 'context.set_context(device_target="{}")'
_ONE_STEP = "nn.TrainOneStepCell(net_with_loss, optimizer), which is one step when it is called"
_LISTED = "net.trainable_params(), or net.get_parameters() for all"

# Members of Tensor. In the sentences the Tensor is called x.
TENSOR: dict[str, str] = {
    "backward": f"{_GRADIENT} or ops.GradOperation(): gradients are functions",
    "grad": f"{_GRADIENT} or ops.GradOperation(): gradients are what they return",
    "requires_grad": "Parameter(x, requires_grad=True)",
    "requires_grad_": "Parameter(x, requires_grad=True)",
    "detach": "ops.stop_gradient(x)",
    "cuda": _DEVICE.format("GPU"),
    "cpu": "x.asnumpy() for the values, or " + _DEVICE.format("CPU"),
    "is_cuda": "x.device",
    "assign": "ops.assign(parameter, y), or x.assign_value(y)",
    "get_shape": "x.shape",
    "element_size": "x.itemsize",
    "relu": "ops.relu(x)",
}

# Members of Cell and of optimizers. In the sentences the Cell is called net.
CELL: dict[str, str] = {
    "forward": "construct",
    "call": "construct",
    "parameters": _LISTED,
    "weights": _LISTED,
    "trainable_variables": "net.trainable_params()",
    "named_parameters": "net.parameters_and_names()",
    "load_weights": "mindspore.load_param_into_net(net, mindspore.load_checkpoint(file))",
    "save": "mindspore.save_checkpoint(net, file)",
    "save_weights": "mindspore.save_checkpoint(net, file)",
    "modules": "net.cells_and_names()",
    "named_modules": "net.cells_and_names()",
    "children": "net.cells()",
    "named_children": "net.name_cells()",
    "layers": "net.cells()",
    "train": "net.set_train()",
    "eval": "net.set_train(False)",
    "zero_grad": "not needed: gradients are returned, and none is kept that could be cleared",
    "step": f"opt(gradients), or {_ONE_STEP}",
    "cuda": _DEVICE.format("GPU"),
    "cpu": _DEVICE.format("CPU"),
    "half": "net.to_float(mindspore.float16)",
    "float": "net.to_float(mindspore.float32)",
    "fit": "Model(net, loss_fn, optimizer).train(epochs, dataset)",
    "evaluate": "Model(net, loss_fn, metrics={...}).eval(dataset)",
    "predict": "Model(net).predict(x), or net(x)",
    "register_parameter": "net.insert_param_to_cell(name, parameter)",
    "add_module": "net.insert_child_to_cell(name, cell)",
}

# Argument -> its possible counterparts, of which a signature has at most one. `DIFFERS`: (argument, counterpart) -> the
# difference in meaning.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "lr": ("learning_rate",),
    "parameters": ("params",),
    "loss": ("loss_fn",),
    "criterion": ("loss_fn",),
    "model": ("network",),
    "net": ("network",),
    "kernel": ("kernel_size",),
    "pool_size": ("kernel_size",),
    "filters": ("out_channels",),
    "units": ("out_channels",),
    "in_features": ("in_channels",),
    "out_features": ("out_channels",),
    "groups": ("group",),
    "bias": ("has_bias",),
    "use_bias": ("has_bias",),
    "p": ("keep_prob",),
    "rate": ("p", "keep_prob"),
    "eps": ("epsilon",),
    "epsilon": ("eps",),
    "betas": ("beta1",),
    "dim": ("axis",),
    "axis": ("dim",),
    "keepdim": ("keep_dims", "keepdims"),
    "negative_slope": ("alpha",),
    "num_embeddings": ("vocab_size",),
    "embedding_dim": ("embedding_size",),
    "std": ("sigma",),
    "stddev": ("sigma",),
    "size_average": ("reduction",),
    "num_workers": ("num_parallel_workers",),
    "root": ("dataset_dir",),
    "train": ("usage",),
}
DIFFERS: dict[tuple[str, str], str] = {
    ("p", "keep_prob"): "keep_prob is the share that is kept, 1 - p.",
    ("rate", "keep_prob"): "keep_prob is the share that is kept, 1 - rate.",
    ("betas", "beta1"): "Its second number is beta2.",
    ("train", "usage"): 'usage names the part, such as "train".',
}
# Arguments without counterpart -> (an argument that a signature must have for the advice, "" for any; the advice).
ELSEWHERE: dict[str, tuple[str, str]] = {
    "inplace": ("", "Leave it out: the result is always a Tensor of its own."),
    "device": ("", "Leave it out: context.set_context(device_target=...) says where to compute."),
    "batch_size": ("shard_id", "Batches are made by the data set's batch()."),
    "drop_last": ("shard_id", "That is drop_remainder of the data set's batch()."),
    "transform": ("shard_id", "Columns are transformed by the data set's map()."),
}


def in_module(path: str) -> str | None:
    """Return the hint that ends the message for an unknown name such as "nn.Module". A name without a hint has the hint
    of its parent. Return None if there is no hint."""
    hint = NAMES.get(path)
    return in_module(path.rpartition(".")[0]) if hint is None and "." in path else hint


def no_attribute(kind: str, name: str, table: dict[str, str], path: str) -> str:
    """Return the message for a missing member of a class `kind`, with a hint from `table`, or with the reason in
    `unsupported.REASONS` for the class at `path`."""
    hint, why = table.get(name), unsupported.REASONS.get(f"{path}.{name}")
    explanation = f": in MindSpore it is {hint}." if hint else f": {why}." if why else ""
    return f"'{kind}' object has no attribute '{name}'{explanation}"
