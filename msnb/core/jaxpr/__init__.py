"""Transformations and queries of jaxprs: operator names, inlining, instrumentation, fingerprints."""
