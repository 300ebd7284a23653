"""Lemma Inner-loop Oracle Complexity: lower level, penalty solve, oracle call."""
