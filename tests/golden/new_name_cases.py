"""Calls of names and arguments that MindSpore 2.10 has and 2.7.1 has not, as text: what make_new_names.py asks
MindSpore, and tests/test_names_of_2.py asks msnb."""

SETUP = """
def swapped(first, second):
    ms.swap_tensors(first, second)
    return first, second

class Doubled(nn.Cell):
    def __init__(self, fails=False):
        super().__init__()
        self.fails, self.log = fails, []

    def construct(self, x):
        if self.fails:
            raise ValueError("fails")
        return x * 2

    def hooked(self, **options):
        self.register_forward_pre_hook(lambda cell, args: self.log.append("pre 1"))
        self.register_forward_pre_hook(lambda cell, args: self.log.append("pre 2"), prepend=True)
        self.register_forward_hook(lambda cell, args, out: self.log.append("1"))
        self.register_forward_hook(lambda cell, args, out: self.log.append("2" if out is None else "3"), **options)
        try:
            self(Tensor([1.0]))
        except ValueError:
            self.log.append("error")
        return self.log

class Mixed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.whole = Parameter(Tensor([1, 2], ms.int32), name="whole")
        self.weight = Parameter(Tensor([1.0, 2.0]), name="weight")
        self.register_buffer("mean", Tensor([1.0, 2.0]))

    def types(self):
        return [str(t.dtype) for t in (self.whole, self.weight, self.mean)]
"""

CASES = """
ops.grad(lambda x: x * x, sens_param=True)(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
ops.value_and_grad(lambda x: x * x, sens_param=True)(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
ms.grad(lambda x, y: (x * y, x + y), (0, 1), sens_param=True)(V, W, (Tensor([1.0, 1.0]), Tensor([2.0, 2.0])))
ms.grad(lambda x, y: (x * y, x + y), (0, 1), has_aux=True, sens_param=True)(V, W, Tensor([1.0, 5.0]))
ms.frombuffer(bytearray([1, 2, 3, 4]), dtype=ms.uint8)
ms.frombuffer(np.arange(4.0), ms.float64, count=2, offset=8)
ms.frombuffer(b"abcdefgh", ms.int32, offset=4)
ms.frombuffer(bytearray(5), dtype=ms.float32)
ms.frombuffer(bytearray(8), dtype=ms.float32, count=0)
ms.frombuffer(bytearray(8), dtype=ms.float32, count=-2)
ms.frombuffer(bytearray(8), dtype=ms.float32, offset=8)
ms.frombuffer(bytearray(8), dtype=ms.float32, count=3)
swapped(Tensor([1.0]), Tensor([[2, 3]]))
swapped(Tensor([1.0]), 3)
Tensor([1.0, 2.0]).set_(Tensor([[3.0, 4.0]]))
Tensor([1.0, 2.0]).set_()
Tensor([1.0, 2.0]).set_(Tensor([[3.0, 4.0]]), 1, (1,), (1,))
Tensor([1.0, 2.0]).set_(Tensor(np.arange(12, dtype=np.float32)), 2, (2, 3), (4, 1))
Tensor([1.0, 2.0]).set_(Tensor([1, 2]))
Tensor([1.0]).is_shared()
Tensor([1.0]).is_meta
Tensor([1.0]).to_()
ms.tensor([1, 2], device="CPU")
Mixed().to(ms.float16).types()
Mixed().to("CPU", ms.float64).types()
Mixed().to(device="CPU", dtype=ms.float16).types()
Mixed().to(Tensor([1.0], ms.float64)).types()
Mixed().to().types()
Mixed().to(ms.int32)
Mixed().to(5)
Mixed().to(ms.float32, foo=1)
Mixed().to_empty(device="CPU").types()
Doubled().hooked()
Doubled().hooked(prepend=True)
Doubled().hooked(always_call=True)
Doubled(fails=True).hooked(always_call=True)
Doubled(fails=True).hooked()
ms.recompute(nn.ReLU(), Tensor([-1.0, 2.0]), use_reentrant=False, early_stop=False)
nn.ReLU().recompute(context_fn=lambda: 3)
""".strip().splitlines()


def evaluate(case, ms, np):
    """Return the result of a call as plain data: lists for Tensors, or the class of its error."""
    names = {
        "__name__": __name__,
        "ms": ms,
        "np": np,
        "nn": ms.nn,
        "ops": ms.ops,
        "Tensor": ms.Tensor,
        "Parameter": ms.Parameter,
    }
    exec(SETUP, names)
    names.update(V=ms.Tensor([1.0, 2.0]), W=ms.Tensor([3.0, 4.0]))
    try:
        return flatten(eval(case, names), ms)
    except Exception as error:
        return {"error": type(error).__name__}


def flatten(value, ms):
    """Return plain data for a result."""
    if isinstance(value, ms.Tensor):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "value": value.asnumpy().tolist()}
    if isinstance(value, (tuple, list)):
        return [flatten(item, ms) for item in value]
    return value if isinstance(value, (bool, int, float, str)) else type(value).__name__
