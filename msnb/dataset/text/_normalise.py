"""Case folding and Unicode normal forms."""

import re
import unicodedata

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import map_strings
from msnb.dataset.text.choices import NormalizeForm

_FORM_NAMES = {
    NormalizeForm.NFC: "NFC",
    NormalizeForm.NFKC: "NFKC",
    NormalizeForm.NFD: "NFD",
    NormalizeForm.NFKD: "NFKD",
}


class CaseFold(TensorOp):
    """Convert text to lower case and NFKC normal form (Unicode's NFKC_Casefold)."""

    def _transform_row(self, array):
        return map_strings(array, casefold)


def casefold(text):
    """Convert a str to lower case and NFKC normal form (Unicode's NFKC_Casefold)."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _IGNORABLE.sub("", folded)


_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8]"
)


class NormalizeUTF8(TensorOp):
    """Convert text to a Unicode normal form.

    Args:
        normalize_form (NormalizeForm, optional): The normal form. Default: NormalizeForm.NFKC.

    Raises:
        TypeError: If it is not a NormalizeForm.
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        if not isinstance(normalize_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        self.normalize_form: NormalizeForm = normalize_form

    def _transform_row(self, array):
        form = _FORM_NAMES.get(self.normalize_form)
        return array if form is None else map_strings(array, lambda text: unicodedata.normalize(form, text))
