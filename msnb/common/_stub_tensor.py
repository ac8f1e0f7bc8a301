"""The class that MindSpore has for Tensors whose computation goes on. A Tensor is none here, nor in MindSpore 2.7."""


class StubTensor:
    """A class without instances. Libraries add methods to it and to Tensor."""
