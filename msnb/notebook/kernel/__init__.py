"""The kernel side of a notebook: magics, cell scopes, rewriting of imports, errors, messages, completion."""
