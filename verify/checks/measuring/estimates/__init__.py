"""Estimates that a subject draws: samples of them, those that never differ, a second look."""
