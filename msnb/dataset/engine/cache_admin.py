"""``cache_admin``: MindSpore's command for cache servers. Here caches are in the process, so there is no server."""

import sys


def main() -> int:
    """Print that there is no cache server."""
    sys.stderr.write("There is no cache server in msnb: a DatasetCache keeps its rows in the process that made it.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
