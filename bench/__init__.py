"""Timings beside the physical floor and the peers. Never tests, and never imported by the package."""
