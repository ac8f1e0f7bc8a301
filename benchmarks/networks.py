"""Networks of the benchmarks. The source runs on msnb under its alias and on MindSpore."""

from mindspore import nn, ops


def training_step(net):
    """Return a step of momentum with the cross entropy of class numbers."""
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()


class MLP(nn.Cell):
    """An MLP of widths 64, 32 and 10."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out, self.relu = nn.Dense(64, 32), nn.Dense(32, 10), nn.ReLU()

    def construct(self, x):
        return self.out(self.relu(self.hidden(x)))


class Block(nn.Cell):
    """A block of a Transformer encoder: attention, then two Dense layers, each beside a shortcut and normalised."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.wide, self.narrow, self.relu = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.ReLU()
        self.softmax, self.across, self.matmul = nn.Softmax(-1), ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()

    def split(self, x):
        """Reshape (batch, tokens, width) to (batch, heads, tokens, size)."""
        return x.reshape(x.shape[0], x.shape[1], self.heads, self.size).transpose(0, 2, 1, 3)

    def construct(self, x):
        weights = self.softmax(self.across(self.split(self.query(x)), self.split(self.key(x))) * self.size**-0.5)
        mixed = self.matmul(weights, self.split(self.value(x))).transpose(0, 2, 1, 3).reshape(x.shape)
        x = self.first(x + self.out(mixed))
        return self.second(x + self.narrow(self.relu(self.wide(x))))


class Encoder(nn.Cell):
    """Four blocks of width 256, and ten classes from the mean over the tokens."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.SequentialCell([Block(256, 4) for _ in range(4)])
        self.mean, self.head = ops.ReduceMean(), nn.Dense(256, 10)

    def construct(self, x):
        return self.head(self.mean(self.blocks(x), 1))


class LeNet(nn.Cell):
    """LeNet-5 for 32x32 images of one channel."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Bottleneck(nn.Cell):
    """A block of three convolutions beside a shortcut."""

    def __init__(self, inputs, middle, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, middle, 1), nn.BatchNorm2d(middle)
        self.conv2, self.bn2 = nn.Conv2d(middle, middle, 3, stride), nn.BatchNorm2d(middle)
        self.conv3, self.bn3 = nn.Conv2d(middle, outputs, 1), nn.BatchNorm2d(outputs)
        self.relu, self.same = nn.ReLU(), inputs == outputs and stride == 1
        if not self.same:
            self.down = nn.SequentialCell([nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)])

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(y)))))
        if self.same:
            return self.relu(y + x)
        return self.relu(y + self.down(x))


class ResNet50(nn.Cell):
    """ResNet-50 for ten classes."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU()
        self.pool = nn.MaxPool2d(3, 2, "same")
        blocks, inputs = [], 64
        for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(count):
                blocks.append(Bottleneck(inputs, middle, 4 * middle, stride if number == 0 else 1))
                inputs = 4 * middle
        self.blocks, self.mean, self.head = nn.SequentialCell(blocks), ops.ReduceMean(), nn.Dense(2048, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.bn(self.conv(x))))
        return self.head(self.mean(self.blocks(x), (2, 3)))
