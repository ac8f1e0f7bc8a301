"""Write relevance.npz: relevance of Transformers by the rules of AttnLRP and of CP-LRP, from lxt.

    python tests/golden/make_relevance.py

It needs torch and lxt (2.1), which the tests do not. The networks run in float64.
"""

import math
from pathlib import Path

import lxt.explicit.functional as lf
import numpy as np
import torch
from torch import nn

FILE = Path(__file__).parent / "relevance.npz"
EPSILON = 1e-9
WIDTH, HEADS, INNER, CLASSES, LENGTH, FEATURES = 8, 2, 12, 3, 5, 6


def apply_linear(x, layer):
    return lf.linear_epsilon_fn.apply(x, layer.weight, layer.bias, EPSILON)


def add(a, b):
    return lf.add2_tensors_fn.apply(a, b, False, EPSILON)


def multiply(a, b):
    return lf.matmul_fn.apply(a, b, False, EPSILON)


class Block(nn.Module):
    """Attention and a network of two layers. `is_gated` has RMSNorm and SwiGLU in place of LayerNorm and GELU."""

    def __init__(self, is_gated):
        super().__init__()
        self.is_gated = is_gated
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.fc1, self.fc2, self.gate = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH), nn.Linear(WIDTH, INNER)

    def normalize(self, x, layer):
        if self.is_gated:
            return lf.rms_norm_identity_fn.apply(x, layer.weight, layer.eps)
        return lf.layer_norm_grad_fn.apply(x, layer.weight, layer.bias, layer.eps, EPSILON)

    def forward(self, x, mask, is_constant):
        n, length, _ = x.shape
        y = self.normalize(x, self.norm1)
        q, k, v = (
            apply_linear(y, layer).reshape(n, length, HEADS, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        scores = lf.mul2_fn.apply(multiply(q, k.transpose(2, 3)), 1 / math.sqrt(WIDTH // HEADS)) + mask
        if is_constant:
            weights = torch.softmax(scores, -1).detach()
            y = apply_product_with_constant(weights, v)
        else:
            y = multiply(lf.softmax_fn.apply(scores, -1), v)
        x = add(x, apply_linear(y.transpose(1, 2).reshape(n, length, WIDTH), self.out))
        y = self.normalize(x, self.norm2)
        if self.is_gated:
            y = lf.mul2_fn.apply(
                apply_activation(apply_linear(y, self.gate), nn.functional.silu), apply_linear(y, self.fc1)
            )
        else:
            y = apply_activation(apply_linear(y, self.fc1), nn.functional.gelu)
        return add(x, apply_linear(y, self.fc2))


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, value):
        ctx.save_for_backward(weights, value)
        return weights @ value

    @staticmethod
    def backward(ctx, relevance):
        weights, value = ctx.saved_tensors
        return None, value * (weights.transpose(-1, -2) @ (relevance / (weights @ value)))


class _Activation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, function):
        return function(x)

    @staticmethod
    def backward(ctx, relevance):
        return relevance, None


apply_product_with_constant, apply_activation = _Product.apply, _Activation.apply


class Transformer(nn.Module):
    def __init__(self, is_gated):
        super().__init__()
        self.first, self.head = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.blocks = nn.ModuleList(Block(is_gated) for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, mask, is_constant):
        x = apply_linear(x, self.first)
        for block in self.blocks:
            x = block(x, mask, is_constant)
        return apply_linear(self.blocks[0].normalize(x[:, 0], self.norm), self.head)


def main():
    generator, stored = torch.Generator().manual_seed(4), {}
    x = torch.randn(2, LENGTH, FEATURES, generator=generator, dtype=torch.float64)
    mask = torch.zeros(2, 1, 1, LENGTH, dtype=torch.float64)
    mask[1, ..., 3:] = -1e4
    targets = torch.tensor([2, 0])
    stored |= {"x": x.numpy(), "mask": mask.numpy(), "targets": targets.numpy().astype(np.int32)}
    for name, is_gated in (("plain", False), ("gated", True)):
        net = Transformer(is_gated).double()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
            for parameter in (p for key, p in net.named_parameters() if "norm" in key and key.endswith("weight")):
                parameter.add_(1)
        for rule, is_constant in (("taylor", False), ("constant", True)):
            value = x.clone().requires_grad_()
            scores = net(value, mask, is_constant)[torch.arange(2), targets]
            (relevance,) = torch.autograd.grad(scores, value, scores.detach())
            stored[f"{name}/{rule}"] = relevance.numpy()
        stored[f"{name}/scores"] = scores.detach().numpy()
        stored |= {f"{name}/weights/{key}": value.numpy() for key, value in net.state_dict().items()}
    np.savez_compressed(
        FILE, **{key: value.astype(np.float32) if value.dtype.kind == "f" else value for key, value in stored.items()}
    )


if __name__ == "__main__":
    main()
