"""Programs the model writes: their only powers are tools, and every call they make is a step in the log."""
