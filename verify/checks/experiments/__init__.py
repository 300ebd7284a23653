"""Checks of the two experiments: as printed, as drawn, and in small runs and counted operations."""
