"""The text of README for the package page, where relative links and pictures lead nowhere."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


def drop_relative_links(text):
    """Return Markdown without pictures and links to files of the repository. The texts of links remain."""
    text = re.sub(r"^!\[[^\]]*\]\((?!\w+:)[^)]*\)\n\n", "", text, flags=re.M)
    return re.sub(r"\[([^\[\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)


class ReadmeHook(MetadataHookInterface):
    """Set the readme of the package."""

    def update(self, metadata):
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": drop_relative_links(text)}
