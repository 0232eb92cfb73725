"""Plans: lists of steps with dependencies, read from strangers' text, checked as a whole, then carried out."""
