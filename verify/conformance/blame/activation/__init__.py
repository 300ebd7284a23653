"""Mistakes of the activation: its ramps, how they are put together, what is done with weights."""
