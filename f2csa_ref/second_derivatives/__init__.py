"""Second derivatives, which the method does without: of g, and of the lower-level solution along x."""
