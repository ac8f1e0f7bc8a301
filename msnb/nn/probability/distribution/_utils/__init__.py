"""Package at MindSpore's path `mindspore.nn.probability.distribution._utils`."""
