"""Face of the engine: the data sets, samplers and iterators that ``mindspore.dataset.engine`` names."""
