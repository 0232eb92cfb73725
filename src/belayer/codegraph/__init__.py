"""A graph of a repository: what there is, what refers to what, and how sure that is."""
