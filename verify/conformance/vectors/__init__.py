"""Test vectors: every stage's exact answers as files that any implementation can be held against."""
