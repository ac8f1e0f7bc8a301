"""Wire formats, each one module that turns bytes into plain Python objects and back, and knows no networks."""
