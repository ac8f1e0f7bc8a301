"""The folder of the installed package, for code that distinguishes msnb's own files from the user's."""

import os

PACKAGE: str = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
