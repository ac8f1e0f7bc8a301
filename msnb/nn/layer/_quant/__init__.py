"""Layers of quantisation-aware training; `nn.layer.quant` re-exports them."""
