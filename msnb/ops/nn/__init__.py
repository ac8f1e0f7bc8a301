"""Operators of neural networks: activations, convolutions, losses, norms, pooling, optimizer steps."""
