"""The magic `%ms_explain FOLDER`: saliency maps, predictions and scores of explainers."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb.notebook.explainer.view import explanations
from msnb.notebook.kernel.magic_options import evaluate, parse
from msnb.notebook.kernel.magic_registration import register_magics


@magics_class
class ExplainerMagics(Magics):
    """The magic `%ms_explain`."""

    @no_var_expand
    @magic_arguments("%ms_explain")
    @argument("-n", "--net", metavar="NET", help="The network; a region of a picture then leads to its channels.")
    @argument("-i", "--inputs", metavar="X", help="Inputs of the network by sample: a Tensor, an array or a data set.")
    @argument("--node", metavar="QUERY", help="The node whose channels are listed (default: the last convolution).")
    @argument("folder", help="Where an ImageClassificationRunner writes.")
    @line_magic("ms_explain")
    def ms_explain(self, line: str) -> Any:
        """`%ms_explain FOLDER` shows the explanations that an ImageClassificationRunner has written to a folder:
        pictures with saliency maps, predictions, and scores of the methods.

            %ms_explain explained --net net --inputs x
        """
        options = parse(self.ms_explain, line)
        net, inputs = (
            None if text is None else evaluate("%ms_explain", text, self.shell)
            for text in (options.net, options.inputs)
        )
        node = options.node and options.node.strip("'\"")
        try:
            return explanations(options.folder.strip("'\""), net, inputs, node)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(f"%ms_explain: {error}") from None


def install(shell: Any) -> Any:
    """Register the magic with a shell. Return the undo function."""
    return register_magics(shell, ExplainerMagics(shell))
