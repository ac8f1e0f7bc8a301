"""`context.set_context(print_file_path=...)`: write the output of Print to a file, which `parse_print` reads."""

import os
import threading
import time
from typing import Any

from msnb import log
from msnb.core.support import print_redirect
from msnb.core.tensor.tensor import Tensor
from msnb.formats import print_file

_lock = threading.Lock()


def redirect_to(path: str) -> None:
    """Write the output of Print to a file from now on, or to the screen for "". An existing file is not changed, as in
    MindSpore: the new file gets another name. The folder is created with the first output.
    """
    if not path:
        print_redirect.send_to(None)
        return
    if os.path.exists(path):
        path = f"{path}.{int(time.time())}"
        log.warning("print_file_path: that file is there already, what is printed goes to %s.", path)

    def append(values: list[Any]) -> None:
        records = [print_file.record(v.asnumpy() if isinstance(v, Tensor) else v) for v in _flatten(values)]
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with _lock, open(path, "ab") as file:
            file.write(b"".join(records))

    print_redirect.send_to(append)


def _flatten(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flatten(value)
        else:
            yield value
