"""Where samples come from: one module per kind of file, each with the data set that reads it."""
