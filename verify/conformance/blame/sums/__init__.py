"""Mistakes of line 6 and of the penalty Lagrangian: arguments exchanged, terms added and left out."""
