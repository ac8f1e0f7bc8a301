"""Writing a network as a MINDIR file."""
