"""Theorems for every problem that meets their premises, proven in Coq; what they settle, and how that was checked."""
