"""The names that msnb shows are MindSpore's: of r1.1, 2.7.1 or 2.10.0, as tests/golden lists them."""

import importlib
import json
from pathlib import Path

import pytest

import msnb

GOLDEN = Path(__file__).parent / "golden"
FILES = {
    "r1.1": "r1_1_names.json",
    **{version: f"names/{version}.json" for version in ("2.7.1", "2.10.0")},
}
LISTED = {version: json.loads((GOLDEN / name).read_text(encoding="utf-8")) for version, name in FILES.items()}
OPS = ("ops", "ops.operations", "ops.functional", "ops.composite")
# Operators that MindSpore keeps in modules which its faces leave out; msnb has one face for all operators.
INNER = ("ops.auto_generate", *(f"ops.operations.{m}" for m in ("_inner_ops", "_grad_ops", "_quant_ops")))

# Names that neither list has, and why they stand here.
ALLOWED = {
    "ops.operations": {
        "AvgPoolGradCpu": "in _grad_ops of 1.2, one class per device",
        "AvgPoolGradGpu": "in _grad_ops of 1.2, one class per device",
        "CacheSwapHashmap": "in _cache_ops of r1.1, whose private modules are not listed",
        "Conv3DBackpropInput": "in 1.x, what Conv3DTranspose grew out of",
        "FusedBatchNormGrad": "in _grad_ops of r1.1, whose private modules are not listed",
        "FusedBatchNormGradCPU": "in _grad_ops of r1.1, whose private modules are not listed",
        "FusedBatchNormGradEx": "in _grad_ops of r1.1, whose private modules are not listed",
        "GatherDGrad": "in _grad_ops of r1.1, whose private modules are not listed",
        "InstanceNorm": "in nn_ops of 1.2, beneath nn.InstanceNorm2d",
        "ReluGradV2": "in _grad_ops of r1.1, whose private modules are not listed",
        "SearchCacheIdx": "in _cache_ops of r1.1, whose private modules are not listed",
        "TransShape": "in array_ops of r1.1",
        "UpdateCache": "in _cache_ops of r1.1, whose private modules are not listed",
    },
    "Tensor": {
        "to_tensor": "r1.1's, of MetaTensor, which Tensor stands for",
        **dict.fromkeys(
            (f"tensor_scatter_{what}" for what in ("add", "div", "max", "min", "mul", "sub", "update")),
            "a method of versions between the two, for which 2.7.1 says scatter_add",
        ),
    },
}


def listed(*places):
    """The names that MindSpore has at one of the places, in any version that is listed."""
    entries = [version.get(f"mindspore.{p}", "") for version in LISTED.values() for p in places]
    return {n for names in entries for n in (names.split() if isinstance(names, str) else names)}


def public(place):
    """What msnb shows at a place."""
    if place == "Tensor":
        return {n for n in dir(msnb.Tensor) if not n.startswith("_")}
    return set(importlib.import_module(f"msnb.{place}").__all__)


def test_the_list_is_of_r1_1_and_of_mindspore_2():
    assert list(LISTED) == ["r1.1", "2.7.1", "2.10.0"]
    assert {"Conv2d", "Dense"} <= listed("nn") and {"reduce_sum", "tensor_add"} <= listed("ops.functional")


@pytest.mark.parametrize(
    "place, where",
    [
        ("ops.operations", (*OPS, *INNER)),
        ("ops.functional", OPS),
        ("ops.composite", OPS),
        ("nn", ("nn",)),
        ("Tensor", ("Tensor",)),
    ],
)
def test_every_public_name_is_mindspores(place, where):
    missing = public(place) - listed(*where)
    unexplained = missing - set(ALLOWED.get(place, ()))
    assert not unexplained, f"MindSpore has no {place}.{{{', '.join(sorted(unexplained))}}}: give it an underscore"


def test_ops_shows_what_its_modules_show_and_nothing_of_its_own():
    parts = {"operations", "functional", "composite"}.union(*(public(p) for p in OPS[1:]))
    assert not public("ops") - parts - listed(*OPS)


@pytest.mark.parametrize("place", sorted(ALLOWED))
def test_what_is_allowed_is_there_and_in_no_list(place):
    where = INNER if place == "ops.operations" else ()
    needless = {n for n in ALLOWED[place] if n in listed(place, *where) or n not in public(place)}
    assert not needless, f"these need no allowance: {sorted(needless)}"
