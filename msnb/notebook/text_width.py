"""How wide a text is where every character has one column, or two: Chinese, Japanese and Korean ones have two."""

import unicodedata


def columns_of(text: str) -> int:
    """Return how many columns of a terminal or a text area a text takes."""
    if text.isascii():
        return len(text)
    shown = (character for character in text if not unicodedata.combining(character))
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in shown)


def pad(text: str, width: int, to_right: bool = False) -> str:
    """Return a text with spaces after it, or before it, up to a number of columns."""
    space = " " * (width - columns_of(text))
    return space + text if to_right else text + space
