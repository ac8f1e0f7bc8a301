"""Write interventions.npz: outputs and gradients of PyTorch networks whose values are changed by hooks.

    python tests/golden/make_interventions.py

It needs PyTorch, which the tests do not.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

FILE = Path(__file__).parent / "interventions.npz"
DIM, HEADS = 8, 2


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = (
            nn.Conv2d(1, 4, 3, bias=False),
            nn.Conv2d(4, 4, 3, bias=False),
            nn.Linear(64, 5),
        )
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()

    def forward(self, x):
        return self.fc(self.relu2(self.conv2(self.relu1(self.conv1(x)))).flatten(1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM, eps=1e-5)
        self.q, self.k, self.v, self.o = (nn.Linear(DIM, DIM) for _ in range(4))
        self.softmax = nn.Softmax(-1)
        self.up, self.down = nn.Linear(DIM, 16), nn.Linear(16, DIM)
        self.relu, self.sum1, self.sum2 = nn.ReLU(), Sum(), Sum()

    def forward(self, x):
        def heads(y):
            return y.reshape(*y.shape[:2], HEADS, -1).transpose(1, 2)

        y = self.norm(x)
        scores = heads(self.q(y)) @ heads(self.k(y)).transpose(2, 3) / 2.0
        mixed = (self.softmax(scores) @ heads(self.v(y))).transpose(1, 2).reshape(x.shape)
        x = self.sum1(x, self.o(mixed))
        return self.sum2(x, self.down(self.relu(self.up(x))))


class Sum(nn.Module):
    def forward(self, a, b):
        return a + b


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.ModuleList([Block(), Block()]), nn.Linear(DIM, 3)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.update, self.candidate = nn.Linear(6, 4), nn.Linear(6, 4)
        self.tanh = nn.Tanh()

    def forward(self, x):
        h = x.new_zeros(x.shape[1], 4)
        for row in x:
            z = torch.sigmoid(self.update(torch.cat([row, h], 1)))
            h = (1 - z) * h + z * self.tanh(self.candidate(torch.cat([row, h], 1)))
        return h


def main():
    torch.manual_seed(3)
    stored = {}

    def store(name, net, x, hooks, backward_hooks=()):
        handles = [module.register_forward_hook(hook) for module, hook in hooks]
        handles += [module.register_full_backward_hook(hook) for module, hook in backward_hooks]
        x = x.clone().requires_grad_()
        net.zero_grad()
        y = net(x)
        (y * y).sum().backward()
        for handle in handles:
            handle.remove()
        stored[f"{name}/y"] = y.detach().numpy()
        stored[f"{name}/dx"] = x.grad.numpy()
        for key, parameter in net.named_parameters():
            stored[f"{name}/d {key}"] = parameter.grad.numpy().copy()

    def save(name, net, **inputs):
        for key, parameter in net.named_parameters():
            stored[f"{name} {key}"] = parameter.detach().numpy()
        for key, value in inputs.items():
            stored[f"{name} input {key}"] = value.numpy()

    net, x = Convolutional(), torch.randn(2, 1, 8, 8)
    save("cnn", net, x=x)
    channel = torch.ones(1, 4, 1, 1)
    channel[:, 2] = 0
    example = torch.tensor([0.0, 1.0]).reshape(2, 1, 1, 1)
    store("cnn/zero", net, x, [(net.relu2, lambda m, i, o: o * channel)])
    store("cnn/scale", net, x, [(net.relu1, lambda m, i, o: o + 1.5 * o * example)])
    store("cnn/clamp", net, x, [(net.relu1, lambda m, i, o: o.clamp(0.1, 0.4))])
    store("cnn/mean", net, x, [(net.relu1, lambda m, i, o: o.mean(0, keepdim=True).expand_as(o))])
    store("cnn/backward", net, x, [], [(net.relu1, lambda m, i, o: (i[0] * 0.5,))])

    net, x, other = Blocks(), torch.randn(2, 5, DIM), torch.randn(2, 5, DIM)
    vector = torch.randn(DIM)
    save("blocks", net, x=x, other=other, vector=vector)
    position = torch.tensor([0.0, 0, 1, 0, 0]).reshape(1, 5, 1)
    unit = vector / vector.norm()
    store("blocks/steer", net, x, [(net.blocks[0].sum1, lambda m, i, o: o + 3.0 * vector * position)])
    store("blocks/project", net, x, [(net.blocks[1].sum1, lambda m, i, o: o - (o @ unit)[..., None] * unit)])
    head = torch.tensor([1.0, 0.0]).reshape(1, 2, 1, 1)
    store("blocks/head", net, x, [(net.blocks[0].softmax, lambda m, i, o: o * head)])
    sums = [module for block in net.blocks for module in (block.sum1, block.sum2)]

    def metric(y):
        return y[0, -1, 0] - y[0, -1, 2]

    def values(x):
        answers = []
        handles = [
            module.register_forward_hook(lambda m, i, o: answers.append(o) or o.retain_grad()) for module in sums
        ]
        result = metric(net(x.clone().requires_grad_()))
        for handle in handles:
            handle.remove()
        result.backward()
        return result.item(), answers

    base, (clean_metric, clean) = values(other), values(x)
    effects = []
    for module, value in zip(sums, clean, strict=True):
        handle = module.register_forward_hook(lambda m, i, o, value=value: value)
        effects.append(metric(net(other)).item() - base[0])
        handle.remove()
    stored["blocks/patch"] = np.array(effects)
    stored["blocks/attribution"] = np.array(
        [((a - b) * b.grad).sum().item() for a, b in zip(clean, base[1], strict=True)]
    )
    stored["blocks/metrics"] = np.array([clean_metric, base[0]])

    net, x = Recurrent(), torch.randn(4, 2, 2)
    save("gru", net, x=x)
    calls = []

    def third(module, inputs, output):
        calls.append(output)
        return functional.relu(output) if len(calls) == 3 else output

    store("gru/round", net, x, [(net.tanh, third)])
    np.savez_compressed(FILE, **{key: np.asarray(value, np.float32) for key, value in stored.items()})


if __name__ == "__main__":
    main()
