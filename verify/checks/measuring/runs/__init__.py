"""Runs of a subject: its lower-level iterations, and its Algorithm 2 on functions that are known."""
