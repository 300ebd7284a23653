"""Pages on claims: one each, all in one matrix, by the paper's stages, and what could be objected."""
