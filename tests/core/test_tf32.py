"""The precision of float32 products that operators request. The tests pretend that there is a GPU."""

import jax
import jax.numpy as jnp
import pytest

import msnb
from msnb import context, nn, ops
from msnb.core.eager import matmul_precision
from msnb.core.eager.kernel import Kernel

X = jnp.ones((4, 4), jnp.float32)
IMAGE = jnp.ones((1, 2, 5, 5), jnp.float32)


def product(dtype="float32"):
    """Check that a new operator on arrays of this type requests the highest precision for its matrix product."""
    graph = jax.make_jaxpr(Kernel("Product", jnp.matmul).run)(X.astype(dtype), X.astype(dtype))
    return "HIGHEST" in str(graph)


def test_products_are_exact_and_convolutions_rounded_unless_gpu_config_says_otherwise(gpu):
    assert product() and product("complex64") and not product("float16") and not product("float64")
    assert matmul_precision.allowed() == (False, True)
    context.set_context(gpu_config={"matmul_allow_tf32": True})
    assert not product() and matmul_precision.allowed() == (True, True)
    context.set_context(gpu_config={"conv_allow_tf32": False})
    assert not product() and matmul_precision.allowed() == (True, False)


def test_a_processor_is_asked_for_nothing():
    assert not product() and matmul_precision.allowed() == (True, True)


def test_what_the_user_has_set_for_jax_stays(gpu):
    with jax.default_matmul_precision("bfloat16"):
        assert not product() and matmul_precision.of_convolutions() is None


def test_operators_and_their_gradients_ask_alike(gpu):
    def both(a, b):
        return ops.matmul(msnb.Tensor(a), msnb.Tensor(b))._array.sum()

    context.set_context(gpu_config={"matmul_allow_tf32": True})
    assert "HIGHEST" not in str(jax.make_jaxpr(jax.grad(both))(X, X))
    context.set_context(gpu_config={"matmul_allow_tf32": False})  # what was traced is traced anew
    lines = [line for line in str(jax.make_jaxpr(jax.grad(both))(X, X)).splitlines() if "dot_general" in line]
    assert str(jax.make_jaxpr(jax.grad(both))(X, X)).count("HIGHEST") >= len(lines) >= 2


def test_a_network_compiles_anew_for_another_precision(gpu):
    context.set_context(mode=context.GRAPH_MODE)
    net, x = nn.Dense(4, 3), msnb.Tensor(X)
    net(x)
    assert net._programs.compiled == 1
    context.set_context(gpu_config={"matmul_allow_tf32": True})
    net(x)
    assert net._programs.compiled == 2


def test_convolutions_are_lowered_as_gpu_config_says(gpu, monkeypatch):
    from msnb.ops.nn.conv import lowering

    asked = []
    monkeypatch.setattr(lowering.lax, "conv_general_dilated", lambda x, *a, precision, **k: asked.append(precision))
    geometry = lowering.Geometry((1, 1), ((0, 0), (0, 0)), (1, 1))
    lowering.direct(IMAGE, jnp.ones((3, 2, 3, 3)), geometry)
    context.set_context(gpu_config={"conv_allow_tf32": False})
    lowering.direct(IMAGE, jnp.ones((3, 2, 3, 3)), geometry)
    assert asked == [None, matmul_precision.EXACT]


def test_windows_are_cut_out_exactly_wherever():
    text = str(jax.make_jaxpr(lambda x: ops.unfold(msnb.Tensor(x), 2)._array)(IMAGE))
    assert text.count("conv_general_dilated") + text.count("dot_general") <= text.count("HIGHEST")


@pytest.mark.parametrize(
    "given, error, words",
    [
        ({"tf32": True}, ValueError, "matmul_allow_tf32"),
        ({"matmul_allow_tf32": 1}, TypeError, "matmul_allow_tf32 of gpu_config"),
        ({"conv_fprop_algo": 3}, TypeError, "conv_fprop_algo of gpu_config"),
        (3, TypeError, "gpu_config"),
    ],
)
def test_what_gpu_config_does_not_have_is_an_error(given, error, words):
    with pytest.raises(error, match=words):
        context.set_context(gpu_config=given)
