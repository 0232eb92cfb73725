"""The folder a session works in: its files, none of them outside, and its states to go back to."""
