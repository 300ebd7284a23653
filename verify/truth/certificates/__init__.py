"""Bounds proven for all alpha in an interval, and the checker that believes none of it."""
