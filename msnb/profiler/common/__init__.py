"""Modules of MindSpore's path `mindspore.profiler.common`."""
