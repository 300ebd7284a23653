"""Where a subject's answers diverge first, by how much, and which causes the error has."""
