"""One file per language: how its source becomes facts, and how its names lead from file to file."""
