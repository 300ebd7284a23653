"""Mistakes of Algorithm 2: its lines, its draws, its calls, by one search."""
