"""Refutations: the smallest problem that breaks a claim, decided in exact arithmetic and derived by hand."""
