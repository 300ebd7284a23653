"""Mistakes of the lower level: its program, how it is solved, what comes out."""
