"""Placeholders for names of r1.1 that are not implemented yet: they can be imported, and raise an error when used."""


def not_yet(what, instead=None):
    """Return a NotImplementedError for a feature that is not implemented yet.

    Args:
        what (str): The requested feature.
        instead (str): A replacement, or the reason for the lack. Default: None.
    """
    return NotImplementedError(f"{what} is not available in msnb yet{f'; {instead}' if instead else ''}.")


def placeholder(name, path, why):
    """Return a class that raises NotImplementedError when it is called or subclassed.

    Args:
        name (str): Name of the class or function.
        path (str): Path of the name in MindSpore.
        why (str): The missing feature and a replacement.
    """

    def refuse(*args, **kwargs):
        raise not_yet(f"{path}.{name}", why.rstrip("."))

    members = {
        "__init__": refuse,
        "__init_subclass__": classmethod(refuse),
        "__module__": path.replace("mindspore", "msnb", 1),
        "__doc__": f"{name}: not available yet, raises NotImplementedError.",
        "_later": why.rstrip("."),  # for code that reads the reason without calling
    }
    return type(name, (), members)


class _PlaceholderType(type):
    """Metaclass of placeholders that can be subclassed. Creating an instance and reading a public attribute that does
    not exist raise NotImplementedError.
    """

    def __call__(cls, *args, **kwargs):
        raise not_yet(cls._path, cls._later)

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}", name=name, obj=cls)
        raise not_yet(f"{cls._path}.{name}", cls._later)


def derivable(name: str, path: str, why: str) -> type:
    """Return a placeholder that programs may subclass. Using a subclass raises an error."""
    members = {
        "__module__": path.replace("mindspore", "msnb", 1),
        "_path": f"{path}.{name}",
        "_later": why.rstrip("."),
    }
    members["__doc__"] = f"{name}: not available, raises NotImplementedError when it is used."
    return _PlaceholderType(name, (), members)


def fill(namespace, names, why):
    """Add a placeholder for each of `names` (a string of names) to a module's namespace and its `__all__`."""
    path = namespace["__name__"].replace("msnb", "mindspore", 1)
    for name in names.split():
        namespace[name] = placeholder(name, path, why)
    namespace["__all__"] = [*namespace.get("__all__", ()), *names.split()]
