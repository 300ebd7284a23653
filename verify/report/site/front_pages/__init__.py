"""Front pages: of a report on the paper with its answer and findings, and of one on a program."""
