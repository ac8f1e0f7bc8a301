"""Calls of functions and layers with integers, bool and other floats, and the types that MindSpore 2.7.1 returns.

    python tests/golden/input_types.py QUESTIONS            write the calls as a pickle, under msnb
    ORACLE/bin/python tests/golden/input_types.py QUESTIONS ANSWERS       ask MindSpore, in its own environment
    python tests/golden/input_types.py QUESTIONS ANSWERS input_types.json

result_types.py has the operators. Here are the functions and layers of mint_cases.py, functions of ops that are made of
several operators, and the layers of make_layers.py. The table has the form that result_types.py describes.
"""

import pathlib
import pickle
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE)]
import make_layers  # noqa: E402
import mint_oracle  # noqa: E402
from result_types import ask, converted, write_table  # noqa: E402

DTYPES = "bool int8 uint8 int16 int32 int64 float16 float64".split()
FUNCTIONS = """
relu(F(2, 3))
rrelu(F(2, 3))
nansum(F(2, 3))
tensor_dot(F(2, 3), F(3, 2), 1)
bidense(F(2, 3), F(2, 4), F(2, 3, 4))
concat((F(2, 3), F(2, 3)))
stack((F(2, 3), F(2, 3)))
subtract(F(2, 3), F(2, 3))
l1_loss(F(2, 3), F(2, 3))
smooth_l1_loss(F(2, 3), F(2, 3))
huber_loss(F(2, 3), F(2, 3))
margin_ranking_loss(F(3), F(3), V([1.0, -1.0, 1.0]))
cosine_embedding_loss(F(2, 3), F(2, 3), V([1.0, -1.0]))
soft_margin_loss(F(2, 3), F(2, 3))
gaussian_nll_loss(F(2, 3), F(2, 3), U(2, 3, low=1, high=2))
cross_entropy(F(2, 3), F(2, 3))
cosine_similarity(F(2, 3), F(2, 3))
pairwise_distance(F(2, 3), F(2, 3))
softmin(F(2, 3))
logsigmoid(F(2, 3))
logsumexp(F(2, 3), 1)
std(F(2, 3))
var(F(2, 3))
var_mean(F(2, 3))
std_mean(F(2, 3))
median(F(2, 3))
cumsum(F(2, 3), 1)
cumprod(F(2, 3), 1)
diff(F(2, 3))
where(Flags(2, 3), F(2, 3), F(2, 3))
clamp(F(2, 3), F(3), U(3, low=1, high=2))
true_divide(F(2, 3), U(2, 3, low=1, high=2))
fmod(F(2, 3), U(2, 3, low=1, high=2))
logaddexp(F(2, 3), F(2, 3))
renorm(F(2, 3), 2, 0, 1.0)
roll(F(2, 3), 1, 0)
topk(F(2, 3), 1)
tril(F(3, 3))
trace(F(3, 3))
pad(F(2, 3), (1, 1))
masked_fill(F(2, 3), Flags(2, 3), 2)
addcmul(F(2, 3), F(2, 3), F(2, 3))
addr(F(2, 3), F(2), F(3))
addmm(F(2, 2), F(2, 3), F(3, 2))
inner(F(2, 3), F(2, 3))
matmul(F(2, 3), F(3, 2))
prod(F(2, 3))
mean(F(2, 3))
sum(F(2, 3))
exp2(F(2, 3))
log2(U(2, 3, low=1, high=2))
sigmoid(F(2, 3))
softplus(F(2, 3))
tanhshrink(F(2, 3))
xlogy(U(2, 3, low=1, high=2), U(2, 3, low=1, high=2))
threshold(F(2, 3), 0.5, 2.0)
avg_pool2d(F(1, 2, 4, 4), 2)
max_pool2d(F(1, 2, 4, 4), 2, 2)
interpolate(F(1, 2, 4, 4), (2, 2))
unfold(F(1, 2, 4, 4), 2)
norm(F(2, 3))
dist(F(2, 3), F(2, 3))
""".strip().splitlines()


def _first_of_each(calls, name_of):
    """Return {name: call} of the first call of each name."""
    first = {}
    for call in calls:
        first.setdefault(name_of(call), call)
    return first


def _calls():
    """Yield (name, module, text or case of make_layers, how a layer of mint is made, arrays)."""
    from make_mint import CALLS, arrays_of

    for name, (text, layer) in _first_of_each(CALLS, lambda call: (call[1] or call[0]).partition("(")[0]).items():
        yield f"mint.{name}", "mint", text, layer, arrays_of(text, layer)
    for name, text in _first_of_each(FUNCTIONS, lambda text: text.partition("(")[0]).items():
        yield f"ops.{name}", "ops", text, None, arrays_of(text)
    layers = make_layers.CASES
    for name, case in _first_of_each(layers, lambda case: layers[case][0].partition("(")[0]).items():
        yield name, "nn", case, None, list(make_layers.inputs_of(case, layers[case][1]))


def questions():
    """Yield (name, element type, question) for the first call of each function and layer; floats are converted."""
    for name, module, text, layer, arrays in _calls():
        kinds = {array.dtype.kind for array in arrays}
        kinds = "f" if "f" in kinds else "iu" if kinds & {"i", "u"} else "b"
        for dtype in DTYPES if arrays else ():
            yield name, dtype, (module, text, layer, [converted(array, dtype, kinds) for array in arrays])


class Framework(mint_oracle.MindSpore):
    """MindSpore, or what has its interface, with the calls of `questions`.

    Args:
        ms (module): The package.
    """

    def outputs(self, module, text, layer, arrays):
        """Return the arrays that a call returns; Python numbers count as arrays."""
        if module == "nn":
            net = make_layers.made(self.ms, text)[0]
            results = make_layers.outputs(net, [self.box(array) for array in arrays]).values()
        else:
            self.mint = getattr(self.ms, module)
            layer = layer and self.begin(mint_oracle.called(self, layer, ()))
            results = mint_oracle.results_of(mint_oracle.called(self, text, map(self.box, arrays), layer))
        return [self.plain(r) if self.is_tensor(r) else np.array(r) for r in results]


def answer(framework, question):
    """Return the element types of a call's results, separated by spaces, or the name of the error's class."""
    try:
        return " ".join(array.dtype.name for array in framework.outputs(*question))
    except Exception as error:
        return type(error).__name__


def start():
    """Return the framework that runs MindSpore."""
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)
    return Framework(ms)


def main(asked, answered=None, table=None):
    """Do one of the three steps."""
    if answered is None:
        sys.path[:0] = [str(HERE.parent), str(HERE.parent / "ops")]
        pathlib.Path(asked).write_bytes(pickle.dumps(list(questions())))
    elif table is None:
        answers = ask(start, pickle.loads(pathlib.Path(asked).read_bytes()), answer=answer)
        pathlib.Path(answered).write_bytes(pickle.dumps(answers))
    else:
        write_table(table, pickle.loads(pathlib.Path(answered).read_bytes()))


if __name__ == "__main__":
    main(*sys.argv[1:])
