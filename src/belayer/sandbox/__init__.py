"""Running programs that are not to be trusted with more than they were given."""
