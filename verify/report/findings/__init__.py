"""What a run found, statement by statement and as a whole, before it is laid out."""
