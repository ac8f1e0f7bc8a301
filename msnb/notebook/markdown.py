"""A preprocessor of nbconvert's: Markdown in which each view is a link to a file with its picture."""

import urllib.parse

try:
    from nbconvert.preprocessors import Preprocessor
except ImportError as problem:
    raise ImportError("msnb.notebook.markdown needs nbconvert: pip install 'msnb[lab]'.") from problem

from msnb.notebook.display import static_output


class LinkedPictures(Preprocessor):
    """Writes the still pictures of msnb's views beside the Markdown file, and links them in the place of the views.

    nbconvert prefers HTML in Markdown, and finds a view's picture inside it; but some readers of Markdown, GitHub among
    them, show no picture that is not a file::

        jupyter nbconvert --to markdown --MarkdownExporter.preprocessors=msnb.notebook.markdown.LinkedPictures FILE
    """

    def preprocess_cell(self, cell, resources, index):
        """The cell with its views replaced, and the resources with their files; other outputs stay as they are."""
        for number, output in enumerate(cell.get("outputs", ())):
            picture, title = static_output.picture_in(output.get("data", {}).get("text/html", ""))
            if picture is None:
                continue
            path = f"{resources.get('unique_key', 'output')}_view_{index}_{number}.svg"
            if resources.get("output_files_dir"):
                path = f"{resources['output_files_dir']}/{path}"
            if not isinstance(resources.get("outputs"), dict):
                resources["outputs"] = {}
            resources["outputs"][path] = picture.encode()
            title = title.replace("[", "(").replace("]", ")")
            output.data = {"text/markdown": f"![{title}]({urllib.parse.quote(path)})"}
        return cell, resources
