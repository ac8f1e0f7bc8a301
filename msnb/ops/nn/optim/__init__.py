"""Update rules of the optimizers. Each writes the variable and its slots in place."""
