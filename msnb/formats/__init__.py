"""File formats: each module converts bytes to plain Python objects and back, and knows nothing of networks."""
