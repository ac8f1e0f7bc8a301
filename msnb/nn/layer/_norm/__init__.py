"""Normalisation layers; `nn.layer.normalization` and `nn.layer.basic` re-export them."""
