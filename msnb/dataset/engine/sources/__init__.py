"""Sources of samples: one module per file format, with the data sets that read it."""
