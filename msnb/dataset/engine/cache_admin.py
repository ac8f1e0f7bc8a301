"""``cache_admin``: MindSpore's command for cache servers. There is none to administer here: caches live in the
process.
"""

import sys


def main() -> int:
    """Say so."""
    sys.stderr.write("There is no cache server in msnb: a DatasetCache keeps its rows in the process that made it.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
