"""Networks to files of other programs and back: what knows both a format and the graph."""
