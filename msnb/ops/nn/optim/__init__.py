"""Update rules of the optimizers. Each writes the variable and its slots (the state of the optimizer) in place."""
