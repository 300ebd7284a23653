"""Regression of a subject against its own past: what to keep of a report, and what counts as a drift."""
