"""A living Algorithm 1: its phrases as switches, and the estimate as an exact function of alpha under each of them."""
