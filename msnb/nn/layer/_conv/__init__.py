"""Convolution layers: the shared base class and 3-D convolutions. `nn.layer.conv` has the others."""
