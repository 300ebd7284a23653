"""Checks of the lemma "Lagrangian Gradient Approximation": its bound, its parts, the activation and its derivatives."""
