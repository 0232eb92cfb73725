"""A person at a terminal."""
