"""Explanations of a stage's answers: what one is, and the probes asked after it was found."""
