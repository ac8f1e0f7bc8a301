"""Loss operators."""
