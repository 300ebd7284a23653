"""Drawn problems asked about until told to stop; what goes wrong on one, shrunk to the smallest that shows it."""
