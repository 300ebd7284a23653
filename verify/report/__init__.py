"""A finished run for people and machines: the report as data, and its faces above."""
