"""What a session is for."""
