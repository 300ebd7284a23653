"""Numerical libraries as they are wanted: late, on one thread, for matrices of any size."""
