"""What programs ask MindSpore's C++ module about how it was built."""


def enable_security() -> bool:
    """Whether this is a build without dumps, profiles and prints: there is none of msnb."""
    return False
