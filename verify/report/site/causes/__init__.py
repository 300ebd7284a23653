"""Why statements fail, what falls with them, and the hypotheses that the repaired ones need."""
