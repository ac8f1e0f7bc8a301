"""File formats: each module converts bytes to plain Python objects and back, and does not depend on Cells or graphs."""
