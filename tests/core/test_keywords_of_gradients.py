"""An input that is passed by keyword has a gradient like the others."""

import pytest

import msnb as ms
from msnb import Tensor, nn, ops


class Product(nn.Cell):
    def construct(self, x, y=None, z=None):
        return x * y * z


def products(x, y, z):
    return x * y * z


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("function", [Product(), products], ids=["Cell", "function"])
def test_gradients_of_inputs_by_keyword(function, mode):
    ms.set_context(mode=mode)
    x, y, z = Tensor([2.0]), Tensor([3.0]), Tensor([5.0])
    for arguments, named in (((x,), {"y": y, "z": z}), ((x,), {"z": z, "y": y}), ((x, y), {"z": z})):
        slopes = ops.GradOperation(get_all=True)(function)(*arguments, **named)
        assert [slope.asnumpy().tolist() for slope in slopes] == [[15], [10], [6]]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_the_cotangent_stays_last(mode):
    ms.set_context(mode=mode)
    gradient = ops.GradOperation(get_all=True, sens_param=True)(products)
    slopes = gradient(Tensor([2.0]), Tensor([3.0]), Tensor([10.0]), z=Tensor([5.0]))
    assert [slope.asnumpy().tolist() for slope in slopes] == [[150], [100], [60]]
