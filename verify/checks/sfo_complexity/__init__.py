"""Theorem on the total number of stochastic gradient calls."""
