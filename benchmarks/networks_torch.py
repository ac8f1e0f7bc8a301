"""The networks of `networks.py` in PyTorch, for eager mode. Layers have the same names."""

import torch
from torch import nn
from torch.nn import functional


def training_step(net):
    """Return a step of momentum with the cross entropy of class numbers: a function of (x, y) to the loss."""
    net.train()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)

    def step(x, y):
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def prediction(net):
    """Return the network in evaluation, without a tape: a function of x to the output."""
    net.eval()

    @torch.inference_mode()
    def predict(x):
        return net(x)

    return predict


def weights(net):
    """Return {MindSpore's name: tensor} of the parameters and moving statistics."""
    norm = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}
    tensors = {}
    for name, value in net.state_dict().items():
        layer, _, last = name.rpartition(".")
        if last != "num_batches_tracked":  # MindSpore counts none
            normalises = isinstance(net.get_submodule(layer), nn.BatchNorm2d | nn.LayerNorm)
            tensors[f"{layer}.{norm[last] if normalises else last}"] = value
    return tensors


class MLP(nn.Module):
    """An MLP of widths 64, 32 and 10."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x):
        return self.out(functional.relu(self.hidden(x)))


class Block(nn.Module):
    """A block of a Transformer encoder: attention, then two Linear layers, each beside a shortcut and normalised."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm(width, 1e-7), nn.LayerNorm(width, 1e-7)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        """Reshape (batch, tokens, width) to (batch, heads, tokens, size)."""
        return x.unflatten(-1, (self.heads, self.size)).transpose(1, 2)

    def forward(self, x):
        heads = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        x = self.first(x + self.out(mixed))
        return self.second(x + self.narrow(functional.relu(self.wide(x))))


class Encoder(nn.Module):
    """Four blocks of width 256, and ten classes from the mean over the tokens."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(Block(256, 4) for _ in range(4)))
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.blocks(x).mean(1))


class LeNet(nn.Module):
    """LeNet-5 for 32x32 images of one channel."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, bias=False), nn.Conv2d(6, 16, 5, bias=False)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(functional.relu(self.fc2(functional.relu(self.fc1(x)))))


def convolution(inputs, outputs, size, stride=1):
    """A Conv2d whose result has ceil(side / stride) pixels a side, for an even side and an odd `size`.

    With a stride of two MindSpore's "same" pads one pixel less before the image than after it, which Conv2d cannot.
    """
    if stride == 1 or size == 1:
        return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    return PaddedConv2d(inputs, outputs, size, stride, bias=False)


class PaddedConv2d(nn.Conv2d):
    """A Conv2d of stride two that is padded unevenly."""

    def forward(self, x):
        before, after = self.kernel_size[0] // 2 - 1, self.kernel_size[0] // 2
        return super().forward(functional.pad(x, (before, after, before, after)))


class Bottleneck(nn.Module):
    """A block of three convolutions beside a shortcut."""

    def __init__(self, inputs, middle, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, middle, 1), nn.BatchNorm2d(middle)
        self.conv2, self.bn2 = convolution(middle, middle, 3, stride), nn.BatchNorm2d(middle)
        self.conv3, self.bn3 = convolution(middle, outputs, 1), nn.BatchNorm2d(outputs)
        self.relu, self.down = nn.ReLU(inplace=True), None
        if inputs != outputs or stride != 1:
            self.down = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(y)))))
        y += x if self.down is None else self.down(x)
        return self.relu(y)


class ResNet50(nn.Module):
    """ResNet-50 for ten classes."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = convolution(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)  # MindSpore's "same" of an even side
        blocks, inputs = [], 64
        for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(count):
                blocks.append(Bottleneck(inputs, middle, 4 * middle, stride if number == 0 else 1))
                inputs = 4 * middle
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(2048, 10)

    def forward(self, x):
        x = self.pool(self.relu(self.bn(self.conv(x))))
        return self.head(self.blocks(x).mean((2, 3)))
