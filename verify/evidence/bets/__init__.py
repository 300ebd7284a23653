"""Decisions by bets, which may look after any sample: means, correlations, squared lengths."""
