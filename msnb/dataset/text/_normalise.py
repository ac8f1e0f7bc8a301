"""Text in another form: letters without case, Unicode normal forms."""

import re
import unicodedata

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import each
from msnb.dataset.text.choices import NormalizeForm

_FORMS = {NormalizeForm.NFC: "NFC", NormalizeForm.NFKC: "NFKC", NormalizeForm.NFD: "NFD", NormalizeForm.NFKD: "NFKD"}


class CaseFold(TensorOp):
    """Lower case, and NFKC normal form with it (Unicode's NFKC_Casefold)."""

    def _transform_row(self, array):
        return each(array, casefold)


def casefold(text):
    """Unicode's NFKC_Casefold of a str."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _IGNORABLE.sub("", folded)


_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8]"
)


class NormalizeUTF8(TensorOp):
    """A Unicode normal form.

    Args:
        normalize_form (NormalizeForm, optional): Which. Default: NormalizeForm.NFKC.

    Raises:
        TypeError: If it is no NormalizeForm.
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        if not isinstance(normalize_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        self.normalize_form: NormalizeForm = normalize_form

    def _transform_row(self, array):
        form = _FORMS.get(self.normalize_form)
        return array if form is None else each(array, lambda text: unicodedata.normalize(form, text))
