"""Moved to belayer.vocabulary.addresses."""

from belayer.vocabulary.addresses import Address, Allowed, Place, is_name, is_public, plain_host, unwrapped

__all__ = ["Address", "Allowed", "Place", "is_name", "is_public", "plain_host", "unwrapped"]
