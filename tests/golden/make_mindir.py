"""Writes tests/golden/mindir/: what MindSpore exports of the networks in mindir_networks.py, and what these compute.

    PYTHON_WITH_MINDSPORE tests/golden/make_mindir.py [names]      writes NAME.mindir and NAME.npz
    PYTHON_WITH_MINDSPORE tests/golden/make_mindir.py --run FOLDER  runs the files of FOLDER, prints the differences

An npz has the inputs (x0, ...), the outputs (y0, ...) and, for float outputs, the gradients of the sum of the first one
for the weights (their names behind "d "). `--run` is for the files that msnb writes: `--ours FOLDER`, in msnb's
environment, writes them, with the weights of the stored files.
"""

import os
import stat
import sys
import traceback
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FOLDER = HERE / "mindir"
sys.path.insert(0, str(HERE))
OPEN = {}
CALLS = 4  # of what writes Parameters


def flat(results):
    """Return the results of a network as numpy arrays."""
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [r.asnumpy() for r in results]


def describe_inputs(ms, name, inputs):
    """Return the inputs for the export of a network, some of them without their lengths."""
    if name not in OPEN:
        return inputs
    return [ms.Tensor(shape=list(shape), dtype=x.dtype) for shape, x in zip(OPEN[name], inputs)]


def make(ms, name, make_net, inputs):
    """The two files of one network."""
    ms.set_seed(7)
    net = make_net().set_train(False)
    rng = np.random.default_rng(11)
    for p in net.get_parameters():  # none of them is 0 or 1
        value = rng.standard_normal(p.shape) * 0.3 + (1.0 if p.name.endswith(("gamma", "variance")) else 0.0)
        p.set_data(ms.Tensor((np.abs(value) if p.name.endswith("variance") else value).astype(np.float32)))
    given = [ms.Tensor(x) for x in inputs]
    path = FOLDER / f"{name}.mindir"
    ms.export(net, *describe_inputs(ms, name, given), file_name=str(path), file_format="MINDIR")
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
    values = {f"x{i}": x for i, x in enumerate(inputs)}
    results = flat(net(*given))
    values.update({f"y{i}": y for i, y in enumerate(results)})
    weights = list(net.trainable_params())
    if weights:

        def first(*given):
            out = net(*given)
            return (out[0] if isinstance(out, tuple) else out).sum()

        try:
            gradients = ms.grad(first, None, weights)(*given)
            values.update({f"d {p.name}": g.asnumpy() for p, g in zip(weights, gradients)})
        except Exception as error:  # MindSpore has none here; the outputs are compared all the same
            print(name, "no gradient:", str(error).splitlines()[0])
    np.savez_compressed(FOLDER / f"{name}.npz", **values)


def make_step(ms, name, make_net, inputs):
    """The two files of a network that writes Parameters; y0, y1, ... are its results call by call."""
    ms.set_seed(7)
    net, given = make_net().set_train(False), [ms.Tensor(x) for x in inputs]
    path = FOLDER / f"{name}.mindir"
    ms.export(net, *given, file_name=str(path), file_format="MINDIR")
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
    values = {f"x{i}": x for i, x in enumerate(inputs)}
    values.update({f"y{i}": flat(net(*given))[0] for i in range(CALLS)})
    np.savez_compressed(FOLDER / f"{name}.npz", **values)


def fill(net, weights):
    """Give a network of msnb the values of a stored file; an LSTM's weights are one vector here."""
    suffixes = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    for p in net.get_parameters():
        value = weights.get(p.name)
        if value is None:
            value = np.concatenate([np.ravel(weights[f"{p.name.removesuffix('weight')}{part}"]) for part in suffixes])
        p.set_data(type(p.data)(np.array(value).reshape(p.shape)))


def main(arguments):
    """See the module."""
    if arguments[:1] == ["--ours"]:
        import msnb.alias

        msnb.alias.install()
    import mindir_networks

    import mindspore as ms
    from mindspore import nn

    OPEN.update(mindir_networks.OPEN)
    NETWORKS, STEPS = mindir_networks.NETWORKS, mindir_networks.STEPS

    ms.set_context(mode=ms.GRAPH_MODE)
    if arguments[:1] == ["--ours"]:
        for name, (make_net, inputs) in (NETWORKS | STEPS).items():
            try:
                net = make_net()
                fill(net, ms.load(str(FOLDER / f"{name}.mindir")).weights)
                given = describe_inputs(ms, name, [ms.Tensor(x) for x in inputs])
                ms.export(net, *given, file_name=f"{arguments[1]}/{name}", file_format="MINDIR")
            except Exception as error:
                print(name, "not written:", f"{type(error).__name__}: {error}"[:600])
        return
    if arguments[:1] == ["--run"]:
        for path in sorted(Path(arguments[1]).glob("*.mindir")):
            stored = np.load(FOLDER / f"{path.stem}.npz")
            try:
                given = [ms.Tensor(stored[f"x{i}"]) for i in range(len(stored)) if f"x{i}" in stored]
                cell, calls = nn.GraphCell(ms.load(str(path))), CALLS if path.stem in STEPS else 1
                results = [result for _ in range(calls) for result in flat(cell(*given))]
                expected = [stored[f"y{i}"] for i in range(len(stored)) if f"y{i}" in stored]
                assert [(r.dtype, r.shape) for r in results] == [(e.dtype, e.shape) for e in expected], (
                    [(r.dtype, r.shape) for r in results], [(e.dtype, e.shape) for e in expected])  # fmt: skip
                worst = [np.abs(r.astype(float) - e.astype(float)).max() for r, e in zip(results, expected)]
                print(f"{path.stem:12} {max(worst):.1e}", flush=True)
            except Exception as error:
                print(path.stem, "FAILED", f"{type(error).__name__}: {error}"[:700], flush=True)
        return
    FOLDER.mkdir(exist_ok=True)
    for name in arguments or NETWORKS | STEPS:
        try:
            make_step(ms, name, *STEPS[name]) if name in STEPS else make(ms, name, *NETWORKS[name])
            print(name, (FOLDER / f"{name}.mindir").stat().st_size, flush=True)
        except Exception:
            traceback.print_exc()


if __name__ == "__main__":
    main(sys.argv[1:])
