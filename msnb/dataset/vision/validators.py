"""Face of ``mindspore.dataset.vision.validators``: the checks that image transforms make of their arguments."""
