"""Whether a subject's stages compute what a check asks of them at all, asked where nobody has a table."""
