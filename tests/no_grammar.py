"""A plugin, to be loaded before nbval: nbformat goes without a grammar of addresses.

jsonschema would build it from rfc3987_syntax, three seconds in each process that imports nbformat.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
