"""The magic `%ms_label ITEMS CLASS...`: the page on which pictures or texts are labelled."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb.notebook.kernel.magic_options import evaluate, parse
from msnb.notebook.kernel.magic_registration import register_magics
from msnb.notebook.labels.view import label


@magics_class
class LabelMagics(Magics):
    """The magic `%ms_label`."""

    @no_var_expand
    @magic_arguments("%ms_label")
    @argument("-n", "--net", metavar="NET", help="The network whose features are used.")
    @argument("-k", "--keep", metavar="FILE", default="labels.csv", help="The file of answers (default: labels.csv).")
    @argument("--kind", default="class", help="class, classes, boxes or text (default: class).")
    @argument("--strategy", default="margin", help="The choice of the next item (default: margin).")
    @argument("items", help="A folder of pictures, or a name of the session: an array, a Dataset, a list.")
    @argument("classes", metavar="class", nargs="+", help="The names of the classes, or a name of the session: a list.")
    @line_magic("ms_label")
    def ms_label(self, line: str) -> Any:
        """`%ms_label ITEMS CLASS CLASS` shows the page on which pictures or texts are labelled by keys.

            session = %ms_label photos cat dog bird --keep labels.csv

        A name of the session comes before a folder of that name; quotes mean the folder.
        """
        options = parse(self.ms_label, line)
        classes = options.classes
        if len(classes) == 1:
            classes = self._read_name(classes[0])
        net = None if options.net is None else evaluate("%ms_label", options.net, self.shell)
        items, keep = self._read_name(options.items), options.keep.strip("'\"")
        classes = [classes] if isinstance(classes, str) else classes
        try:
            return label(items, classes, net, options.strategy, keep, kind=options.kind)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise UsageError(f"%ms_label: {error}") from None

    def _read_name(self, text):
        """Return the value of a name of the session, the text itself if there is none."""
        names = {} if self.shell is None else self.shell.user_ns
        return names[text] if text in names else text.strip("'\"")


def install(shell: Any) -> Any:
    """Register the magic with a shell. Return the undo function."""
    return register_magics(shell, LabelMagics(shell))
