"""Checks of the text against itself and against other works; nothing is run."""
