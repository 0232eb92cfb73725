"""Places to keep the log; one contract suite holds for all (tests/contracts/)."""
