"""Names that are too long for their column."""


def middle(text: str, most: int) -> str:
    """A name without its middle: what it begins with says the layer, what it ends with the operator or Parameter."""
    return text if len(text) <= most else f"{text[: (most - 1) // 2]}…{text[len(text) - most // 2 :]}"
