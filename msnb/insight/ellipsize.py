"""Shorten names that are too long for their column."""


def middle(text: str, most: int) -> str:
    """Replace the middle of a name by an ellipsis: its start names the layer, its end the operator or Parameter."""
    return text if len(text) <= most else f"{text[: (most - 1) // 2]}…{text[len(text) - most // 2 :]}"
