"""One protocol for answers: a hypergradient at many points of one problem, whoever computes it and however."""
