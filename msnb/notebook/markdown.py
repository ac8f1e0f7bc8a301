"""nbconvert preprocessor for Markdown: each view becomes a link to an image file."""

import urllib.parse

try:
    from nbconvert.preprocessors import Preprocessor
except ImportError as problem:
    raise ImportError("msnb.notebook.markdown needs nbconvert: pip install 'msnb[lab]'.") from problem

from msnb.notebook.display import static_output


class LinkedPictures(Preprocessor):
    """Write the still pictures of msnb's views as files, and replace the views in the Markdown by links to them.

    nbconvert prefers HTML in Markdown, and a view's HTML embeds its picture. Some readers of Markdown, such as GitHub,
    show only pictures that are files::

        jupyter nbconvert --to markdown --MarkdownExporter.preprocessors=msnb.notebook.markdown.LinkedPictures FILE
    """

    def preprocess_cell(self, cell, resources, index):
        """Return the cell with its views replaced by links, and the resources with the picture files. Other outputs do
        not change.
        """
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
