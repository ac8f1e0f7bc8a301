import pytest

from msnb.ir.scope import is_backward, parse


@pytest.mark.parametrize(
    "text, segments, transforms",
    [
        ("", (), ()),
        ("Default/network-LeNet5/conv1-Conv2d", ("Default", "network-LeNet5", "conv1-Conv2d"), ()),
        ("jvp(Default/network)/conv1-Conv2d", ("Default", "network", "conv1-Conv2d"), ("jvp",)),
        ("transpose(jvp(Default/network))/conv1-Conv2d", ("Default", "network", "conv1-Conv2d"), ("transpose", "jvp")),
        ("jvp()/a", ("a",), ("jvp",)),
        ("transpose(jvp(vmap(a/b)))/c", ("a", "b", "c"), ("transpose", "jvp", "vmap")),
        ("jvp(transpose(jvp(a)))", ("a",), ("jvp", "transpose", "jvp")),
        ("Default/transpose(Default)/jvp(net)/table", ("Default", "net", "table"), ("transpose", "jvp")),
        ("Default/a/jvp(a)", ("Default", "a", "a"), ("jvp",)),
        ("rematted_computation(a)/b", ("a", "b"), ("rematted_computation",)),
        ("Default/a/rematted_computation/b", ("Default", "a", "b"), ("rematted_computation",)),
        ("Default/transpose(jvp(a))/b/Default/jvp(a)/b/c", ("Default", "a", "b", "c"), ("transpose", "jvp", "jvp")),
        ("Default/a/a", ("Default", "a", "a"), ()),
    ],
)
def test_a_name_stack_is_split_into_scopes_and_transformations(text, segments, transforms):
    assert parse(text) == (segments, transforms)


@pytest.mark.parametrize("text", ["layer (1)/relu", "my(strange)name", "block[0](x)"])
def test_parentheses_that_are_no_transformation_belong_to_the_name(text):
    assert parse(text) == (tuple(text.split("/")), ())


@pytest.mark.parametrize("text", ["jvp(", "a)/b", "transpose(jvp(a)", "((", "))", "/", "//a//"])
def test_text_that_does_not_balance_is_still_read(text):
    segments, _ = parse(text)
    assert all(isinstance(segment, str) for segment in segments)


def test_only_a_transposed_node_is_backward():
    assert is_backward(parse("transpose(jvp(a))/b")[1])
    assert not is_backward(parse("jvp(a)/b")[1])
    assert not is_backward(parse("transpose-Transpose/b")[1])
