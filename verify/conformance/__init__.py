"""Conformance of other implementations: where they deviate, what the deviation is, the smallest case that shows it."""
