"""Repositories that Belayer has looked at: fetched, read into a graph, and asked about."""
