"""Whose turn it is: ready → replay → run → record."""
