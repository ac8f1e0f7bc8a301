"""Activation layers; `nn.layer.activation` re-exports them."""
