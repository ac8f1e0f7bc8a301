"""Error messages and where an error comes from: source locations, Cell paths, converted code."""
