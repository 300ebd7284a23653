"""Samples: their laws, moments and shape, and which law that shape allows."""
