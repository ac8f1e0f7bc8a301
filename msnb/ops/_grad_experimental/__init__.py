"""Modules of MindSpore's path `mindspore.ops._grad_experimental`."""
