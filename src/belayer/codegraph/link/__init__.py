"""From what the files say to what refers to what: one evaluator for all languages."""
