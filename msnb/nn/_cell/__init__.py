"""Mixins and helpers of `nn.Cell`: calls, the tree of Cells, state dictionaries, hooks, error notes."""
