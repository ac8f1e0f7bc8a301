"""The version of msnb; `msnb.__version__` and the wheel both take it from here."""

__version__ = "0.2.0.dev0"
