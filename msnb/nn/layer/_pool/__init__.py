"""Pooling layers that `nn.layer.pooling` re-exports."""
