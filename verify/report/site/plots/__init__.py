"""Figures of pages: a slope, a rate in a table, the toy problem."""
