"""PYNATIVE mode: compiled kernels, one per operator and signature, and the gradient tape."""
