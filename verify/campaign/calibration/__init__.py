"""Achieved error rates of the statistics beside the promised ones."""
