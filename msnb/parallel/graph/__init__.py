"""Read a jaxpr or an HLO module: operator calls, flattened equations, statistics of collectives."""
