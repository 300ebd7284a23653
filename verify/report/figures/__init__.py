"""Drawings of rates and sweeps, and what is said of them to readers who hear a page."""
