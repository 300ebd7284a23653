"""A report decided again from its evidence and certificates, by code that made neither."""
