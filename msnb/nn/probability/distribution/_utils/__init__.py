"""MindSpore's path of what distributions share."""
