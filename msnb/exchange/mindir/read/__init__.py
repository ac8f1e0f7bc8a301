"""Reading a MINDIR file into a graph."""
