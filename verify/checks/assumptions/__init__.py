"""Checks of what the paper assumes: smoothness, the lower level, stochastic oracles; and of what it does not list."""
