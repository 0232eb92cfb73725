"""Doing a thing once, safely."""
