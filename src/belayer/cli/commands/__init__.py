"""What a person can type, one file per kind of wish."""
