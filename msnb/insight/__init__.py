"""What a view needs to know about a network and its training, without drawing it."""
