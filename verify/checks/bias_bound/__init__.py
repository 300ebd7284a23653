"""Lemma Bias Bound, step by step."""
