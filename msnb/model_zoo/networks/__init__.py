"""The networks of the zoo, a file for each family."""
