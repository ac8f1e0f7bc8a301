"""Width of text in a monospaced font: East Asian wide characters take two columns."""

import unicodedata


def columns_of(text: str) -> int:
    """Return the number of columns that a text takes in a terminal or a text area."""
    if text.isascii():
        return len(text)
    characters = (character for character in text if not unicodedata.combining(character))
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in characters)


def pad(text: str, width: int, to_right: bool = False) -> str:
    """Return a text padded with spaces on the right, or on the left, to a number of columns."""
    space = " " * (width - columns_of(text))
    return space + text if to_right else text + space
